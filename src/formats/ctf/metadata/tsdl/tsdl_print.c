/* Printer of CTF 1.8 metadata. Parsing its text results in the same description, and Babeltrace
 * accepts it.
 *
 * Types that TSDL lacks are replaced by types with the same bits: booleans, flags and plain bits by
 * integers, bytes by arrays of integers, an optional by a variant of "present" and "absent". A
 * selector without labels becomes an enumeration. Descriptive data are dropped: namespaces, uids
 * that are not UUIDs, attributes, accuracies, clock origins other than the Unix epoch, media types,
 * names of streams. Invalid characters in names become underscores.
 *
 * Rejected, with the position: numbers of variable size, reversed bits, UTF-16 and UTF-32, arrays
 * aligned beyond their elements, fields that cannot have their role, names that become equal, and
 * RFC v1.1, which has sizes in bytes.
 *
 * Two passes: the first collects the enumerations that selectors need (tsdl_require_enumeration)
 * and long enumerations that occur repeatedly. The second pass prints. */
#include "formats/ctf/metadata/tsdl/tsdl_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"

/* Returns true if a clock can have this name in TSDL: it is an identifier, or was read from TSDL,
 * since its lexer accepts more bytes in names. */
static bool is_clock_name(const struct tsdl_printer *p, ttr_text name)
{
    bool is_word = p->description->version == CTF_1_8 && name.n &&
                   !(name.p[0] >= '0' && name.p[0] <= '9') && !tsdl_find_keyword(name);
    for (size_t i = 0; i < name.n && is_word; i++)
        is_word = tsdl_is_word_character(name.p[i]) || (unsigned char)name.p[i] >= 0x80;
    return is_word || tsdl_is_identifier(name);
}

/* Chooses the name of a clock in the text: its name; its id if the name is not an identifier; a
 * generated name if another clock has the chosen one. */
static bool choose_clock_name(struct tsdl_printer *p, struct ctf_clock *const *clock,
                              struct tsdl_names *taken)
{
    ttr_text *name = arena_alloc(&p->arena, sizeof *name);
    char made[48];
    if (!name)
        return tsdl_print_fail_memory(p);
    *name = is_clock_name(p, (*clock)->name) ? (*clock)->name : (*clock)->id;
    bool is_taken = !is_clock_name(p, *name) || tsdl_names_find(taken, 0, *name);
    for (size_t i = (size_t)(clock - p->description->clocks); is_taken;
         i += p->description->clocks_n) {
        int n = snprintf(made, sizeof made, "clock_%zu", i);
        *name = (ttr_text){arena_copy(&p->arena, made, (size_t)n), (size_t)n};
        if (!name->p)
            return tsdl_print_fail_memory(p);
        is_taken = tsdl_names_find(taken, 0, *name) != NULL;
    }
    return (tsdl_names_add(taken, &p->arena, 0, *name, *clock) &&
            tsdl_names_add(&p->clocks, &p->arena, 0, (ttr_text){(const char *)clock, sizeof *clock},
                           name)) ||
           tsdl_print_fail_memory(p);
}

static bool choose_clock_names(struct tsdl_printer *p)
{
    struct tsdl_names taken = {0};
    for (size_t i = 0; i < p->description->clocks_n; i++)
        if (!choose_clock_name(p, &p->description->clocks[i], &taken))
            return false;
    return true;
}

static void print_uuid_attribute(struct tsdl_printer *p, const uint8_t uuid[16])
{
    tsdl_print_format(p, "\"");
    for (size_t i = 0; i < 16; i++)
        tsdl_print_format(p, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
    tsdl_print_format(p, "\"");
}

/* Prints the start of a block: the keyword and `{`. */
static void print_block_start(struct tsdl_printer *p, const char *keyword)
{
    tsdl_print_format(p, "\n%s {", keyword);
    p->indent = 1;
}

static void print_block_end(struct tsdl_printer *p)
{
    p->indent = 0;
    tsdl_print_line_break(p);
    tsdl_print_format(p, "};\n");
}

/* Prints the start of an attribute: the name and `=`. */
static void print_attribute_start(struct tsdl_printer *p, const char *name)
{
    tsdl_print_line_break(p);
    tsdl_print_format(p, "%s = ", name);
}

static void print_unsigned_attribute(struct tsdl_printer *p, const char *name, uint64_t number)
{
    print_attribute_start(p, name);
    tsdl_print_format(p, "%" PRIu64 ";", number);
}

/* Prints a signed number. The smallest 64-bit number is a special case, since its absolute value
 * does not fit in the type. */
static void print_signed_attribute(struct tsdl_printer *p, const char *name, int64_t number)
{
    print_attribute_start(p, name);
    tsdl_print_format(p, "%s%" PRIu64 ";", number < 0 ? "-" : "",
                      number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

static void print_string_attribute(struct tsdl_printer *p, const char *name, ttr_text text)
{
    if (text.n == 0)
        return;
    print_attribute_start(p, name);
    tsdl_print_string(p, text);
    tsdl_print_format(p, ";");
}

static bool print_trace_attributes(struct tsdl_printer *p)
{
    const struct ctf_description *description = p->description;
    print_block_start(p, "trace");
    print_unsigned_attribute(p, "major", 1);
    print_unsigned_attribute(p, "minor", 8);
    if (description->has_uuid) {
        print_attribute_start(p, "uuid");
        print_uuid_attribute(p, description->uuid);
        tsdl_print_format(p, ";");
    }
    print_attribute_start(p, "byte_order");
    tsdl_print_format(p, "%s;", description->is_big_endian ? "be" : "le");
    if (!tsdl_print_root(p, "packet.header", ROOT_PACKET_HEADER, description->packet_header))
        return false;
    print_block_end(p);
    return true;
}

/* Prints the name of an environment entry: words joined by points, which may be keywords. Replaces
 * invalid characters by underscores, except in names that were read from TSDL. */
static void print_entry_name(struct tsdl_printer *p, ttr_text name)
{
    bool begins = true;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool is_fine = p->description->version == CTF_1_8 || tsdl_is_word_character(c) ||
                       (c == '.' && !begins && i + 1 < name.n);
        if (begins && c >= '0' && c <= '9')
            tsdl_print_format(p, "_");
        tsdl_print_text(p, is_fine ? (ttr_text){name.p + i, 1} : (ttr_text){"_", 1});
        begins = is_fine && c == '.';
    }
    if (name.n == 0)
        tsdl_print_format(p, "_");
}

static void print_environment_block(struct tsdl_printer *p)
{
    const struct ctf_description *description = p->description;
    if (description->environment_n == 0)
        return;
    print_block_start(p, "env");
    for (size_t i = 0; i < description->environment_n; i++) {
        const struct ctf_environment *entry = &description->environment[i];
        tsdl_print_line_break(p);
        print_entry_name(p, entry->name);
        tsdl_print_format(p, " = ");
        if (entry->is_number)
            tsdl_print_format(p, "%s%" PRIu64, entry->number < 0 ? "-" : "",
                              entry->number < 0 ? 0 - (uint64_t)entry->number
                                                : (uint64_t)entry->number);
        else
            tsdl_print_string(p, entry->text);
        tsdl_print_format(p, ";");
    }
    print_block_end(p);
}

static bool has_offset(const struct ctf_clock *clock)
{
    return clock->offset_s || clock->offset_cycles;
}

/* Returns true if clock blocks need the attribute `absolute`. Babeltrace accepts several clocks
 * only if all have it. */
static bool needs_absolute_clocks(const struct ctf_description *description)
{
    bool says = description->clocks_n > 1;
    for (size_t i = 0; i < description->clocks_n; i++)
        says |= description->clocks[i]->is_absolute ||
                (description->clocks[i]->is_unix && !has_offset(description->clocks[i]));
    return says;
}

static void print_clock_block(struct tsdl_printer *p, const struct ctf_clock *clock)
{
    uint8_t uuid[16];
    const bool is_uid =
        !clock->has_uuid && clock->ns.n == 0 &&
        tsdl_parse_uuid(clock->uid, uuid); /* CTF 1.8 stores as uuid what CTF 2 stores as uid */
    print_block_start(p, "clock");
    print_string_attribute(p, "name", tsdl_clock_name(p, clock));
    if (clock->has_uuid || is_uid) {
        print_attribute_start(p, "uuid");
        print_uuid_attribute(p, is_uid ? uuid : clock->uuid);
        tsdl_print_format(p, ";");
    }
    print_string_attribute(p, "description", clock->description);
    print_unsigned_attribute(p, "freq", clock->frequency);
    if (clock->has_precision)
        print_unsigned_attribute(p, "precision", clock->precision);
    if (clock->offset_s)
        print_signed_attribute(p, "offset_s", clock->offset_s);
    if (clock->offset_cycles)
        print_signed_attribute(p, "offset", clock->offset_cycles);
    if (clock->is_absolute || (clock->is_unix && needs_absolute_clocks(p->description))) {
        print_attribute_start(p, "absolute");
        tsdl_print_format(p, "TRUE;");
    }
    print_block_end(p);
}

/* Returns true if a stream block needs an id. If the only stream has the id 0, Babeltrace rejects
 * the attribute. */
static bool needs_stream_id(const struct tsdl_printer *p, const struct ctf_stream_class *stream)
{
    return stream->id != 0 ||
           tsdl_has_role(p->description->packet_header, CTF_ROLE_STREAM_CLASS_ID);
}

static bool print_stream_block(struct tsdl_printer *p, const struct ctf_stream_class *stream)
{
    p->stream = stream;
    print_block_start(p, "stream");
    if (needs_stream_id(p, stream))
        print_unsigned_attribute(p, "id", stream->id);
    if (!tsdl_print_root(p, "packet.context", ROOT_PACKET_CONTEXT, stream->packet_context) ||
        !tsdl_print_root(p, "event.header", ROOT_EVENT_HEADER, stream->event_header) ||
        !tsdl_print_root(p, "event.context", ROOT_COMMON_CONTEXT, stream->event_context))
        return false;
    print_block_end(p);
    return true;
}

static bool print_event_block(struct tsdl_printer *p, const struct ctf_event_class *event)
{
    p->event = event;
    print_block_start(p, "event");
    /* the name is printed even if it is empty, since Babeltrace requires one */
    print_attribute_start(p, "name");
    tsdl_print_string(p, event->name);
    tsdl_print_format(p, ";");
    print_unsigned_attribute(p, "id", event->id);
    if (needs_stream_id(p, event->stream))
        print_unsigned_attribute(p, "stream_id", event->stream->id);
    if (event->has_log_level)
        print_signed_attribute(p, "loglevel", event->log_level);
    print_string_attribute(p, "model.emf.uri", event->emf_uri);
    if (!tsdl_print_root(p, "context", ROOT_SPECIFIC_CONTEXT, event->context) ||
        !tsdl_print_root(p, "fields", ROOT_PAYLOAD, event->payload))
        return false;
    print_block_end(p);
    p->event = NULL;
    return true;
}

/* Prints the stream classes. If packets or events do not record the stream class, all belong to
 * class 0, so only class 0 is printed. */
static bool print_stream_blocks(struct tsdl_printer *p)
{
    const struct ctf_description *description = p->description;
    bool has_stream_id = description->streams_n < 2 ||
                         tsdl_has_role(description->packet_header, CTF_ROLE_STREAM_CLASS_ID);
    for (size_t i = 0; i < description->streams_n; i++) {
        const struct ctf_stream_class *stream = description->streams[i];
        bool has_event_id =
            stream->events_n < 2 || tsdl_has_role(stream->event_header, CTF_ROLE_EVENT_ID);
        if (!has_stream_id && stream->id != 0)
            continue;
        if (!print_stream_block(p, stream))
            return false;
        for (size_t k = 0; k < stream->events_n; k++)
            if ((has_event_id || stream->events[k]->id == 0) &&
                !print_event_block(p, stream->events[k]))
                return false;
    }
    p->stream = NULL;
    return true;
}

/* Prints the complete metadata. Clocks come first, because fields refer to them. */
static bool print_tsdl_text(struct tsdl_printer *p)
{
    tsdl_print_format(p, "/* CTF 1.8 */\n");
    if (!print_trace_attributes(p))
        return false;
    print_environment_block(p);
    for (size_t i = 0; i < p->description->clocks_n; i++)
        print_clock_block(p, p->description->clocks[i]);
    return (p->gathers || tsdl_print_aliases(p)) && print_stream_blocks(p);
}

ttr_status tsdl_print(const struct ctf_description *description, struct buffer *to,
                      ttr_error *error)
{
    struct tsdl_printer p = {.description = description, .to = to, .error = error, .gathers = true};
    if (description->version == CTF_RFC_1_1)
        return fail(error, TTR_E_UNSUPPORTED, NO_OFFSET,
                    "CTF 1.8 has no sizes in bytes, which the packets of CTF v1.1 have");
    size_t before = to->n;
    p.aliases_end = &p.aliases;
    arena_init(&p.arena, description->alloc);
    pair_map_init(&p.labelled, description->alloc);
    /* first pass: find the selectors that must become enumerations; second pass: print */
    bool is_fine = choose_clock_names(&p) && print_tsdl_text(&p);
    p.gathers = false;
    is_fine = is_fine && print_tsdl_text(&p);
    pair_map_free(&p.labelled);
    arena_free(&p.arena);
    if (is_fine && !to->failed)
        return TTR_OK;
    to->n = before;
    return is_fine ? fail_memory(error) : p.status;
}
