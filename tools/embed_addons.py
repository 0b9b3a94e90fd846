#!/usr/bin/env python3
"""Writes the shipped manifests into a C++ source, so that they live in the binary.

    tools/embed_addons.py OUT MANIFEST...
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


def main():
    target, manifests = Path(sys.argv[1]), sorted(Path(name) for name in sys.argv[2:])
    entries = []
    for manifest in manifests:
        name = manifest.parent.name
        entries.append(f'    {{"{name}", "addons/{name}/{manifest.name}",\n'
                       f"{literal(manifest.read_text(encoding='utf-8'))}}},")
    body = "\n".join(entries)
    text = (
        "// Written by tools/embed_addons.py.\n"
        '#include "extract/shipped_addons.hpp"\n\n'
        "namespace pollux::extract {\n\n"
        "std::span<const ShippedAddon> shipped_addons() {\n"
        "    static constexpr ShippedAddon kAddons[] = {\n"
        f"{body}\n"
        "    };\n"
        "    return kAddons;\n"
        "}\n\n"
        "}  // namespace pollux::extract\n")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
