#!/bin/bash
# Names of fields that the target cannot have, or would take for each other: every field stays, under a name of its own, and changed names are reported.
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
make=$(realpath "$(dirname "$0")/names_make.py")
vectors=$(realpath "$(dirname "$0")/../../src/formats/ctf/vectors")
hexa_cat=$(realpath "$2")
peer=$(command -v babeltrace2)
cd "$work" || exit 1

# keeps PLACE KEY OPTIONS NAME...: fields of these names in that place are all there when they are re-encoded with the options.
keeps()
{
    local place=$1 key=$2 options=$3 told=no
    shift 3
    rm -rf made written
    /usr/bin/python3 "$make" make made "$place" "$@" || exit 1
    # shellcheck disable=SC2086
    run "$tracetta" convert --to=ctf $options made -o written
    [ $run_status = 0 ] || echo "convert: $run_status" >>.err
    grep -q 'field\.name' .err && told=yes
    "$tracetta" cat --strict --format=jsonl written >read 2>>.err
    why=$(/usr/bin/python3 "$make" check "$key" $told "$@" <read 2>&1)
    verdict "$place:${options##*=}:$(printf '<%s>' "$@")" $? "$why"
    [[ $options == *1.8 ]] && [ -n "$peer" ] || return
    "$peer" written >read 2>.err && [ ! -s .err ] && [ "$(wc -l <read)" = 1 ]
    verdict "so_babeltrace2_says" $? "$(cat .err)"
}

# What is copied with translated metadata, and what is encoded again.
for options in --option=version=1.8 "--sort --option=byte-order=be --option=version=1.8" --option=version=1.1 "--option=byte-order=be --option=version=2"; do
    keeps payload fields "$options" 'a b' a_b
    keeps payload fields "$options" a_b a.b 'a b'
    keeps payload fields "$options" é 日 __
    keeps payload fields "$options" a a
    keeps payload fields "$options" a a a_2
    keeps payload fields "$options" a a_2 a
    keeps payload fields "$options" a a a a_3 a_2
    keeps payload fields "$options" _int int
    keeps payload fields "$options" int _int
    keeps payload fields "$options" _int int int_2 _int_2
    keeps payload fields "$options" _ ''
    keeps payload fields "$options" '' ' ' .
    keeps payload fields "$options" __9 _9 9
    keeps payload fields "$options" _a a
    keeps specific context "$options" 'a b' a_b
    keeps specific context "$options" a a a_2
    keeps common context "$options" a_b 'a b'
    keeps common context "$options" __9 _9
done

# Packets have some fields of their own.
for options in --option=version=1.8 --option=byte-order=be; do
    rm -rf made written
    /usr/bin/python3 "$make" make made packet packet_size 'a b' a_b
    # shellcheck disable=SC2086
    run "$tracetta" convert --to=ctf $options made -o written
    says "names_of_fields_that_packets_have_are_not_given_twice:${options#*=}" '"x":4\}' "$tracetta" cat --strict --format=jsonl written
    [ "$(grep -Eao '"?packet_size"?[;,]' written/metadata | wc -l)" = 1 ]
    verdict "one_of_them_has_the_name" $? "$(grep -a packet_size written/metadata)"
done

# The length of an array may be called "": it is no other field than that.
/usr/bin/python3 "$make" make nameless payload '' x
sed 's/{"name": "x", "field-class": {"type": "fixed-length-unsigned-integer", /{"name": "x", "field-class": {"type": "dynamic-length-array", "length-field-location": {"path": [""]}, "element-field-class": {"type": "fixed-length-unsigned-integer", /; s/"little-endian"}}\]/"little-endian"}}}]/' \
    nameless/metadata >metadata
mv metadata nameless/metadata
for options in byte-order=be version=1.1 version=1.8 "version=1.8 --option=byte-order=be"; do
    # shellcheck disable=SC2086
    "$tracetta" convert --overwrite -q --to=ctf --option=$options nameless -o written
    says "a_length_without_a_name_stays_one_field:$options" '"fields":\{"":1,"x":\[2\]\}' "$tracetta" cat --strict --format=jsonl written
done

# Processes and threads that are LEB128 are the same when they are written as numbers of fixed size.
mkdir leb
for file in metadata s; do "$hexa_cat" "$vectors/stream-thread-leb/$file.hexa" >leb/$file; done
"$tracetta" cat --format=jsonl leb >wanted
"$tracetta" convert -q --to=ctf --option=byte-order=be leb -o fixed
same "threads_in_leb128_stay" wanted "$tracetta" cat --format=jsonl fixed
