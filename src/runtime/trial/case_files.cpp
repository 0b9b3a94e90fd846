#include "runtime/trial/case_files.hpp"

namespace pollux::runtime {

std::string text_or_file(document::MapReader& reader, std::string_view key,
                         std::string_view file_key, const CaseFiles& files) {
    std::string text = reader.string(key).value_or("");
    const auto name = reader.string(file_key);
    if (!name) return text;
    auto content = files(*name);
    if (!content) {
        reader.error(file_key, content.error().message);
        return text;
    }
    return std::move(*content);
}

}  // namespace pollux::runtime
