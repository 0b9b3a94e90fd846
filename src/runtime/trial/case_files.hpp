// Files that a case names. Who runs a case says whether there are any: beside the file of a case
// they are read, what came over the network names none.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "document/map_reader.hpp"

namespace pollux::runtime {

using CaseFiles = std::function<base::Result<std::string>(const std::string& name)>;

// The text under `key`, or that of the file under `file_key`. The keys are literals.
std::string text_or_file(document::MapReader& reader, std::string_view key,
                         std::string_view file_key, const CaseFiles& files);

}  // namespace pollux::runtime
