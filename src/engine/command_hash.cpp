// Writers name every field by a structured binding: a new one does not compile until it is hashed.
// Fixed widths and counts before lists, so that no two different commands have the same bytes.
#include "engine/command_hash.hpp"

#include <utility>

#include "base/bytes.hpp"
#include "base/siphash.hpp"

namespace pollux::engine {
namespace {

using base::ByteWriter;

constexpr std::uint64_t kPurpose = 0x636f6d6d616e6473ULL;

void write(ByteWriter& out, model::TaskHandle task) {
    const auto& [index, generation] = task;
    out.u32(index);
    out.u32(generation);
}

void write(ByteWriter& out, model::RunId run) {
    const auto& [epoch, counter] = run;
    out.u32(epoch);
    out.u64(counter);
}

void write(ByteWriter& out, base::BootTime time) { out.u64(static_cast<std::uint64_t>(time.ns)); }

void write(ByteWriter& out, const schedule::StartRun& start) {
    const auto& [task, run, due, deadline, attempt, trigger, fresh_login] = start;
    write(out, task);
    write(out, run);
    write(out, due);
    write(out, deadline);
    out.u32(attempt);
    out.u8(std::to_underlying(trigger));
    out.boolean(fresh_login);
}

void write(ByteWriter& out, const schedule::CancelRun& cancel) {
    const auto& [task, run] = cancel;
    write(out, task);
    write(out, run);
}

void write(ByteWriter& out, const schedule::PersistTask& persist) {
    const auto& [task, durability] = persist;
    write(out, task);
    out.u8(std::to_underlying(durability));
}

void write(ByteWriter& out, const schedule::ForgetTask& forget) {
    const auto& [task, key] = forget;
    write(out, task);
    out.string(key);
}

void write(ByteWriter& out, const schedule::Change& change) {
    const auto& [task, kind, from, to, failures, next_due] = change;
    write(out, task);
    out.u8(std::to_underlying(kind));
    out.u8(from);
    out.u8(to);
    out.u32(failures);
    write(out, next_due);
}

void write(ByteWriter& out, const schedule::Rejection& rejection) {
    const auto& [correlation, error] = rejection;
    const auto& [code, error_class, message] = error;
    out.u64(correlation);
    out.string(code);
    out.u8(std::to_underlying(error_class));
    out.string(message);
}

template <class List>
void write_all(ByteWriter& out, const List& list) {
    out.varint(list.size());
    for (const auto& one : list) write(out, one);
}

}  // namespace

std::uint64_t hash_commands(std::uint64_t seed, const schedule::Commands& commands) {
    const auto& [starts, cancels, persists, forgets, changes, rejections, acted, wake_at] =
        commands;
    // What was acted on shows in changes and later starts: the hash of a log stays comparable.
    static_cast<void>(acted);
    ByteWriter out;
    write_all(out, starts);
    write_all(out, cancels);
    write_all(out, persists);
    write_all(out, forgets);
    write_all(out, changes);
    write_all(out, rejections);
    write(out, wake_at);
    return base::siphash24({seed, kPurpose}, out.view());
}

}  // namespace pollux::engine
