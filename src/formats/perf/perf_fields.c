/* Fields of samples: numbers at fixed offsets, then the variable parts, then the stack.
 *
 * The iterator goes through stages; each stage emits one field and then its elements. All stages
 * except the stack belong to the common context. Samples of tracepoints have that context too,
 * before the fields of the tracepoint. */
#include "formats/perf/perf.h"

enum stage {
    STAGE_PLAIN,
    STAGE_READ,
    STAGE_RAW,
    STAGE_BRANCHES,
    STAGE_REGS_USER,
    STAGE_STACK_USER,
    STAGE_SINGLE,
    STAGE_REGS_INTR,
    STAGE_AUX,
    STAGE_FRAMES,
    STAGE_OVER
};

struct sample_iter {
    const struct perf_kind *kind;
    struct perf_parts parts;
    struct perf_cursor at; /* elements of the current array that are not emitted yet */
    uint64_t mask;         /* bit mask of the registers that are not emitted yet */
    uint64_t left;         /* number of elements that are not emitted yet */
    uint32_t i;            /* index of the next field of the current stage */
    /* `stage`: next stage; `elements`: stage of which the current array is; both are enum stage */
    uint8_t stage, elements;
    uint8_t part; /* index of the next member of the current struct element */
    /* has_parts: variable parts follow; is_elsewhere: the tracepoint decoder emits RAW and the
     * stack */
    bool has_parts, is_elsewhere;
};
_Static_assert(sizeof(struct sample_iter) <= sizeof(((ttr_fields *)0)->state), "walk fits");

static void set_field_name(ttr_field *field, const char *name)
{
    field->name = (ttr_text){name, strlen(name)};
    field->group = TTR_GROUP_COMMON;
}

static void set_number_field(ttr_field *field, const char *name, uint64_t value, uint8_t hint)
{
    set_field_name(field, name);
    field->value = (ttr_value){.v.u = value, .type = TTR_TYPE_UINT, .hint = hint};
}

static void set_fixed_field(ttr_field *field, const struct perf_kind *kind, uint32_t i,
                            const ttr_event *event)
{
    const struct perf_fixed_field *plain = &kind->plain[i];
    bool is_fixed = kind->has_fixed_period && i + 1 == kind->plain_n;
    uint64_t value =
        is_fixed ? kind->request.period : perf_u64(event->payload + plain->at, kind->trace->is_big);
    set_number_field(field, plain->name, value,
                     plain->is_pointer ? TTR_DISPLAY_POINTER : TTR_DISPLAY_NONE);
    field->name_id = plain->name_id;
}

static void set_bytes_field(ttr_field *field, const char *name, const struct perf_part *part)
{
    set_field_name(field, name);
    field->value =
        (ttr_value){.type = TTR_TYPE_BYTES, .text = {(const char *)part->p, (size_t)part->n}};
}

/* Makes `field` an array for a variable part of a sample. The next calls emit the elements. */
static void set_array_field(struct sample_iter *iter, ttr_field *field, const char *name,
                            const struct perf_part *part, size_t bytes)
{
    set_field_name(field, name);
    field->value = (ttr_value){.type = TTR_TYPE_ARRAY, .count = (uint32_t)part->n};
    iter->at.c = cursor_init(part->p, bytes, 0);
    iter->left = part->n;
    iter->elements = iter->stage;
    iter->part = 0;
}

/* --- Variable parts of a sample --- */

/* Returns the number of bytes from `p` to the end of the event's record. */
static size_t bytes_left_in_record(const ttr_event *event, const uint8_t *p)
{
    return (size_t)(event->payload + event->payload_size - p);
}

static unsigned count_read_times(uint64_t format)
{
    return (unsigned)__builtin_popcountll(format &
                                          (PERF_READ_TIME_ENABLED | PERF_READ_TIME_RUNNING));
}

static bool emit_counter_values(struct sample_iter *iter, const ttr_event *event, ttr_field *field)
{
    uint64_t format = iter->kind->request.read_format;
    const struct perf_part *read = &iter->parts.read;
    static const struct {
        uint32_t bit;
        const char *name;
    } heads[] = {{PERF_READ_TIME_ENABLED, "time_enabled"},
                 {PERF_READ_TIME_RUNNING, "time_running"}};
    if (!read->p)
        return false;
    struct perf_cursor at = {cursor_init(read->p, bytes_left_in_record(event, read->p), 0),
                             iter->at.is_big};
    bool is_group = format & PERF_READ_GROUP;
    struct cursor single = at.c;
    /* skip the number of values, or the single value: the times follow */
    (void)cursor_skip(&at.c, 8);
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t value = format & heads[i].bit ? perf_read_u64(&at) : 0;
        if (!(format & heads[i].bit) || i < iter->i)
            continue;
        set_number_field(field, heads[i].name, value, TTR_DISPLAY_NONE);
        iter->i = i + 1;
        iter->stage = STAGE_READ; /* more times may follow: continue with this stage */
        return true;
    }
    iter->i = 0;
    struct perf_part values = {is_group ? at.c.p : single.p, read->n};
    set_array_field(iter, field, "values", &values, bytes_left_in_record(event, values.p));
    iter->elements = STAGE_READ;
    return true;
}

/* Emits one counter value: a number, or a struct {event, id, value, lost} if the value has an id.
 * For a single value, id and lost count follow the times (PERF-SAMPLE-3). */
static void emit_counter_value(struct sample_iter *iter, ttr_field *field)
{
    static const char *const names[] = {"", "event", "id", "value", "lost"};
    const struct perf_trace *trace = iter->kind->trace;
    uint64_t format = iter->kind->request.read_format;
    bool has_id = format & PERF_READ_ID, has_lost = format & PERF_READ_LOST;
    const uint8_t *value = iter->at.c.p,
                  *id = value + 8 + (format & PERF_READ_GROUP ? 0 : 8 * count_read_times(format));
    const uint8_t *const number[] = {value, NULL, id, value, id + 8};
    unsigned part = iter->part;
    if (has_id && part == 0) {
        set_field_name(field, "");
        field->value = (ttr_value){.type = TTR_TYPE_STRUCT, .count = 3 + has_lost};
    } else if (part == 1) {
        const uint32_t *known = pair_map_get(&trace->by_id, perf_u64(id, iter->at.is_big), 0);
        set_field_name(field, names[part]);
        field->value = (ttr_value){
            .type = TTR_TYPE_TEXT,
            .text = known ? ttr_text_get(trace->t, trace->kind[*known]->whole) : (ttr_text){"", 0}};
    } else {
        set_number_field(field, names[part], perf_u64(number[part], iter->at.is_big),
                         TTR_DISPLAY_NONE);
    }
    field->depth = part ? 2 : 1;
    iter->part++;
    if (has_id && iter->part <= 3u + has_lost)
        return;
    iter->part = 0;
    iter->left--;
    (void)cursor_skip(&iter->at.c, 8 * (1 + (uint64_t)has_id + has_lost));
}

static bool emit_branches(struct sample_iter *iter, const ttr_event *event, ttr_field *field)
{
    const struct perf_part *branches = &iter->parts.branches;
    if (!branches->p)
        return false;
    set_array_field(iter, field, "branches", branches, bytes_left_in_record(event, branches->p));
    iter->elements = STAGE_BRANCHES;
    return true;
}

/* Emits one branch as a struct {from, to, flags}. */
static void emit_branch(struct sample_iter *iter, ttr_field *field)
{
    static const char *const names[] = {"from", "to", "flags"};
    if (iter->part == 0) {
        set_field_name(field, "");
        field->value = (ttr_value){.type = TTR_TYPE_STRUCT, .count = 3};
        iter->part = 1;
        return;
    }
    set_number_field(field, names[iter->part - 1], perf_read_u64(&iter->at),
                     iter->part < 3 ? TTR_DISPLAY_POINTER : TTR_DISPLAY_NONE);
    field->value.base = iter->part == 3 ? 16 : 0;
    field->depth = 2;
    if (++iter->part < 4)
        return;
    iter->part = 0;
    iter->left--;
}

static bool emit_registers(struct sample_iter *iter, const ttr_event *event, ttr_field *field)
{
    bool is_user = iter->elements == STAGE_REGS_USER;
    const struct perf_part *registers = is_user ? &iter->parts.regs_user : &iter->parts.regs_intr;
    if (!registers->p || registers->n == 0)
        return false;
    uint8_t of = iter->elements;
    set_array_field(iter, field, is_user ? "user_registers" : "registers", registers,
                    bytes_left_in_record(event, registers->p));
    field->value.type = TTR_TYPE_STRUCT;
    iter->elements = of;
    iter->mask = is_user ? iter->kind->request.regs_user : iter->kind->request.regs_intr;
    return true;
}

/* Emits the value of one register. The field's name is the register's number if the architecture
 * is unknown. */
static void emit_register(struct sample_iter *iter, ttr_field *field)
{
    static const char *const numbers[64] = {
        "r0",  "r1",  "r2",  "r3",  "r4",  "r5",  "r6",  "r7",  "r8",  "r9",  "r10", "r11", "r12",
        "r13", "r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25",
        "r26", "r27", "r28", "r29", "r30", "r31", "r32", "r33", "r34", "r35", "r36", "r37", "r38",
        "r39", "r40", "r41", "r42", "r43", "r44", "r45", "r46", "r47", "r48", "r49", "r50", "r51",
        "r52", "r53", "r54", "r55", "r56", "r57", "r58", "r59", "r60", "r61", "r62", "r63"};
    unsigned number = iter->mask ? (unsigned)__builtin_ctzll(iter->mask) : 0;
    iter->mask &= iter->mask - 1;
    set_number_field(field,
                     iter->kind->trace->registers && iter->kind->trace->registers[number]
                         ? iter->kind->trace->registers[number]
                         : numbers[number],
                     perf_read_u64(&iter->at), TTR_DISPLAY_POINTER);
    iter->left--;
}

/* Emits the next eight-byte value of a sample; splits WEIGHT_STRUCT into three numbers. */
static bool emit_eight_byte_value(struct sample_iter *iter, ttr_field *field)
{
    static const struct {
        const char *name;
        uint8_t hint, base;
    } singles[PERF_SINGLES] = {[PERF_SINGLE_WEIGHT] = {"weight", 0, 0},
                               [PERF_SINGLE_DATA_SRC] = {"data_src", 0, 16},
                               [PERF_SINGLE_TRANSACTION] = {"transaction", 0, 16},
                               [PERF_SINGLE_PHYS_ADDR] = {"phys_addr", TTR_DISPLAY_POINTER, 0},
                               [PERF_SINGLE_CGROUP] = {"cgroup", 0, 0},
                               [PERF_SINGLE_DATA_PAGE] = {"data_page_size", 0, 0},
                               [PERF_SINGLE_CODE_PAGE] = {"code_page_size", 0, 0}};
    static const struct {
        const char *name;
        uint8_t shift, bits;
    } weights[] = {
        {"weight", 0, 32}, {"instruction_latency", 32, 16}, {"pipeline_latency", 48, 16}};
    bool has_weights = iter->kind->request.sample_type & PERF_SAMPLE_HAS_WEIGHT_STRUCT;
    while (iter->i < PERF_SINGLES && !iter->parts.single[iter->i])
        iter->i++;
    if (iter->i == PERF_SINGLES) {
        iter->i = 0;
        return false;
    }
    iter->stage = STAGE_SINGLE; /* more values may follow: continue with this stage */
    uint64_t x = perf_u64(iter->parts.single[iter->i], iter->at.is_big);
    if (iter->i == PERF_SINGLE_WEIGHT && has_weights) {
        unsigned part = iter->part++;
        set_number_field(field, weights[part].name,
                         x >> weights[part].shift & ((UINT64_C(1) << weights[part].bits) - 1),
                         TTR_DISPLAY_NONE);
        field->value.bits = weights[part].bits;
        iter->i += iter->part == 3;
        iter->part %= 3;
        return true;
    }
    set_number_field(field, singles[iter->i].name, x, singles[iter->i].hint);
    field->value.base = singles[iter->i].base;
    iter->i++;
    return true;
}

static bool emit_bytes(ttr_field *field, const char *name, const struct perf_part *part)
{
    if (!part->p)
        return false;
    set_bytes_field(field, name, part);
    return true;
}

/* --- Frames of the callchain --- */

static bool is_code_address(uint64_t x)
{
    return x < PERF_CONTEXT_FIRST;
}

uint32_t perf_get_sample_frames(const struct perf_kind *kind, const ttr_event *event,
                                uint64_t *addresses, uint32_t room)
{
    struct perf_parts parts;
    bool is_big = kind->trace->is_big;
    uint32_t n = 0;
    if (kind->request.sample_type & PERF_SAMPLE_HAS_CALLCHAIN) {
        perf_find_sample_parts(kind, event->payload, event->payload_size, &parts);
        for (uint64_t i = 0; i < parts.chain.n; i++) {
            uint64_t address = perf_u64(parts.chain.p + 8 * i, is_big);
            if (!is_code_address(address))
                continue;
            if (n < room)
                addresses[n] = address;
            n++;
        }
    }
    if (n > 0 || !kind->ip_at || event->kind != TTR_KIND_SAMPLE)
        return n;
    if (room)
        addresses[0] = perf_u64(event->payload + kind->ip_at, is_big);
    return 1;
}

static bool emit_frames(struct sample_iter *iter, const ttr_event *event, ttr_field *field)
{
    uint32_t n = perf_get_sample_frames(iter->kind, event, NULL, 0);
    if (n == 0)
        return false;
    set_field_name(field, "frames");
    field->group = TTR_GROUP_PAYLOAD;
    field->value = (ttr_value){.type = TTR_TYPE_ARRAY, .count = n};
    const struct perf_part *chain = &iter->parts.chain;
    iter->at.c = cursor_init(chain->p, chain->p ? (size_t)chain->n * 8 : 0, 0);
    iter->left = n;
    iter->elements = STAGE_FRAMES;
    return true;
}

static void emit_frame(struct sample_iter *iter, const ttr_event *event, ttr_field *field)
{
    uint64_t address = perf_read_u64(&iter->at);
    while (!iter->at.c.failed && !is_code_address(address))
        address = perf_read_u64(&iter->at);
    if (iter->at.c.failed) /* samples without a callchain have their ip as the only frame */
        address = perf_u64(event->payload + iter->kind->ip_at, iter->at.is_big);
    set_number_field(field, "", address, TTR_DISPLAY_POINTER);
    field->group = TTR_GROUP_PAYLOAD;
    iter->left--;
}

/* --- Order of the stages --- */

static void init_sample_iter(struct sample_iter *iter, const struct perf_kind *kind,
                             const ttr_event *event, bool is_elsewhere)
{
    *iter = (struct sample_iter){
        .kind = kind, .at.is_big = kind->trace->is_big, .is_elsewhere = is_elsewhere};
    iter->has_parts =
        kind->has_parts || (kind->request.sample_type & PERF_SAMPLE_HAS_RAW && !is_elsewhere);
    if (iter->has_parts)
        perf_find_sample_parts(kind, event->payload, event->payload_size, &iter->parts);
}

static bool emit_fixed_field(struct sample_iter *iter, const ttr_event *event, ttr_field *field)
{
    if (iter->i >= iter->kind->plain_n) {
        iter->i = 0;
        return false;
    }
    set_fixed_field(field, iter->kind, iter->i++, event);
    iter->stage = STAGE_PLAIN; /* more numbers may follow: continue with this stage */
    return true;
}

static void emit_sample_element(struct sample_iter *iter, const ttr_event *event, ttr_field *field)
{
    field->depth = 1;
    switch (iter->elements) {
    case STAGE_READ:
        emit_counter_value(iter, field);
        break;
    case STAGE_BRANCHES:
        emit_branch(iter, field);
        break;
    case STAGE_FRAMES:
        emit_frame(iter, event, field);
        break;
    default:
        emit_register(iter, field);
        break;
    }
}

/* Emits the next field of a stage. Returns false if the stage has no further field. */
static bool emit_stage_field(struct sample_iter *iter, unsigned stage, const ttr_event *event,
                             ttr_field *field)
{
    iter->elements = (uint8_t)stage;
    switch (stage) {
    case STAGE_PLAIN:
        return emit_fixed_field(iter, event, field);
    case STAGE_READ:
        return emit_counter_values(iter, event, field);
    case STAGE_RAW:
        return !iter->is_elsewhere && emit_bytes(field, "raw", &iter->parts.raw);
    case STAGE_BRANCHES:
        return emit_branches(iter, event, field);
    case STAGE_REGS_USER:
    case STAGE_REGS_INTR:
        return emit_registers(iter, event, field);
    case STAGE_STACK_USER:
        return emit_bytes(field, "user_stack", &iter->parts.stack_user);
    case STAGE_SINGLE:
        return emit_eight_byte_value(iter, field);
    case STAGE_AUX:
        return emit_bytes(field, "aux", &iter->parts.aux);
    default:
        return !iter->is_elsewhere && emit_frames(iter, event, field);
    }
}

static bool emit_next_field(struct sample_iter *iter, const ttr_event *event, ttr_field *field)
{
    field_clear(field);
    if (iter->left > 0) {
        emit_sample_element(iter, event, field);
        return true;
    }
    while (iter->stage < STAGE_OVER) {
        unsigned stage = iter->stage;
        bool is_skipped = !iter->has_parts && stage > STAGE_PLAIN && stage < STAGE_FRAMES;
        iter->stage++; /* emit_stage_field() undoes this if the stage has more fields */
        if (!is_skipped && emit_stage_field(iter, stage, event, field))
            return true;
    }
    return false;
}

bool perf_read_common_field(const struct perf_kind *kind, const ttr_event *event, uint32_t i,
                            ttr_field *field)
{
    struct sample_iter iter;
    if (PERF_LIKELY(!kind->has_parts)) {
        if (i >= kind->plain_n)
            return false;
        set_fixed_field(field, kind, i, event);
        return true;
    }
    init_sample_iter(&iter, kind, event, true);
    for (uint32_t k = 0; k <= i; k++)
        if (!emit_next_field(&iter, event, field))
            return false;
    return true;
}

static void sample_fields_begin(ttr_fields *fields)
{
    init_sample_iter((struct sample_iter *)fields->state, fields->ctx, fields->event, false);
}

static bool sample_fields_next(ttr_fields *fields, ttr_field *field)
{
    return emit_next_field((struct sample_iter *)fields->state, fields->event, field);
}

static uint32_t get_frames_of_sample(const void *ctx, const ttr_event *event, uint64_t *addresses,
                                     uint32_t room)
{
    return perf_get_sample_frames(ctx, event, addresses, room);
}

const struct field_ops perf_sample_field_ops = {
    .begin = sample_fields_begin, .next = sample_fields_next, .frames = get_frames_of_sample};
