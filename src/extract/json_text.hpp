// Writes JSON text piece by piece, for answers of other formats that are then read like JSON.
// Private to this folder.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pollux::extract {

class JsonText {
  public:
    // Past `max_bytes` nothing is written any more and full() says so.
    explicit JsonText(std::size_t max_bytes) : max_bytes_(max_bytes) {}

    void begin_object() { begin('{'); }
    void end_object() { end('}'); }
    void begin_array() { begin('['); }
    void end_array() { end(']'); }
    void key(std::string_view name);
    void text(std::string_view value);  // bytes that are no UTF-8 become ?

    bool full() const { return full_; }
    std::string take() { return std::move(out_); }

  private:
    void comma();
    void begin(char c);
    void end(char c);
    void put(std::string_view piece);

    std::string out_;
    std::size_t max_bytes_;
    bool first_ = true;
    bool full_ = false;
};

}  // namespace pollux::extract
