// Text that must not be seen: it has no way into a stream or a formatter, and it is wiped when it
// goes. reveal() is the only way out; every call of it is a place to look at in review.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace pollux::base {

class Secret {
  public:
    Secret() = default;
    explicit Secret(std::string text) : text_(std::move(text)) {}
    Secret(const Secret&) = default;
    Secret(Secret&& other) noexcept : text_(std::exchange(other.text_, {})) {}
    Secret& operator=(const Secret& other) {
        if (this != &other) {
            wipe();
            text_ = other.text_;
        }
        return *this;
    }
    Secret& operator=(Secret&& other) noexcept {
        if (this != &other) {
            wipe();
            text_ = std::exchange(other.text_, {});
        }
        return *this;
    }
    ~Secret() { wipe(); }

    const std::string& reveal() const { return text_; }
    bool empty() const { return text_.empty(); }
    // Compares in a time that depends on the lengths only: for what strangers hand in.
    bool matches(std::string_view other) const {
        unsigned difference = text_.size() == other.size() ? 0 : 1;
        for (std::size_t i = 0; i < std::min(text_.size(), other.size()); ++i) {
            difference |= static_cast<unsigned char>(text_[i] ^ other[i]);
        }
        return difference == 0;
    }
    bool operator==(const Secret&) const = default;

  private:
    void wipe() {
        // Through a volatile pointer, so that the compiler keeps the stores.
        volatile char* bytes = text_.data();
        for (std::size_t i = 0; i < text_.capacity(); ++i) bytes[i] = 0;
    }

    std::string text_;
};

}  // namespace pollux::base
