// Reads fleet files from disk: the only place where fleet commands touch files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/fleet_reader.hpp"

namespace pollux::app {

inline constexpr std::size_t kMaxFleetFiles = 10'000;

// The whole text of one regular file; fails past `max_bytes` before reading it.
base::Result<std::string> read_text_file(const std::string& path, std::size_t max_bytes);

// The files named, and the .yaml, .yml and .json files of the folders named (not of folders below
// them; hidden files are left out), in order of their names.
base::Result<std::vector<config::FileText>> read_fleet_files(std::span<const std::string> paths);

}  // namespace pollux::app
