/* Reader for files of EventHeader's test interceptor. Writing is not supported.
 *
 * A record is accepted if its size is possible, its name is an EventHeader name with the level of
 * its event, and its flags are known. After damage the next such record is searched byte by byte.
 */
#include <string.h>

#include "base/cursor.h"
#include "base/status.h"
#include "encodings/event_header/event_header.h"
#include "formats/interceptor/interceptor_format.h"
#include "model/input.h"

/* number of bytes that are needed to decide if a record is valid */
#define RECORD_PROBE_SIZE (INTERCEPTOR_SIZE_BYTES + EVENT_HEADER_NAME_MAX + EVENT_HEADER_BYTES)

struct interceptor {
    struct event_header_decoder *headers;
    uint64_t at; /* file offset of the next record, in bytes */
    /* file offset at which the skipped bytes start; UINT64_MAX if no bytes are being skipped */
    uint64_t lost_from;
    const char *reason; /* reason why the record at lost_from is invalid */
    bool is_big_endian;
};

struct record {
    /* sizes in bytes; `body` is the offset of the event in the record */
    uint32_t size, body;
    ttr_text name;
    const char *reason; /* reason why the record is invalid */
};

static bool has_event_level(ttr_text text, const uint8_t *event)
{
    struct event_header_name name;
    return event_header_parse_name(text, &name) && name.level == event[7] &&
           (event[0] & ~EVENT_HEADER_FLAGS) == 0;
}

/* Parses size and name of a record. If they are invalid, returns false and sets record->reason. */
static bool parse_record(struct cursor c, bool is_big_endian, struct record *record)
{
    *record = (struct record){.reason = "its size cannot be"};
    record->size = is_big_endian ? cursor_u32be(&c) : cursor_u32le(&c);
    if (c.failed || record->size < INTERCEPTOR_RECORD_MIN || record->size > INTERCEPTOR_RECORD_MAX)
        return false;
    size_t n = record->size - INTERCEPTOR_SIZE_BYTES < cursor_left(&c)
                   ? record->size - INTERCEPTOR_SIZE_BYTES
                   : cursor_left(&c);
    const uint8_t *name = c.p,
                  *zero = memchr(name, 0, n < EVENT_HEADER_NAME_MAX ? n : EVENT_HEADER_NAME_MAX);
    record->reason = "its tracepoint has no name";
    if (!zero || zero == name)
        return false;
    record->name = (ttr_text){(const char *)name, (size_t)(zero - name)};
    record->body = INTERCEPTOR_SIZE_BYTES + (uint32_t)record->name.n + 1;
    record->reason = "it has no room for an event";
    return record->size - record->body >= EVENT_HEADER_BYTES;
}

/* Returns true if a valid record starts at the cursor. */
static bool is_valid_record(struct cursor c, bool is_big_endian)
{
    struct record record;
    if (!parse_record(c, is_big_endian, &record) || !cursor_skip(&c, record.body))
        return false;
    const uint8_t *event = cursor_read_bytes(&c, EVENT_HEADER_BYTES);
    bool has_order = event && !(event[0] & EVENT_HEADER_LITTLE_ENDIAN) == is_big_endian;
    return has_order && has_event_level(record.name, event);
}

static unsigned interceptor_bid(const struct peek *peek)
{
    struct cursor c = cursor_init(peek->bytes, peek->n, 0);
    return is_valid_record(c, false) || is_valid_record(c, true) ? 100 : 0;
}

static struct event_header_raw get_raw_record(const void *ctx, const ttr_event *event)
{
    (void)ctx;
    return (struct event_header_raw){event->payload + event->body,
                                     event->payload_size - event->body};
}

static ttr_status interceptor_open(struct input *in, ttr_error *error)
{
    struct interceptor *reader = in->ctx;
    reader->lost_from = UINT64_MAX;
    reader->headers = event_header_decoder_new(&(struct event_header_decoder_spec){
        .t = in->base.t, .format = in->format, .ctx = in, .raw = get_raw_record});
    if (!reader->headers)
        return fail_memory(error);
    ttr_status status = input_fill(in, 0, RECORD_PROBE_SIZE, error);
    if (status != TTR_OK)
        return status;
    reader->is_big_endian = is_valid_record(cursor_init(in->window.bytes, in->window.n, 0), true);
    return TTR_OK;
}

static void interceptor_close(struct input *in)
{
    const struct interceptor *reader = in->ctx;
    event_header_decoder_free(reader->headers);
}

static ttr_status add_event(struct input *in, const uint8_t *p, const struct record *record,
                            ttr_error *error)
{
    struct interceptor *reader = in->ctx;
    const char *why;
    struct event_header_tracepoint *kind =
        event_header_add_tracepoint(reader->headers, record->name, 0, NULL);
    if (!kind)
        return fail_memory(error);
    ttr_event *event = input_add_event(in);
    event->payload = p;
    event->payload_size = record->size;
    event->body = record->body;
    event->flags = TTR_EVENT_RAW | TTR_EVENT_NO_TIME;
    event->offset = reader->at;
    if (!event_header_decode(kind, get_raw_record(in, event), event, &why)) {
        in->n--;
        return fail_memory(error);
    }
    if (why)
        input_add_diagnostic(in, TTR_SEVERITY_ODD, reader->at, "event_header.bad-event",
                             "an event of \"%.*s\": %s", (int)record->name.n, record->name.p, why);
    reader->at += record->size;
    return TTR_OK;
}

/* Adds all complete records in memory to the batch, up to the first invalid record. */
static ttr_status read_records(struct input *in, ttr_error *error)
{
    struct interceptor *reader = in->ctx;
    struct cursor c = cursor_init(in->window.bytes, in->window.n, in->window.offset);
    struct record record;
    ttr_status status = TTR_OK;
    if (reader->at < in->window.offset || !cursor_skip(&c, reader->at - in->window.offset))
        return TTR_OK;
    while (status == TTR_OK && in->n < in->batch &&
           parse_record(c, reader->is_big_endian, &record)) {
        const uint8_t *p = cursor_read_bytes(&c, record.size);
        if (!p)
            break;
        status = add_event(in, p, &record, error);
    }
    return status;
}

/* Searches the bytes in memory for the next valid record. All skipped bytes become one damaged
 * range. */
static ttr_status search_record(struct input *in, ttr_error *error)
{
    struct interceptor *reader = in->ctx;
    ttr_status status = input_fill(in, reader->at, (size_t)2 * RECORD_PROBE_SIZE, error);
    if (status != TTR_OK)
        return status;
    struct cursor c = cursor_init(in->window.bytes, in->window.n, in->window.offset);
    (void)cursor_skip(&c, reader->at - in->window.offset);
    bool is_found = false;
    while (!is_found && cursor_left(&c) > (in->window.at_end ? 0 : RECORD_PROBE_SIZE)) {
        (void)cursor_skip(&c, 1);
        is_found = is_valid_record(c, reader->is_big_endian);
    }
    reader->at = c.offset;
    if (!is_found && cursor_left(&c) > 0)
        return TTR_OK;
    uint64_t from = reader->lost_from;
    reader->lost_from = UINT64_MAX;
    return input_add_damage(in, from, reader->at - from, "interceptor.bad-record", error,
                            "no record of an event (%s): the next one is searched", reader->reason);
}

/* Continues after records could not be read any further: at the end of the bytes in memory or of
 * the input, or at damage. The batch is empty. */
static ttr_status continue_after_last_record(struct input *in, ttr_error *error)
{
    struct interceptor *reader = in->ctx;
    struct record record;
    ttr_status status = input_fill(in, reader->at, RECORD_PROBE_SIZE, error);
    if (status != TTR_OK)
        return status;
    if (in->window.n == 0)
        return TTR_END;
    bool is_good = parse_record(cursor_init(in->window.bytes, in->window.n, reader->at),
                                reader->is_big_endian, &record);
    if (is_good && record.size > in->window.n) {
        status = input_fill(in, reader->at, record.size, error);
        if (status != TTR_OK)
            return status;
    }
    if (is_good && record.size <= in->window.n)
        return TTR_OK; /* the record was incomplete before more bytes were loaded */
    reader->reason = is_good ? "it is not whole" : record.reason;
    reader->lost_from = reader->at;
    return search_record(in, error);
}

static ttr_status interceptor_read_batch(struct input *in, ttr_error *error)
{
    const struct interceptor *reader = in->ctx;
    ttr_status status = TTR_OK;
    event_header_begin_batch(reader->headers);
    while (in->n == 0 && status == TTR_OK) {
        if (reader->lost_from != UINT64_MAX)
            status = search_record(in, error);
        else
            status = read_records(in, error);
        if (status == TTR_OK && in->n == 0 && reader->lost_from == UINT64_MAX)
            status = continue_after_last_record(in, error);
    }
    return status;
}

static bool interceptor_describe(struct input *in, size_t i, struct event_class *about,
                                 uint64_t *events)
{
    const struct interceptor *reader = in->ctx;
    return event_header_describe_class(reader->headers, i, about, events);
}

static const struct format_reader reader = {
    .order = TTR_ORDER_TIME,
    .bid = interceptor_bid,
    .state_size = sizeof(struct interceptor),
    .open = interceptor_open,
    .next = interceptor_read_batch,
    .close = interceptor_close,
};

static const struct format_description description = {
    .describe = interceptor_describe,
};

static const ttr_diagnostic_info diagnostics[] = {
    {TTR_SEVERITY_ODD, TTR_SEVERITY_ODD, "event_header.bad-event", "incomplete EventHeader",
     "kept up to there", ""},
    {TTR_SEVERITY_DAMAGE, TTR_SEVERITY_DAMAGE, "interceptor.bad-record",
     "bytes that are not records", "skipped to the next record", ""},
    {.code = NULL},
};

const struct format format_interceptor = {
    .name = "interceptor",
    .title = "EventHeader events as a test interceptor wrote them",
    .extensions = "dat",
    .spec = "src/formats/interceptor/README.md",
    .diagnostics = diagnostics,
    .reader = &reader,
    .description = &description,
};
