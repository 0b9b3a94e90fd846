#!/usr/bin/env bash
# Builds the dashboard and packs it for the binary; CMake runs it (cmake/Web.cmake).
#
#   tools/web/build.sh WEB OUT     WEB: the folder web/ of the clone; OUT: a folder of the build tree
#
# OUT/dist is what vite wrote; OUT/web_files.cpp and OUT/web_files.bin are what the binary takes in.
# Packages live in WEB/node_modules, once for all presets: they are installed from the lock file, and
# again only when that changes. Nothing of a package runs while it is installed.
set -euo pipefail

die() {
    printf 'web: %s\n' "$*" >&2
    exit 1
}
[[ $# -eq 2 ]] || die "usage: tools/web/build.sh WEB OUT"
tools="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
web="$(cd "$1" && pwd)"
mkdir -p "$2"
out="$(cd "$2" && pwd)"
[[ -f "$web/package-lock.json" ]] || die "$web/package-lock.json is missing: run npm install in web/ and commit it"

# Two presets that are built at once share the packages. The folder itself is the lock.
exec 9<"$web"
flock 9

cd "$web"
stamp="node_modules/.pollux-stamp"
wanted="$(uname -sm) $(cat package.json package-lock.json | sha256sum | cut -d' ' -f1)"
if [[ ! -f "$stamp" || "$(<"$stamp")" != "$wanted" ]]; then
    echo "web: installing packages of package-lock.json" >&2
    npm ci --ignore-scripts --no-audit --no-fund --include=dev --loglevel=error >&2 ||
        die "npm ci failed; it needs the network once, or configure with -DPOLLUX_WEB=OFF"
    printf '%s\n' "$wanted" >"$stamp"
fi

npm run --silent build -- --outDir "$out/dist" --emptyOutDir --logLevel warn >&2 ||
    die "npm run build failed; see the lines above"
node "$tools/pack.mjs" "$out/dist" "$out" >&2
