#!/bin/bash
# The command without a task: version, help, unknown words and options, completions and man pages.
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"

says "version_is_printed" "^tracetta [0-9]+\.[0-9]+\.[0-9]+" "$tracetta" --version
refuses "nothing_to_do_is_a_misuse" 2 "usage" "$tracetta"
refuses "an_unknown_verb_is_a_misuse" 2 "is neither a command nor a file" "$tracetta" frobnicate
refuses "a_slip_in_a_verb_is_recognised" 2 "did you mean convert" "$tracetta" covnert
refuses "a_slip_in_an_option_is_recognised" 2 "did you mean --limit" "$tracetta" cat --limt=3 x
refuses "an_unknown_letter_is_a_misuse" 2 "unknown option -Z" "$tracetta" cat -Z x
refuses "an_option_without_its_value_is_a_misuse" 2 "needs a value" "$tracetta" cat x --limit
refuses "a_flag_takes_no_value" 2 "takes no value" "$tracetta" info --json=yes x
refuses "a_limit_must_be_a_number" 2 "expected a number from 1 to 18446744073709551615" "$tracetta" cat --limit=many x
refuses "a_size_must_be_one" 2 "expected a size" "$tracetta" cat --max-record=12parsec x
refuses "a_time_must_be_one" 2 "expected a time" "$tracetta" cat --start=noon x
refuses "there_is_nothing_below_a_nanosecond" 2 "expected whole nanoseconds" "$tracetta" cat --clock-offset-ns=1.5 x
refuses "a_choice_must_be_listed" 2 "auto\|always\|never" "$tracetta" cat --color=blue x
refuses "an_unknown_format_is_listed_against" 2 "no format \"pcap\" can be read" "$tracetta" info --from=pcap x
refuses "a_verb_wants_a_file" 2 "expects a file" "$tracetta" info
refuses "help_of_an_unknown_verb_is_a_misuse" 2 "is neither a command nor" "$tracetta" help frobnicate
says "help_lists_the_verbs" "^  recover " "$tracetta" --help
for verb in info cat convert merge stat tree flame report check recover formats ps dump counters events; do
    says "${verb}_has_help_with_examples" "^Examples:" "$tracetta" "$verb" --help
    says "help_${verb}_is_the_same_word" "^usage: tracetta $verb" "$tracetta" help "$verb"
    says "${verb}_has_a_man_page" "^\.SH SYNOPSIS" "$tracetta" __man "$verb"
done
for what in dotnet perf; do
    says "record_${what}_has_help_with_examples" "^Examples:" "$tracetta" record $what --help
    says "help_record_${what}_is_the_same" "^usage: tracetta record $what" "$tracetta" help record $what
    says "record_${what}_has_a_man_page" "^\.SH SYNOPSIS" "$tracetta" __man record-$what
    refuses "option_${what}_of_record_names_the_command" 2 "use \"tracetta record $what\"" "$tracetta" record --$what 1
done
[ -z "$("$tracetta" help query | grep -B1 '^The language is' | sed -n 1p)" ]
verdict "paragraphs_of_a_help_page_are_apart" $? ""
says "help_of_a_code_explains_it" "^  effect   skipped" "$tracetta" help fxt.zeros
refuses "help_of_an_unknown_code_is_a_misuse" 2 "is neither a command nor" "$tracetta" help fxt.unknown
says "help_of_record_lists_both" "^  record perf " "$tracetta" help record
says "record_prints_its_help" "^  record dotnet " "$tracetta" record --help
refuses "record_alone_is_a_misuse" 2 "tracetta record dotnet.* tracetta record perf|record dotnet" "$tracetta" record
says "help_of_record_is_of_programs" "libtracetta-trace" "$tracetta" help record
refuses "record_of_a_command_without_trace_points_is_explained" 0 "recorded nothing: no program connected" "$tracetta" record -o "$work/none.fxt" -- true
refuses "option_of_the_other_recorder_names_it" 2 'unknown option --all-cpus: it is an option of "tracetta record perf"' "$tracetta" record dotnet --all-cpus 1
says "options_may_come_before_the_command" "^usage: tracetta cat" "$tracetta" -q --color never --help cat
refuses "value_of_an_option_before_the_command_is_not_the_command" 2 "auto\|always\|never" "$tracetta" --color cat cat x
refuses "options_before_the_command_are_those_of_the_command" 2 "unknown option --sort-by" "$tracetta" --sort-by=name cat x
refuses "options_before_both_words_work" 2 "expected one of -a" "$tracetta" -q record --color=never perf
[ "$("$tracetta" help cat | grep -n -- '--clock-seconds' | cut -d: -f1)" -gt "$("$tracetta" help cat | grep -n '^With --style=babeltrace2:' | cut -d: -f1)" ]
verdict "options_of_babeltrace2_have_a_section_of_their_own" $? ""
[ "$("$tracetta" help cat | grep -n '^With --style=babeltrace2:' | cut -d: -f1)" -gt 100 ]
verdict "which_is_after_the_first_screens" $? ""
for pair in grep:cat head:cat tail:cat ls:info top:report print:cat show:cat repair:recover export:convert profile:flame flamegraph:flame \
    filter:convert trim:convert cut:convert; do
    refuses "synonym_${pair%:*}_names_the_command" 2 "unknown command \"${pair%:*}\": use ${pair#*:}.*, as in: tracetta ${pair#*:}" "$tracetta" "${pair%:*}" x
done
printf 'x' >"$work/a.fxt"
refuses "dump_of_a_file_names_cat" 2 'dump expects a process; use "tracetta cat' "$tracetta" dump "$work/a.fxt"
refuses "option_of_another_tool_names_the_one_here" 2 "unknown option --json: use --format=jsonl" "$tracetta" cat --json x
says "there_is_a_man_page_for_all" "^\.SH COMMANDS" "$tracetta" __man
# Those that the page for all refers to, as they lie beside the command to be installed.
for page in $("$tracetta" __man | sed -n 's/^\\fBtracetta\\-\([a-z-]*\)\\fR(1).*/\1/p'); do
    says "the_man_page_of_${page}_is_made" "^\.SH SYNOPSIS" cat "$(dirname "$tracetta")/tracetta-$page.1"
done
for shell in bash zsh fish; do
    says "there_are_completions_for_$shell" "tracetta" "$tracetta" __complete "$shell"
    if command -v "$shell" >/dev/null; then
        "$tracetta" __complete "$shell" >"$work/completion"
        succeeds "${shell}_accepts_the_completions" "$shell" -n "$work/completion"
    else
        skip "${shell}_accepts_the_completions" "$shell is not installed"
    fi
done
[ "$("$tracetta" __complete bash | grep -o '"help --version.*' | tr ' ' '\n' | grep -c '^record$')" = 1 ]
verdict "a_first_word_is_completed_once" $? ""
if command -v man >/dev/null; then
    "$tracetta" __man convert >"$work/page.1"
    succeeds "man_renders_the_page_without_warnings" man --warnings -E UTF-8 -l "$work/page.1"
else
    skip "man_renders_the_page_without_warnings" "man is not installed"
fi
cat >"$work/complete" <<'END'
source "$1"
COMP_WORDS=(tracetta convert --to = p)
COMP_CWORD=4
_tracetta
printf '%s\n' "${COMPREPLY[@]}"
COMP_WORDS=(tracetta rec)
COMP_CWORD=1
_tracetta
printf '%s\n' "${COMPREPLY[@]}"
COMP_WORDS=(tracetta record p)
COMP_CWORD=2
_tracetta
printf '%s\n' "${COMPREPLY[@]}"
COMP_WORDS=(tracetta record perf --all)
COMP_CWORD=3
_tracetta
printf '%s\n' "${COMPREPLY[@]}"
END
"$tracetta" __complete bash >"$work/completion"
says "bash_completes_a_verb" "^recover$" bash "$work/complete" "$work/completion"
says "bash_completes_the_second_word" "^perf$" bash "$work/complete" "$work/completion"
says "bash_completes_options_of_commands_of_two_words" "^--all-cpus$" bash "$work/complete" "$work/completion"
says "json_lists_the_formats" '"schema": "tracetta.formats/1"' "$tracetta" formats --json
[ "$("$tracetta" formats csv fxt | grep -c '^[a-z]')" = 2 ] && ! "$tracetta" formats csv | grep -q 'heph'
verdict "formats_that_are_named_are_listed_alone" $?
[ "$("$tracetta" formats | grep '^[a-z].* writes ' | awk '{ print index($0, " writes ") }' | sort -u | wc -l)" = 1 ]
verdict "their_columns_are_below_each_other" $?
refuses "a_format_that_is_none_is_refused" 2 'no format "zz"' "$tracetta" formats zz
