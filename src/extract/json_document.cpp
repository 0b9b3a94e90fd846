#include "extract/json_document.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <new>

#include "base/text.hpp"

namespace pollux::extract {
namespace {

namespace json = boost::json;

// Hands out memory until the limit is reached; a short text can ask for a large tree.
class CappedResource final : public json::memory_resource {
  public:
    explicit CappedResource(std::size_t limit) : left_(limit) {}

  private:
    void* do_allocate(std::size_t bytes, std::size_t) override {
        if (bytes > left_) throw std::bad_alloc();
        left_ -= bytes;
        return ::operator new(bytes);
    }
    void do_deallocate(void* at, std::size_t, std::size_t) override { ::operator delete(at); }
    bool do_is_equal(const json::memory_resource& other) const noexcept override {
        return this == &other;
    }

    std::size_t left_;
};

}  // namespace

struct JsonDocument::Impl {
    explicit Impl(const JsonLimits& limits, std::size_t first)
        : capped(limits.max_memory), arena(first, json::storage_ptr(&capped)) {}

    CappedResource capped;
    json::monotonic_resource arena;
    json::value root;
};

JsonDocument::JsonDocument(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;
JsonDocument::~JsonDocument() = default;

const JsonNode& JsonDocument::root() const { return impl_->root; }

base::Result<JsonDocument> JsonDocument::parse(std::string_view text, const JsonLimits& limits) {
    const std::size_t first = std::min<std::size_t>(text.size() * 2 + 512, limits.max_memory / 4);
    auto impl = std::make_unique<Impl>(limits, first);
    json::parse_options options;
    options.max_depth = limits.max_depth;
    try {
        json::error_code error;
        // The parser's own stacks live in the same bounded memory.
        json::parser parser(json::storage_ptr(&impl->capped), options);
        parser.reset(json::storage_ptr(&impl->arena));
        const std::size_t used = parser.write_some(text.data(), text.size(), error);
        if (!error && used < text.size() &&
            text.find_first_not_of(" \t\r\n", used) != std::string_view::npos) {
            error = json::error::extra_data;
        }
        if (error == json::error::too_deep) {
            return base::make_error(base::ErrorClass::kTransient, "json.too_large",
                                    fmt::format("nested deeper than {} levels", limits.max_depth));
        }
        if (error) {
            return base::make_error(
                base::ErrorClass::kTransient, "json.invalid",
                fmt::format("not JSON: {} at byte {}, near {}", error.message(), used,
                            base::quoted(text.substr(used < 10 ? 0 : used - 10), 30)));
        }
        // Same memory resource on both sides: the tree moves without a copy.
        json::value root = parser.release();
        impl->root.~value();
        ::new (&impl->root) json::value(json::pilfer(root));
    } catch (const std::bad_alloc&) {
        return base::make_error(
            base::ErrorClass::kTransient, "json.too_large",
            fmt::format("needs more than {} bytes of memory as a tree", limits.max_memory));
    }
    return JsonDocument(std::move(impl));
}

bool to_value(const JsonNode& node, model::Value& out) {
    switch (node.kind()) {
        case json::kind::null: out = std::monostate(); return true;
        case json::kind::bool_: out = node.get_bool(); return true;
        case json::kind::int64: out = node.get_int64(); return true;
        case json::kind::uint64: out = node.get_uint64(); return true;
        case json::kind::double_: out = node.get_double(); return true;
        case json::kind::string: {
            const json::string& text = node.get_string();
            out = std::string(text.data(), text.size());
            return true;
        }
        case json::kind::array:
        case json::kind::object: break;
    }
    return false;
}

std::string preview(const JsonNode& node, std::size_t max) {
    switch (node.kind()) {
        case json::kind::array: return fmt::format("a list of {}", node.get_array().size());
        case json::kind::object:
            return fmt::format("an object with {} keys", node.get_object().size());
        case json::kind::string:
            return base::quoted(
                std::string_view(node.get_string().data(), node.get_string().size()), max);
        case json::kind::null: return "null";
        case json::kind::bool_: return node.get_bool() ? "true" : "false";
        case json::kind::int64: return fmt::format("{}", node.get_int64());
        case json::kind::uint64: return fmt::format("{}", node.get_uint64());
        case json::kind::double_: return fmt::format("{}", node.get_double());
    }
    return "";
}

}  // namespace pollux::extract
