// The binary form of what people configure: tasks, devices, settings.
//
// An object of its own begins with a version byte; as a part of a larger one it has none, the
// larger one's version covers it. Every value has exactly one encoding. Decoders take arbitrary
// bytes and leave the reader behind the object; what they return still has to be validated
// (model/validate.hpp).
#pragma once

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "engine/field_reader.hpp"
#include "model/settings.hpp"
#include "model/task_spec.hpp"

namespace pollux::engine {

inline constexpr std::uint8_t kSpecVersion = 1;
inline constexpr std::uint8_t kSettingsVersion = 1;

void encode(base::ByteWriter& out, const model::TaskSpec& spec);
void encode(base::ByteWriter& out, const model::DeviceSpec& spec);
void encode(base::ByteWriter& out, const model::CoreSettings& settings);

base::Result<model::TaskSpec> decode_task_spec(base::ByteReader& in);
base::Result<model::DeviceSpec> decode_device_spec(base::ByteReader& in);
base::Result<model::CoreSettings> decode_core_settings(base::ByteReader& in);

// As parts of a larger object.
void write_part(base::ByteWriter& out, const model::TaskSpec& spec);
void write_part(base::ByteWriter& out, const model::DeviceSpec& spec);
void write_part(base::ByteWriter& out, const model::CoreSettings& settings);
model::TaskSpec read_task_spec(FieldReader& in);
model::DeviceSpec read_device_spec(FieldReader& in);
model::CoreSettings read_core_settings(FieldReader& in);

inline constexpr std::size_t kLeastSpecBytes = 19;  // of an encoded TaskSpec without version

}  // namespace pollux::engine
