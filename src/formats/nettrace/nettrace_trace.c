/* Parser of the Trace object, one per trace: clock, pointer size, and attributes of the process. */
#include <stdio.h>

#include "base/number.h"
#include "base/status.h"
#include "formats/nettrace/nettrace.h"

/* Returns the days from 1970-01-01 to a date; months count from 1. Algorithm: days_from_civil by
 * Howard Hinnant. */
static int64_t count_days_from_1970(int64_t year, unsigned month, unsigned day)
{
    year -= month <= 2;
    int64_t generation = (year >= 0 ? year : year - 399) / 400;
    unsigned of_era = (unsigned)(year - generation * 400),
             of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return generation * 146097 + (int64_t)(of_era * 365 + of_era / 4 - of_era / 100 + of_year) -
           719468;
}

/* Parses a SYSTEMTIME of Windows: eight 16-bit numbers, UTC. Returns false if it is not a date from
 * 1970 to 2260. */
static bool parse_systemtime(struct cursor *c, int64_t *ns)
{
    unsigned part[8];
    for (unsigned i = 0; i < 8; i++)
        part[i] = cursor_u16le(c);
    unsigned year = part[0], month = part[1], day = part[3], hour = part[4], minute = part[5],
             second = part[6], ms = part[7];
    if (c->failed || year < 1970 || year > 2260 || month < 1 || month > 12 || day < 1 || day > 31 ||
        hour > 23 || minute > 59 || second > 60 || ms > 999)
        return false;
    int64_t seconds = count_days_from_1970(year, month, day) * 86400 + (int64_t)hour * 3600 +
                      (int64_t)minute * 60 + second;
    *ns = seconds * 1000000000 + (int64_t)ms * 1000000;
    return true;
}

/* Parses date, ticks and frequency, and adds the clock to the input. Replaces values that are
 * invalid and reports a diagnostic. */
static ttr_status parse_clock(struct nettrace_reader *reader, struct cursor *c)
{
    uint64_t offset = c->offset;
    bool is_dated = parse_systemtime(c, &reader->sync_ns);
    reader->sync_ticks = cursor_u64le(c);
    uint64_t frequency = cursor_u64le(c);
    if (c->failed)
        return TTR_OK;
    if (!is_dated) {
        reader->sync_ns = 0;
        reader->sync_ticks = 0;
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_ODD, offset, "nettrace.bad-date",
            "the date of the trace is invalid; times count from the zero of its clock");
    }
    if (frequency == 0 || frequency > INT64_MAX) {
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, offset, "nettrace.bad-frequency",
                             "a clock of %llu ticks per second; ticks are read as nanoseconds",
                             (unsigned long long)frequency);
        frequency = 1000000000;
    }
    clock_math_init(&reader->clock, frequency);
    reader->unscaled_ticks = frequency == 1000000000 && reader->sync_ns >= 0
                                 ? (uint64_t)(INT64_MAX - reader->sync_ns)
                                 : 0;
    ttr_clock clock = {.name = "ticks",
                       .frequency = frequency,
                       .is_anchored = is_dated,
                       .anchor_ticks = reader->sync_ticks,
                       .anchor_ns = reader->sync_ns};
    return input_add_clock(reader->in, &clock) == SIZE_MAX ? fail_memory(reader->error) : TTR_OK;
}

static bool add_number_attribute(struct nettrace_reader *reader, const char *name, uint64_t number)
{
    return context_add_attribute(reader->t, reader->in->id, name,
                                 &(ttr_value){.type = TTR_TYPE_UINT, .v.u = number});
}

static void set_pointer_size(struct nettrace_reader *reader, uint32_t bytes, uint64_t offset)
{
    if (bytes == 4 || bytes == 8)
        reader->pointer_bytes = bytes;
    else
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, offset, "nettrace.bad-pointer-size",
                             "pointers of %u bytes: expected 4 or 8; read as 8", bytes);
}

/* V6: parses the pointer size, and pairs of strings, which become attributes. */
static ttr_status parse_trace6(struct nettrace_reader *reader, struct cursor *c)
{
    uint64_t offset = c->offset;
    uint32_t pointer = cursor_u32le(c), n = cursor_u32le(c);
    if (c->failed)
        return TTR_OK;
    set_pointer_size(reader, pointer, offset);
    for (uint32_t i = 0; i < n && cursor_left(c) > 0; i++) {
        ttr_text key = nettrace_read_string(c), value = nettrace_read_string(c);
        char name[80];
        if (c->failed)
            break;
        (void)snprintf(name, sizeof name, "%.*s", (int)(key.n < 79 ? key.n : 79), key.p);
        if (strcmp(name, "ProcessId") == 0)
            (void)number_parse_u64(value.p, value.n, &reader->pid);
        if (!context_add_attribute(reader->t, reader->in->id, name,
                                   &(ttr_value){.type = TTR_TYPE_TEXT, .text = value}))
            return fail_memory(reader->error);
    }
    return TTR_OK;
}

ttr_status nettrace_parse_trace(struct nettrace_reader *reader, struct cursor *c)
{
    ttr_status status = parse_clock(reader, c);
    if (status != TTR_OK || c->failed || reader->version < 3)
        return status;
    if (reader->version >= NETTRACE_V6)
        return parse_trace6(reader, c);
    uint64_t offset = c->offset;
    uint32_t pointer = cursor_u32le(c), pid = cursor_u32le(c), processors = cursor_u32le(c),
             rate = cursor_u32le(c);
    if (c->failed)
        return TTR_OK;
    reader->pid = pid;
    set_pointer_size(reader, pointer, offset);
    bool is_fine = add_number_attribute(reader, "process_id", pid) &&
                   add_number_attribute(reader, "processors", processors) &&
                   add_number_attribute(reader, "pointer_size", pointer) &&
                   add_number_attribute(reader, "sampling_interval_ns", rate);
    return is_fine ? TTR_OK : fail_memory(reader->error);
}
