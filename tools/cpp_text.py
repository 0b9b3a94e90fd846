"""Reading C++ text well enough for style rules: no compiler, a few plain scans."""

import re

RAW_STRING = re.compile(r'(?:u8|[uUL])?R"([^()\\ ]{0,16})\(')
TYPE = re.compile(r"^(?:inline\s+)?(?:class|struct|union|enum|namespace|concept)\b")
ACCESS = re.compile(r"^(?:public|private|protected)\s*:(?!:)")
CONTROL = re.compile(r"^(?:if|for|while|switch|catch|else|do|try|return)\b")


def _blank(text):
    """The same number of characters and lines, all of them empty."""
    return re.sub(r"[^\n]", " ", text)


def _literal_end(text, start):
    """The index behind the string or character literal that opens at start."""
    quote = text[start]
    i = start + 1
    while i < len(text) and text[i] != quote and text[i] != "\n":
        i += 2 if text[i] == "\\" else 1
    return min(i + 1, len(text))


def _is_digit_separator(text, i):
    """True for the quote in 1'000, false for the one that opens 'a'."""
    word = re.search(r"\w*$", text[max(0, i - 40):i]).group()
    return bool(word) and word[0].isdigit()


def strip(text, keep_strings=False):
    """Blanks comments, and literals too unless keep_strings; lines and columns stay as they are."""
    out = []
    i = 0
    while i < len(text):
        raw = RAW_STRING.match(text, i)
        if text.startswith("//", i):
            end = text.find("\n", i)
            end = len(text) if end < 0 else end
            out.append(_blank(text[i:end]))
        elif text.startswith("/*", i):
            end = text.find("*/", i + 2)
            end = len(text) if end < 0 else end + 2
            out.append(_blank(text[i:end]))
        elif raw and not (i and (text[i - 1].isalnum() or text[i - 1] == "_")):
            end = text.find(")" + raw.group(1) + '"', raw.end())
            end = len(text) if end < 0 else end + len(raw.group(1)) + 2
            out.append(text[i:end] if keep_strings else _blank(text[i:end]))
        elif text[i] == '"' or (text[i] == "'" and not _is_digit_separator(text, i)):
            end = _literal_end(text, i)
            literal = text[i:end]
            out.append(literal if keep_strings else text[i] + _blank(literal[1:-1]) + text[i])
        else:
            end = i + 1
            out.append(text[i])
        i = end
    return "".join(out)


def without_preprocessor(text):
    """Blanks lines of the preprocessor and their continuations."""
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: _blank(m.group()), text, flags=re.M)


def line_of(text, index):
    return text.count("\n", 0, index) + 1


def _without_prefix(header):
    """The declaration without access labels, attributes and template parameters in front."""
    header = header.strip()
    while True:
        access = ACCESS.match(header)
        if access:
            header = header[access.end():].lstrip()
            continue
        if header.startswith("[["):
            header = header[header.find("]]") + 2:].lstrip()
            continue
        if not re.match(r"template\s*<", header):
            return header
        depth = 0
        end = len(header)
        for at in range(header.index("<"), len(header)):
            depth += (header[at] == "<") - (header[at] == ">" and header[at - 1] != "-")
            if depth == 0:
                end = at + 1
                break
        header = header[end:].lstrip()


def _brace_kind(header):
    """What the brace behind header opens: 'scope', 'function', or 'value' for initialisers."""
    header = _without_prefix(header).rstrip()
    if TYPE.match(header) or (header.startswith("extern") and ")" not in header):
        return "scope"
    if header.count("(") > header.count(")") or header.endswith("=") or ")" not in header:
        return "value"
    return "value" if CONTROL.match(header) else "function"


def functions(stripped):
    """Yields (first line, last line) of each outermost function body, signature included.

    A heuristic over braces: text before `{` that has a parameter list, is no type and no
    initialiser, is a signature. A `}` followed by `,` or `{` belongs to a constructor's member
    list, so the signature goes on behind it.
    """
    text = without_preprocessor(stripped)
    stack = []
    start = 0  # of the declaration being read
    for found in re.finditer(r"[{};]", text):
        i = found.start()
        kind = stack[-1][0] if stack else "scope"
        if found.group() == "{":
            inside = kind in ("function", "block")
            opened = "block" if inside else _brace_kind(text[start:i])
            stack.append((opened, start))
            if opened in ("scope", "function"):
                start = i + 1
        elif found.group() == "}":
            opened_at = stack.pop()[1] if stack else start
            if kind == "function" and text[i + 1:i + 200].lstrip()[:1] in (",", "{"):
                start = opened_at
            elif kind in ("scope", "function"):
                start = i + 1
            if kind == "function" and start == i + 1:
                first = opened_at + len(text[opened_at:i]) - len(text[opened_at:i].lstrip())
                yield line_of(text, first), line_of(text, i)
        elif kind == "scope" and text.count("(", start, i) <= text.count(")", start, i):
            start = i + 1


def await_spans(stripped):
    """Yields (line, text) of each co_await expression, from its line's start to its end."""
    for found in re.finditer(r"\bco_await\b", stripped):
        depth = 0
        end = found.end()
        while end < len(stripped):
            char = stripped[end]
            depth += (char in "({[") - (char in ")}]")
            if depth < 0 or (depth == 0 and char == ";"):
                break
            end += 1
        line_start = stripped.rfind("\n", 0, found.start()) + 1
        before = stripped[line_start:found.start()]
        before = before[before.rfind(";") + 1:].lstrip(" {}")
        yield line_of(stripped, found.start()), before + stripped[found.start():end]
