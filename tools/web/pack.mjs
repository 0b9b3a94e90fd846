// Packs what vite built for the binary, compressed once here instead of at each request.
//
//   node tools/web/pack.mjs DIST OUT
//
// writes OUT/web_files.bin, all representations one after the other, and OUT/web_files.cpp, which
// takes it in with .incbin and says what lies where (src/api/web_files.hpp). The same files give the
// same bytes.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

// [media type, whether it is text, which shrinks]
const TYPES = {
  html: ["text/html; charset=utf-8", true],
  js: ["text/javascript; charset=utf-8", true],
  css: ["text/css; charset=utf-8", true],
  svg: ["image/svg+xml", true],
  json: ["application/json", true],
  webmanifest: ["application/manifest+json", true],
  txt: ["text/plain; charset=utf-8", true],
  woff2: ["font/woff2", false],
  png: ["image/png", false],
  ico: ["image/x-icon", false],
};
const MOST_BYTES = 16 * 1024 * 1024; // of all together: they live in memory

function fail(text) {
  console.error(`web: ${text}`);
  process.exit(1);
}

// Files of the root and of assets/; deeper folders have no route.
function listed(dist) {
  const names = [];
  for (const entry of readdirSync(dist, { withFileTypes: true })) {
    if (entry.isFile()) names.push(entry.name);
    else if (entry.name !== "assets") fail(`dist/${entry.name} has no route; only dist/ and dist/assets/ are served`);
  }
  const assets = names.length === 0 ? [] : readdirSync(join(dist, "assets"), { withFileTypes: true });
  for (const entry of assets) {
    if (!entry.isFile()) fail(`dist/assets/${entry.name} is a folder; assets are flat`);
    names.push(`assets/${entry.name}`);
  }
  // Maps of the source are for development.
  return names.filter((name) => !name.endsWith(".map")).sort();
}

function urlOf(name) {
  if (name === "index.html") return "/";
  if (name === "status.html") return "/status";
  return `/${name}`;
}

function compressed(bytes) {
  const brotli = brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
  return [gzipSync(bytes, { level: 9 }), brotli];
}

function main([dist, out]) {
  if (!dist || !out) fail("usage: node tools/web/pack.mjs DIST OUT");
  const pieces = [];
  let size = 0;
  const place = (bytes) => {
    const at = size;
    pieces.push(bytes);
    size += bytes.length;
    return `{${at}, ${bytes.length}}`;
  };
  const rows = listed(dist).map((name) => {
    if (!/^(assets\/[A-Za-z0-9._-]+|[a-z0-9._-]+)$/.test(name)) fail(`dist/${name}: such a name has no URL here`);
    const [type, text] = TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? fail(`dist/${name}: its media type is not known; add it to tools/web/pack.mjs`);
    const bytes = readFileSync(join(dist, name));
    const tag = createHash("sha256").update(bytes).digest("hex").slice(0, 32);
    // Not worth a coding that makes it no smaller.
    const [gzip, brotli] = (text ? compressed(bytes) : []).map((packed) => (packed.length < bytes.length ? packed : Buffer.alloc(0)));
    const none = Buffer.alloc(0);
    return `    {"${urlOf(name)}", "${type}", "${tag}", ${place(bytes)}, ${place(gzip ?? none)}, ${place(brotli ?? none)}},`;
  });
  if (!rows.some((row) => row.includes('{"/", '))) fail("vite wrote no index.html");
  if (size > MOST_BYTES) fail(`the dashboard has ${size} bytes; ${MOST_BYTES} is the limit`);
  mkdirSync(out, { recursive: true });
  const blob = resolve(out, "web_files.bin");
  writeFileSync(blob, Buffer.concat(pieces));
  const source = `// Written by tools/web/pack.mjs.
#include "api/web_files.hpp"

asm(R"(
    .pushsection .rodata
    .balign 16
    .globl pollux_web_files_begin
    .globl pollux_web_files_end
pollux_web_files_begin:
    .incbin "${blob}"
pollux_web_files_end:
    .byte 0
    .popsection
)");

extern "C" const char pollux_web_files_begin[];
extern "C" const char pollux_web_files_end[];

namespace pollux::api {
namespace {

// Where each representation lies: offset and length.
constexpr PackedWebFile kFiles[] = {
${rows.join("\n")}
};

}  // namespace

std::span<const PackedWebFile> packed_web_files() { return kFiles; }

std::string_view web_files_blob() {
    return {pollux_web_files_begin,
            static_cast<std::size_t>(pollux_web_files_end - pollux_web_files_begin)};
}

}  // namespace pollux::api
`;
  // Last and whole: a build that was cut short is done again.
  writeFileSync(join(out, "web_files.cpp.new"), source);
  renameSync(join(out, "web_files.cpp.new"), join(out, "web_files.cpp"));
  console.error(`web: ${rows.length} files, ${size} bytes in all codings`);
}

main(process.argv.slice(2));
