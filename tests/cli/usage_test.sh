#!/bin/bash
# The command without a task: version, usage, unknown words.
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"

says "the_version_is_told" "^tracetta [0-9]+\.[0-9]+\.[0-9]+" "$tracetta" --version
refuses "nothing_to_do_is_a_misuse" 2 "usage" "$tracetta"
refuses "an_unknown_verb_is_a_misuse" 2 "usage|unknown" "$tracetta" frobnicate
