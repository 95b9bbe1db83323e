# Functions for the commands of tests/steps, which shells of their own run.
set -o allexport

# build PRESET [TARGET...]: configures build-check-PRESET by tools/presets/PRESET.ini if settings are new, and compiles the
# targets (default: all).  Warnings are errors.
build()
{
    local preset=$1 folder=$root/build-check-$1 settings
    shift
    local -a setup=(--native-file "tools/presets/$preset.ini" -Dwerror=true --prefix="$PREFIX" --libdir=lib)
    settings="${setup[*]} $(cat "tools/presets/$preset.ini")"
    if [ "$(cat "$folder/check-settings" 2>/dev/null)" != "$settings" ]; then
        rm -rf "$folder"
        meson setup "$folder" "${setup[@]}" || return 1
        echo "$settings" >"$folder/check-settings"
    fi
    ninja -C "$folder" "$@"
}

# run_tests PRESET [ARGUMENT...]: runs tests of a build (arguments of meson test).  The log of meson becomes that of the step.
run_tests()
{
    local folder=$root/build-check-$1 status
    shift
    rm -f "$folder/meson-logs/testlog.json"
    meson test -C "$folder" --no-rebuild --print-errorlogs --timeout-multiplier 4 "$@"
    status=$?
    cp "$folder/meson-logs/testlog.json" "${step_log%.log}.json"
    return $status
}

# fuzz TARGET INPUTS: fuzzes a target in the sanitizer build.
fuzz()
{
    tests/fuzz/run "$ASAN_BUILD" "$1" $(($2 * ${TTR_FUZZ_TIMES:-1}))
}

# fuzz_all TIMES: all fuzz steps of ./check and the targets that have none, each with TIMES times its inputs.
fuzz_all()
{
    local status=0 command
    while read -r command; do
        TTR_FUZZ_TIMES=$1 $command || status=1
    done < <(printf 'fuzz %s 400\n' trace_dat trace_pipe_raw roundtrip_nettrace tracepoint
        cat tests/steps src/formats/*/steps | tr -d "'" | sed -n 's/^.*| *\(fuzz [a-z0-9_]* [0-9]*\) *$/\1/p')
    return $status
}

# run_campaign MUTATIONS: the damage campaigns of all formats in the sanitizer build, with so many damaged traces each.
run_campaign()
{
    export TTR_SOURCE_ROOT=$root
    "$ASAN_BUILD/tests/campaigns/damage" "$1" && "$ASAN_BUILD/tests/campaigns/damage_folder" $(($1 / 10))
}

# list_msan_programs: the unit test programs that MemorySanitizer can run.  unit_view uses SQLite and unit_symbols elfutils, which
# are compiled without it.
list_msan_programs()
{
    meson introspect --tests build-check-msan | /usr/bin/python3 -c 'import json, sys
for test in json.load(sys.stdin):
    name = test["name"]
    if name.startswith("unit_") and name not in ("unit_view", "unit_symbols"):
        print(name)'
}

# run_msan: runs the programs of list_msan_programs, with the rounds of the day: MemorySanitizer makes them ten times slower.
run_msan()
{
    local -a names
    build msan build.ninja || return 1
    mapfile -t names < <(list_msan_programs)
    build msan "${names[@]/#/tests/}" && (unset TTR_NIGHTLY && run_tests msan "${names[@]}")
}

install_to_prefix()
{
    rm -rf "$PREFIX"
    meson install -C "$RELEASE_BUILD" --no-rebuild
}

# list_sources: the code that ships; tests do on purpose what static analysis reports.
list_sources()
{
    find src -name '*.c' ! -name '*_test.c'
}

run_cppcheck()
{
    mkdir -p "$logs/cppcheck"
    list_sources | cppcheck -q --cppcheck-build-dir="$logs/cppcheck" --std=c11 \
        --enable=warning,performance --inline-suppr --suppressions-list=tools/cppcheck-suppressions \
        --error-exitcode=1 --library=posix -D__BYTE_ORDER__=1234 -D__ORDER_LITTLE_ENDIAN__=1234 -D_GNU_SOURCE \
        -Iinclude -Isrc --file-list=-
}

run_clang_tidy()
{
    set -o pipefail
    build clang -t recompact >/dev/null
    # self_zones.c is compiled with -Dself_zones=true only.
    list_sources | grep -vx src/base/self_zones.c | xargs -n 4 -P "$(nproc)" clang-tidy-14 --quiet --config-file=tools/clang-tidy -p build-check-clang 2>&1 |
        sed '/^[0-9]* warnings\{0,1\} generated\.$/d'
}

# changed_files: paths below include, src and tests that changed since the last --fast run that passed, or else against git's HEAD.
changed_files()
{
    if [ -e build-check-fast/passed ]; then
        find include src tests meson.build -type f -newer build-check-fast/passed
    else
        git diff --name-only HEAD
        git ls-files --others --exclude-standard
    fi
}

# changed_tests: names of the tests of the folders with changed files that exist.
changed_tests()
{
    changed_files | sed -nE -e 's#^include/.*#unit_model#p' -e 's#^src/formats/([a-z0-9_]+)/.*#unit_\1#p' \
        -e 's#^src/formats/[^/]*$#unit_formats#p' -e 's#^src/cli/.*#cli_usage\ncli_read\nunit_symbols#p' \
        -e '/^src\/(formats|cli)\//!s#^src/([a-z0-9_]+)/.*#unit_\1#p' -e 's#^tests/(support|campaigns)/.*#unit_\1#p' \
        -e 's#^tests/matrix/([a-z]+)_test.c#matrix_\1#p' -e 's#^tests/cli/([a-z_]+)_test.sh#cli_\1#p' \
        -e 's#^tests/(fuzz)/.*#replay_source#p' -e 's#^tests/faults/.*#faults#p' | sort -u >"$logs/changed"
    # Those of a format's folder: its matrix and the replay of its fuzz inputs, beside its unit tests.
    sed -n 's/^unit_//p' "$logs/changed" | while read -r name; do
        [ -d "src/formats/$name" ] || continue
        echo "matrix_$name"
        sed -n "s/.*{'name': '\([a-z0-9_]*\)'.*/replay_\1/p" "src/formats/$name/meson.build"
    done >>"$logs/changed"
    # A folder without such a test has none to run.
    meson test -C build-check-fast --no-rebuild --list 2>/dev/null | sed 's#.* / ##' >"$logs/names"
    sort -u "$logs/changed" | grep -xFf "$logs/names"
}

# run_changed: the command and the tests of changed folders.
run_changed()
{
    build fast libtracetta.a tracetta || return 1
    mapfile -t tests < <(changed_tests)
    [ ${#tests[@]} -gt 0 ] || { echo "1..0 # SKIP no changed folder has tests"; return 0; }
    echo "changed folders: ${tests[*]}"
    local targets=()
    for test in "${tests[@]}"; do
        case $test in
        unit_* | faults) targets+=("tests/$test") ;;
        matrix_*) targets+=(tests/matrix_formats tests/support/generate_fxt) ;;
        replay_*) targets+=(tests/fuzz/replay_fuzz) ;;
        cli_*) targets+=(test-tools) ;;
        esac
    done
    build fast "${targets[@]}" && run_tests fast "${tests[@]}"
}

# check_page_types: types of the viewer's page by TypeScript (npm package typescript; TSC names its program).
check_page_types()
{
    local tsc=${TSC:-$(command -v tsc)}
    [ -n "$tsc" ] || { echo "1..0 # SKIP TypeScript is not installed: TSC names its program tsc"; return 0; }
    "$tsc" --checkJs --allowJs --strict --noEmit --target es2022 --module es2022 --lib es2023,dom,dom.iterable src/view/page/*.js
}
set +o allexport
