/* Kernel records that are not samples, as events; thread names that they declare.
 *
 *   | record                         | event                                                    |
 *   |--------------------------------|----------------------------------------------------------|
 *   | MMAP, MMAP2                    | object: a mapping                                        |
 *   | COMM                           | object: renames a thread, and its process if it is the   |
 *   |                                | first thread of it                                       |
 *   | FORK                           | instant; the new thread inherits the name of its creator |
 *   | LOST, LOST_SAMPLES             | gap                                                      |
 *   | SWITCH_CPU_WIDE, switching out | switch to the next thread                                |
 *   | others                         | instant                                                  |
 *
 * A name is valid from its record on (PERF-NAME-2), so the batch ends before a name changes. */
#include "base/status.h"
#include "formats/perf/perf.h"

static enum perf_result record_out_of_memory(struct perf_reader *reader)
{
    (void)fail_memory(reader->error);
    return PERF_FAILED;
}

/* Values of the sample_id trailer at the end of a record. */
struct record_trailer {
    uint64_t time;
    /* `end`: size of the record in bytes without the trailer */
    uint32_t pid, tid, cpu, end;
    bool has_tid, has_cpu;
};

static struct record_trailer read_trailer(struct perf_trace *trace, const struct perf_view *record)
{
    const struct perf_kind *kind = perf_find_record_kind(trace, record);
    struct record_trailer trailer = {.end = record->size};
    if (!kind || kind->back == 0 || record->size < PERF_RECORD_HEADER + (uint32_t)kind->back)
        return trailer;
    const uint8_t *end = record->p + record->size;
    trailer.end -= kind->back;
    if (kind->time_back)
        trailer.time = perf_u64(end - kind->time_back, trace->is_big);
    if (kind->tid_back) {
        trailer.pid = perf_u32(end - kind->tid_back, trace->is_big);
        trailer.tid = perf_u32(end - kind->tid_back + 4, trace->is_big);
        trailer.has_tid = true;
    }
    if (kind->cpu_back) {
        trailer.cpu = perf_u32(end - kind->cpu_back, trace->is_big);
        trailer.has_cpu = trailer.cpu != UINT32_MAX;
    }
    return trailer;
}

/* Reads pid and tid from the record body. Returns false if records of this type have none. */
static bool read_body_thread(const struct perf_view *record, bool is_big, uint32_t *pid,
                             uint32_t *tid)
{
    unsigned tid_at = 12;
    switch (record->type) {
    case PERF_EXIT:
    case PERF_FORK:
        tid_at = 16;
        break;
    case PERF_MMAP:
    case PERF_MMAP2:
    case PERF_COMM:
    case PERF_READ:
    case PERF_ITRACE_START:
    case PERF_NAMESPACES:
        break;
    default:
        return false;
    }
    *pid = perf_u32(record->p + 8, is_big);
    *tid = perf_u32(record->p + tid_at, is_big);
    return true;
}

/* Returns the text at offset `at`. The text ends at its zero byte, or at `end` if there is none. */
static ttr_text read_record_text(const struct perf_view *record, uint32_t at, uint32_t end)
{
    const char *p = (const char *)record->p + at;
    return at < end ? (ttr_text){p, strnlen(p, end - at)} : (ttr_text){"", 0};
}

/* Returns the time in ns that perf_add_event() will give to the event of a record with time
 * `time`. */
static int64_t compute_event_time(const struct perf_reader *reader, uint64_t time)
{
    return time ? perf_ticks_to_ns(reader->trace, time, NULL) : reader->last_time;
}

/* Returns true if the thread already has this name. Returns false in a folder, since another file
 * may contain an earlier rename of this thread. */
static bool has_name_already(const struct perf_reader *reader, ttr_id id, ttr_id name)
{
    const ttr *t = reader->trace->t;
    const struct thread *thread = &t->threads[id];
    const struct process *process = &t->processes[thread->process];
    return !reader->in->renames && thread->name == name &&
           (thread->tid != process->pid || process->name == name);
}

/* Renames a thread, and its process if it is the main thread. Returns PERF_HOLD if events in the
 * batch would wrongly get the new name. The first name of a thread also applies to earlier
 * events. */
static enum perf_result rename_thread(struct perf_reader *reader, const struct rename *what,
                                      int64_t time)
{
    const ttr *t = reader->trace->t;
    const struct thread *now = &t->threads[what->thread];
    struct input *in = reader->in;
    if (in->n > 0 && (now->name || in->renames))
        return PERF_HOLD;
    struct rename of_process = *what;
    of_process.is_of_process = true;
    if (!input_add_name_change(in, what, time) || (now->tid == t->processes[now->process].pid &&
                                                   !input_add_name_change(in, &of_process, time)))
        return record_out_of_memory(reader);
    return PERF_CONSUMED;
}

/* Sets the name that a COMM record declares or that FORK inherits, and stores it in *name. Returns
 * PERF_HOLD if the batch must end first. */
static enum perf_result set_thread_name_from_record(struct perf_reader *reader,
                                                    const struct perf_view *record,
                                                    const struct record_trailer *trailer,
                                                    ttr_id *name)
{
    struct perf_trace *trace = reader->trace;
    bool is_big = trace->is_big;
    struct rename what = {0};
    if (record->type == PERF_COMM) {
        ttr_text text = read_record_text(record, 16, trailer->end);
        *name = what.name = ttr_text_add(trace->t, text.p, text.n);
        what.thread = perf_find_thread(trace, perf_u32(record->p + 8, is_big),
                                       perf_u32(record->p + 12, is_big));
        if (!what.thread || (!*name && text.n))
            return record_out_of_memory(reader);
    } else if (record->type == PERF_FORK) {
        what.like = perf_find_thread(trace, perf_u32(record->p + 12, is_big),
                                     perf_u32(record->p + 20, is_big));
        what.thread = perf_find_thread(trace, perf_u32(record->p + 8, is_big),
                                       perf_u32(record->p + 16, is_big));
        if (!what.like || !what.thread)
            return record_out_of_memory(reader);
        *name = trace->t->threads[what.like].name;
    }
    const bool tells = what.thread && (*name || (what.like && reader->in->renames));
    return tells && !has_name_already(reader, what.thread, *name)
               ? rename_thread(reader, &what, compute_event_time(reader, trailer->time))
               : PERF_CONSUMED;
}

/* Makes the event of a switch-out record a switch event; `link` is the thread that stops
 * running. */
static bool make_switch_event(struct perf_reader *reader, const struct perf_view *record,
                              const struct record_trailer *trailer, ttr_event *event)
{
    bool is_big = reader->trace->is_big;
    if (!(record->misc & PERF_MISC_SWITCH_OUT) || !trailer->has_tid)
        return true;
    ttr_id next = perf_find_thread(reader->trace, perf_u32(record->p + 8, is_big),
                                   perf_u32(record->p + 12, is_big));
    event->kind = TTR_KIND_SWITCH;
    event->link = event->thread;
    event->thread = next;
    event->tag =
        record->misc & PERF_MISC_SWITCH_PREEMPT ? TTR_THREAD_SUSPENDED : TTR_THREAD_BLOCKED;
    return next != 0;
}

/* Sets the members of an event that depend on the record type. Returns false if memory runs out. */
static bool set_members_by_record_type(struct perf_reader *reader, const struct perf_view *record,
                                       const struct record_trailer *trailer, ttr_event *event)
{
    bool is_big = reader->trace->is_big;
    ttr_text path;
    switch (record->type) {
    case PERF_MMAP:
    case PERF_MMAP2:
        path = read_record_text(record, record->type == PERF_MMAP ? 40 : 72, trailer->end);
        event->kind = TTR_KIND_OBJECT;
        event->tag = TTR_OBJECT_MAPPING;
        event->link = perf_u64(record->p + 16, is_big);
        event->name = ttr_text_add(reader->trace->t, path.p, path.n);
        return event->name || path.n == 0;
    case PERF_COMM:
        event->kind = TTR_KIND_OBJECT;
        event->tag = TTR_OBJECT_THREAD;
        event->link = perf_u32(record->p + 12, is_big);
        return true;
    case PERF_LOST:
    case PERF_LOST_SAMPLES:
        event->kind = TTR_KIND_GAP;
        event->tag = TTR_GAP_EVENTS;
        event->link = perf_u64(record->p + (record->type == PERF_LOST ? 16 : 8), is_big);
        return true;
    case PERF_SWITCH_CPU_WIDE:
        return make_switch_event(reader, record, trailer, event);
    default:
        return true;
    }
}

enum perf_result perf_decode_record(struct perf_reader *reader, const struct perf_view *record)
{
    struct perf_trace *trace = reader->trace;
    struct record_trailer trailer = read_trailer(trace, record);
    uint32_t pid = trailer.pid, tid = trailer.tid;
    ttr_id name = record->type < PERF_TOOL_FIRST ? trace->record_name[record->type] : 0;
    if (!perf_is_known_type(record->type))
        input_add_diagnostic(reader->in, TTR_SEVERITY_REMARK, record->offset, "perf.unknown-record",
                             "a record of the unknown type %u; it is emitted with its bytes",
                             record->type);
    ttr_id said = 0;
    enum perf_result taken = set_thread_name_from_record(reader, record, &trailer, &said);
    if (taken != PERF_CONSUMED)
        return taken;
    bool has_thread = (read_body_thread(record, trace->is_big, &pid, &tid) || trailer.has_tid) &&
                      pid != PERF_NO_PROCESS;
    ttr_id thread = has_thread ? perf_find_thread(trace, pid, tid) : 0;
    if (has_thread && !thread)
        return record_out_of_memory(reader);
    ttr_event *event = perf_add_event(reader, record, trailer.time);
    event->kind = TTR_KIND_INSTANT;
    event->schema = trace->record_schema;
    event->body = PERF_RECORD_HEADER;
    event->part = trailer.end;
    event->name = record->type == PERF_COMM ? said : name;
    event->thread = thread;
    if (trailer.has_cpu) {
        event->cpu = trailer.cpu;
        event->flags |= TTR_EVENT_HAS_CPU;
    }
    bool is_fine = set_members_by_record_type(reader, record, &trailer, event);
    if (is_fine && reader->in->flags & TTR_READ_SYMBOLS)
        is_fine = perf_add_symbol_record(trace, record, trailer.end,
                                         event->flags & TTR_EVENT_NO_TIME ? SYMBOLS_TIME_UNKNOWN
                                                                          : event->time);
    return is_fine ? PERF_CONSUMED : record_out_of_memory(reader);
}
