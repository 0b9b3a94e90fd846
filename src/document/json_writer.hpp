// Writes JSON (RFC 8259) straight into a string: no tree, no allocation per value, commas by
// itself.
//
//   document::JsonWriter json(out);
//   json.object().field("key", "pve::node1").field("depth", 3).key("list").array();
//   for (const auto& one : all) json.value(one);
//   json.end_array().end_object();
//
// Text that is no UTF-8 gets U+FFFD for each bad byte; numbers are the shortest that read back as
// the same; NaN and the infinities, which JSON does not have, are null. What is written is whole
// JSON as long as the calls are balanced; complete() tells. Not thread-safe.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.hpp"
#include "base/time.hpp"

namespace pollux::document {

class JsonWriter {
  public:
    explicit JsonWriter(std::string& out) : out_(out) {}

    JsonWriter& object() { return open('{'); }
    JsonWriter& end_object() { return close('}'); }
    JsonWriter& array() { return open('['); }
    JsonWriter& end_array() { return close(']'); }

    JsonWriter& key(std::string_view name) {
        separate();
        string(name);
        out_ += ':';
        comma_ = false;
        return *this;
    }

    JsonWriter& value(std::string_view text) {
        separate();
        string(text);
        return *this;
    }
    JsonWriter& value(const char* text) { return value(std::string_view(text)); }
    JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
    JsonWriter& value(std::same_as<bool> auto truth) { return raw(truth ? "true" : "false"); }
    template <class Number>
        requires(std::integral<Number> && !std::same_as<Number, bool> &&
                 !std::same_as<Number, char>)
    JsonWriter& value(Number number) {
        return digits(number);
    }
    JsonWriter& value(double number) {
        // Beyond these a double has an exponent; JSON takes it as to_chars writes it.
        return std::isfinite(number) ? digits(number) : null();
    }
    // RFC 3339 in UTC with milliseconds, as a string.
    JsonWriter& value(base::WallTime time);
    JsonWriter& null() { return raw("null"); }
    // Text that is JSON already.
    JsonWriter& raw(std::string_view json) {
        separate();
        out_ += json;
        return *this;
    }

    template <class Value>
    JsonWriter& field(std::string_view name, const Value& one) {
        key(name);
        return value(one);
    }
    // Left out when it is the zero time.
    JsonWriter& time_field(std::string_view name, base::WallTime time) {
        return time == base::WallTime{} ? *this : field(name, time);
    }
    // Left out when it is empty.
    JsonWriter& text_field(std::string_view name, std::string_view text) {
        return text.empty() ? *this : field(name, text);
    }
    JsonWriter& raw_field(std::string_view name, std::string_view json) {
        return key(name).raw(json);
    }

    bool complete() const { return depth_ == 0 && comma_; }
    std::size_t size() const { return out_.size(); }

  private:
    void separate() {
        if (comma_) out_ += ',';
        comma_ = true;
    }
    JsonWriter& open(char bracket) {
        separate();
        out_ += bracket;
        comma_ = false;
        ++depth_;
        return *this;
    }
    JsonWriter& close(char bracket) {
        POLLUX_CHECK_MSG(depth_ > 0, "more is closed than was opened");
        --depth_;
        out_ += bracket;
        comma_ = true;
        return *this;
    }
    template <class Number>
    JsonWriter& digits(Number number) {
        separate();
        char text[32];
        const auto end = std::to_chars(text, text + sizeof(text), number);
        out_.append(text, end.ptr);
        return *this;
    }
    void string(std::string_view text);

    std::string& out_;
    std::uint32_t depth_ = 0;
    bool comma_ = false;  // a value stands before: the next one needs a comma
};

// The text with its quotes, escaped.
void append_json_string(std::string& out, std::string_view text);

}  // namespace pollux::document
