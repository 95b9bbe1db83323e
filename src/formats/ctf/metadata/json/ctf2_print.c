/* Printer of CTF 2 metadata: one fragment per line, each after 0x1E. Order: preamble, trace class,
 * clock classes, then each data stream class with its event record classes. Aliases come directly
 * before the fragment that uses them first. */
#include "formats/ctf/metadata/json/ctf2_print.h"

#include <stdio.h>

#include "base/status.h"
#include "formats/ctf/metadata/json/ctf2_words.h"

/* Prints a property unless its text is empty. */
static void print_text_property(struct ctf2_printer *printer, const char *key, ttr_text text)
{
    if (text.n == 0)
        return;
    json_write_key(&printer->json, key);
    json_write_text(&printer->json, text.p, text.n);
}

static void print_u64_property(struct ctf2_printer *printer, const char *key, uint64_t x)
{
    json_write_key(&printer->json, key);
    json_write_u64(&printer->json, x);
}

static void print_identity(struct ctf2_printer *printer, ttr_text ns, ttr_text name, ttr_text uid)
{
    print_text_property(printer, "namespace", ns);
    print_text_property(printer, "name", name);
    print_text_property(printer, "uid", uid);
}

static void print_attributes(struct ctf2_printer *printer, ttr_text attributes)
{
    if (attributes.n == 0)
        return;
    json_write_key(&printer->json, "attributes");
    json_write_raw(&printer->json, attributes.p, attributes.n);
}

static void print_root_class(struct ctf2_printer *printer, const char *key, enum type_root root)
{
    printer->root = root;
    if (!printer->roots[root])
        return;
    json_write_key(&printer->json, key);
    ctf2_print_class(printer, printer->roots[root]);
}

static void print_preamble(struct ctf2_printer *printer)
{
    struct json *json = &printer->json;
    ctf2_begin_printed_object(printer, "preamble");
    print_u64_property(printer, "version", 2);
    if (printer->description->has_uuid) {
        json_write_key(json, "uuid");
        json_begin_array(json);
        for (int i = 0; i < 16; i++)
            json_write_u64(json, printer->description->uuid[i]);
        json_end_array(json);
    }
    ctf2_print_end(printer);
}

/* Prints the environment. If several entries have one name, prints only the first, since lookups
 * find that one. */
static void print_environment(struct ctf2_printer *printer)
{
    const struct ctf_description *description = printer->description;
    struct json *json = &printer->json;
    struct ctf2_names names;
    if (description->environment_n == 0)
        return;
    if (!ctf2_names_init(&names, &printer->scratch, description->environment_n)) {
        ctf2_print_fail_memory(printer);
        return;
    }
    json_write_key(json, "environment");
    json_begin_object(json);
    for (size_t i = 0; i < description->environment_n; i++) {
        const struct ctf_environment *entry = &description->environment[i];
        if (!ctf2_names_add(&names, &entry->name))
            continue;
        json_write_key_text(json, entry->name.p, entry->name.n);
        if (entry->is_number)
            json_write_i64(json, entry->number);
        else
            json_write_text(json, entry->text.p, entry->text.n);
    }
    json_end_object(json);
}

static void print_trace_class(struct ctf2_printer *printer)
{
    const struct ctf_description *description = printer->description;
    printer->roots[ROOT_PACKET_HEADER] = description->packet_header;
    ctf2_print_aliases(printer, description->packet_header);
    ctf2_begin_printed_object(printer, "trace-class");
    print_identity(printer, description->ns, description->name, description->uid);
    print_environment(printer);
    print_root_class(printer, "packet-header-field-class", ROOT_PACKET_HEADER);
    print_attributes(printer, description->attributes);
    ctf2_print_end(printer);
}

/* Prints a clock's identity: the UUID of a TSDL clock becomes the uid. */
static void print_clock_identity(struct ctf2_printer *printer, const struct ctf_clock *clock)
{
    static const char digits[] = "0123456789abcdef";
    char uid[36];
    size_t n = 0;
    for (size_t i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            uid[n++] = '-';
        uid[n++] = digits[clock->uuid[i] >> 4];
        uid[n++] = digits[clock->uuid[i] & 15];
    }
    bool is_uuid = clock->uid.n == 0 && clock->has_uuid;
    print_identity(printer, clock->ns, clock->name, is_uuid ? (ttr_text){uid, n} : clock->uid);
}

static void print_clock_origin(struct ctf2_printer *printer, const struct ctf_clock *clock)
{
    if (!clock->is_unix && clock->origin_name.n == 0 && clock->origin_uid.n == 0)
        return;
    json_write_key(&printer->json, "origin");
    if (clock->is_unix) {
        json_write_string(&printer->json, "unix-epoch");
        return;
    }
    json_begin_object(&printer->json);
    print_text_property(printer, "namespace", clock->origin_ns);
    json_write_key(&printer->json, "name");
    json_write_text(&printer->json, clock->origin_name.p, clock->origin_name.n);
    json_write_key(&printer->json, "uid");
    json_write_text(&printer->json, clock->origin_uid.p, clock->origin_uid.n);
    json_end_object(&printer->json);
}

/* Prints the offset of a clock from its origin. CTF 2 requires cycles from 0 to below one second.
 */
static void print_clock_offset(struct ctf2_printer *printer, const struct ctf_clock *clock)
{
    uint64_t size = clock->offset_cycles < 0 ? 0 - (uint64_t)clock->offset_cycles
                                             : (uint64_t)clock->offset_cycles;
    uint64_t whole = size / clock->frequency, cycles = size % clock->frequency;
    int64_t seconds;
    bool overflows;
    if (clock->offset_cycles < 0) {
        overflows = __builtin_sub_overflow(clock->offset_s, whole + (cycles > 0), &seconds);
        cycles = cycles ? clock->frequency - cycles : 0;
    } else {
        overflows = __builtin_add_overflow(clock->offset_s, whole, &seconds);
    }
    if (overflows)
        ctf2_print_fail_unsupported(printer, clock->id,
                                    "is a clock with an offset of more than 2^63 seconds");
    if (seconds == 0 && cycles == 0)
        return;
    json_write_key(&printer->json, "offset-from-origin");
    json_begin_object(&printer->json);
    json_write_key(&printer->json, "seconds");
    json_write_i64(&printer->json, seconds);
    print_u64_property(printer, "cycles", cycles);
    json_end_object(&printer->json);
}

static void print_clock(struct ctf2_printer *printer, const struct ctf_clock *clock)
{
    ctf2_begin_printed_object(printer, "clock-class");
    json_write_key(&printer->json, "id");
    json_write_text(&printer->json, clock->id.p, clock->id.n);
    print_clock_identity(printer, clock);
    print_text_property(printer, "description", clock->description);
    print_u64_property(printer, "frequency", clock->frequency);
    if (clock->has_precision)
        print_u64_property(printer, "precision", clock->precision);
    if (clock->has_accuracy)
        print_u64_property(printer, "accuracy", clock->accuracy);
    print_clock_origin(printer, clock);
    print_clock_offset(printer, clock);
    ctf2_print_end(printer);
}

/* Prints log level and EMF URI of a TSDL event class as attributes in the namespace of Babeltrace
 * or LTTng. */
static void print_event_attributes(struct ctf2_printer *printer,
                                   const struct ctf_event_class *event)
{
    struct json *json = &printer->json;
    const char *level = event->has_log_level ? ctf2_get_log_level_text(event->log_level) : NULL;
    if (event->attributes.n || (!level && event->emf_uri.n == 0)) {
        print_attributes(printer, event->attributes);
        return;
    }
    json_write_key(json, "attributes");
    json_begin_object(json);
    json_write_key(json, "lttng.org,2009");
    json_begin_object(json);
    if (level) {
        json_write_key(json, "log-level");
        json_write_string(json, level);
    }
    print_text_property(printer, "emf-uri", event->emf_uri);
    json_end_object(json);
    json_end_object(json);
}

static void print_event_class(struct ctf2_printer *printer, const struct ctf_event_class *event)
{
    printer->roots[ROOT_SPECIFIC_CONTEXT] = event->context;
    printer->roots[ROOT_PAYLOAD] = event->payload;
    ctf2_print_aliases(printer, event->context);
    ctf2_print_aliases(printer, event->payload);
    ctf2_begin_printed_object(printer, "event-record-class");
    print_u64_property(printer, "id", event->id);
    print_u64_property(printer, "data-stream-class-id", printer->stream_id);
    print_identity(printer, event->ns, event->name, event->uid);
    print_event_attributes(printer, event);
    print_root_class(printer, "specific-context-field-class", ROOT_SPECIFIC_CONTEXT);
    print_root_class(printer, "payload-field-class", ROOT_PAYLOAD);
    ctf2_print_end(printer);
    arena_reset(&printer->scratch);
}

static void print_stream_class(struct ctf2_printer *printer, const struct ctf_stream_class *stream)
{
    printer->has_clock = stream->clock != NULL;
    printer->roots[ROOT_PACKET_CONTEXT] = stream->packet_context;
    printer->roots[ROOT_EVENT_HEADER] = stream->event_header;
    printer->roots[ROOT_COMMON_CONTEXT] = stream->event_context;
    for (enum type_root root = ROOT_PACKET_CONTEXT; root <= ROOT_COMMON_CONTEXT; root++)
        ctf2_print_aliases(printer, printer->roots[root]);
    ctf2_begin_printed_object(printer, "data-stream-class");
    print_u64_property(printer, "id", printer->stream_id);
    print_identity(printer, stream->ns, stream->name, stream->uid);
    if (stream->clock) {
        json_write_key(&printer->json, "default-clock-class-id");
        json_write_text(&printer->json, stream->clock->id.p, stream->clock->id.n);
    }
    print_root_class(printer, "packet-context-field-class", ROOT_PACKET_CONTEXT);
    print_root_class(printer, "event-record-header-field-class", ROOT_EVENT_HEADER);
    print_root_class(printer, "event-record-common-context-field-class", ROOT_COMMON_CONTEXT);
    print_attributes(printer, stream->attributes);
    ctf2_print_end(printer);
    for (size_t i = 0; i < stream->events_n && printer->status == TTR_OK; i++)
        print_event_class(printer, stream->events[i]);
}

static ttr_status print_fragments(const struct ctf_description *description, bool is_for_display,
                                  struct buffer *to, ttr_error *error)
{
    struct ctf2_printer printer = {
        .description = description, .is_for_display = is_for_display, .error = error};
    json_init(&printer.json, to);
    arena_init(&printer.scratch, description->alloc);
    pair_map_init(&printer.aliases, description->alloc);
    pair_map_init(&printer.names, description->alloc);
    print_preamble(&printer);
    print_trace_class(&printer);
    for (size_t i = 0; i < description->clocks_n; i++)
        print_clock(&printer, description->clocks[i]);
    for (size_t i = 0; i < description->streams_n && printer.status == TTR_OK; i++) {
        printer.stream_id = is_for_display ? i : description->streams[i]->id;
        print_stream_class(&printer, description->streams[i]);
    }
    /* CTF2-SPEC-2.0 section 5 requires at least one data stream class */
    if (description->streams_n == 0) {
        ctf2_begin_printed_object(&printer, "data-stream-class");
        ctf2_print_end(&printer);
    }
    pair_map_free(&printer.names);
    pair_map_free(&printer.aliases);
    arena_free(&printer.scratch);
    if (printer.status == TTR_OK && to->failed)
        return fail_memory(error);
    return printer.status;
}

ttr_status ctf2_print(const struct ctf_description *description, struct buffer *to,
                      ttr_error *error)
{
    if (description->version == CTF_RFC_1_1)
        return fail(error, TTR_E_UNSUPPORTED, NO_OFFSET,
                    "packets of CTF v1.1 are no packets of CTF 2: their headers are fixed");
    return print_fragments(description, false, to, error);
}

ttr_status ctf2_print_indented(const struct ctf_description *description, struct buffer *to,
                               ttr_error *error)
{
    return print_fragments(description, description->version == CTF_RFC_1_1, to, error);
}
