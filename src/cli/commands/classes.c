/* Event classes: a table of them, and their declared fields in short form ("u32", "string",
 * "u8[length]"). Fields of packets and headers, and fields that all events of a stream have, are
 * printed once per stream class. */
#include "cli/commands/classes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <tracetta/event_class.h>
#include <tracetta/tracetta.h>

#include "cli/input/input_list.h"
#include "cli/ui/messages.h"

#define CLASSES_SHOWN 20u
#define LABELS_SHOWN 8u

static bool get_event_class(ttr_reader *reader, const struct trace *trace, size_t i,
                            ttr_event_class *about)
{
    ttr_event_class each = {.size = sizeof each};
    *about = (ttr_event_class){.size = sizeof *about};
    if (!ttr_reader_class(reader, trace->first, i, about))
        return false;
    for (size_t k = 1; k < trace->n; k++)
        if (ttr_reader_class(reader, trace->first + k, i, &each))
            about->events += each.events;
    return true;
}

static struct class_numbers count_event_classes(ttr_reader *reader, const struct trace *trace)
{
    struct class_numbers numbers = {0};
    ttr_event_class about;
    for (; get_event_class(reader, trace, numbers.all, &about); numbers.all++)
        numbers.used += about.events > 0;
    return numbers;
}

/* --- The table --- */

/* An event class with its index in the order of the trace. */
struct row {
    ttr_event_class about;
    size_t place;
};

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->about.events != y->about.events)
        return x->about.events < y->about.events ? 1 : -1;
    return (x->place > y->place) - (x->place < y->place);
}

static void print_class_row(const struct call *call, const ttr_event_class *about, int indent)
{
    (void)printf("%*s  %14s  ", indent, "", units_count(about->events).s);
    term_text(about->name.n ? about->name : (ttr_text){"(no name)", 9});
    if (call->set.verbose) {
        (void)printf("%s  id %" PRIu64 ", stream class %" PRIu64, term_ink(&call->term, INK_DIM),
                     about->id, about->stream);
        if (about->has_version)
            (void)printf(", version %" PRIu32, about->version);
        if (about->has_log_level)
            (void)printf(", log level %" PRId64, about->log_level);
        (void)fputs(term_ink(&call->term, INK_PLAIN), stdout);
    }
    (void)putchar('\n');
}

void print_event_classes(const struct call *call, ttr_reader *reader, const struct trace *trace,
                         int indent)
{
    struct class_numbers numbers = count_event_classes(reader, trace);
    struct row *row = calloc(numbers.all + 1, sizeof *row);
    size_t n = 0;
    if (!row) {
        report_failure_text(inputs_get_name(call), "out of memory");
        return;
    }
    while (n < numbers.all && get_event_class(reader, trace, n, &row[n].about))
        row[n].place = n, n++;
    if (n) {
        qsort(row, n, sizeof *row, compare_rows);
        (void)printf("%*sclasses   %s, %s with events%s\n", indent, "", units_count(numbers.all).s,
                     units_count(numbers.used).s,
                     call->set.verbose ? "" : " (--classes shows their fields)");
    }
    size_t shown = call->set.verbose              ? n
                   : numbers.used < CLASSES_SHOWN ? numbers.used
                                                  : CLASSES_SHOWN;
    for (size_t i = 0; i < shown; i++)
        print_class_row(call, &row[i].about, indent);
    if (shown < numbers.used)
        (void)printf("%*s  and %s more (--verbose lists all)\n", indent, "",
                     units_count(numbers.used - shown).s);
    free(row);
}

/* --- Declared fields, for people --- */

static void print_field_path(const ttr_field_declaration *it)
{
    static const char *const groups[] = {"", "context:", "common:", "packet:", "header:"};
    if (it->reference_group != it->group && it->reference_group < sizeof groups / sizeof *groups)
        (void)fputs(groups[it->reference_group], stdout);
    for (uint32_t i = 0; i < it->reference_n; i++) {
        if (i > 0)
            (void)putchar('.');
        term_text(it->reference[i]);
    }
}

static void print_field_length(const ttr_field_declaration *it)
{
    if (!it->has_count && !it->has_inline_length && !it->reference_n)
        return;
    (void)putchar('[');
    if (it->has_count)
        (void)printf("%" PRIu64, it->count);
    else if (it->has_inline_length)
        (void)fputs("length before it", stdout);
    else
        print_field_path(it);
    (void)putchar(']');
}

static void print_number_type(const ttr_field_declaration *it)
{
    static const char *const words[] = {[TTR_TYPE_BOOL] = "bool",
                                        [TTR_TYPE_UINT] = "u",
                                        [TTR_TYPE_INT] = "i",
                                        [TTR_TYPE_FLOAT] = "f"};
    if (it->bits)
        (void)printf("%s%" PRIu32, words[it->type], it->bits);
    else
        (void)fputs(it->type == TTR_TYPE_INT ? "varint" : "varuint", stdout);
    if (it->base == 2 || it->base == 8 || it->base == 16)
        (void)fputs(it->base == 2 ? " binary" : it->base == 8 ? " octal" : " hex", stdout);
    if (it->is_big_endian && it->bits > 8)
        (void)fputs(" big-endian", stdout);
}

static void print_label_range(const ttr_label *label, bool is_signed)
{
    if (is_signed)
        (void)printf(label->low == label->high ? "%" PRId64 : "%" PRId64 "..%" PRId64,
                     (int64_t)label->low, (int64_t)label->high);
    else
        (void)printf(label->low == label->high ? "%" PRIu64 : "%" PRIu64 "..%" PRIu64, label->low,
                     label->high);
}

static void print_field_labels(const struct call *call, ttr_field_declarations *walk,
                               const ttr_field_declaration *it)
{
    ttr_label label;
    size_t n = 0, most = call->set.verbose ? SIZE_MAX : LABELS_SHOWN;
    for (; ttr_field_declarations_label(walk, &label); n++) {
        if (n >= most)
            continue;
        (void)fputs(n ? ", " : it->hint == TTR_DISPLAY_FLAGS ? " flags {" : " enum {", stdout);
        term_text(label.name);
        (void)fputs(it->hint == TTR_DISPLAY_FLAGS ? " = bit " : " = ", stdout);
        print_label_range(&label, it->type == TTR_TYPE_INT);
    }
    if (n > most)
        (void)printf(", and %zu more", n - most);
    if (n)
        (void)putchar('}');
}

/* Prints the selector values for which a field exists, between the two texts. Returns false if the
 * field has no selector. */
static bool print_selector(ttr_field_declarations *walk, const char *before, const char *following)
{
    ttr_label label;
    size_t n = 0;
    for (; ttr_field_declarations_selector(walk, &label); n++) {
        (void)fputs(n ? ", " : before, stdout);
        print_label_range(&label, label.low > label.high || label.low >> 63);
    }
    if (n)
        (void)fputs(following, stdout);
    return n > 0;
}

/* Prints the type of a declared field. Returns false if the element type must follow on the same
 * line. */
static bool print_field_type(const struct call *call, ttr_field_declarations *walk,
                             const ttr_field_declaration *it)
{
    switch (it->type) {
    case TTR_TYPE_BOOL:
    case TTR_TYPE_UINT:
    case TTR_TYPE_INT:
    case TTR_TYPE_FLOAT:
        print_number_type(it);
        print_field_labels(call, walk, it);
        return true;
    case TTR_TYPE_TEXT:
    case TTR_TYPE_BYTES:
        (void)fputs(it->type == TTR_TYPE_TEXT ? "string" : "bytes", stdout);
        if (it->type == TTR_TYPE_TEXT && it->bits > 8)
            (void)printf(" of %" PRIu32 " bits", it->bits);
        print_field_length(it);
        return true;
    case TTR_TYPE_STRUCT:
        (void)fputs("struct", stdout);
        return true;
    case TTR_TYPE_ARRAY:
        print_field_length(it);
        (void)putchar(' ');
        return false;
    default:
        break;
    }
    if (it->choice == TTR_CHOICE_NONE)
        (void)fputs("null", stdout);
    else
        (void)fputs(it->choice == TTR_CHOICE_OPTIONAL ? "if " : "one of these, by ", stdout);
    print_field_path(it);
    if (it->choice == TTR_CHOICE_OPTIONAL)
        (void)print_selector(walk, " is ", "");
    (void)fputs(it->choice == TTR_CHOICE_OPTIONAL ? ": " : "", stdout);
    return it->choice != TTR_CHOICE_OPTIONAL;
}

/* Prints the declared fields of an event class. `groups`: bit set of 1 << ttr_group. */
static void print_fields(const struct call *call, const ttr_event_class *about, unsigned groups,
                         int indent)
{
    static const char *const titles[] = {"payload", "context", "common", "packet", "header"};
    ttr_field_declarations walk;
    ttr_field_declaration it;
    int group = -1;
    bool is_begun = false; /* a line of fields was started */
    ttr_field_declarations_begin(about, &walk);
    while (ttr_field_declarations_next(&walk, &it)) {
        if (!(groups >> it.group & 1))
            continue;
        if (!is_begun) {
            (void)printf("%*s  %-8s ", indent, "", it.group == group ? "" : titles[it.group]);
            (void)printf("%*s", it.depth * 2, "");
            term_text(it.name);
            bool has_selector = it.choice != TTR_CHOICE_OPTIONAL &&
                                print_selector(&walk, it.name.n ? " (" : "(", ")");
            (void)fputs(it.name.n || has_selector ? ": " : "", stdout);
        }
        group = it.group;
        is_begun = !print_field_type(call, &walk, &it);
        if (!is_begun)
            (void)putchar('\n');
    }
    if (is_begun)
        (void)putchar('\n');
}

static void print_stream_class(const struct call *call, const ttr_event_class *about, int indent)
{
    (void)printf("%*s%sstream class %" PRIu64, indent, "", term_ink(&call->term, INK_BOLD),
                 about->stream);
    (void)fputs(about->stream_name.n ? " " : "", stdout);
    term_text(about->stream_name);
    (void)printf("%s\n", term_ink(&call->term, INK_PLAIN));
    print_fields(call, about,
                 1u << TTR_GROUP_PACKET | 1u << TTR_GROUP_HEADER | 1u << TTR_GROUP_COMMON, indent);
}

static void print_class_text(const char *what, ttr_text text, int indent)
{
    if (!text.n)
        return;
    (void)printf("%*s%s: ", indent, "", what);
    term_text(text);
    (void)putchar('\n');
}

static void print_class(const struct call *call, const ttr_event_class *about, int indent)
{
    (void)printf("%*s%s", indent, "", term_ink(&call->term, INK_BOLD));
    term_text(about->name.n ? about->name : (ttr_text){"(no name)", 9});
    (void)printf("%s  id %" PRIu64, term_ink(&call->term, INK_PLAIN), about->id);
    if (about->has_version)
        (void)printf(", version %" PRIu32, about->version);
    if (about->has_log_level)
        (void)printf(", log level %" PRId64, about->log_level);
    if (about->emf_uri.n) {
        (void)fputs(", ", stdout);
        term_text(about->emf_uri);
    }
    (void)printf(", %s event%s\n", units_count(about->events).s, about->events == 1 ? "" : "s");
    print_class_text("message", about->message, indent + 2);
    print_class_text("description", about->description, indent + 2);
    print_fields(call, about, 1u << TTR_GROUP_CONTEXT | 1u << TTR_GROUP_PAYLOAD, indent);
}

void print_class_fields(const struct call *call, ttr_reader *reader, const struct trace *trace,
                        int indent)
{
    ttr_event_class about;
    uint64_t stream = 0;
    for (size_t i = 0; get_event_class(reader, trace, i, &about); i++) {
        if (i == 0 || about.stream != stream)
            print_stream_class(call, &about, indent);
        stream = about.stream;
        print_class(call, &about, indent);
    }
}

/* --- JSON --- */

static void write_bound_json(struct json *json, const char *key, uint64_t value, bool is_signed)
{
    if (is_signed)
        json_write_int(json, key, (int64_t)value);
    else
        json_write_uint(json, key, value);
}

static void write_labels_json(struct json *json, ttr_field_declarations *walk,
                              const ttr_field_declaration *it)
{
    ttr_label label;
    bool is_signed = it->type == TTR_TYPE_INT;
    if (it->hint != TTR_DISPLAY_ENUM && it->hint != TTR_DISPLAY_FLAGS)
        return;
    json_open(json, "labels", '[');
    while (ttr_field_declarations_label(walk, &label)) {
        json_open(json, NULL, '{');
        json_write_text(json, "name", label.name);
        write_bound_json(json, "low", label.low, is_signed);
        write_bound_json(json, "high", label.high, is_signed);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_selector_json(struct json *json, ttr_field_declarations *walk)
{
    ttr_label label;
    size_t n = 0;
    for (; ttr_field_declarations_selector(walk, &label); n++) {
        bool is_signed = label.low > label.high || label.low >> 63;
        if (n == 0)
            json_open(json, "when", '[');
        json_open(json, NULL, '{');
        write_bound_json(json, "low", label.low, is_signed);
        write_bound_json(json, "high", label.high, is_signed);
        json_close(json, '}');
    }
    if (n)
        json_close(json, ']');
}

static void write_reference_json(struct json *json, const ttr_field_declaration *it)
{
    static const char *const groups[] = {"payload", "context", "common", "packet", "header"};
    if (!it->reference_n)
        return;
    json_open(json, it->choice == TTR_CHOICE_NONE ? "length" : "selector", '{');
    json_write_string(json, "group", groups[it->reference_group]);
    json_open(json, "path", '[');
    for (uint32_t i = 0; i < it->reference_n; i++)
        json_write_text(json, NULL, it->reference[i]);
    json_close(json, ']');
    json_close(json, '}');
}

static void write_field_json(struct json *json, ttr_field_declarations *walk,
                             const ttr_field_declaration *it)
{
    static const char *const groups[] = {"payload", "context", "common", "packet", "header"};
    static const char *const choices[] = {NULL, "optional", "variant"};
    json_open(json, NULL, '{');
    json_write_text(json, "name", it->name);
    json_write_uint(json, "depth", it->depth);
    json_write_string(json, "group", groups[it->group]);
    json_write_string(json, "type", it->choice ? choices[it->choice] : ttr_type_text(it->type));
    if (it->bits)
        json_write_uint(json, "bits", it->bits);
    if (it->bits && it->type != TTR_TYPE_TEXT)
        json_write_string(json, "byte_order", it->is_big_endian ? "be" : "le");
    if (it->base && it->base != 10)
        json_write_uint(json, "base", it->base);
    if (it->has_count)
        json_write_uint(json, "count", it->count);
    write_reference_json(json, it);
    write_labels_json(json, walk, it);
    write_selector_json(json, walk);
    if (it->is_technical)
        json_write_bool(json, "technical", true);
    json_close(json, '}');
}

static void write_class_json(struct json *json, const ttr_event_class *about, bool has_fields)
{
    ttr_field_declarations walk;
    ttr_field_declaration it;
    json_open(json, NULL, '{');
    json_write_text(json, "name", about->name);
    json_write_uint(json, "id", about->id);
    if (about->has_version)
        json_write_uint(json, "version", about->version);
    json_write_uint(json, "stream_class", about->stream);
    if (about->has_log_level)
        json_write_int(json, "log_level", about->log_level);
    if (about->emf_uri.n)
        json_write_text(json, "emf_uri", about->emf_uri);
    if (about->message.n)
        json_write_text(json, "message", about->message);
    if (about->description.n)
        json_write_text(json, "description", about->description);
    json_write_uint(json, "events", about->events);
    if (has_fields) {
        json_open(json, "fields", '[');
        ttr_field_declarations_begin(about, &walk);
        while (ttr_field_declarations_next(&walk, &it))
            write_field_json(json, &walk, &it);
        json_close(json, ']');
    }
    json_close(json, '}');
}

void write_classes_json(struct json *json, ttr_reader *reader, const struct trace *trace,
                        bool has_fields)
{
    ttr_event_class about;
    json_open(json, "classes", '[');
    for (size_t i = 0; get_event_class(reader, trace, i, &about); i++)
        write_class_json(json, &about, has_fields);
    json_close(json, ']');
}
