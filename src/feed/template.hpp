// A small template language for messages. It can show values, choose and repeat; it cannot compute,
// call, include or run for long, so that templates are data that people may share.
//
//   {{ incident.title }}                    a value, escaped for the format of the template
//   {{ incident.severity | upper }}         filters, see docs/channels.md
//   {% if kind == "recovery" %} … {% elif … %} … {% else %} … {% endif %}
//   {% for alert in alerts %} … {{ loop.index }} … {% endfor %}
//   {# nothing of this is sent #}
//
// Invariants
// 1. Every value is cleaned and escaped for the place where it stands, without the template's
//    doing: in JSON a value inside of a string is its contents, elsewhere a whole value. No value
//    can end the string, the tag, the field or the line it is put into.
// 2. What a JSON template renders is JSON, or there is an error.
// 3. Size, depth, steps and output are bounded.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "document/node.hpp"
#include "feed/escape.hpp"

namespace pollux::feed {

struct TemplateProgram;

// What names mean at the top: the body of a notification, the parameters of a channel, and so on.
// The nodes outlive the rendering; the first of equal names counts.
using TemplateNames = std::vector<std::pair<std::string_view, const document::Node*>>;

class Template {
  public:
    static constexpr std::size_t kMaxBytes = 64U << 10U;
    static constexpr std::size_t kMaxDepth = 8;
    static constexpr std::size_t kMaxSteps = 20'000;
    static constexpr std::size_t kMaxOutput = 256U << 10U;

    // `known` are the names that may stand at the beginning of a path; empty: all. Errors are
    // "feed.template" with the line and what is allowed there.
    static base::Result<Template> compile(std::string_view text, Format format,
                                          std::span<const std::string_view> known = {});

    Template(Template&&) noexcept;
    Template& operator=(Template&&) noexcept;
    ~Template();

    // Errors "feed.template_output": too long, too many steps, or not JSON. A name without a value
    // is empty.
    base::Result<std::string> render(const TemplateNames& names,
                                     std::size_t max_output = kMaxOutput) const;

    Format format() const;

  private:
    explicit Template(std::unique_ptr<const TemplateProgram> program);
    std::unique_ptr<const TemplateProgram> program_;
};

}  // namespace pollux::feed
