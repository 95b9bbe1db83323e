#!/bin/bash
# Tracepoints of the kernel, from a folder that looks like tracefs.  What needs a kernel with user_events is in tests/kernel.
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
fs=$work/tracefs
mkdir -p "$fs"/events/user_events/{Shop_L4K1fGg1,Shop_L4K2,plain} "$fs"/events/user_events_multi/Shop_L5K0.3
printf '%s\n' sched:sched_switch sched:sched_waking user_events:Shop_L4K1fGg1 user_events:Shop_L4K2 user_events:plain \
    user_events_multi:Shop_L5K0.3 >"$fs/available_events"
printf '%s\n' sched:sched_waking user_events:Shop_L4K1fGg1 >"$fs/set_event"

# format NAME FIELD...: a format file of these fields.
format()
{
    local offset=8
    printf 'name: %s\nID: 1700\nformat:\n' "${1##*/}"
    printf '\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n'
    for field in "${@:2}"; do
        printf '\tfield:%s;\toffset:%d;\tsize:1;\tsigned:0;\n' "$field" $((offset++))
    done
    printf '\nprint fmt: ""\n'
}
for name in user_events/Shop_L4K1fGg1 user_events_multi/Shop_L5K0.3; do
    format "$name" 'u8 eventheader_flags' 'u8 version' >"$fs/events/$name/format"
done
format user_events/Shop_L4K2 'u8 flags' >"$fs/events/user_events/Shop_L4K2/format"
format user_events/plain 'u8 eventheader_flags' >"$fs/events/user_events/plain/format"
printf '%s\n' 'plain' 'Shop_L4K1fGg1 # Used by ftrace perf' 'Shop_L4K2 # Used by perf' '' 'Active: 3' 'Busy: 2' >"$fs/user_events_status"

cat >"$work/all" <<'END'
sched:sched_switch
sched:sched_waking  enabled
user_events:Shop_L4K1fGg1  provider Shop  level 4  keyword 0x1f  group g1  enabled  used by ftrace perf
user_events:Shop_L4K2  used by perf
user_events:plain
user_events_multi:Shop_L5K0.3  provider Shop  level 5  keyword 0x0
END
same all_tracepoints_are_listed_with_what_is_known_of_them "$work/all" "$tracetta" events list --tracefs="$fs"
sed -n 3p "$work/all" >"$work/one"
same patterns_meet_names "$work/one" "$tracetta" events list --tracefs="$fs" '*Gg1'
same patterns_meet_system_and_name "$work/one" "$tracetta" events list --tracefs="$fs" 'user_events:Shop*1f*'
sed -n 1,2p "$work/all" >"$work/two"
same patterns_meet_systems "$work/two" "$tracetta" events list --tracefs="$fs" sched
says json_has_the_parts_of_a_name '"keyword": "0x1f"' "$tracetta" events list --json --tracefs="$fs" '*Gg1'
says json_names_the_recording_process '"ftrace"' "$tracetta" events list --json --tracefs="$fs" '*Gg1'
refuses missing_input_is_reported 1 'no tracepoint has such a name' "$tracetta" events list --tracefs="$fs" nothing
refuses registering_needs_user_events 4 'CONFIG_USER_EVENTS' "$tracetta" events register --tracefs="$fs" Shop_L4K1
refuses deleting_needs_user_events 4 'CONFIG_USER_EVENTS' "$tracetta" events delete --tracefs="$fs" Shop_L4K1
for name in Shop Shop_4K1 Shop_L4 Shop_L4KX Shop_L4K1g; do
    refuses "${name}_is_no_name" 2 'is not the name of an EventHeader tracepoint' "$tracetta" events register --tracefs="$fs" "$name"
done
: >"$fs/user_events_data"
refuses a_file_that_is_none_of_the_kernel_is_reported 4 'ioctl' "$tracetta" events register --tracefs="$fs" Shop_L4K1
refuses names_are_needed 2 'needs names' "$tracetta" events register --tracefs="$fs"
refuses only_three_things_can_be_done 2 'list, register or delete' "$tracetta" events make
refuses a_word_is_needed 2 'expects one of list' "$tracetta" events
rm "$fs/user_events_status"
says a_kernel_without_user_events_is_reported_in_json '"user_events": false' "$tracetta" events list --json --tracefs="$fs" sched
refuses an_empty_folder_is_refused 2 'tracefs cannot be empty' "$tracetta" events list --tracefs=
refuses a_slip_in_an_option_is_reported 2 'did you mean --tracefs' "$tracetta" events list --tracef=x
refuses no_tracefs_is_reported 3 'cannot read ' "$tracetta" events list --tracefs="$work/nowhere"
