// The binary form of a task's durable row. Rules as in spec_codec.hpp.
#pragma once

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "engine/field_reader.hpp"
#include "model/task_record.hpp"

namespace pollux::engine {

inline constexpr std::uint8_t kRecordVersion = 1;

void encode(base::ByteWriter& out, const model::TaskRecord& record);
base::Result<model::TaskRecord> decode_task_record(base::ByteReader& in);

// As a part of a larger object.
void write_part(base::ByteWriter& out, const model::TaskRecord& record);
model::TaskRecord read_task_record(FieldReader& in);

inline constexpr std::size_t kLeastRecordBytes = 87;  // of an encoded record without version

}  // namespace pollux::engine
