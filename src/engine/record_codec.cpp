// Writers name every field, see spec_codec.cpp.
#include "engine/record_codec.hpp"

#include <utility>

namespace pollux::engine {
namespace {

using base::ByteWriter;
using model::BreakerState;
using model::DeadLetterReason;
using model::FailureRecord;
using model::JobState;
using model::LearnedRecord;
using model::TaskRecord;

void write(ByteWriter& out, const FailureRecord& failure) {
    const auto& [consecutive, permanent_streak, interruptions, dead_letter_entries, breaker,
                 dead_letter, first_failure, breaker_since, dead_letter_since, last_attempt,
                 breaker_delay] = failure;
    out.varint(consecutive);
    out.varint(permanent_streak);
    out.varint(interruptions);
    out.varint(dead_letter_entries);
    out.u8(std::to_underlying(breaker));
    out.u8(std::to_underlying(dead_letter));
    out.zigzag(first_failure.us);
    out.zigzag(breaker_since.us);
    out.zigzag(dead_letter_since.us);
    out.zigzag(last_attempt.us);
    out.zigzag(breaker_delay.count());
}

FailureRecord read_failure(FieldReader& in) {
    FailureRecord failure;
    failure.consecutive = in.u32("record.failure.consecutive");
    failure.permanent_streak = in.u32("record.failure.permanent_streak");
    failure.interruptions = in.u32("record.failure.interruptions");
    failure.dead_letter_entries = in.u32("record.failure.dead_letter_entries");
    failure.breaker = in.choice("record.failure.breaker", BreakerState::kHalfOpen);
    failure.dead_letter =
        in.choice("record.failure.dead_letter", DeadLetterReason::kRepeatedInterruption);
    failure.first_failure = in.wall("record.failure.first_failure");
    failure.breaker_since = in.wall("record.failure.breaker_since");
    failure.dead_letter_since = in.wall("record.failure.dead_letter_since");
    failure.last_attempt = in.wall("record.failure.last_attempt");
    failure.breaker_delay = in.duration("record.failure.breaker_delay");
    return failure;
}

void write(ByteWriter& out, const LearnedRecord& learned) {
    const auto& [probability, occupancy, age_s, memory] = learned;
    for (const std::uint16_t one : probability) out.u16(one);
    for (const std::uint8_t one : occupancy) out.u8(one);
    out.f32(age_s);
    out.f32(memory);
}

LearnedRecord read_learned(FieldReader& in) {
    LearnedRecord learned;
    for (std::uint16_t& one : learned.probability) one = in.u16("record.learned.probability");
    for (std::uint8_t& one : learned.occupancy) one = in.u8("record.learned.occupancy");
    learned.age_s = in.f32("record.learned.age_s");
    learned.memory = in.f32("record.learned.memory");
    return learned;
}

}  // namespace

void write_part(ByteWriter& out, const TaskRecord& record) {
    const auto& [key, spec_version, enabled, job, attempt, next_due, last_success, last_error,
                 last_mutation, digest, has_digest, was_up, interval_ms, failure, learned] = record;
    out.string(key);
    out.varint(spec_version);
    out.boolean(enabled);
    out.u8(std::to_underlying(job));
    out.varint(attempt);
    out.zigzag(next_due.us);
    out.zigzag(last_success.us);
    out.zigzag(last_error.us);
    out.zigzag(last_mutation.us);
    out.u64(digest);
    out.boolean(has_digest);
    out.boolean(was_up);
    out.varint(interval_ms);
    write(out, failure);
    write(out, learned);
}

TaskRecord read_task_record(FieldReader& in) {
    TaskRecord record;
    record.key = in.text("record.key");
    record.spec_version = in.u32("record.spec_version");
    record.enabled = in.boolean("record.enabled");
    record.job = in.choice("record.job", JobState::kCancelled);
    record.attempt = in.u32("record.attempt");
    record.next_due = in.wall("record.next_due");
    record.last_success = in.wall("record.last_success");
    record.last_error = in.wall("record.last_error");
    record.last_mutation = in.wall("record.last_mutation");
    record.digest = in.hash("record.digest");
    record.has_digest = in.boolean("record.has_digest");
    record.was_up = in.boolean("record.was_up");
    record.interval_ms = in.u32("record.interval_ms");
    record.failure = read_failure(in);
    record.learned = read_learned(in);
    return record;
}

void encode(ByteWriter& out, const TaskRecord& record) {
    out.u8(kRecordVersion);
    write_part(out, record);
}

base::Result<TaskRecord> decode_task_record(base::ByteReader& in) {
    FieldReader fields(in, "task record");
    fields.version(kRecordVersion);
    return fields.result(read_task_record(fields));
}

}  // namespace pollux::engine
