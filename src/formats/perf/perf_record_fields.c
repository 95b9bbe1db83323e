/* Fields of kernel records other than samples: numbers at fixed offsets, then a text, array or
 * bytes up to the end. */
#include "formats/perf/perf.h"

enum form {
    FORM_U16,
    FORM_U32,
    FORM_I32,
    FORM_U64,
    FORM_POINTER,
    FORM_TEXT,
    FORM_BYTES,
    FORM_BUILD_ID,
    FORM_READ,
    FORM_NAMESPACES,
    FORM_FLAG
};

struct record_item {
    const char *name;
    uint16_t at;  /* offset in the record; for FORM_FLAG: bit of the misc member */
    uint8_t form; /* a value of enum form */
};

#define ITEMS_MAX 14u

static const struct record_item items[][ITEMS_MAX] = {
    [0] = {{"record", 8, FORM_BYTES}},
    [PERF_MMAP] = {{"pid", 8, FORM_I32},
                   {"tid", 12, FORM_I32},
                   {"start", 16, FORM_POINTER},
                   {"size", 24, FORM_U64},
                   {"offset", 32, FORM_U64},
                   {"path", 40, FORM_TEXT},
                   {"is_data", 13, FORM_FLAG}},
    [PERF_LOST] = {{"id", 8, FORM_U64}, {"lost", 16, FORM_U64}},
    [PERF_COMM] = {{"pid", 8, FORM_I32},
                   {"tid", 12, FORM_I32},
                   {"comm", 16, FORM_TEXT},
                   {"is_exec", 13, FORM_FLAG}},
    [PERF_EXIT] = {{"pid", 8, FORM_I32},
                   {"parent_pid", 12, FORM_I32},
                   {"tid", 16, FORM_I32},
                   {"parent_tid", 20, FORM_I32}},
    [PERF_THROTTLE] = {{"id", 16, FORM_U64}, {"stream_id", 24, FORM_U64}},
    [PERF_UNTHROTTLE] = {{"id", 16, FORM_U64}, {"stream_id", 24, FORM_U64}},
    [PERF_FORK] = {{"pid", 8, FORM_I32},
                   {"parent_pid", 12, FORM_I32},
                   {"tid", 16, FORM_I32},
                   {"parent_tid", 20, FORM_I32}},
    [PERF_READ] = {{"pid", 8, FORM_I32}, {"tid", 12, FORM_I32}, {"values", 16, FORM_READ}},
    [PERF_MMAP2] = {{"pid", 8, FORM_I32},
                    {"tid", 12, FORM_I32},
                    {"start", 16, FORM_POINTER},
                    {"size", 24, FORM_U64},
                    {"offset", 32, FORM_U64},
                    {"build_id", 40, FORM_BUILD_ID},
                    {"prot", 64, FORM_U32},
                    {"flags", 68, FORM_U32},
                    {"path", 72, FORM_TEXT},
                    {"is_data", 13, FORM_FLAG}},
    [PERF_AUX] = {{"aux_offset", 8, FORM_U64}, {"aux_size", 16, FORM_U64}, {"flags", 24, FORM_U64}},
    [PERF_ITRACE_START] = {{"pid", 8, FORM_I32}, {"tid", 12, FORM_I32}},
    [PERF_LOST_SAMPLES] = {{"lost", 8, FORM_U64}},
    [PERF_SWITCH] = {{"is_out", 13, FORM_FLAG}, {"is_preempted", 14, FORM_FLAG}},
    [PERF_SWITCH_CPU_WIDE] = {{"other_pid", 8, FORM_I32},
                              {"other_tid", 12, FORM_I32},
                              {"is_out", 13, FORM_FLAG},
                              {"is_preempted", 14, FORM_FLAG}},
    [PERF_NAMESPACES] = {{"pid", 8, FORM_I32},
                         {"tid", 12, FORM_I32},
                         {"namespaces", 16, FORM_NAMESPACES}},
    [PERF_KSYMBOL] = {{"start", 8, FORM_POINTER},
                      {"size", 16, FORM_U32},
                      {"type", 20, FORM_U16},
                      {"flags", 22, FORM_U16},
                      {"name", 24, FORM_TEXT}},
    [PERF_BPF_EVENT] = {{"type", 8, FORM_U16},
                        {"flags", 10, FORM_U16},
                        {"id", 12, FORM_U32},
                        {"tag", 16, FORM_BYTES}},
    [PERF_CGROUP] = {{"id", 8, FORM_U64}, {"path", 16, FORM_TEXT}},
    [PERF_TEXT_POKE] = {{"address", 8, FORM_POINTER},
                        {"old_size", 16, FORM_U16},
                        {"new_size", 18, FORM_U16},
                        {"bytes", 20, FORM_BYTES}},
    [PERF_AUX_OUTPUT_HW_ID] = {{"hw_id", 8, FORM_U64}},
};

struct record_iter {
    const struct record_item *item; /* next item to emit */
    struct perf_cursor at;          /* elements of the current array that are not emitted yet */
    /* number of elements and struct members of the array that are not emitted yet */
    uint64_t left;
    uint32_t end; /* record size in bytes without the sample_id trailer */
    /* index of the next member of the current struct element; 0 means the struct itself */
    uint8_t part;
    uint8_t parts;
    uint8_t form; /* enum form of the elements of the current array */
};
_Static_assert(sizeof(struct record_iter) <= sizeof(((ttr_fields *)0)->state), "walk fits");

static void record_fields_begin(ttr_fields *fields)
{
    const struct perf_trace *trace = fields->ctx;
    const ttr_event *event = fields->event;
    struct record_iter *iter = (struct record_iter *)fields->state;
    *iter = (struct record_iter){.end = event->part < event->payload_size ? event->part
                                                                          : event->payload_size};
    if (event->kind == TTR_KIND_DEFINITION)
        return;
    uint32_t type =
        event->payload_size >= PERF_RECORD_HEADER ? perf_u32(event->payload, trace->is_big) : 0;
    bool is_known = type < sizeof items / sizeof *items && items[type][0].name;
    iter->item = items[is_known ? type : 0];
    iter->at.is_big = trace->is_big;
}

static void set_record_number(ttr_field *field, uint64_t value, uint8_t bits)
{
    field->value = (ttr_value){.v.u = value, .type = TTR_TYPE_UINT, .bits = bits};
}

/* Emits an item of fixed size. Returns false if the record is too short for it. */
static bool emit_fixed_item(const ttr_event *event, const struct record_iter *iter,
                            const struct record_item *item, ttr_field *field)
{
    const uint8_t *p = event->payload + item->at;
    bool is_big = iter->at.is_big;
    unsigned bytes = item->form == FORM_U16                             ? 2
                     : item->form == FORM_U32 || item->form == FORM_I32 ? 4
                                                                        : 8;
    if (item->form == FORM_FLAG) {
        field->value = (ttr_value){.v.u = perf_u16(event->payload + 4, is_big) >> item->at & 1,
                                   .type = TTR_TYPE_BOOL};
        return true;
    }
    if (item->at > iter->end || iter->end - item->at < bytes)
        return false;
    switch (item->form) {
    case FORM_U16:
        set_record_number(field, perf_u16(p, is_big), 16);
        break;
    case FORM_U32:
        set_record_number(field, perf_u32(p, is_big), 32);
        break;
    case FORM_I32:
        field->value =
            (ttr_value){.v.s = (int32_t)perf_u32(p, is_big), .type = TTR_TYPE_INT, .bits = 32};
        break;
    default:
        set_record_number(field, perf_u64(p, is_big), 0);
        break;
    }
    if (item->form == FORM_POINTER)
        field->value.hint = TTR_DISPLAY_POINTER;
    return true;
}

static bool emit_text_item(const ttr_event *event, const struct record_iter *iter,
                           const struct record_item *item, ttr_field *field)
{
    if (item->at > iter->end)
        return false;
    const char *p = (const char *)event->payload + item->at;
    uint32_t n = iter->end - item->at;
    bool is_text = item->form == FORM_TEXT;
    field->value = (ttr_value){.type = is_text ? TTR_TYPE_TEXT : TTR_TYPE_BYTES,
                               .text = {p, is_text ? strnlen(p, n) : n}};
    if (item == &items[0][0])
        field->value.hint = TTR_DISPLAY_RAW;
    return true;
}

/* Emits the build id of a file. If the record has none, emits the file's device: u32 major, u32
 * minor, u64 inode, u64 generation. */
static bool emit_build_id(const ttr_event *event, struct record_iter *iter, ttr_field *field)
{
    static const struct record_item device[] = {{"major", 40, FORM_U32},
                                                {"minor", 44, FORM_U32},
                                                {"inode", 48, FORM_U64},
                                                {"generation", 56, FORM_U64}};
    const bool may_have = perf_u16(event->payload + 4, iter->at.is_big) & PERF_MISC_BUILD_ID;
    const uint32_t n = may_have && iter->end >= 64 ? perf_mapping_build_id_size(event->payload) : 0;
    if (n) {
        field->value =
            (ttr_value){.type = TTR_TYPE_BYTES, .text = {(const char *)event->payload + 44, n}};
        return true;
    }
    const struct record_item *item = &device[iter->part++];
    field->name = (ttr_text){item->name, strlen(item->name)};
    if (iter->part < sizeof device / sizeof *device)
        /* the next call emits the next member of the device, so stay at this item */
        iter->item--;
    return emit_fixed_item(event, iter, item, field);
}

static bool emit_array_item(const struct perf_trace *trace, const ttr_event *event,
                            struct record_iter *iter, const struct record_item *item,
                            ttr_field *field)
{
    iter->form = item->form;
    iter->at.c = cursor_init(event->payload, iter->end, 0);
    (void)cursor_skip(&iter->at.c, item->at);
    iter->parts = 2;
    if (item->form == FORM_NAMESPACES) {
        iter->left = perf_read_u64(&iter->at);
    } else {
        const struct perf_kind *kind = trace->kinds_n ? trace->kind[0] : NULL;
        iter->left = kind ? cursor_left(&iter->at.c) / 8 : 0;
        iter->parts = 1;
    }
    uint64_t most = cursor_left(&iter->at.c) / (8 * (uint64_t)iter->parts);
    iter->left = iter->left < most ? iter->left : most;
    field->value = (ttr_value){.type = TTR_TYPE_ARRAY, .count = (uint32_t)iter->left};
    /* each struct element counts as one field, plus its members */
    iter->left *= iter->parts > 1 ? iter->parts + 1u : 1u;
    iter->part = 0;
    return true;
}

static void emit_record_element(struct record_iter *iter, ttr_field *field)
{
    static const char *const names[] = {"device", "inode"};
    field->depth = 1;
    iter->left--;
    if (iter->parts > 1 && iter->part == 0) {
        field->value = (ttr_value){.type = TTR_TYPE_STRUCT, .count = iter->parts};
        iter->part = 1;
        return;
    }
    set_record_number(field, perf_read_u64(&iter->at), 0);
    if (iter->parts == 1)
        return;
    field->depth = 2;
    field->name = (ttr_text){names[iter->part - 1], strlen(names[iter->part - 1])};
    iter->part = (uint8_t)((iter->part + 1) % (iter->parts + 1));
}

static bool record_fields_next(ttr_fields *fields, ttr_field *field)
{
    struct record_iter *iter = (struct record_iter *)fields->state;
    const ttr_event *event = fields->event;
    field_clear(field);
    if (iter->left > 0) {
        emit_record_element(iter, field);
        return true;
    }
    const struct record_item *item = iter->item;
    if (!item || !item->name)
        return false;
    iter->item++;
    field->name = (ttr_text){item->name, strlen(item->name)};
    switch (item->form) {
    case FORM_TEXT:
    case FORM_BYTES:
        return emit_text_item(event, iter, item, field);
    case FORM_BUILD_ID:
        return emit_build_id(event, iter, field);
    case FORM_READ:
    case FORM_NAMESPACES:
        return emit_array_item(fields->ctx, event, iter, item, field);
    default:
        return emit_fixed_item(event, iter, item, field);
    }
}

const struct field_ops perf_record_field_ops = {.begin = record_fields_begin,
                                                .next = record_fields_next};
