// The folder everything durable lies in, held by one process at a time.
//
// Opened once by the composition root and shared by the state store and the history: both lie
// behind the same lock, so two processes can never write the same files.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"

namespace pollux::store {

class DataDirectory {
  public:
    // Makes the folder (0700) if it is absent, and locks `pollux.lock` in it. Fails with
    // store.locked, naming the process that holds it, or store.access. Blocks for a moment only.
    static base::Result<std::shared_ptr<const DataDirectory>> open(const std::string& path);
    ~DataDirectory();
    DataDirectory(const DataDirectory&) = delete;
    DataDirectory& operator=(const DataDirectory&) = delete;

    const std::string& path() const { return path_; }
    std::string file(const std::string& name) const { return path_ + "/" + name; }

  private:
    DataDirectory(std::string path, int lock_fd) : path_(std::move(path)), lock_fd_(lock_fd) {}

    std::string path_;
    int lock_fd_;
};

}  // namespace pollux::store
