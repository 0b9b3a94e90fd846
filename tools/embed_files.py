#!/usr/bin/env python3
"""Writes shipped manifests or channels into a C++ source, so that they live in the binary.

    tools/embed_files.py addons|channels OUT FILE...

Each file lies in a folder of its own below addons/ or channels/, which names it.
"""

import sys
from pathlib import Path

LINE = 100  # bytes per literal: long lines are cut, so that every compiler takes them


def literal(text):
    """The text as C++ string literals, one per piece."""
    pieces = [text[at:at + LINE] for at in range(0, len(text), LINE)] or [""]
    out = []
    for piece in pieces:
        escaped = ""
        for byte in piece.encode("utf-8") if isinstance(piece, str) else piece:
            char = chr(byte)
            if char in '"\\' or byte < 0x20 or byte > 0x7E or char == "?":
                escaped += f"\\{byte:03o}"
            else:
                escaped += char
        out.append(f'        "{escaped}"')
    return "\n".join(out)


# What each kind becomes: the namespace (and folder of the header), the type and the function.
KINDS = {
    "addons": ("extract", "ShippedAddon"),
    "channels": ("feed", "ShippedChannel"),
}


def main():
    kind, target, files = sys.argv[1], Path(sys.argv[2]), sorted(Path(name) for name in sys.argv[3:])
    space, record = KINDS[kind]
    entries = []
    for file in files:
        name = file.parent.name
        entries.append(f'    {{"{name}", "{kind}/{name}/{file.name}",\n'
                       f"{literal(file.read_text(encoding='utf-8'))}}},")
    body = "\n".join(entries)
    text = (
        "// Written by tools/embed_files.py.\n"
        f'#include "{space}/shipped_{kind}.hpp"\n\n'
        f"namespace pollux::{space} {{\n\n"
        f"std::span<const {record}> shipped_{kind}() {{\n"
        f"    static constexpr {record} kFiles[] = {{\n"
        f"{body}\n"
        "    };\n"
        "    return kFiles;\n"
        "}\n\n"
        f"}}  // namespace pollux::{space}\n")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
