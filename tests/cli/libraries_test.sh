#!/bin/bash
# Libraries that the command loads when it first needs them: it starts without them, and names what is missing.
# usage: libraries_test.sh TRACETTA LIBRARY yes|no: LIBRARY is one to look addresses up in, the word whether libtracetta-symbols was built
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
library=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
cd "$work" || exit 1
offset=$(nm "$library" | sed -n 's/^\([0-9a-f]*\) T sample_fill$/\1/p')
/usr/bin/python3 "$here/places_make.py" made "$library" "$offset" || exit 1

! ldd "$tracetta" | grep -E 'libelf|libdw|libtracetta-symbols' >.out
verdict "command_needs_no_elfutils" $? "it is linked to them"

# A copy of the command and libtracetta, in a folder without the other library.
mkdir alone
cp "$tracetta" alone/
built=$(dirname "$(ldd "$tracetta" | sed -n 's/.*libtracetta\.so\.0 => \([^ ]*\).*/\1/p')")
cp "$built/libtracetta.so.0" alone/
export LD_LIBRARY_PATH=$PWD/alone # and not the build folder
needs="needs libtracetta-symbols\.so\.0 \(install the package libtracetta-symbols0, or build tracetta with elfutils: libelf-dev and libdw-dev\)"
succeeds "command_starts_without_symbols_library" alone/tracetta cat --limit=1 made
refuses "debug_info_without_the_library_names_what_to_install" 2 "^tracetta: --debug-info: $needs: .*libtracetta-symbols\.so\.0.*No such file" \
    alone/tracetta cat --debug-info made
echo "not a library" >alone/libtracetta-symbols.so.0
refuses "broken_library_is_named" 2 "^tracetta: --debug-info: $needs: .*alone/libtracetta-symbols\.so\.0" alone/tracetta cat --debug-info made
if [ "$3" = no ]; then
    skip "library_beside_libtracetta_is_found" "libtracetta-symbols was not built"
    exit 0
fi
cp "$built/libtracetta-symbols.so.0" alone/
says "library_beside_libtracetta_is_found" "sample_fill" alone/tracetta cat --debug-info made
