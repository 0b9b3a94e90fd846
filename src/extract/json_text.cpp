#include "extract/json_text.hpp"

#include "base/text.hpp"
#include "document/write.hpp"

namespace pollux::extract {

void JsonText::put(std::string_view piece) {
    if (full_ || out_.size() + piece.size() > max_bytes_) {
        full_ = true;
        return;
    }
    out_ += piece;
}

void JsonText::comma() {
    if (!first_) put(",");
    first_ = false;
}

void JsonText::begin(char c) {
    comma();
    put({&c, 1});
    first_ = true;
}

void JsonText::end(char c) {
    put({&c, 1});
    first_ = false;
}

void JsonText::key(std::string_view name) {
    text(name);
    put(":");
    first_ = true;
}

void JsonText::text(std::string_view value) {
    comma();
    if (base::is_valid_utf8(value)) {
        put(document::json_string(value));
        return;
    }
    std::string plain(value);
    for (char& c : plain) {
        if (static_cast<unsigned char>(c) >= 0x80) c = '?';
    }
    put(document::json_string(plain));
}

}  // namespace pollux::extract
