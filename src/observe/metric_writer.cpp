#include "observe/metric_writer.hpp"

#include <charconv>
#include <cmath>

#include "base/check.hpp"

namespace pollux::observe {
namespace {

void append_help(std::string& out, std::string_view help) {
    for (const char c : help) {
        if (c == '\\') {
            out += "\\\\";
        } else if (c == '\n') {
            out += "\\n";
        } else {
            out += c;
        }
    }
}

}  // namespace

void append_label_value(std::string& out, std::string_view value) {
    for (const char c : value) {
        if (c == '\\') {
            out += "\\\\";
        } else if (c == '\n') {
            out += "\\n";
        } else if (c == '"') {
            out += "\\\"";
        } else {
            out += c;
        }
    }
}

void append_number(std::string& out, double value) {
    if (std::isnan(value)) {
        out += "NaN";
    } else if (std::isinf(value)) {
        out += value > 0 ? "+Inf" : "-Inf";
    } else {
        std::array<char, 32> text;
        // Counts and times as people write them: the shortest form of 1700000000 is 1.7e+09.
        const bool whole = std::abs(value) < 0x1p53 && value == std::trunc(value);
        const auto result =
            whole ? std::to_chars(text.begin(), text.end(), static_cast<std::int64_t>(value))
                  : std::to_chars(text.begin(), text.end(), value);
        out.append(text.data(), result.ptr);
    }
}

void MetricWriter::family(MetricId id) {
    const MetricFamily& family = catalog_entry(id);
    this->family(family.name, to_string(family.type), family.help, family.label_span());
}

void MetricWriter::family(std::string_view name, std::string_view type, std::string_view help,
                          std::span<const std::string_view> labels) {
    name_ = name;
    label_names_ = labels;
    out_ += "# HELP ";
    out_ += name;
    out_ += ' ';
    append_help(out_, help);
    out_ += "\n# TYPE ";
    out_ += name;
    out_ += ' ';
    out_ += type;
    out_ += '\n';
}

void MetricWriter::begin(std::string_view suffix) {
    out_ += name_;
    out_ += suffix;
}

void MetricWriter::label(std::string_view name, std::string_view value, bool& first) {
    out_ += first ? '{' : ',';
    first = false;
    out_ += name;
    out_ += "=\"";
    append_label_value(out_, value);
    out_ += '"';
}

void MetricWriter::end(double value) {
    out_ += ' ';
    append_number(out_, value);
    out_ += '\n';
}

void MetricWriter::write(std::string_view suffix, Labels labels, std::string_view extra_name,
                         std::string_view extra_value, double value) {
    POLLUX_CHECK(labels.size() == label_names_.size());
    begin(suffix);
    bool first = true;
    std::size_t i = 0;
    for (const std::string_view text : labels) label(label_names_[i++], text, first);
    if (!extra_name.empty()) label(extra_name, extra_value, first);
    if (!first) out_ += '}';
    end(value);
}

void MetricWriter::sample(std::span<const std::string_view> labels, double value) {
    POLLUX_CHECK(labels.size() == label_names_.size());
    begin("");
    bool first = true;
    for (std::size_t i = 0; i < labels.size(); ++i) label(label_names_[i], labels[i], first);
    if (!first) out_ += '}';
    end(value);
}

void MetricWriter::histogram(Labels labels, std::span<const double> bounds,
                             std::span<const std::uint64_t> counts, double sum) {
    POLLUX_CHECK(counts.size() == bounds.size() + 1);
    std::uint64_t total = 0;
    std::string bound;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        total += counts[i];
        bound.clear();
        if (i < bounds.size()) {
            append_number(bound, bounds[i]);
        } else {
            bound = "+Inf";
        }
        write("_bucket", labels, "le", bound, static_cast<double>(total));
    }
    write("_sum", labels, {}, {}, sum);
    write("_count", labels, {}, {}, static_cast<double>(total));
}

std::string metric_name(std::string_view prefix, std::string_view name, std::string_view unit) {
    std::string text(prefix);
    const auto append = [&text](std::string_view part) {
        if (part.empty()) return;
        if (!text.empty()) text += '_';
        for (const char c : part) {
            const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
                               (c >= 'A' && c <= 'Z');
            text += plain ? c : '_';
        }
    };
    append(name);
    append(unit);
    return text;
}

}  // namespace pollux::observe
