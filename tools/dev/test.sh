# shellcheck shell=bash
# ./dev test: lint, build, run, count. Sourced by dev, which has the helpers.

root="${root:?source this from dev}"

fuzz_seconds="${POLLUX_FUZZ_SECONDS:-60}"
coverage_minimum=95

test_help() {
    cat <<HELP
usage: ./dev test [--quick] [--coverage] [--fuzz]

Lints, builds the preset \`test\` (ASan and UBSan) and runs all tests on all cores.
The last line is always \`N passed, N failed\`, and \`, N skipped\` if some could not run here; lint
checks count as tests.

  --quick      leave out tests with the label slow
  --coverage   build the preset \`coverage\` instead, and fail below $coverage_minimum % of the lines of
               src/base, src/model, src/schedule and src/engine
  --fuzz       also run each fuzzer for $fuzz_seconds s (POLLUX_FUZZ_SECONDS)

One test: build/test/bin/base_test --gtest_filter='Siphash.*'
HELP
}

# Adds one check to the totals: its name, then the command.
count_check() {
    local name="$1"
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        say "$name failed"
    fi
}

check_coverage() {
    gcovr --root . --object-directory build/coverage --filter 'src/(base|model|schedule|engine)/' \
        --exclude '.*_test\.cpp$' --exclude-throw-branches --fail-under-line "$coverage_minimum" \
        build/coverage >&2
}

# Each fuzzer by the clock, as many at once as there are cores; adds them to the totals.
run_fuzzers() {
    local names=() counts=()
    mapfile -t names < <(fuzzer_names)
    read -ra counts < <(tools/dev/run_fuzzers.py --wall --minutes "$(awk "BEGIN { print $fuzz_seconds / 60 }")" \
        "${names[@]}" | tee /dev/stderr | tail -n 1)
    [[ ${#counts[@]} -eq 4 ]] || give_up "the fuzzers left no result that can be counted"
    passed=$((passed + counts[0])) failed=$((failed + counts[2]))
}

# Everything failed before a test could run.
give_up() {
    say "$1"
    echo "0 passed, 1 failed"
    exit 1
}

dev_test() {
    local quick="" coverage="" fuzz="" preset=test argument
    for argument in "$@"; do
        case "$argument" in
        --help | -h) test_help && return ;;
        --quick) quick=1 ;;
        --coverage) coverage=1 preset=coverage ;;
        --fuzz) fuzz=1 ;;
        *) die "test does not know '$argument'; see ./dev test --help" ;;
        esac
    done

    (install_packages "") || give_up "setup failed"
    run_lint
    passed=${lint_passed:?} failed=${lint_failed:?}
    build_preset "$preset" || give_up "the build of preset $preset failed"
    if [[ -n "$fuzz" ]]; then build_preset fuzz || give_up "the build of preset fuzz failed"; fi

    local results="build/$preset/results" skipped="^lint$" counts=()
    if [[ -n "$quick" ]]; then skipped="^(lint|slow)$"; fi
    rm -rf "$results"
    mkdir -p "$results"
    if [[ -n "$coverage" ]]; then find build/coverage -name '*.gcda' -delete; fi
    GTEST_BRIEF=1 ctest --test-dir "build/$preset" --parallel "$((2 * $(nproc)))" --label-exclude "$skipped" \
        --output-on-failure --no-tests=ignore --test-output-truncation head \
        --output-junit "$root/$results/ctest.xml" >&2 || true
    read -ra counts < <(tools/dev/count_tests.py "$results") || true
    [[ ${#counts[@]} -eq 3 ]] || give_up "ctest left no result that can be counted"
    passed=$((passed + counts[0])) failed=$((failed + counts[1]))

    if [[ -n "$coverage" ]]; then count_check "coverage of $coverage_minimum %" check_coverage; fi
    if [[ -n "$fuzz" ]]; then run_fuzzers; fi
    # Again beside the failed tests: an hour of output lies between.
    local check
    for check in "${lint_failures[@]}"; do echo "FAILED lint: $check" >&2; done
    # What could not run here is no success: it is said, and named above.
    local not_run=""
    if [[ ${counts[2]} -gt 0 ]]; then not_run=", ${counts[2]} skipped"; fi
    echo "$passed passed, $failed failed$not_run"
    [[ $failed -eq 0 ]]
}
