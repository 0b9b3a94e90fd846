// The log of the process: one line per event, made of a message and fields, for people and for
// machines (logfmt or JSON). Every transition of state is a line with the same field names as in
// the API and the metrics.
//
// Thread-safe. A line is written with one write(), so lines of several threads do not mix. What
// comes from outside is bounded and escaped: a device cannot forge or flood a line. The same
// message about the same key is written at most a few times a minute; what was left out is counted
// on the next line that passes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace pollux::observe {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarn, kError };
enum class LogFormat : std::uint8_t { kLogfmt, kJson };

std::string_view to_string(LogLevel level);

struct LogField {
    std::string_view key;
    std::string value;
};

struct LogOptions {
    LogLevel level = LogLevel::kInfo;
    LogFormat format = LogFormat::kLogfmt;
    std::uint32_t repeats_per_minute = 10;  // of one message about one key; 0: no limit
};

class Log {
  public:
    using Clock = std::function<base::WallTime()>;
    using Sink = std::function<void(std::string_view line)>;

    static constexpr std::size_t kMaxValueBytes = 2048;
    static constexpr std::size_t kMaxRemembered = 4096;  // messages whose repeats are counted

    // The sink takes whole lines; the usual one writes to standard error.
    Log(LogOptions options, Clock clock, Sink sink);

    void write(LogLevel level, std::string_view message,
               std::initializer_list<LogField> fields = {});
    void debug(std::string_view message, std::initializer_list<LogField> fields = {}) {
        write(LogLevel::kDebug, message, fields);
    }
    void info(std::string_view message, std::initializer_list<LogField> fields = {}) {
        write(LogLevel::kInfo, message, fields);
    }
    void warn(std::string_view message, std::initializer_list<LogField> fields = {}) {
        write(LogLevel::kWarn, message, fields);
    }
    void error(std::string_view message, std::initializer_list<LogField> fields = {}) {
        write(LogLevel::kError, message, fields);
    }

    // Whether a line of that level would be written: who makes its fields only then saves them.
    bool enabled(LogLevel level) const {
        return level >= threshold_.load(std::memory_order_relaxed);
    }
    void set_level(LogLevel level);
    std::uint64_t lines(LogLevel level) const;

  private:
    struct Repeats {
        std::int64_t minute = 0;
        std::uint32_t written = 0;
        std::uint64_t left_out = 0;
    };

    std::string format(LogLevel level, std::string_view message,
                       std::initializer_list<LogField> fields, std::uint64_t left_out,
                       base::WallTime now) const;
    bool passes(std::string_view message, std::initializer_list<LogField> fields,
                base::WallTime now, std::uint64_t& left_out);

    LogOptions options_;
    std::atomic<LogLevel> threshold_;  // options_.level, to be read without the lock
    Clock clock_;
    Sink sink_;
    mutable std::mutex mutex_;
    std::map<std::string, Repeats, std::less<>> repeats_;
    std::uint64_t lines_[4] = {};
};

// Writes to a descriptor, whole lines; short writes are completed, errors are ignored.
Log::Sink descriptor_sink(int fd);

}  // namespace pollux::observe
