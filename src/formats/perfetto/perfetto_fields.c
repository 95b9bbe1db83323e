/* Fields and attributes as debug annotations: bool, uint, int, double, text, pointer, dictionary
 * and array. Nested messages have length prefixes.
 *
 *   bytes             "0x" and hexadecimal digits
 *   null              the text "null"
 *   thread (hint)     its tid
 *   enumerated value  a dictionary {value, label}; {value, labels} if it has several names
 *   flags             a dictionary {value, labels}
 *   a duplicate name  "name#2" within one object
 *   deep nesting      dropped beyond DEPTH_MAX levels
 *
 * Texts and names that are known strings are interned. */
#include "base/hash.h"
#include "base/number.h"
#include "formats/perfetto/perfetto.h"

#define DEPTH_MAX 32
/* Maximum number of names in an object up to which duplicates are found by linear search; larger
 * objects use a hash table. */
#define LINEAR_SEARCH_MAX 32

static const char *const key_texts[21] = {
    [KEY_PROVIDER] = "provider", [KEY_LEVEL] = "level",       [KEY_KEYWORD] = "keyword",
    [KEY_OPCODE] = "opcode",     [KEY_ACTIVITY] = "activity", [KEY_RELATED] = "related",
    [KEY_FLAGS] = "flags",       [KEY_CPU] = "cpu",           [KEY_ID] = "id",
    [KEY_PID] = "pid",           [KEY_TID] = "tid",           [KEY_TYPE] = "type",
    [KEY_LOST] = "lost",         [KEY_SOURCE] = "source",     [KEY_KIND] = "kind",
    [KEY_FROM] = "from_tid",     [KEY_VALUE] = "value",       [KEY_LABEL] = "label",
    [KEY_LABELS] = "labels",     [KEY_EVENT_ID] = "event_id", [KEY_EVENT_VERSION] = "event_version",
};

/* An object or array that is open: members are being appended to it. */
struct level {
    size_t mark;       /* offset in the buffer of the object's message */
    size_t seen_begin; /* index in p->seen of the first name of this object */
    uint32_t object;   /* number of this object within the event; 0 is the event itself */
    bool is_array;
};

struct annotation_writer {
    struct perfetto *p;
    struct level levels[DEPTH_MAX + 1];
    unsigned depth;
    size_t most;
};

bool perfetto_intern_attribute_keys(struct perfetto *p)
{
    for (size_t i = 0; i < sizeof key_texts / sizeof *key_texts; i++) {
        p->keys[i] = ttr_text_add(p->out->t, key_texts[i], strlen(key_texts[i]));
        if (!p->keys[i])
            return false;
    }
    p->null_text = ttr_text_add(p->out->t, "null", 4);
    return p->null_text != 0;
}

/* --- Names of annotations --- */

/* Counts one use of a name in the hash table. Returns the number of earlier uses in the same
 * object. */
static uint32_t count_name_use_hashed(struct perfetto *p, uint32_t object, uint64_t name)
{
    uint64_t key = hash_pair(name, object);
    uint32_t *there = key_map_get(&p->name_counts, key);
    if (there)
        return (*there)++;
    p->to->failed |= !key_map_put(&p->name_counts, key, 1);
    return 0;
}

/* Counts one use of a name in an object of which the names begin at p->seen[begin]. Returns the
 * number of earlier uses. */
static unsigned count_name_use(struct perfetto *p, size_t begin, uint32_t object, uint64_t name)
{
    unsigned n = 0;
    if (p->seen_n - begin < LINEAR_SEARCH_MAX) {
        for (size_t i = begin; i < p->seen_n; i++)
            n += p->seen[i] == name;
    } else {
        for (size_t i = begin; p->seen_n - begin == LINEAR_SEARCH_MAX && i < p->seen_n; i++)
            (void)count_name_use_hashed(p, object, p->seen[i]);
        n = count_name_use_hashed(p, object, name);
    }
    if (!alloc_reserve(&p->out->t->counted, (void **)&p->seen, &p->seen_capacity, p->seen_n + 1,
                       sizeof *p->seen))
        p->to->failed = true;
    else
        p->seen[p->seen_n++] = name;
    return n;
}

static void add_numbered_name(struct perfetto *p, ttr_text name, unsigned number)
{
    struct buffer whole;
    char digits[NUMBER_MAX];
    buffer_init(&whole, &p->out->t->counted);
    buffer_add(&whole, name.p, name.n);
    buffer_add_byte(&whole, '#');
    buffer_add(&whole, digits, number_format_u64(digits, number));
    p->to->failed |= whole.failed;
    if (!whole.failed)
        perfetto_append_text(p, p->to, ANNOTATION_KEY,
                             (ttr_text){(const char *)whole.bytes, whole.n});
    buffer_free(&whole);
}

static void add_name(struct perfetto *p, size_t seen_begin, uint32_t object, const ttr_field *field)
{
    uint64_t name = field->name_id ? field->name_id
                                   : hash_bytes(field->name.p, field->name.n) | (uint64_t)1 << 63;
    unsigned before = count_name_use(p, seen_begin, object, name);
    if (before) {
        perfetto_count_loss(p, LOSS_DUPLICATE);
        add_numbered_name(p, field->name, before + 1);
    } else if (field->name_id) {
        protobuf_write_u64(p->to, ANNOTATION_KEY_IID, perfetto_intern(p, field->name_id, IN_KEYS));
    } else {
        perfetto_append_text(p, p->to, ANNOTATION_KEY, field->name);
    }
}

/* --- Values of annotations --- */

static void add_hex(struct perfetto *p, const uint8_t *bytes, size_t n)
{
    size_t mark = protobuf_begin_message(p->to, ANNOTATION_TEXT);
    buffer_add(p->to, "0x", 2);
    uint8_t *at = buffer_room(p->to, 2 * n);
    if (!at)
        return;
    for (size_t i = 0; i < n; i++) {
        *at++ = (uint8_t) "0123456789abcdef"[bytes[i] >> 4];
        *at++ = (uint8_t) "0123456789abcdef"[bytes[i] & 15];
    }
    buffer_commit(p->to, 2 * n);
    protobuf_end_message(p->to, mark);
}

static void add_bytes(struct annotation_writer *annotation_writer, const ttr_value *value)
{
    size_t n = value->text.n;
    perfetto_count_loss(annotation_writer->p, LOSS_BYTES);
    if (n > annotation_writer->most) {
        n = annotation_writer->most;
        perfetto_count_loss(annotation_writer->p, LOSS_BLOB);
    }
    add_hex(annotation_writer->p, (const uint8_t *)value->text.p, n);
}

static void add_number(struct perfetto *p, const ttr_value *value)
{
    ttr_thread thread;
    if (value->hint == TTR_DISPLAY_POINTER)
        protobuf_write_u64(p->to, ANNOTATION_POINTER, value->v.u);
    else if (value->hint == TTR_DISPLAY_THREAD && value->v.u <= UINT32_MAX &&
             ttr_thread_get(p->out->t, (ttr_id)value->v.u, &thread))
        protobuf_write_u64(p->to, ANNOTATION_UINT, thread.tid);
    else
        protobuf_write_u64(p->to, ANNOTATION_UINT, value->v.u);
}

static void add_text(struct perfetto *p, const ttr_value *value)
{
    if (value->text_id)
        protobuf_write_u64(p->to, ANNOTATION_TEXT_IID,
                           perfetto_intern(p, value->text_id, IN_VALUES));
    else
        perfetto_append_text(p, p->to, ANNOTATION_TEXT, value->text);
}

static void append_value(struct annotation_writer *annotation_writer, const ttr_value *value)
{
    struct perfetto *p = annotation_writer->p;
    switch (value->type) {
    case TTR_TYPE_BOOL:
        protobuf_write_bool(p->to, ANNOTATION_BOOL, value->v.u != 0);
        break;
    case TTR_TYPE_UINT:
        add_number(p, value);
        break;
    case TTR_TYPE_INT:
        protobuf_write_i64(p->to, ANNOTATION_INT, value->v.s);
        break;
    case TTR_TYPE_FLOAT:
        protobuf_write_double(p->to, ANNOTATION_DOUBLE, value->v.f);
        break;
    case TTR_TYPE_TEXT:
        add_text(p, value);
        break;
    case TTR_TYPE_BYTES:
        add_bytes(annotation_writer, value);
        break;
    default:
        perfetto_count_loss(p, LOSS_NULL);
        protobuf_write_u64(p->to, ANNOTATION_TEXT_IID, perfetto_intern(p, p->null_text, IN_VALUES));
    }
}

static size_t begin_annotation(struct perfetto *p, enum attribute_key key)
{
    size_t mark = protobuf_begin_message(p->to, ANNOTATION_DICT);
    protobuf_write_u64(p->to, ANNOTATION_KEY_IID, perfetto_intern(p, p->keys[key], IN_KEYS));
    return mark;
}

static void add_label_list(struct perfetto *p, const ttr_fields *fields, const ttr_value *value)
{
    size_t list = begin_annotation(p, KEY_LABELS);
    ttr_text label;
    for (uint32_t i = 0; i < value->count && ttr_fields_label(fields, value, i, &label); i++) {
        size_t mark = protobuf_begin_message(p->to, ANNOTATION_ARRAY);
        perfetto_append_text(p, p->to, ANNOTATION_TEXT, label);
        protobuf_end_message(p->to, mark);
    }
    protobuf_end_message(p->to, list);
}

/* Appends a number as a dictionary that contains the value and its labels. */
static void append_labelled_number(struct annotation_writer *annotation_writer,
                                   const ttr_fields *fields, const ttr_value *value)
{
    struct perfetto *p = annotation_writer->p;
    size_t mark = begin_annotation(p, KEY_VALUE);
    append_value(annotation_writer, value);
    protobuf_end_message(p->to, mark);
    if (value->hint == TTR_DISPLAY_ENUM && value->count > 0) {
        mark = begin_annotation(p, KEY_LABEL);
        perfetto_append_text(p, p->to, ANNOTATION_TEXT, value->text);
        protobuf_end_message(p->to, mark);
    }
    if (value->hint == TTR_DISPLAY_FLAGS || value->count > 1)
        add_label_list(p, fields, value);
}

static bool has_labels(const ttr_value *value)
{
    bool is_number = value->type == TTR_TYPE_UINT || value->type == TTR_TYPE_INT;
    return is_number && (value->hint == TTR_DISPLAY_ENUM || value->hint == TTR_DISPLAY_FLAGS);
}

/* --- Iteration over the fields --- */

static void close_level(struct annotation_writer *annotation_writer)
{
    struct level *level = &annotation_writer->levels[annotation_writer->depth--];
    annotation_writer->p->seen_n = level->seen_begin;
    protobuf_end_message(annotation_writer->p->to, level->mark);
}

static void add_field(struct annotation_writer *annotation_writer, const ttr_fields *fields,
                      const ttr_field *field)
{
    struct perfetto *p = annotation_writer->p;
    while (annotation_writer->depth > field->depth)
        close_level(annotation_writer);
    struct level *level = &annotation_writer->levels[annotation_writer->depth];
    bool is_nested = field->value.type == TTR_TYPE_ARRAY || field->value.type == TTR_TYPE_STRUCT;
    if (field->depth > DEPTH_MAX || (is_nested && annotation_writer->depth == DEPTH_MAX)) {
        perfetto_count_loss(p, LOSS_DEEP);
        return;
    }
    if (field->depth == 0 &&
        (field->group == TTR_GROUP_COMMON || field->group == TTR_GROUP_CONTEXT))
        perfetto_count_loss(p, LOSS_CONTEXT);
    uint32_t number = annotation_writer->depth == 0 ? EVENT_ANNOTATIONS
                      : level->is_array             ? ANNOTATION_ARRAY
                                                    : ANNOTATION_DICT;
    size_t mark = protobuf_begin_message(p->to, number);
    if (!level->is_array)
        add_name(p, level->seen_begin, level->object, field);
    if (!is_nested || field->value.count == 0) {
        if (has_labels(&field->value))
            append_labelled_number(annotation_writer, fields, &field->value);
        else if (!is_nested)
            append_value(annotation_writer, &field->value);
        protobuf_end_message(p->to, mark);
        return;
    }
    annotation_writer->levels[++annotation_writer->depth] =
        (struct level){.mark = mark,
                       .seen_begin = p->seen_n,
                       .object = ++p->objects_n,
                       .is_array = field->value.type == TTR_TYPE_ARRAY};
}

static bool has_name(const ttr_field *field, const char *name)
{
    return name && field->depth == 0 && field->name.n == strlen(name) &&
           memcmp(field->name.p, name, field->name.n) == 0;
}

void perfetto_append_fields(struct perfetto *p, const ttr_event *event, const char *skip,
                            size_t most)
{
    struct annotation_writer annotation_writer;
    ttr_fields fields;
    ttr_field field;
    ttr_fields_begin(p->out->t, event, &fields);
    if (!ttr_fields_next(&fields, &field))
        return;
    annotation_writer.p = p;
    annotation_writer.depth = 0;
    annotation_writer.most = most;
    annotation_writer.levels[0] = (struct level){0};
    bool is_skipping = false;
    do {
        is_skipping = field.depth ? is_skipping : has_name(&field, skip);
        if (!is_skipping)
            add_field(&annotation_writer, &fields, &field);
    } while (ttr_fields_next(&fields, &field));
    while (annotation_writer.depth)
        close_level(&annotation_writer);
}

/* --- Attributes of events --- */

static size_t begin_attribute(struct perfetto *p, enum attribute_key key)
{
    size_t mark = protobuf_begin_message(p->to, EVENT_ANNOTATIONS);
    ttr_text name = {key_texts[key], strlen(key_texts[key])};
    add_name(p, 0, 0, &(ttr_field){.name = name, .name_id = p->keys[key]});
    return mark;
}

void perfetto_add_u64(struct perfetto *p, enum attribute_key key, uint64_t value)
{
    size_t mark = begin_attribute(p, key);
    protobuf_write_u64(p->to, ANNOTATION_UINT, value);
    protobuf_end_message(p->to, mark);
}

void perfetto_add_pointer(struct perfetto *p, enum attribute_key key, uint64_t value)
{
    size_t mark = begin_attribute(p, key);
    protobuf_write_u64(p->to, ANNOTATION_POINTER, value);
    protobuf_end_message(p->to, mark);
}

static void add_plain_text(struct perfetto *p, enum attribute_key key, ttr_text text)
{
    size_t mark = begin_attribute(p, key);
    perfetto_append_text(p, p->to, ANNOTATION_TEXT, text);
    protobuf_end_message(p->to, mark);
}

void perfetto_add_word(struct perfetto *p, enum attribute_key key, const char *word)
{
    add_plain_text(p, key, (ttr_text){word, strlen(word)});
}

void perfetto_add_thread(struct perfetto *p, ttr_id id)
{
    ttr_thread thread;
    if (!ttr_thread_get(p->out->t, id, &thread))
        return;
    if (thread.pid_known)
        perfetto_add_u64(p, KEY_PID, thread.pid);
    if (thread.tid_known)
        perfetto_add_u64(p, KEY_TID, thread.tid);
}

static void add_string(struct perfetto *p, enum attribute_key key, ttr_id id)
{
    size_t mark = begin_attribute(p, key);
    add_text(p, &(ttr_value){.text_id = id, .text = {"", 0}});
    protobuf_end_message(p->to, mark);
}

static void add_level(struct perfetto *p, unsigned level)
{
    static const char *const levels[] = {"", "trace", "debug", "info", "warning", "error", "fatal"};
    if (level < sizeof levels / sizeof *levels)
        add_plain_text(p, KEY_LEVEL, (ttr_text){levels[level], strlen(levels[level])});
    else
        perfetto_add_u64(p, KEY_LEVEL, level);
}

static void add_flags(struct perfetto *p, unsigned flags)
{
    static const struct {
        unsigned flag;
        const char *text;
    } names[] = {{TTR_EVENT_CLAMPED, ",clamped"},
                 {TTR_EVENT_BACKWARD, ",backward"},
                 {TTR_EVENT_PARTIAL, ",partial"},
                 {TTR_EVENT_NO_TIME, ",no_time"}};
    char text[64];
    size_t n = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i].text);
        if (flags & names[i].flag) {
            memcpy(text + n, names[i].text, length);
            n += length;
        }
    }
    if (n)
        add_plain_text(p, KEY_FLAGS, (ttr_text){text + 1, n - 1});
}

static void add_activity_id(struct perfetto *p, enum attribute_key key, const uint8_t *id)
{
    if (!id)
        return;
    size_t mark = begin_attribute(p, key);
    add_hex(p, id, 16);
    protobuf_end_message(p->to, mark);
}

void perfetto_add_event_attributes(struct perfetto *p, const ttr_event *event,
                                   const struct slice_track *slice_track)
{
    ttr_id path = context_displayed_path(p->out->t, event->source);
    uint32_t number, version;
    if (event->provider && (!slice_track->has_provider || slice_track->provider != event->provider))
        add_string(p, KEY_PROVIDER, event->provider);
    if (path)
        add_string(p, KEY_SOURCE, path);
    if (event->level)
        add_level(p, event->level);
    if (event->keyword)
        perfetto_add_u64(p, KEY_KEYWORD, event->keyword);
    if (event->opcode)
        perfetto_add_u64(p, KEY_OPCODE, event->opcode);
    if (ttr_event_number(p->out->t, event, &number, &version)) {
        perfetto_add_u64(p, KEY_EVENT_ID, number);
        perfetto_add_u64(p, KEY_EVENT_VERSION, version);
    }
    if (event->flags & TTR_EVENT_HAS_CPU)
        perfetto_add_u64(p, KEY_CPU, event->cpu);
    if (event->flags &
        (TTR_EVENT_CLAMPED | TTR_EVENT_BACKWARD | TTR_EVENT_PARTIAL | TTR_EVENT_NO_TIME))
        add_flags(p, event->flags);
    add_activity_id(p, KEY_ACTIVITY, event->activity);
    add_activity_id(p, KEY_RELATED, event->related);
    p->seen_n = 0;
    p->objects_n = 0;
    key_map_clear(&p->name_counts);
}

unsigned perfetto_count_lost_attributes(const struct perfetto *p, const ttr_event *event)
{
    unsigned flags = event->flags & (TTR_EVENT_CLAMPED | TTR_EVENT_BACKWARD | TTR_EVENT_PARTIAL |
                                     TTR_EVENT_NO_TIME);
    uint32_t number, version;
    bool has[] = {event->level != 0,
                  event->keyword != 0,
                  flags != 0,
                  event->activity != NULL,
                  event->related != NULL,
                  context_displayed_path(p->out->t, event->source) != 0,
                  ttr_event_number(p->out->t, event, &number, &version)};
    unsigned n = 0;
    for (size_t i = 0; i < sizeof has; i++)
        n += has[i];
    return n;
}

void perfetto_count_lost_parts(struct perfetto *p, const ttr_event *event, enum perfetto_loss loss,
                               unsigned fields)
{
    unsigned n = fields + perfetto_count_lost_attributes(p, event) + (event->name != 0) +
                 (event->category != 0) + (event->provider != 0);
    for (unsigned i = 0; i < n; i++)
        perfetto_count_loss(p, loss);
}
