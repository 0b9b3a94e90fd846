# shellcheck shell=bash
# ./dev fresh: a bare Debian 12 in a temporary folder builds, tests and runs the last commit.
# Sourced by dev, which has the helpers. Mounts live in a mount namespace of their own: they are
# gone with the last process in it, so removing the folder can never reach the host's /dev.

root="${root:?source this from dev}"

fresh_help() {
    cat <<'HELP'
usage: ./dev fresh [--mirror URI] [--cache] [--keep]     (as root)

Makes a bare Debian 12 with debootstrap, clones the last commit into it and runs there
`./dev test --quick` and `./dev run --seconds 20`. The mirror, proxies, certificates and name service
are those of this machine. Needs about 8 GB in ${TMPDIR:-/tmp}; takes most of an hour on two cores.

  --mirror URI   take Debian from here instead of what apt is configured with
  --cache        let it use what ccache has compiled here before: proves packages and tests sooner
  --keep         leave the folder behind, to look into it
HELP
}

fresh_dir="" fresh_step="start" fresh_child="" fresh_keep="" fresh_cache=""

fresh_cleanup() {
    local code=$?
    trap - EXIT INT TERM
    if [[ -n "$fresh_child" ]]; then
        kill "$fresh_child" 2>/dev/null || true
        wait "$fresh_child" 2>/dev/null || true
    fi
    if [[ -n "$fresh_dir" && -z "$fresh_keep" ]]; then
        rm -rf --one-file-system "$fresh_dir"
        say "removed $fresh_dir"
    fi
    if [[ $code -eq 0 ]]; then
        echo "fresh: ok"
    else
        echo "fresh: FAILED at step $fresh_step"
    fi
    exit "$code"
}

# Runs a command with a limit in seconds, and stays able to react to a signal meanwhile.
bounded() {
    local limit="$1" code=0
    shift
    timeout --kill-after=5 "$limit" "$@" </dev/null &
    fresh_child=$!
    wait "$fresh_child" || code=$?
    fresh_child=""
    if [[ $code -eq 124 || $code -eq 137 ]]; then say "stopped: longer than $limit s"; fi
    return "$code"
}

next_step() {
    fresh_step="$1"
    say "fresh: $1 ($(date +%H:%M:%S))"
}

# Lines `uri suite` of Debian 12 as apt is configured here, whatever the format of its sources.
debian_sources() {
    # shellcheck disable=SC2016 # apt expands these
    apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
        awk '$3 == "main" && $2 ~ /^bookworm(-updates|-security)?$/ { print $1, $2 }' | sort -u
}

# What apt here was told about reaching its servers, for apt in the chroot.
apt_network_settings() {
    apt-config dump | grep -E '^Acquire::(http|https|Retries|Check-Valid-Until|ForceIPv[46])\b' |
        grep -vi 'Proxy-Auto-Detect' || true
}

# debootstrap does not read apt's settings; it follows the variables.
use_apt_proxy() {
    local scheme name proxy
    for scheme in http https; do
        name="${scheme}_proxy"
        proxy="$(apt-config dump --format '%v' "Acquire::$scheme::Proxy")"
        if [[ -n "$proxy" && "$proxy" != DIRECT && -z "${!name:-}" ]]; then
            export "$name=$proxy"
        fi
    done
}

# Certificates, names and proxies of the host, so that the chroot reaches what the host reaches.
copy_network() {
    local target="$1" file
    mkdir -p "$target/etc/ssl/certs" "$target/usr/local/share/ca-certificates"
    for file in /etc/resolv.conf /etc/hosts; do
        if [[ -f "$file" ]]; then cp -L "$file" "$target$file"; fi
    done
    if [[ -d /etc/ssl/certs ]]; then cp -rL /etc/ssl/certs/. "$target/etc/ssl/certs/"; fi
    if [[ -d /usr/local/share/ca-certificates ]]; then
        cp -rL /usr/local/share/ca-certificates/. "$target/usr/local/share/ca-certificates/"
    fi
    apt_network_settings >"$target/etc/apt/apt.conf.d/90host"
}

# Runs a shell line in the clone inside the chroot: own mounts, own processes, clean environment.
inside() { # limit, target, line
    local name settings=()
    for name in http_proxy https_proxy ftp_proxy no_proxy HTTP_PROXY HTTPS_PROXY FTP_PROXY NO_PROXY all_proxy ALL_PROXY; do
        if [[ -n "${!name:-}" ]]; then settings+=("$name=${!name}"); fi
    done
    # npm takes packages from where it takes them here, and believes who is believed here.
    if command -v npm >/dev/null; then
        settings+=("npm_config_registry=$(npm config get registry 2>/dev/null)")
    fi
    settings+=("NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt")
    # ccache tells languages apart: what was compiled here is found there only in the same one.
    if [[ -z "$fresh_cache" ]]; then
        settings+=(LANG=C.UTF-8)
    else
        for name in LANG LC_ALL LC_CTYPE LC_MESSAGES; do
            if [[ -n "${!name:-}" ]]; then settings+=("$name=${!name}"); fi
        done
        settings+=("CCACHE_MAXSIZE=$(ccache --get-config max_size)")
    fi
    # shellcheck disable=SC2016 # the inner shell expands these
    bounded "$1" unshare --mount --propagation private --pid --fork --kill-child \
        env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
        TERM=dumb "${settings[@]}" bash -euc '
            # A root that is no mount point cannot be unshared again, as the tests with sshd do.
            mount --bind "$1" "$1"
            mount -t proc proc "$1/proc"
            mount --rbind --make-rslave /sys "$1/sys"
            mount --rbind --make-rslave /dev "$1/dev"
            if [[ -n "$3" ]]; then
                mkdir -p "$1/root/.cache/ccache"
                mount --bind "$3" "$1/root/.cache/ccache"
            fi
            exec chroot "$1" /bin/bash -euc "cd /root/pollux; $2"' bash "$2" "$3" "$fresh_cache"
}

dev_fresh() {
    local mirror="" sources target
    while [[ $# -gt 0 ]]; do
        case "$1" in
        --help | -h) fresh_help && return ;;
        --keep) fresh_keep=1 ;;
        --cache) fresh_cache="$(ccache --get-config cache_dir)" && mkdir -p "$fresh_cache" ;;
        --mirror) mirror="${2:?dev: --mirror needs a URI}" && shift ;;
        *) die "fresh does not know '$1'; see ./dev fresh --help" ;;
        esac
        shift
    done
    [[ "$(id -u)" -eq 0 ]] || die "fresh needs root (debootstrap, mount, chroot): sudo ./dev fresh"
    git rev-parse --verify --quiet HEAD >/dev/null || die "fresh builds the last commit, and there is none yet"
    install_packages fresh

    trap fresh_cleanup EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM

    next_step "find Debian mirror"
    sources="$(debian_sources)"
    if [[ -n "$mirror" ]]; then sources="$mirror bookworm"; fi
    mirror="$(awk '$2 == "bookworm" { print $1; exit }' <<<"$sources")"
    [[ "$mirror" == http* || "$mirror" == file:* ]] ||
        die "apt here has no plain source for Debian bookworm; name one: ./dev fresh --mirror URI"
    use_apt_proxy
    fresh_dir="$(mktemp -d "${TMPDIR:-/tmp}/pollux-fresh.XXXXXX")"
    target="$fresh_dir/debian"

    next_step "debootstrap"
    # shellcheck disable=SC2016 # the inner shell expands these
    bounded 900 bash -c 'exec "$@" >"$0" 2>&1' "$fresh_dir/log" \
        unshare --mount --propagation private debootstrap --variant=minbase bookworm "$target" "$mirror" || {
        tail -n 20 "$fresh_dir/log" >&2
        exit 1
    }
    copy_network "$target"
    awk '{ print "deb", $1, $2, "main" }' <<<"$sources" >"$target/etc/apt/sources.list"

    next_step "clone"
    if [[ -n "$(git status --porcelain)" ]]; then
        say "note: the work tree has changes that are not committed; they are not part of this"
    fi
    git clone --quiet --no-hardlinks "$root" "$target/root/pollux"
    say "commit $(git log -1 --format='%h %s')"

    next_step "dev test --quick"
    inside 3600 "$target" "./dev test --quick" || exit 1
    next_step "dev run --seconds 20"
    inside 2400 "$target" "./dev run --seconds 20" || exit 1
    next_step "done"
}
