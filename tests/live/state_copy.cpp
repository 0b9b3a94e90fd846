#include "tests/live/state_copy.hpp"

namespace pollux::live {

StateCopy::StateCopy(const std::string& data_folder, const std::string& name) : name_(name) {
    namespace fs = std::filesystem;
    for (const char* suffix : {"", "-wal"}) {
        const std::string from = data_folder + "/" + name + suffix;
        if (fs::exists(from)) fs::copy_file(from, folder_.file(name + suffix));
    }
}

std::string StateCopy::integrity() const {
    std::string text;
    for (const std::string& row : rows("PRAGMA integrity_check")) text += row;
    return text;
}

std::vector<std::string> StateCopy::rows(const std::string& sql) const {
    const std::string text = net::test::run_tool(
        {"sqlite3", "-batch", "-noheader", "-separator", "|", folder_.file(name_), sql}, folder_);
    std::vector<std::string> rows;
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos;
         end = text.find('\n', begin)) {
        rows.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return rows;
}

}  // namespace pollux::live
