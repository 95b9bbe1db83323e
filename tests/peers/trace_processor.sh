#!/bin/bash
# An archive of "record" in Perfetto's trace processor: it opens without an error or a loss, and has the same numbers of zones and threads.
# TRACE_PROCESSOR names trace_processor_shell, or the minimal one.
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/../cli/cli.sh" "$1"
shop=$(realpath "$2")
processor=${TRACE_PROCESSOR:-$(command -v trace_processor_shell)}
if [ -z "$processor" ]; then
    skip "archive_opens_in_trace_processor" "there is no trace_processor_shell"
    exit
fi
cd "$work" || exit 1

# query SQL: the rows of the answer, without their heading.
query()
{
    case $processor in
    *minimal*) "$processor" shop.fxt "$1" 2>/dev/null | sed 1d ;;
    *) "$processor" -q <(printf '%s' "$1") shop.fxt 2>/dev/null | sed 1d ;;
    esac
}
run "$tracetta" record -q -o shop.fxt -- "$shop" 900
errors=$(query "select name, value from stats where severity in ('error', 'data_loss') and value > 0")
[ $run_status = 0 ] && [ -z "$errors" ]
verdict "archive_opens_in_trace_processor" $? "exit status $run_status, $errors"
ours=$("$tracetta" cat -q --kind=span --name=serve shop.fxt | wc -l)
theirs=$(query "select count(*) from slice where name = 'serve' and dur >= 0")
[ "$ours" -gt 0 ] && [ "$ours" = "$theirs" ]
verdict "trace_processor_has_the_same_zones" $? "$ours, $theirs"
