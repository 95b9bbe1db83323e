/* Fields of FXT events, decoded on demand: arguments, and values in fixed words of other records.
 *
 * The payload of an event is the complete record. Fields come in this order: values in fixed
 * words, arguments, then a stream, an array of addresses or a scope. The function that emitted the
 * event has checked the record's size. The cursor checks each step again. An argument too small for
 * its content is returned as raw bytes. Decoding ends at an argument with an invalid size. Fields
 * without a name in FXT get the names of the model ("message", "data", "frames", ...). */
#include "formats/fxt/fxt_read.h"

#include "base/cursor.h"

enum stage { STAGE_FIXED, STAGE_ARGUMENTS, STAGE_TAIL, STAGE_FRAMES, STAGE_DONE };

struct field_iter {
    /* position of the next argument; after the last, of the words that follow */
    struct cursor at;
    const struct fxt_provider *provider;
    uint64_t header;
    /* second word of a large record, which contains its string and thread refs */
    uint64_t refs;
    uint32_t arguments; /* number of arguments that are still to be decoded */
    uint32_t frames;    /* number of frames that are still to be decoded */
    /* stage: current stage (enum stage); fixed: number of fixed fields that were returned */
    uint8_t stage, fixed;
    bool is_big;
};
_Static_assert(sizeof(struct field_iter) <= sizeof(((ttr_fields *)0)->state), "walk fits");

static uint64_t read_word(struct field_iter *walk)
{
    const uint8_t *bytes = cursor_read_bytes(&walk->at, FXT_WORD_BYTES);
    return bytes ? fxt_load_u64(bytes, walk->is_big) : 0;
}

static void set_field_name(ttr_field *field, const char *name)
{
    field->name = (ttr_text){name, strlen(name)};
}

static void set_number_field(ttr_field *field, const char *name, uint64_t value, uint8_t bits)
{
    set_field_name(field, name);
    field->value = (ttr_value){.v = {.u = value}, .type = TTR_TYPE_UINT, .bits = bits};
}

static void set_pointer_field(ttr_field *field, const char *name, uint64_t value)
{
    set_number_field(field, name, value, 64);
    field->value.hint = TTR_DISPLAY_POINTER;
}

/* Reads a stream of n bytes and its padding. Returns false if the stream exceeds the record. */
static bool read_stream_bytes(struct field_iter *walk, uint64_t n, ttr_text *text)
{
    const uint8_t *bytes = cursor_read_bytes(&walk->at, n);
    if (!bytes || !cursor_skip(&walk->at, (FXT_WORD_BYTES - n % FXT_WORD_BYTES) % FXT_WORD_BYTES))
        return false;
    *text = (ttr_text){(const char *)bytes, (size_t)n};
    return true;
}

/* Returns the next field that is in the fixed words of the record. Returns false if there are no
 * more. */
static bool read_fixed_field(struct field_iter *walk, const ttr_event *event, ttr_field *field)
{
    uint64_t header = walk->header;
    unsigned type = fxt_get_record_type(header), i = walk->fixed++;
    if (type == FXT_KERNEL_OBJECT && i == 0 && event->tag == TTR_OBJECT_OTHER) {
        set_number_field(field, "type", fxt_get_bits(header, FXT_KERNEL_TYPE), 8);
        return true;
    }
    if (type == FXT_SCHEDULING && i < 2 &&
        fxt_get_bits(header, FXT_SCHEDULING_KIND) == FXT_LEGACY_SWITCH) {
        if (i == 0)
            set_number_field(field, "outgoing_priority",
                             fxt_get_bits(header, FXT_LEGACY_OUTGOING_PRIORITY), 8);
        else
            set_number_field(field, "incoming_priority",
                             fxt_get_bits(header, FXT_LEGACY_INCOMING_PRIORITY), 8);
        return true;
    }
    if (type == FXT_PROFILER && fxt_get_bits(header, FXT_PROFILER_KIND) == FXT_MAPPING && i < 4) {
        static const char *const names[] = {"start", "size", "address_in_module", "flags"};
        if (i == 3)
            set_number_field(field, names[i], fxt_get_bits(header, FXT_MAPPING_FLAGS), 3);
        else
            set_pointer_field(field, names[i], read_word(walk));
        return !walk->at.failed;
    }
    return false;
}

/* Reads a string ref. If it is inline, reads its bytes at the cursor; returns false if they exceed
 * the record. */
static bool read_string_ref(struct field_iter *walk, uint32_t ref, ttr_text *text, ttr_id *id)
{
    *id = 0;
    if (FXT_UNLIKELY(ref & FXT_REF_INLINE))
        return read_stream_bytes(walk, fxt_get_inline_bytes(ref), text);
    uint32_t slot = fxt_find_string_slot(walk->provider, ref);
    *id = FXT_LIKELY(slot != 0) ? ~slot : fxt_add_placeholder_string(walk->provider->common, ref);
    struct intern_text known = intern_get(&walk->provider->common->t->strings, *id);
    *text = (ttr_text){known.p, known.n};
    return true;
}

#define NO_NUMBER_WORDS                                                       \
    UINT16_MAX /* longer than any argument, so this table entry never applies \
                */

/* Describes how numbers of an argument type are extracted: from word `words` - 1 of an argument
 * with an indexed name, shifted right by `shift`, and masked by `mask`. sign: sign bit of the
 * number; 0 if it is unsigned. */
struct argument_type {
    uint8_t type, hint, bits, shift;
    uint16_t words;
    uint64_t mask, sign;
};

#define ARGUMENT_WORD 0, 2, UINT64_MAX, 0
#define ARGUMENT_NO_NUMBER 0, NO_NUMBER_WORDS, 0, 0
static const struct argument_type argument_types[16] = {
    [FXT_ARG_NULL] = {TTR_TYPE_NULL, TTR_DISPLAY_NONE, 0, 32, 1, 0, 0},
    [FXT_ARG_INT32] = {TTR_TYPE_INT, TTR_DISPLAY_NONE, 32, 32, 1, UINT32_MAX, (uint64_t)1 << 31},
    [FXT_ARG_UINT32] = {TTR_TYPE_UINT, TTR_DISPLAY_NONE, 32, 32, 1, UINT32_MAX, 0},
    [FXT_ARG_INT64] = {TTR_TYPE_INT, TTR_DISPLAY_NONE, 64, ARGUMENT_WORD},
    [FXT_ARG_UINT64] = {TTR_TYPE_UINT, TTR_DISPLAY_NONE, 64, ARGUMENT_WORD},
    [FXT_ARG_DOUBLE] = {TTR_TYPE_FLOAT, TTR_DISPLAY_NONE, 64, ARGUMENT_WORD},
    [FXT_ARG_TEXT] = {TTR_TYPE_TEXT, TTR_DISPLAY_NONE, 0, ARGUMENT_NO_NUMBER},
    [FXT_ARG_POINTER] = {TTR_TYPE_UINT, TTR_DISPLAY_POINTER, 64, ARGUMENT_WORD},
    [FXT_ARG_KOID] = {TTR_TYPE_UINT, TTR_DISPLAY_KOID, 64, ARGUMENT_WORD},
    [FXT_ARG_BOOLEAN] = {TTR_TYPE_BOOL, TTR_DISPLAY_NONE, 1, 32, 1, 1, 0},
    [FXT_ARG_BLOB] = {TTR_TYPE_BYTES, TTR_DISPLAY_NONE, 0, ARGUMENT_NO_NUMBER},
    [11] = {TTR_TYPE_BYTES, TTR_DISPLAY_RAW, 0, ARGUMENT_NO_NUMBER},
    [12] = {TTR_TYPE_BYTES, TTR_DISPLAY_RAW, 0, ARGUMENT_NO_NUMBER},
    [13] = {TTR_TYPE_BYTES, TTR_DISPLAY_RAW, 0, ARGUMENT_NO_NUMBER},
    [14] = {TTR_TYPE_BYTES, TTR_DISPLAY_RAW, 0, ARGUMENT_NO_NUMBER},
    [15] = {TTR_TYPE_BYTES, TTR_DISPLAY_RAW, 0, ARGUMENT_NO_NUMBER},
};

/* Returns the number in a word, sign-extended. */
static inline uint64_t extract_integer_value(const struct argument_type *type, uint64_t word)
{
    uint64_t number = word >> type->shift & type->mask;
    return (number ^ type->sign) - type->sign;
}

/* Reads a value that is not a number. The cursor must be at the end of the argument's name. */
static bool read_stream_value(struct field_iter *walk, uint64_t header, ttr_value *value)
{
    switch (fxt_get_bits(header, FXT_ARG_TYPE)) {
    case FXT_ARG_TEXT:
        return read_string_ref(walk, (uint32_t)fxt_get_bits(header, FXT_ARG_STRING), &value->text,
                               &value->text_id);
    case FXT_ARG_BLOB:
        return read_stream_bytes(walk, fxt_get_bits(header, FXT_ARG_VALUE), &value->text);
    default:
        return read_stream_bytes(
            walk, cursor_left(&walk->at),
            /* the specification does not define this argument type, so return its bytes */
            &value->text);
    }
}

/* Returns the stage that follows the arguments. */
static inline enum stage get_stage_after_arguments(const struct field_iter *walk)
{
    bool is_event = fxt_get_record_type(walk->header) == FXT_EVENT;
    return is_event && fxt_get_bits(walk->header, FXT_EVENT_KIND) != FXT_INSTANT ? STAGE_DONE
                                                                                 : STAGE_TAIL;
}

/* Reads name and value of an argument at the cursor. Returns false if they exceed the argument's
 * size. */
static FXT_INLINE bool read_argument(struct field_iter *walk, uint64_t header, ttr_field *field)
{
    unsigned type = (unsigned)fxt_get_bits(header, FXT_ARG_TYPE);
    field->value.type = argument_types[type].type;
    field->value.hint = argument_types[type].hint;
    field->value.bits = argument_types[type].bits;
    if (!read_string_ref(walk, (uint32_t)fxt_get_bits(header, FXT_ARG_NAME), &field->name,
                         &field->name_id))
        return false;
    uint64_t word = fxt_count_argument_value_words(type) ? read_word(walk) : header;
    if (argument_types[type].words == NO_NUMBER_WORDS)
        return read_stream_value(walk, header, &field->value) && !walk->at.failed;
    field->value.v.u = extract_integer_value(&argument_types[type], word);
    return !walk->at.failed;
}

/* Sets the field to the raw bytes of an argument that is too small for its name or value. */
static void set_raw_argument(ttr_field *field, const uint8_t *bytes, size_t n)
{
    *field = (ttr_field){.name = {"", 0}};
    field->value.type = TTR_TYPE_BYTES;
    field->value.hint = TTR_DISPLAY_RAW;
    field->value.text = (ttr_text){(const char *)bytes, n};
}

/* Fast path: reads an argument that is a number or null, with a name in the string table. Uses a
 * table of types, because a branch on the type would be mispredicted. Returns false for other
 * arguments, and does not move the cursor. */
static FXT_INLINE bool read_number_argument(struct field_iter *walk, ttr_field *field)
{
    struct cursor at = walk->at;
    const uint8_t *bytes = cursor_read_bytes(&at, FXT_WORD_BYTES);
    if (FXT_UNLIKELY(!bytes))
        return false;
    uint64_t header = fxt_load_u64(bytes, walk->is_big);
    const struct argument_type *type = &argument_types[fxt_get_bits(header, FXT_ARG_TYPE)];
    uint32_t ref = (uint32_t)fxt_get_bits(header, FXT_ARG_NAME),
             slot = fxt_find_string_slot(walk->provider, ref & FXT_REF_LENGTH);
    if (fxt_get_bits(header, FXT_ARG_SIZE) != type->words || (ref & FXT_REF_INLINE) || !slot)
        return false;
    size_t more = (size_t)(type->words - 1) * FXT_WORD_BYTES;
    if (FXT_UNLIKELY(!cursor_read_bytes(&at, more)))
        return false;
    struct intern_text name = intern_get(&walk->provider->common->t->strings, ~slot);
    field->name = (ttr_text){name.p, name.n};
    field->name_id = ~slot;
    field->value.type = type->type;
    field->value.hint = type->hint;
    field->value.bits = type->bits;
    field->value.v.u = extract_integer_value(type, fxt_load_u64(bytes + more, walk->is_big));
    walk->at.p = at.p;
    return true;
}

static inline void finish_argument(struct field_iter *walk)
{
    walk->arguments--;
    walk->stage = (uint8_t)(walk->arguments ? STAGE_ARGUMENTS : get_stage_after_arguments(walk));
}

/* Reads an argument of any type. If its size is invalid, ends the iteration. */
static FXT_NOINLINE bool read_any_argument(struct field_iter *walk, ttr_field *field)
{
    const uint8_t *bytes = cursor_read_bytes(&walk->at, FXT_WORD_BYTES);
    uint64_t header = bytes ? fxt_load_u64(bytes, walk->is_big) : 0;
    uint64_t size = fxt_get_bits(header, FXT_ARG_SIZE);
    walk->stage = STAGE_DONE;
    if (size == 0 || size - 1 > cursor_left(&walk->at) / FXT_WORD_BYTES)
        return false;
    struct cursor following = walk->at;
    (void)cursor_skip(&following, (size - 1) * FXT_WORD_BYTES);
    walk->at.end = following.p; /* limits the cursor to the bytes of the argument */
    if (FXT_UNLIKELY(!read_argument(walk, header, field)))
        set_raw_argument(field, bytes, (size_t)size * FXT_WORD_BYTES);
    walk->at = following;
    finish_argument(walk);
    return true;
}

/* Reads the value after the arguments: a scope, a message or a payload. Returns false if the record
 * has none. */
static bool read_last_value(struct field_iter *walk, ttr_field *field)
{
    uint64_t n = 0;
    walk->stage = STAGE_DONE;
    switch (fxt_get_record_type(walk->header)) {
    case FXT_EVENT:
        if (fxt_get_bits(walk->header, FXT_EVENT_KIND) != FXT_INSTANT ||
            cursor_left(&walk->at) != FXT_WORD_BYTES)
            return false;
        n = read_word(walk);
        set_number_field(field, "scope", n, 64);
        return n <= 2;
    case FXT_LOG:
        set_field_name(field, "message");
        field->value.type = TTR_TYPE_TEXT;
        return read_stream_bytes(walk, fxt_get_bits(walk->header, FXT_LOG_BYTES),
                                 &field->value.text);
    case FXT_BLOB:
    case FXT_LARGE:
        n = fxt_get_record_type(walk->header) == FXT_BLOB
                ? fxt_get_bits(walk->header, FXT_BLOB_BYTES)
                : read_word(walk);
        set_field_name(field, "data");
        field->value.type = TTR_TYPE_BYTES;
        return read_stream_bytes(walk, n, &field->value.text);
    default:
        return false;
    }
}

static bool read_profile_tail(struct field_iter *walk, ttr_field *field)
{
    uint64_t header = walk->header;
    uint64_t kind = fxt_get_bits(header, FXT_PROFILER_KIND);
    walk->stage = STAGE_DONE;
    if (kind == FXT_MODULE) {
        ttr_text name;
        set_field_name(field, "build_id");
        field->value.type = TTR_TYPE_BYTES;
        return read_stream_bytes(walk, fxt_get_bits(header, FXT_MODULE_NAME_BYTES), &name) &&
               read_stream_bytes(walk, fxt_get_bits(header, FXT_MODULE_BUILD_ID_BYTES),
                                 &field->value.text);
    }
    if (kind != FXT_BACKTRACE)
        return false;
    uint32_t frames = (uint32_t)fxt_get_bits(header, FXT_BACKTRACE_FRAMES);
    if (frames > cursor_left(&walk->at) / FXT_WORD_BYTES)
        return false;
    set_field_name(field, "frames");
    field->value.type = TTR_TYPE_ARRAY;
    field->value.count = walk->frames = frames;
    walk->stage = STAGE_FRAMES;
    return true;
}

static bool read_stack_frame(struct field_iter *walk, ttr_field *field)
{
    if (walk->frames == 0)
        return false;
    walk->frames--;
    set_pointer_field(field, "", read_word(walk));
    field->depth = 1;
    return !walk->at.failed;
}

static uint32_t get_header_argument_count(const struct field_iter *walk)
{
    uint64_t header = walk->header;
    switch (fxt_get_record_type(header)) {
    case FXT_EVENT:
        return (uint32_t)fxt_get_bits(header, FXT_EVENT_ARGS);
    case FXT_USERSPACE_OBJECT:
        return (uint32_t)fxt_get_bits(header, FXT_USERSPACE_ARGS);
    case FXT_KERNEL_OBJECT:
        return (uint32_t)fxt_get_bits(header, FXT_KERNEL_ARGS);
    case FXT_SCHEDULING:
        return fxt_get_bits(header, FXT_SCHEDULING_KIND) == FXT_LEGACY_SWITCH
                   ? 0
                   : (uint32_t)fxt_get_bits(header, FXT_SCHEDULING_ARGS);
    case FXT_LARGE:
        return fxt_get_bits(header, FXT_LARGE_FORMAT) == FXT_LARGE_WITH_METADATA
                   ? (uint32_t)fxt_get_bits(walk->refs, FXT_LARGE_ARGS)
                   : 0;
    default:
        return 0;
    }
}

/* Starts the iteration at the arguments. Of all events, only instants may have a value after the
 * arguments. */
static void begin_event_fields(struct field_iter *walk, const ttr_event *event)
{
    walk->arguments = (uint32_t)fxt_get_bits(walk->header, FXT_EVENT_ARGS);
    bool may_have_scope = fxt_get_bits(walk->header, FXT_EVENT_KIND) == FXT_INSTANT;
    walk->stage = walk->arguments ? STAGE_ARGUMENTS : may_have_scope ? STAGE_TAIL : STAGE_DONE;
    (void)cursor_skip(&walk->at, event->body);
    if (FXT_UNLIKELY(walk->provider->has_attributes) && walk->arguments) {
        walk->arguments -= fxt_count_attributes(walk->provider, event);
        if (walk->arguments == 0)
            walk->stage = may_have_scope ? STAGE_TAIL : STAGE_DONE;
    }
}

/* Starts the iteration at the fixed words of a record that is not an event. */
static FXT_NOINLINE void begin_record_fields(struct field_iter *walk, const ttr_event *event)
{
    struct cursor whole = walk->at;
    (void)read_word(walk);
    walk->refs = fxt_get_record_type(walk->header) == FXT_LARGE ? read_word(walk) : 0;
    walk->at = whole;
    (void)cursor_skip(&walk->at, event->body);
    walk->arguments = get_header_argument_count(walk);
    walk->stage = STAGE_FIXED;
}

static void fxt_fields_begin(ttr_fields *fields)
{
    const ttr_event *event = fields->event;
    struct field_iter *walk = (struct field_iter *)fields->state;
    walk->provider = fields->ctx;
    walk->stage = STAGE_DONE;
    /* a definition may precede the first provider; then schema_ctx has no provider */
    if (event->kind == TTR_KIND_DEFINITION || event->kind == TTR_KIND_GAP ||
        event->payload_size < FXT_WORD_BYTES)
        return;
    walk->is_big = walk->provider->common->is_big;
    walk->fixed = 0;
    walk->at = cursor_init(event->payload, event->payload_size, event->offset);
    walk->header = fxt_load_u64(event->payload, walk->is_big);
    if (FXT_LIKELY(fxt_get_record_type(walk->header) == FXT_EVENT))
        begin_event_fields(walk, event);
    else
        begin_record_fields(walk, event);
}

/* Returns the next field that is not an argument: a fixed word, the value after the arguments, or
 * a frame. Returns false if there are no more. */
static FXT_NOINLINE bool read_field_of_other_stage(struct field_iter *walk, const ttr_event *event,
                                                   ttr_field *field)
{
    if (walk->stage == STAGE_FIXED) {
        if (read_fixed_field(walk, event, field))
            return true;
        walk->stage = walk->arguments ? STAGE_ARGUMENTS : STAGE_TAIL;
        if (walk->arguments)
            return read_any_argument(walk, field);
    }
    if (walk->stage == STAGE_FRAMES)
        return read_stack_frame(walk, field);
    return fxt_get_record_type(walk->header) == FXT_PROFILER ? read_profile_tail(walk, field)
                                                             : read_last_value(walk, field);
}

static bool fxt_fields_next(ttr_fields *fields, ttr_field *field)
{
    struct field_iter *walk = (struct field_iter *)fields->state;
    if (walk->stage == STAGE_DONE)
        return false;
    field_clear(field);
    if (FXT_UNLIKELY(walk->stage != STAGE_ARGUMENTS))
        return read_field_of_other_stage(walk, fields->event, field);
    if (FXT_UNLIKELY(!read_number_argument(walk, field)))
        return read_any_argument(walk, field);
    finish_argument(walk);
    return true;
}

/* Implements field_ops.read: reads up to `room` fields. Sets fields->ops to NULL at the end, so
 * that the iterator is not called again. */
static uint32_t fxt_read_fields(ttr_fields *fields, ttr_field *field, uint32_t room)
{
    uint32_t n = 0;
    while (n < room && fxt_fields_next(fields, &field[n]))
        n++;
    fields->ops = n < room ? NULL : fields->ops;
    return n;
}

const struct field_ops fxt_field_ops = {
    .begin = fxt_fields_begin, .next = fxt_fields_next, .decode_batch = fxt_read_fields};
