#include "app/channel_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "app/fleet_files.hpp"
#include "base/text.hpp"
#include "feed/channel.hpp"

namespace pollux::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxDefinitions = 1000;
constexpr std::size_t kMaxDefinitionBytes = 256U << 10U;

class LibraryRules final : public config::ChannelRules {
  public:
    explicit LibraryRules(feed::ChannelLibrary made) : library(std::move(made)) {}

    base::Status check(const model::Channel& channel) const override {
        const auto endpoint = endpoint_of(channel);
        if (endpoint->problem) return std::unexpected(*endpoint->problem);
        return {};
    }
    bool digests(const model::Channel& channel) const override {
        const auto endpoint = endpoint_of(channel);
        switch (endpoint->channel.kind) {
            case model::ChannelKind::kEmail: return true;
            case model::ChannelKind::kExec: return false;
            case model::ChannelKind::kWebhook: break;
        }
        return endpoint->definition != nullptr && endpoint->definition->digests;
    }

    const feed::ChannelLibrary library;

  private:
    // Whether credentials are there is looked at where they are known.
    std::shared_ptr<const feed::Endpoint> endpoint_of(const model::Channel& channel) const {
        static const auto kNamed = std::make_shared<const model::Credentials>();
        return feed::make_endpoint(channel, channel.credentials.empty() ? nullptr : kNamed,
                                   library);
    }
};

auto read_error(const std::string& path, std::string_view why) {
    return base::config_error("file.read", fmt::format("{}: {}", path, why));
}

// FOLDER/<name>.yaml and FOLDER/<name>/channel.yaml, sorted; hidden ones are left out.
base::Result<std::vector<std::string>> definitions_in(const std::string& folder) {
    std::error_code error;
    if (!fs::is_directory(folder, error)) {
        return read_error(folder, "is no folder; the setting channel_folder names it");
    }
    std::vector<std::string> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
        std::error_code ignored;
        if (entry.path().filename().string().starts_with('.')) continue;
        const fs::path inside = entry.path() / "channel.yaml";
        if (entry.is_directory(ignored) && fs::is_regular_file(inside, ignored)) {
            files.push_back(inside.string());
        } else if (entry.path().extension() == ".yaml" && entry.is_regular_file(ignored)) {
            files.push_back(entry.path().string());
        }
        if (files.size() > kMaxDefinitions) {
            return read_error(folder, fmt::format("holds more than {} templates", kMaxDefinitions));
        }
    }
    if (error) return read_error(folder, error.message());
    std::ranges::sort(files);
    return files;
}

}  // namespace

base::Result<std::shared_ptr<const config::ChannelRules>> load_channels(
    const config::Settings& settings) {
    std::vector<std::shared_ptr<const feed::ChannelDefinition>> own;
    std::vector<std::string> files;
    if (!settings.channel_folder.text.empty()) {
        auto found = definitions_in(settings.channel_folder.text);
        if (!found) return std::unexpected(found.error());
        files = std::move(*found);
    }
    document::Diagnostics diagnostics;
    std::map<std::string, std::string, std::less<>> file_of;
    for (const std::string& file : files) {
        const auto text = read_text_file(file, kMaxDefinitionBytes);
        if (!text) return std::unexpected(text.error());
        document::Diagnostics of_file;
        auto definition = feed::read_channel_definition(*text, file, of_file);
        for (const document::Diagnostic& item : of_file.items()) diagnostics.add(item);
        if (definition == nullptr) continue;
        const auto [known, fresh] = file_of.emplace(definition->name, file);
        if (!fresh) {
            diagnostics.error({std::make_shared<const std::string>(file), 1, 1}, "channel",
                              fmt::format("{} is described in {} already; keep one of them",
                                          base::quoted(definition->name), known->second));
            continue;
        }
        own.push_back(std::move(definition));
    }
    if (!diagnostics.ok()) {
        return std::unexpected(
            base::Error{"channel.invalid", base::ErrorClass::kConfig, diagnostics.text()});
    }
    return std::make_shared<const LibraryRules>(feed::ChannelLibrary(std::move(own)));
}

const feed::ChannelLibrary& library_of(const config::ChannelRules* rules) {
    const auto* known = dynamic_cast<const LibraryRules*>(rules);
    return known == nullptr ? feed::ChannelLibrary::shipped() : known->library;
}

}  // namespace pollux::app
