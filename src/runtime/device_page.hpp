// The polled values of devices in the Prometheus text format. Each shard writes the lines of its
// own devices; pages are merged, because all lines of a family must stand together.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace pollux::runtime {

class DevicePage {
  public:
    struct Family {
        std::string type;
        std::string help;
        std::string lines;
    };

    // Lines are added by writing to `lines` of the family; type and help of the first one stay.
    Family& family(std::string name, std::string_view type, std::string_view help);
    void merge(DevicePage other);
    std::string text() const;
    std::size_t families() const { return families_.size(); }

  private:
    std::map<std::string, Family, std::less<>> families_;
};

}  // namespace pollux::runtime
