#!/bin/bash
# An archive of "record" in a reader of FXT that is not ours and refuses what it does not know: the Python package "fxt".
# FXT_PYTHON names an interpreter that has it.
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/../cli/cli.sh" "$1"
shop=$(realpath "$2")
interpreter=${FXT_PYTHON:-python3}
if ! "$interpreter" -c 'import fxt.reader' 2>/dev/null; then
    skip "archive_with_an_index_opens_in_another_reader" "python3 has no package fxt"
    exit
fi
cd "$work" || exit 1
run "$tracetta" record -q --buffer=4MiB -o shop.fxt -- "$shop" 9000
"$interpreter" - shop.fxt >read 2>.err <<'END'
import sys
from fxt.reader import parse_records
with open(sys.argv[1], "rb") as file:
    result = parse_records(file)
assert not result.had_unexpected_eof
providers = list(result.records_by_provider.values())
records = [record for provider in providers for record in getattr(provider, "records", provider)]
print(sum(getattr(record, "name", "") == "served" for record in records))
END
[ $run_status = 0 ] && [ ! -s .err ] && [ "$(cat read)" = "$("$tracetta" cat -q --name=served shop.fxt | wc -l)" ]
verdict "archive_with_an_index_opens_in_another_reader" $? "$(cat read) events, $(head -n 3 .err)"
