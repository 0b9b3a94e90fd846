// A disk that can be full.
#pragma once

#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

namespace pollux::live {

// A file system of a few megabytes in a folder; gone with the object.
class SmallDisk {
  public:
    explicit SmallDisk(std::string folder) : folder_(std::move(folder)) {
        std::filesystem::create_directories(folder_);
        mounted_ = mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=6m,mode=0700") == 0;
    }
    ~SmallDisk() {
        if (mounted_) umount2(folder_.c_str(), MNT_DETACH);
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;

    bool mounted() const { return mounted_; }
    const std::string& folder() const { return folder_; }

    // To the last byte; what others give back meanwhile is taken at the next call.
    void fill() const {
        std::ofstream filler(folder_ + "/filler", std::ios::app | std::ios::binary);
        const std::string block(4096, 'x');
        while (filler.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
        }
    }
    void clear() const { std::filesystem::remove(folder_ + "/filler"); }

  private:
    std::string folder_;
    bool mounted_ = false;
};

}  // namespace pollux::live
