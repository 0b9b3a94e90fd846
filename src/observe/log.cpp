#include "observe/log.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>

#include "document/write.hpp"

namespace pollux::observe {
namespace {

constexpr std::array<std::string_view, 4> kLevelNames = {"debug", "info", "warn", "error"};

bool is_plain(std::string_view value) {
    if (value.empty()) return false;
    for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte <= 0x20 || byte == '"' || byte == '=' || byte == '\\' || byte == 0x7F)
            return false;
    }
    return true;
}

std::string_view bounded(std::string_view value) {
    if (value.size() <= Log::kMaxValueBytes) return value;
    std::size_t end = Log::kMaxValueBytes;
    while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xC0U) == 0x80) --end;
    return value.substr(0, end);
}

void append_field(std::string& out, LogFormat format, std::string_view key,
                  std::string_view value) {
    value = bounded(value);
    if (format == LogFormat::kJson) {
        out += out.size() == 1 ? "\"" : ",\"";
        out += key;
        out += "\":";
        out += document::json_string(value);
        return;
    }
    if (!out.empty()) out += ' ';
    out += key;
    out += '=';
    if (is_plain(value)) {
        out += value;
    } else {
        out += document::json_string(value);
    }
}

}  // namespace

std::string_view to_string(LogLevel level) { return kLevelNames[static_cast<std::size_t>(level)]; }

Log::Log(LogOptions options, Clock clock, Sink sink)
    : options_(options),
      threshold_(options_.level),
      clock_(std::move(clock)),
      sink_(std::move(sink)) {}

std::string Log::format(LogLevel level, std::string_view message,
                        std::initializer_list<LogField> fields, std::uint64_t left_out,
                        base::WallTime now) const {
    std::string line = options_.format == LogFormat::kJson ? "{" : "";
    append_field(line, options_.format, "time", base::format_utc(now));
    append_field(line, options_.format, "level", to_string(level));
    append_field(line, options_.format, "msg", message);
    for (const LogField& field : fields) {
        append_field(line, options_.format, field.key, field.value);
    }
    if (left_out > 0) {
        append_field(line, options_.format, "left_out", std::to_string(left_out));
    }
    line += options_.format == LogFormat::kJson ? "}\n" : "\n";
    return line;
}

bool Log::passes(std::string_view message, std::initializer_list<LogField> fields,
                 base::WallTime now, std::uint64_t& left_out) {
    if (options_.repeats_per_minute == 0) return true;
    std::string id(message);
    for (const LogField& field : fields) {
        if (field.key == "key") id += '\n' + field.value;
    }
    const std::int64_t minute = now.us / 60'000'000;
    auto found = repeats_.find(id);
    if (found == repeats_.end()) {
        // Forgetting all at once is coarse, but bounded and cheap; at worst a few lines more.
        if (repeats_.size() >= kMaxRemembered) repeats_.clear();
        found = repeats_.emplace(std::move(id), Repeats{.minute = minute}).first;
    }
    Repeats& repeats = found->second;
    if (repeats.minute != minute) {
        repeats.minute = minute;
        repeats.written = 0;
    }
    if (repeats.written >= options_.repeats_per_minute) {
        ++repeats.left_out;
        return false;
    }
    ++repeats.written;
    left_out = repeats.left_out;
    repeats.left_out = 0;
    return true;
}

void Log::write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
    const std::lock_guard lock(mutex_);
    if (level < options_.level) return;
    const base::WallTime now = clock_();
    std::uint64_t left_out = 0;
    if (!passes(message, fields, now, left_out)) return;
    ++lines_[static_cast<std::size_t>(level)];
    sink_(format(level, message, fields, left_out, now));
}

void Log::set_level(LogLevel level) {
    const std::lock_guard lock(mutex_);
    options_.level = level;
    threshold_ = level;
}

std::uint64_t Log::lines(LogLevel level) const {
    const std::lock_guard lock(mutex_);
    return lines_[static_cast<std::size_t>(level)];
}

Log::Sink descriptor_sink(int fd) {
    return [fd](std::string_view line) {
        while (!line.empty()) {
            const ssize_t written = ::write(fd, line.data(), line.size());
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) return;
            line.remove_prefix(static_cast<std::size_t>(written));
        }
    };
}

}  // namespace pollux::observe
