# Helpers of the comparisons over recorded CTF traces: "source ctf.sh TRACETTA SOURCE_ROOT".  $corpus is the folder of recorded traces, which
# TTR_CORPUS names, $work a scratch folder that is removed at the end, $patience the seconds a program gets for one trace.
# shellcheck shell=bash disable=SC2034
tracetta=$1 root=$2
corpus=${TTR_CORPUS:-nowhere}/ctf
patience=60
case_count=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"; echo "1..$case_count"' EXIT
export TZ=UTC LC_ALL=C
exec </dev/null

# tell TRUTH NAME: one case; TRUTH is 0 where it holds.
tell()
{
    case_count=$((case_count + 1))
    if [ "$1" = 0 ]; then echo "ok $case_count - $2"; else echo "not ok $case_count - $2"; fi
}

# skip NAME WHY
skip()
{
    case_count=$((case_count + 1))
    echo "ok $case_count - $1 # SKIP $2"
}

# quote FILE: its first lines as comments.
quote()
{
    head -n 6 "$1" | cut -c 1-300 | sed 's/^/#   /'
}

# reviewed CASE: prints the number of lines that a reviewed difference has (ctf_known.tsv); fails if the case is not listed.
reviewed()
{
    awk -F '\t' -v name="$1" '!/^#/ && $1 == name { print $2; found = 1 } END { exit !found }' "$root/tests/peers/ctf_known.tsv"
}

# settle LINES CASE NAME: the outcome of a comparison in which so many lines differ (a verdict that differs counts as 1).  A difference needs
# its reviewed line with just this number, and a reviewed line needs its difference, but while another command stands in for tracetta's.
settle()
{
    local wanted
    if wanted=$(reviewed "$2"); then
        [ "$1" = "$wanted" ] || { [ "$1" = 0 ] && [ -n "$stand_in" ]; }
        tell $? "$3, but for the difference that tests/peers/ctf_known.tsv lists"
    else
        [ "$1" = 0 ]
        tell $? "$3"
    fi
}

# traces_under FOLDER: the traces below a folder of the corpus, by name.
traces_under()
{
    (cd "$corpus" && find "$1" -name metadata -type f -printf '%h\n' | sed 's|^\./||' | sort)
}

# assemble_barectf: builds the traces of barectf, which lie in the corpus as pairs of files, below $work/barectf.
assemble_barectf()
{
    local pair
    (cd "$corpus/barectf" && find . -name '*.metadata.expect' | sort) | while read -r pair; do
        pair=${pair#./}
        pair=${pair%.metadata.expect}
        mkdir -p "$work/barectf/$pair"
        cp "$corpus/barectf/$pair.metadata.expect" "$work/barectf/$pair/metadata"
        cp "$corpus/barectf/$pair.data.expect" "$work/barectf/$pair/stream"
    done
}
