#include "alert/fingerprint.hpp"

#include <initializer_list>

#include "base/bytes.hpp"
#include "base/sha256.hpp"

namespace pollux::alert {
namespace {

constexpr std::size_t kBytes = 16;

// Each part with its length, so that parts cannot flow into each other; the first one says what the
// rest is, so that kinds cannot either.
std::string of_parts(std::initializer_list<std::string_view> parts) {
    base::ByteWriter out;
    out.reserve(192);
    for (const std::string_view part : parts) out.string(part);
    return base::hex_of(base::sha256(out.view()), kBytes);
}

}  // namespace

std::string imported_fingerprint(std::string_view addon, std::string_view type,
                                 std::string_view address, std::string_view subject) {
    base::Sha256 hash;
    hash.update(addon);
    hash.update(":");
    hash.update(type);
    hash.update(":");
    hash.update(address);
    if (!subject.empty()) {
        hash.update(":");
        hash.update(subject);
    }
    return base::hex_of(hash.finish(), kBytes);
}

std::string own_fingerprint(std::string_view target_id, std::string_view addon,
                            std::string_view type, std::string_view subject) {
    return of_parts({"target", target_id, addon, type, subject});
}

std::string label_fingerprint(const model::AlertLabels& labels) {
    base::ByteWriter out;
    out.string("labels");
    for (const auto& [name, value] : labels) {
        out.string(name);
        out.string(value);
    }
    return base::hex_of(base::sha256(out.view()), kBytes);
}

}  // namespace pollux::alert
