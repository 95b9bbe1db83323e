#!/bin/bash
# What the command prints of files of the test interceptor: interceptor_cli_test.sh TRACETTA HEXA_CAT
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/../../../tests/cli/cli.sh" "$1"
hexa_cat=$(realpath "$2")
vectors=$(realpath "$(dirname "$0")/vectors")
cd "$work" || exit 1

"$hexa_cat" "$vectors/structs.hexa" >structs.dat
shapes="[[(f['name'], f['depth'], f['type']) for f in c['fields']] for c in it['traces'][0]['classes']]"
json "eventheader_declares_the_fields_of_each_of_its_events" \
    "[('s', 0, 'array'), ('', 1, 'struct'), ('a', 2, 'uint'), ('t', 2, 'struct'), ('b', 3, 'uint'), ('c', 0, 'uint')] in $shapes" \
    "$tracetta" info --json --classes structs.dat
