#include "feed/template.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "document/parse.hpp"
#include "document/scalar.hpp"
#include "document/write.hpp"
#include "feed/template_program.hpp"

namespace pollux::feed {
namespace {

using document::Node;

const Node& nothing() {
    static const Node node;
    return node;
}

// All texts within it cleaned; keys too, since they are shown like values.
Node cleaned(const Node& value, bool keep_lines) {
    if (value.is_sequence()) {
        Node out = Node::sequence();
        for (const Node& item : value.items()) out.push(cleaned(item, keep_lines));
        return out;
    }
    if (value.is_map()) {
        Node out = Node::map();
        for (const auto& [key, mark, item] : value.entries()) {
            out.set(clean_text(key, false), cleaned(item, keep_lines));
        }
        return out;
    }
    return value.is_scalar() && value.quoted() ? Node::text(clean_text(value.scalar(), keep_lines))
                                               : value;
}

class Renderer {
  public:
    Renderer(const TemplateProgram& program, const TemplateNames& names, std::size_t max_output)
        : program_(program), max_output_(max_output) {
        for (const auto& [name, node] : names) scope_.emplace_back(name, node);
        std::ranges::reverse(scope_);  // looked up from the end: the first given counts
    }

    base::Result<std::string> run() {
        if (!pieces(program_.pieces)) {
            return base::make_error(base::ErrorClass::kPermanent, "feed.template_output",
                                    std::move(problem_));
        }
        return std::move(out_);
    }

  private:
    bool pieces(const std::vector<Piece>& all) {
        return std::ranges::all_of(all, [&](const Piece& piece) { return one(piece); });
    }

    bool one(const Piece& piece) {
        if (++steps_ > Template::kMaxSteps) {
            problem_ = fmt::format("the template takes more than {} steps", Template::kMaxSteps);
            return false;
        }
        switch (piece.kind) {
            case PieceKind::kLiteral: out_ += piece.text; break;
            case PieceKind::kValue: value(piece); break;
            case PieceKind::kIf: return choose(piece);
            case PieceKind::kFor: return repeat(piece);
        }
        if (out_.size() <= max_output_) return true;
        problem_ = fmt::format("the template makes more than {} bytes", max_output_);
        return false;
    }

    void value(const Piece& piece) {
        bool keep_lines = false;
        const Node value = filtered(find(piece.value), piece.value.filters, keep_lines);
        if (program_.format == Format::kJson && !piece.in_string) {
            out_ += document::to_json(cleaned(value, keep_lines));
            return;
        }
        const std::string text = clean_text(text_of(value), keep_lines);
        const bool encoded = program_.format == Format::kUrl && !piece.value.filters.empty() &&
                             piece.value.filters.back().kind == FilterKind::kPath;
        if (encoded) {
            out_ += text;  // with its slashes; all else is percent-encoded already
        } else {
            append_escaped(out_, program_.format, text);
        }
    }

    bool choose(const Piece& piece) {
        for (const Branch& branch : piece.branches) {
            if (branch.condition.empty() || holds(branch.condition)) return pieces(branch.pieces);
        }
        return true;
    }

    bool repeat(const Piece& piece) {
        bool ignored = false;
        const Node list = filtered(find(piece.value), piece.value.filters, ignored);
        const std::size_t count = list.items().size();
        for (std::size_t i = 0; i < count; ++i) {
            Node loop = Node::map();
            loop.set("index", Node::unsigned_integer(i + 1));
            loop.set("first", Node::boolean(i == 0));
            loop.set("last", Node::boolean(i + 1 == count));
            scope_.emplace_back("loop", &loop);
            scope_.emplace_back(piece.text, &list.items()[i]);
            const bool good = pieces(piece.branches.front().pieces);
            scope_.resize(scope_.size() - 2);
            if (!good) return false;
        }
        return true;
    }

    bool holds(const Condition& condition) const {
        return std::ranges::any_of(condition, [&](const std::vector<Term>& terms) {
            return std::ranges::all_of(terms, [&](const Term& term) { return holds(term); });
        });
    }

    bool holds(const Term& term) const {
        bool ignored = false;
        const Node left = filtered(find(term.left), term.left.filters, ignored);
        if (term.comparison == Comparison::kTrue) return is_true(left) != term.negated;
        const Node right = filtered(find(term.right), term.right.filters, ignored);
        const bool equal = text_of(left) == text_of(right);
        return (equal == (term.comparison == Comparison::kEqual)) != term.negated;
    }

    const Node& find(const Operand& operand) const {
        if (operand.path.empty()) return operand.literal;
        const Node* at = nullptr;
        for (auto entry = scope_.rbegin(); entry != scope_.rend() && at == nullptr; ++entry) {
            if (entry->first == operand.path.front()) at = entry->second;
        }
        for (std::size_t i = 1; i < operand.path.size() && at != nullptr; ++i) {
            at = child(*at, operand.path[i]);
        }
        return at == nullptr ? nothing() : *at;
    }

    static const Node* child(const Node& node, const std::string& name) {
        if (!node.is_sequence()) return node.find(name);
        const auto index = document::parse_unsigned(name);
        return index && *index < node.items().size() ? &node.items()[*index] : nullptr;
    }

    const TemplateProgram& program_;
    std::size_t max_output_;
    std::vector<std::pair<std::string_view, const Node*>> scope_;
    std::string out_;
    std::string problem_;
    std::size_t steps_ = 0;
};

}  // namespace

Template::Template(std::unique_ptr<const TemplateProgram> program) : program_(std::move(program)) {}
Template::Template(Template&&) noexcept = default;
Template& Template::operator=(Template&&) noexcept = default;
Template::~Template() = default;

Format Template::format() const { return program_->format; }

base::Result<Template> Template::compile(std::string_view text, Format format,
                                         std::span<const std::string_view> known) {
    auto program = parse_template(text, format, known);
    if (!program) return std::unexpected(program.error());
    return Template(std::make_unique<const TemplateProgram>(std::move(*program)));
}

base::Result<std::string> Template::render(const TemplateNames& names,
                                           std::size_t max_output) const {
    auto out = Renderer(*program_, names, max_output).run();
    if (!out || program_->format != Format::kJson) return out;
    document::Diagnostics diagnostics;
    document::ParseLimits limits;
    limits.max_bytes = max_output;
    if (document::parse_json(*out, "template", diagnostics, limits).ok) return out;
    return base::make_error(base::ErrorClass::kPermanent, "feed.template_output",
                            "what the template makes is no JSON: " + diagnostics.text());
}

}  // namespace pollux::feed
