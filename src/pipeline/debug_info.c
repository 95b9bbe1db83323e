/* ttr_debug_info: adds the field "debug_info" to the common context of events that have the
 * contexts "ip" and "vpid".
 *
 * The loaded modules (module_map.h) are known from events of LTTng-UST: lttng_ust_statedump
 * (modules loaded when tracing starts), lttng_ust_lib and lttng_ust_dl (loaded and unloaded later).
 * The module map is updated by such an event before the event's own address is looked up, as in
 * babeltrace2. The caller's symbolizer finds functions and lines; its results are cached by binary
 * and address. Left out: kernel addresses, and stacks (context "ips"). */
#include <string.h>

#include "base/status.h"
#include "model/context.h"
#include "model/reader.h"
#include "pipeline/field_injector.h"
#include "pipeline/module_map.h"

/* upper limit of cached lookup results; the cache is cleared when it is full */
#define ANSWERS_MAX 131072u

#define FIELDS 4u /* debug_info, and its members bin, func, src */

/* Change of a process's loaded modules. The name of an event selects the change. */
enum change {
    CHANGE_UNKNOWN = 0, /* no event with this name was seen yet */
    CHANGE_NONE,
    CHANGE_CLEAR,
    CHANGE_LOAD,
    TOLD_MORE,
    /* a library was loaded while the process ran; all modules will be listed again */
    CHANGE_LATE_LOAD,
    CHANGE_UNLOAD,
    CHANGE_CLOSE
};

enum verdict { UNDECIDED = 0, NO, YES };

struct debug_info {
    ttr *t;
    ttr_debug_options options;
    struct module_map module_map;
    uint8_t *change; /* enum change by string id of the event's name */
    /* by schema id: whether its events have the contexts "ip" and "vpid"; 0 = unknown so far */
    uint8_t *verdict;
    size_t change_n, verdicts_n;
    struct pair_map answer_of;       /* key: (binary, address); value: index in `answer` */
    const ttr_field **find_location; /* cached lookup results: FIELDS fields each */
    size_t answers_n, answers_room;
    struct arena arena; /* memory of the cached fields and texts */
    ttr_field unknown[FIELDS];
    ttr_id names[FIELDS];
    uint8_t build_id[64]; /* build id from the payload of the current event */
};

/* Values of the contexts "ip" and "vpid" of an event. */
struct where {
    uint64_t ip;
    int64_t vpid;
    bool has_ip, has_vpid, has_own;
};

/* --- Tables by id --- */

/* Returns the entry of an id in a byte table, which grows as needed. Returns NULL if memory runs
 * out. */
static uint8_t *get_byte_of_id(struct debug_info *info, uint8_t **table, size_t *n, ttr_id id)
{
    size_t before = *n;
    if (id >= before) {
        if (!alloc_reserve(&info->t->counted, (void **)table, n, (size_t)id + 1, 1))
            return NULL;
        memset(*table + before, 0, *n - before);
    }
    return &(*table)[id];
}

static uint8_t classify_event(ttr_text name)
{
    static const struct {
        const char *name;
        enum change change;
    } rows[] = {
        {"lttng_ust_statedump:start", CHANGE_CLEAR},
        {"lttng_ust_statedump:bin_info", CHANGE_LOAD},
        {"lttng_ust_statedump:build_id", TOLD_MORE},
        {"lttng_ust_statedump:debug_link", TOLD_MORE},
        {"lttng_ust_lib:load", CHANGE_LOAD},
        {"lttng_ust_lib:unload", CHANGE_UNLOAD},
        {"lttng_ust_lib:build_id", CHANGE_LATE_LOAD},
        {"lttng_ust_lib:debug_link", CHANGE_LATE_LOAD},
        {"lttng_ust_dl:dlopen", CHANGE_LOAD},
        {"lttng_ust_dl:dlmopen", CHANGE_LOAD},
        {"lttng_ust_dl:build_id", CHANGE_LATE_LOAD},
        {"lttng_ust_dl:debug_link", CHANGE_LATE_LOAD},
        {"lttng_ust_dl:dlclose", CHANGE_CLOSE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strlen(rows[i].name) == name.n && memcmp(rows[i].name, name.p, name.n) == 0)
            return (uint8_t)rows[i].change;
    return CHANGE_NONE;
}

/* --- Reading events --- */

static bool field_is_named(const ttr_field *field, const char *name)
{
    size_t n = strlen(name);
    return field->name.n == n && memcmp(field->name.p, name, n) == 0;
}

/* Returns true for an integer that is not in an optional or variant. LTTng records the two contexts
 * in this form. */
static bool is_number_field(const ttr_field *field, ttr_type type)
{
    return field->value.type == type && field->value.hint != TTR_DISPLAY_ENUM &&
           field->value.hint != TTR_DISPLAY_FLAGS && field->choices == 0;
}

/* Reads the contexts "ip" and "vpid". Returns true if a payload field follows; *field is then the
 * first one. */
static bool read_context(ttr_fields *fields, struct where *where, ttr_field *field)
{
    *where = (struct where){0};
    while (ttr_fields_next(fields, field)) {
        if (field->group != TTR_GROUP_COMMON)
            return true;
        if (field->depth > 0)
            continue;
        if (field_is_named(field, "ip") && is_number_field(field, TTR_TYPE_UINT)) {
            where->ip = field->value.v.u;
            where->has_ip = true;
        } else if (field_is_named(field, "vpid") && is_number_field(field, TTR_TYPE_INT) &&
                   field->value.bits == 32) {
            where->vpid = field->value.v.s;
            where->has_vpid = true;
        } else if (field_is_named(field, "debug_info")) {
            where->has_own = true;
        }
    }
    return false;
}

/* Fields of an event that records a loaded binary. */
struct about {
    uint64_t base, size;
    ttr_binary binary;
    size_t id_left; /* number of build id bytes still to be read */
    bool has_base, has_size, has_path;
};

/* Appends one byte of the build id, which LTTng records as an array of integers. */
static void add_build_id_byte(struct debug_info *info, struct about *about, const ttr_field *field)
{
    about->id_left--;
    if (about->binary.build_id.n < sizeof info->build_id)
        info->build_id[about->binary.build_id.n++] = (uint8_t)field->value.v.u;
}

static void read_payload_number(struct about *about, const ttr_field *field)
{
    uint64_t value = field->value.v.u;
    if (field_is_named(field, "baddr")) {
        about->base = value;
        about->has_base = true;
    } else if (field_is_named(field, "memsz")) {
        about->size = value;
        about->has_size = true;
    } else if (field_is_named(field, "is_pic")) {
        about->binary.is_pic = value == 1;
    } else if (field_is_named(field, "crc")) {
        about->binary.debug_link_crc = (uint32_t)value;
    }
}

static void read_payload_field(struct debug_info *info, struct about *about, const ttr_field *field)
{
    const ttr_value *value = &field->value;
    if (field->depth == 1 && about->id_left > 0) {
        add_build_id_byte(info, about, field);
        return;
    }
    about->id_left = 0;
    if (field->depth > 0 || field->group != TTR_GROUP_PAYLOAD)
        return;
    if (value->type == TTR_TYPE_UINT || value->type == TTR_TYPE_BOOL ||
        value->type == TTR_TYPE_INT) {
        read_payload_number(about, field);
    } else if (value->type == TTR_TYPE_TEXT && field_is_named(field, "path")) {
        about->binary.path = value->text;
        about->has_path = true;
    } else if (value->type == TTR_TYPE_TEXT && field_is_named(field, "filename")) {
        about->binary.debug_link = value->text;
    } else if (value->type == TTR_TYPE_ARRAY && field_is_named(field, "build_id")) {
        about->id_left = value->count;
    } else if (value->type == TTR_TYPE_BYTES && field_is_named(field, "build_id")) {
        about->binary.build_id = value->text;
    }
}

/* Applies an event to the module map.  Returns false if memory is exhausted. */
static bool apply_module_change(struct debug_info *info, enum change change,
                                const struct about *about, struct module_place *where)
{
    where->base = about->base;
    if (change == CHANGE_CLEAR) {
        module_map_clear(&info->module_map, where);
        return true;
    }
    if (!about->has_base)
        return true;
    switch (change) {
    case CHANGE_LOAD: /* An event without a size records a binary that the kernel provides (vdso).
                       * */
        return !about->has_path || about->size == 0 ||
               module_map_add(&info->module_map, where, about->size, &about->binary);
    case TOLD_MORE:
    case CHANGE_LATE_LOAD:
        return (change == CHANGE_LATE_LOAD && info->options.like_babeltrace2) ||
               module_map_describe(&info->module_map, where, &about->binary);
    case CHANGE_UNLOAD:
        module_map_remove(&info->module_map, where);
        return true;
    default:
        module_map_close(&info->module_map, where);
        return true;
    }
}

/* Reads the payload, starting with `field`, and changes the module map as the event records. */
static bool apply_module_event(struct debug_info *info, enum change change,
                               struct module_place *where, ttr_fields *fields, ttr_field *field)
{
    struct about about = {.binary = {.size = sizeof(ttr_binary),
                                     .path = {"", 0},
                                     .build_id = {"", 0},
                                     .debug_link = {"", 0}}};
    about.binary.build_id.p = (const char *)info->build_id;
    /* Events of loaded libraries lack the field is_pic, because every library is
     * position-independent. */
    about.binary.is_pic = true;
    if (field) {
        do
            read_payload_field(info, &about, field);
        while (ttr_fields_next(fields, field));
    }
    return apply_module_change(info, change, &about, where);
}

/* --- Lookup results --- */

/* Fills in the field debug_info: a struct with three texts. */
static void fill_debug_info(const struct debug_info *info, ttr_field *field,
                            const ttr_text texts[FIELDS - 1])
{
    for (size_t i = 0; i < FIELDS; i++) {
        field_clear(&field[i]);
        field[i].name_id = info->names[i];
        field[i].name = ttr_text_get(info->t, info->names[i]);
        field[i].group = TTR_GROUP_COMMON;
        field[i].depth = i > 0;
        field[i].value.type = i ? TTR_TYPE_TEXT : TTR_TYPE_STRUCT;
        field[i].value.count = i ? 0 : FIELDS - 1;
        if (i)
            field[i].value.text = texts[i - 1];
    }
}

/* Calls the symbolizer for an address in a binary and stores its result as FIELDS fields. Returns
 * NULL if memory runs out. */
static const ttr_field *ask_symbolizer(struct debug_info *info, const ttr_binary *binary,
                                       uint64_t address)
{
    ttr_location place = {
        .size = sizeof place, .binary = {"", 0}, .function = {"", 0}, .source = {"", 0}};
    info->options.locate(info->options.user_data, binary, address, &place);
    ttr_field *field = arena_alloc(&info->arena, FIELDS * sizeof *field);
    ttr_text texts[] = {place.binary, place.function, place.source};
    for (size_t i = 0; i < FIELDS - 1; i++)
        texts[i].p = arena_copy(&info->arena, texts[i].p, texts[i].n);
    if (!field || !texts[0].p || !texts[1].p || !texts[2].p)
        return NULL;
    fill_debug_info(info, field, texts);
    return field;
}

static const ttr_field *find_location(struct debug_info *info, const struct module_place *where)
{
    const struct load *load = module_map_find(&info->module_map, where);
    if (!load)
        return info->unknown;
    const ttr_binary *binary = module_map_binary(&info->module_map, load->binary);
    uint64_t address = binary->is_pic ? where->base - load->base : where->base;
    bool by_load = info->options.like_babeltrace2;
    uint64_t key = by_load ? load->serial : load->binary, at = by_load ? where->base : address;
    const uint32_t *known = pair_map_get(&info->answer_of, key, at);
    if (known)
        return info->find_location[*known];
    if (!alloc_reserve(&info->t->counted, (void **)&info->find_location, &info->answers_room,
                       info->answers_n + 1, sizeof *info->find_location))
        return NULL;
    const ttr_field *field = ask_symbolizer(info, binary, address);
    if (!field || !pair_map_put(&info->answer_of, key, at, (uint32_t)info->answers_n))
        return NULL;
    info->find_location[info->answers_n++] = field;
    return field;
}

/* --- Stage --- */

static uint64_t get_event_trace(const ttr *t, const ttr_event *event)
{
    uint16_t shares = event->source < t->sources_n ? t->sources[event->source].shares : 0;
    return shares ? shares : event->source;
}

static size_t add_debug_info(void *ctx, const ttr_event *event, const ttr_field **added)
{
    struct debug_info *info = ctx;
    bool is_class = context_schema(info->t, event->schema)->event_class != NULL;
    uint8_t *verdict =
        is_class ? get_byte_of_id(info, &info->verdict, &info->verdicts_n, event->schema) : NULL;
    uint8_t *change = get_byte_of_id(info, &info->change, &info->change_n, event->name);
    if (!change || (is_class && !verdict))
        return FIELD_INJECTOR_FAILED;
    if ((verdict && *verdict == NO) || event->kind == TTR_KIND_GAP)
        return 0;
    ttr_fields fields;
    ttr_field field;
    struct where where;
    ttr_fields_begin(info->t, event, &fields);
    bool has_more = read_context(&fields, &where, &field);
    bool has_context = where.has_ip && where.has_vpid && !where.has_own;
    if (verdict && (has_context || !(event->flags & TTR_EVENT_PARTIAL)))
        *verdict = has_context ? YES : NO;
    if (!has_context)
        return 0;
    if (*change == CHANGE_UNKNOWN)
        *change = classify_event(ttr_text_get(info->t, event->name));
    struct module_place place = {.trace = get_event_trace(info->t, event),
                                 .pid = (uint64_t)where.vpid};
    if (*change != CHANGE_NONE && !apply_module_event(info, (enum change) * change, &place, &fields,
                                                      has_more ? &field : NULL))
        return FIELD_INJECTOR_FAILED;
    place.base = where.ip;
    *added = find_location(info, &place);
    return *added ? FIELDS : FIELD_INJECTOR_FAILED;
}

/* Clears a full cache, so that memory is bounded for any number of addresses. Called between
 * batches, when no field refers to the cache. */
static void clear_full_cache(void *ctx)
{
    struct debug_info *info = ctx;
    if (info->answers_n < ANSWERS_MAX)
        return;
    pair_map_free(&info->answer_of);
    pair_map_init(&info->answer_of, &info->t->counted);
    arena_reset(&info->arena);
    info->answers_n = 0;
}

static void close_debug_info(void *ctx)
{
    struct debug_info *info = ctx;
    const struct alloc *alloc = &info->t->counted;
    alloc_free(alloc, info->change, info->change_n, 1);
    alloc_free(alloc, info->verdict, info->verdicts_n, 1);
    alloc_free(alloc, info->find_location, info->answers_room, sizeof *info->find_location);
    arena_free(&info->arena);
    pair_map_free(&info->answer_of);
    module_map_free(&info->module_map);
    alloc_free(alloc, info, 1, sizeof *info);
}

static bool intern_names(struct debug_info *info)
{
    static const char *const names[FIELDS] = {"debug_info", "bin", "func", "src"};
    static const ttr_text nothing[FIELDS - 1] = {{"", 0}, {"", 0}, {"", 0}};
    const struct alloc *alloc = &info->t->counted;
    pair_map_init(&info->answer_of, alloc);
    arena_init(&info->arena, alloc);
    bool is_fine = module_map_init(&info->module_map, alloc);
    for (size_t i = 0; i < FIELDS; i++) {
        info->names[i] = ttr_text_add(info->t, names[i], strlen(names[i]));
        is_fine = is_fine && info->names[i];
    }
    fill_debug_info(info, info->unknown, nothing);
    return is_fine;
}

ttr_reader *ttr_debug_info(ttr_reader *in, const ttr_debug_options *options, ttr_error *error)
{
    if (!in)
        return NULL;
    bool is_known = options->size == sizeof *options && options->locate;
    struct debug_info *info = is_known ? alloc_zero(&in->t->counted, 1, sizeof *info) : NULL;
    if (!info) {
        (void)(is_known
                   ? fail_memory(error)
                   : fail(error, TTR_E_MISUSE, NO_OFFSET,
                          "a ttr_debug_options wants its size and a function to locate addresses"));
        ttr_close(in);
        return NULL;
    }
    info->t = in->t;
    info->options = *options;
    if (!intern_names(info)) {
        close_debug_info(info);
        ttr_close(in);
        (void)fail_memory(error);
        return NULL;
    }
    return field_injector_new(in,
                              &(struct field_injector_options){.add = add_debug_info,
                                                               .refresh = clear_full_cache,
                                                               .close = close_debug_info,
                                                               .ctx = info},
                              error);
}
