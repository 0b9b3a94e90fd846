// Writes the Prometheus text format straight into a buffer: no registry, no object per series, so
// that a page of ten thousand targets costs its bytes and nothing else.
//
// A family is opened once and its samples follow it; labels are given in the order of the family's
// definition. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "observe/metric_catalog.hpp"

namespace pollux::observe {

class MetricWriter {
  public:
    explicit MetricWriter(std::string& out) : out_(out) {}

    // HELP and TYPE of a family of the catalog; samples of it follow.
    void family(MetricId id);
    // A family that is not in the catalog: values of devices.
    void family(std::string_view name, std::string_view type, std::string_view help,
                std::span<const std::string_view> labels);

    using Labels = std::initializer_list<std::string_view>;  // values
    void sample(Labels labels, double value) { write("", labels, {}, {}, value); }
    void sample(std::span<const std::string_view> labels, double value);
    void histogram(Labels labels, std::span<const double> bounds,
                   std::span<const std::uint64_t> counts, double sum);

    std::size_t size() const { return out_.size(); }

  private:
    void write(std::string_view suffix, Labels labels, std::string_view extra_name,
               std::string_view extra_value, double value);
    void begin(std::string_view suffix);
    void label(std::string_view name, std::string_view value, bool& first);
    void end(double value);

    std::string& out_;
    std::string_view name_;
    std::span<const std::string_view> label_names_;
};

// The shortest text that reads back as the same number; "NaN", "+Inf", "-Inf".
void append_number(std::string& out, double value);

// With the escapes of the format; the quotes are the caller's.
void append_label_value(std::string& out, std::string_view value);

// A valid metric name made from parts: other characters become '_'.
std::string metric_name(std::string_view prefix, std::string_view name, std::string_view unit);

}  // namespace pollux::observe
