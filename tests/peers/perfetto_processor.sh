#!/bin/bash
# Opens what we write as Perfetto and Chrome traces in Perfetto's own trace processor: no error in its statistics, slices with the names, counts,
# sums and depths that stat and tree print, a sched slice per switch, a sample per sample, no frame without a name.
# TTR_TRACE_PROCESSOR names trace_processor_shell, or a build of minimal_shell that runs the queries among its arguments.
# usage: perfetto_processor.sh TRACETTA PYTHON
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/../cli/cli.sh" "$1"
python=$2
here=$(realpath "$(dirname "$0")")
processor=${TTR_TRACE_PROCESSOR:-$(command -v trace_processor_shell)}
if [ -z "$processor" ] && [ -n "$TTR_TRACE_PROCESSOR_WASM" ] && command -v node >/dev/null; then
    processor=$here/trace_processor_wasm.js
fi
if [ ! -x "$processor" ] || [ -z "$corpus" ]; then
    skip "trace_processor_reads_what_is_written" "TTR_TRACE_PROCESSOR names no trace processor, or TTR_CORPUS no recorded traces"
    exit
fi

# judge TRACE: two cases, one for each target.
judge()
{
    local trace=$corpus/$1 name target
    name=$(basename "${1%.xz}")
    if [ ! -e "$trace" ]; then
        skip "$name" "no $trace"
        return
    fi
    if [ "${trace%.xz}" != "$trace" ]; then
        xz -dc "$trace" >"$work/$name"
        trace=$work/$name
    fi
    for target in perfetto chrome; do
        local out=$work/out.$([ $target = perfetto ] && echo pftrace || echo json)
        run "$tracetta" convert -qf --to=$target "$trace" -o "$out"
        run "$python" "$here/perfetto_processor.py" "$tracetta" "$processor" "$trace" "$out"
        verdict "${name}_as_${target}_is_right_in_the_trace_processor" $run_status "see above"
        rm -f "$out"
    done
}

judge fxt/magic-trace-2022.fxt
judge heph/heph-head-redis-app.trace
for name in many-threads memory exp ros2; do
    judge ctf/tracecompass/$name
done
judge nettrace/recorded/load100.nettrace.xz
judge nettrace/recorded/mix_default.nettrace.xz
for name in cpuclock-callchain zstd-sched-callchain tp-syscalls-sched; do
    judge eventheader/made-here/$name.data
done
