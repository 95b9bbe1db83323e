/* Fuzzes the format descriptions of tracepoints. The input is a description, a zero byte and a
 * record. All fields of the record are read, and its print format is evaluated twice with equal
 * results, without reading past the record; memory and output are limited by the input size. The
 * last byte selects the byte order, the size of longs, and whether addresses have symbols. */
#include <stdlib.h>
#include <string.h>

#include "encodings/tracepoint/tracepoints.h"
#include "fuzz/fuzz.h"
#include "model/context.h"

#define TEXT_MAX ((size_t)4 << 20) /* repeated references to one array can expand a small input */

static struct tracepoint_raw raw_of(const void *ctx, const ttr_event *event)
{
    (void)ctx;
    return (struct tracepoint_raw){event->payload, event->payload_size};
}

static const struct tracepoint_container container = {.raw = raw_of};

/* Reads every byte of every field, and returns a hash. */
static uint64_t walk(const ttr *t, const ttr_event *event, bool is_header)
{
    ttr_fields fields;
    ttr_field field;
    uint64_t sum = 0;
    if (is_header)
        ttr_fields_begin_group(t, event, TTR_GROUP_HEADER, &fields);
    else
        ttr_fields_begin(t, event, &fields);
    while (ttr_fields_next(&fields, &field)) {
        bool is_text = field.value.type == TTR_TYPE_TEXT || field.value.type == TTR_TYPE_BYTES;
        for (size_t i = 0; is_text && i < field.value.text.n; i++)
            sum = sum * 31 + (uint8_t)field.value.text.p[i];
        for (uint32_t i = 0; i < field.value.count && (field.value.hint == TTR_DISPLAY_ENUM ||
                                                       field.value.hint == TTR_DISPLAY_FLAGS);
             i++) {
            ttr_text label;
            if (!ttr_fields_label(&fields, &field.value, i, &label))
                fuzz_stop("a value has fewer names than it says");
            sum += label.n;
        }
        sum = sum * 31 + field.value.v.u + field.name.n;
    }
    return sum;
}

static void look(ttr *t, const ttr_event *event)
{
    struct buffer one, two;
    buffer_init(&one, alloc_default());
    buffer_init(&two, alloc_default());
    if (walk(t, event, false) != walk(t, event, false) ||
        walk(t, event, true) != walk(t, event, true))
        fuzz_stop("fields differ when walked again");
    bool is_printed = tracepoint_print(t, event, &one);
    if (is_printed != tracepoint_print(t, event, &two) || one.n != two.n ||
        (one.n && memcmp(one.bytes, two.bytes, one.n) != 0))
        fuzz_stop("an event is printed otherwise again");
    if (one.n > TEXT_MAX + 64 * 1024 * (size_t)event->payload_size)
        fuzz_stop("the text is too long");
    buffer_free(&one);
    buffer_free(&two);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const char symbols[] = "10 t here\n1000 t there\n", printk[] = "0x10 : \"%d\\n\"\n";
    struct support_heap heap;
    uint8_t how = n ? bytes[n - 1] : 0;
    const uint8_t *zero = n ? memchr(bytes, 0, n) : NULL;
    size_t text_n = zero ? (size_t)(zero - bytes) : n, record_n = zero ? n - text_n - 1 : 0;
    ttr *t = fuzz_context(&heap);
    uint16_t source = context_add_source(t, "here", "test");
    struct tracepoints *all =
        tracepoints_new(&(struct tracepoints_spec){.t = t,
                                                   .container = &container,
                                                   .source = source,
                                                   .is_big_endian = how & 1,
                                                   .long_bytes = how & 2 ? 4 : 8});
    /* Allocations of exactly their sizes, so that a sanitizer detects reads past their ends. */
    char *text = malloc(text_n + 1);
    uint8_t *record = malloc(record_n + 1);
    if (!all || !text || !record)
        fuzz_stop("memory runs out");
    memcpy(text, bytes, text_n);
    if (record_n)
        memcpy(record, zero + 1, record_n);
    record = realloc(record, record_n ? record_n : 1);
    if (how & 4 && (!tracepoints_add_kallsyms(all, (ttr_text){symbols, sizeof symbols - 1}) ||
                    !tracepoints_add_printk(all, (ttr_text){printk, sizeof printk - 1})))
        fuzz_stop("memory runs out");
    ttr_error error;
    ttr_status status = tracepoints_add(all, (ttr_text){how & 8 ? "sched" : "sys", how & 8 ? 5 : 3},
                                        (ttr_text){text, text_n}, &error);
    if (status != TTR_OK && (status != TTR_E_MALFORMED || error.status != status))
        fuzz_stop("a text fails otherwise than by what it says");
    const struct tracepoint_raw raw = {record, record_n};
    ttr_event event = {.payload = record,
                       .payload_size = (uint32_t)record_n,
                       .source = source,
                       .cpu = 1,
                       .flags = TTR_EVENT_HAS_CPU};
    const char *why;
    uint32_t id = 0;
    int32_t pid = 0;
    event.thread = context_thread_by_tid(t, source, 1);
    (void)tracepoint_read_common(all, raw, &id, &pid);
    for (uint32_t kind = 0; kind < 8; kind++) {
        const struct tracepoint *tp =
            kind ? tracepoints_find(all, kind) : tracepoints_find(all, id);
        if (!tp && kind)
            continue;
        ttr_event taken = event;
        if (!tracepoint_decode(all, tp, raw, &taken, &why))
            fuzz_stop("memory runs out");
        look(t, &taken);
    }
    tracepoints_free(all);
    fuzz_context_free(t, &heap, n, 64 * n);
    free(text);
    free(record);
    return 0;
}
