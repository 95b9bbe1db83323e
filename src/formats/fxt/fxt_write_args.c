/* Converts the fields of an event to arguments of an FXT record.
 *
 * A record holds at most 15 arguments, limited by its room; further fields are counted as lost. FXT
 * has no arrays or structs, so their elements become arguments with dotted names ("a.0", "a.b").
 * The addresses of a stack (ttr_stack_fields) become one text, "0x4011d6 0x7f3a21".
 * Integers keep their stored width. (The specification demands 32-bit arguments if a value fits;
 * this is done for integers without a declared width.) */
#include <stdio.h>

#include "base/hash.h"
#include "base/number.h"
#include "base/utf.h"
#include "formats/fxt/fxt_write.h"

/* Returns the argument type by which an integer is written. */
static uint64_t choose_integer_type(const ttr_value *value)
{
    bool is_signed = value->type == TTR_TYPE_INT;
    if (value->hint == TTR_DISPLAY_POINTER)
        return FXT_ARG_POINTER;
    if (value->hint == TTR_DISPLAY_KOID || value->hint == TTR_DISPLAY_THREAD)
        return FXT_ARG_KOID;
    bool fits =
        is_signed ? value->v.s >= INT32_MIN && value->v.s <= INT32_MAX : value->v.u <= UINT32_MAX;
    if (fits && value->bits <= 32)
        return is_signed ? FXT_ARG_INT32 : FXT_ARG_UINT32;
    return is_signed ? FXT_ARG_INT64 : FXT_ARG_UINT64;
}

static void set_integer_argument(struct fxt_writer *w, const ttr_value *value,
                                 struct fxt_argument *arg)
{
    if ((value->hint == TTR_DISPLAY_ENUM || value->hint == TTR_DISPLAY_FLAGS) && value->count > 0)
        fxt_count_loss(w, FXT_LOST_FIELD_LABEL);
    uint64_t type = choose_integer_type(value);
    ttr_thread thread;
    arg->header |= type;
    arg->value = value->v.u;
    if (value->hint == TTR_DISPLAY_THREAD && ttr_thread_get(w->out->t, (ttr_id)value->v.u, &thread))
        arg->value = thread.tid;
    if (type == FXT_ARG_INT32 || type == FXT_ARG_UINT32)
        arg->header |= fxt_set_bits(FXT_ARG_VALUE, arg->value & UINT32_MAX);
}

/* Sets type and value of an argument. Cuts off texts and bytes after `room` words. */
static void set_argument_value(struct fxt_writer *w, const ttr_value *value,
                               struct fxt_argument *arg, uint32_t room)
{
    size_t limit = (size_t)room * FXT_WORD_BYTES < FXT_STRING_MAX ? (size_t)room * FXT_WORD_BYTES
                                                                  : FXT_STRING_MAX;
    switch (value->type) {
    case TTR_TYPE_BOOL:
        arg->header |= FXT_ARG_BOOLEAN | fxt_set_bits(FXT_ARG_BOOL, value->v.u != 0);
        return;
    case TTR_TYPE_UINT:
    case TTR_TYPE_INT:
        set_integer_argument(w, value, arg);
        return;
    case TTR_TYPE_FLOAT:
        arg->header |= FXT_ARG_DOUBLE;
        arg->value = bits_of_double(value->v.f);
        return;
    case TTR_TYPE_TEXT:
        if (fxt_is_text_registered(w, value->text_id))
            arg->text = fxt_get_string_ref(w, value->text_id);
        else
            arg->text = fxt_inline_text(w, value->text, limit);
        arg->header |= FXT_ARG_TEXT | fxt_set_bits(FXT_ARG_STRING, arg->text.ref);
        return;
    case TTR_TYPE_BYTES:
        arg->bytes = value->text;
        if (arg->bytes.n > (size_t)room * FXT_WORD_BYTES) {
            arg->bytes.n = (size_t)room * FXT_WORD_BYTES;
            fxt_count_loss(w, FXT_LOST_TEXT);
        }
        arg->header |= FXT_ARG_BLOB | fxt_set_bits(FXT_ARG_VALUE, arg->bytes.n);
        return;
    default:
        return; /* a null argument has no value */
    }
}

static bool is_text_or_bytes_type(uint8_t type)
{
    return type == TTR_TYPE_TEXT || type == TTR_TYPE_BYTES;
}

/* Returns true if the field is the scope of an instant. If it would be the 16th argument, it is
 * written after the arguments, as by old writers. */
static bool is_scope_field(const struct fxt_writer *w, const ttr_field *field)
{
    return w->event->kind == TTR_KIND_INSTANT && !w->is_full &&
           field->value.type == TTR_TYPE_UINT && field->value.v.u <= 2 && field->name.n == 5 &&
           memcmp(field->name.p, "scope", 5) == 0 && w->args_words < w->args_room;
}

static void add_argument(struct fxt_writer *w, const ttr_field *field)
{
    if (w->args_n == FXT_ARGS_MAX) {
        w->has_scope |= is_scope_field(w, field);
        if (w->has_scope && !w->is_full)
            w->scope = field->value.v.u;
        else
            fxt_count_loss(w, FXT_LOST_FIELD_COUNT);
        w->is_full = true;
        return;
    }
    struct fxt_argument *arg = &w->args[w->args_n];
    *arg = (struct fxt_argument){0};
    arg->name = field->name_id ? fxt_get_string_ref(w, field->name_id)
                               : fxt_inline_text(w, field->name, FXT_INLINE_MAX);
    uint32_t room = w->args_room - w->args_words;
    room = room < FXT_SIZE_MAX ? room : FXT_SIZE_MAX;
    uint32_t words = 1 + fxt_get_inline_words(arg->name.ref);
    if (words + !is_text_or_bytes_type(field->value.type) > room ||
        (words == room && field->value.text.n)) {
        fxt_count_loss(w, FXT_LOST_FIELD_ROOM);
        return;
    }
    set_argument_value(w, &field->value, arg, room - words);
    words += fxt_count_argument_value_words((unsigned)arg->header & 15) +
             fxt_get_inline_words(arg->text.ref) + (uint32_t)fxt_words_for_bytes(arg->bytes.n);
    arg->header |= fxt_set_bits(FXT_ARG_NAME, arg->name.ref) | fxt_set_bits(FXT_ARG_SIZE, words);
    w->args_words += words;
    w->args_n++;
}

/* --- Fields that are arrays and structs --- */

static bool is_container(const ttr_field *field)
{
    return field->value.type == TTR_TYPE_ARRAY || field->value.type == TTR_TYPE_STRUCT;
}

static void open_container(struct fxt_writer *w, const ttr_field *field, uint32_t depth, size_t end)
{
    w->level[depth] =
        (struct fxt_level){.end = (uint32_t)end, .is_array = field->value.type == TTR_TYPE_ARRAY};
}

static size_t append_path(struct fxt_writer *w, size_t at, const char *text, size_t n)
{
    n = n < FXT_PATH_MAX - at ? n : FXT_PATH_MAX - at;
    memcpy(w->path + at, text, n);
    return at + n;
}

/* Adds a field of an array or struct as an argument with a dotted name. */
static void add_nested_field(struct fxt_writer *w, const ttr_field *field)
{
    uint32_t depth = field->depth < FXT_DEPTH_MAX ? field->depth : FXT_DEPTH_MAX - 1;
    struct fxt_level *parent = &w->level[depth - 1];
    char number[16] = "";
    size_t end = append_path(w, parent->end, ".", 1);
    if (parent->is_array)
        end = append_path(w, end, number,
                          (size_t)snprintf(number, sizeof number, "%u", parent->index++));
    else
        end = append_path(w, end, field->name.p, field->name.n);
    if (is_container(field)) {
        open_container(w, field, depth, end);
        return;
    }
    if (end > FXT_SCRATCH_SIZE - w->scratch_n) {
        fxt_count_loss(w, FXT_LOST_FIELD_ROOM);
        return;
    }
    char *name = w->scratch + w->scratch_n;
    memcpy(name, w->path, end);
    w->scratch_n += (uint32_t)end;
    add_argument(w, &(ttr_field){.name = {name, end}, .value = field->value});
}

static void begin_container(struct fxt_writer *w, const ttr_field *field)
{
    fxt_count_loss(w, FXT_LOST_FIELD_NESTED);
    open_container(w, field, 0, append_path(w, 0, field->name.p, field->name.n));
}

/* --- Collection of an event's fields --- */

static bool store_wanted_field(struct fxt_wanted_field *wanted, size_t n, const ttr_field *field)
{
    for (size_t i = 0; i < n; i++) {
        const char *name = wanted[i].name;
        if (wanted[i].found || wanted[i].type != field->value.type ||
            field->name.n != strlen(name) || memcmp(field->name.p, name, field->name.n) != 0)
            continue;
        wanted[i].found = true;
        wanted[i].value = field->value;
        return true;
    }
    return false;
}

/* Adds an element of the field "frames", which is an address of the stack. */
static void add_frame(struct fxt_writer *w, const ttr_field *field)
{
    if (w->frames_n == FXT_FRAMES_MAX)
        fxt_count_loss(w, FXT_LOST_FRAMES);
    else if (field->value.type == TTR_TYPE_UINT || field->value.type == TTR_TYPE_INT)
        w->frames[w->frames_n++] = field->value.v.u;
    else
        fxt_count_loss(w, FXT_LOST_FRAMES);
}

bool fxt_is_stack_field(const ttr_field *field)
{
    const size_t n = sizeof FXT_STACK_PREFIX - 1;
    return field->depth == 0 && field->name.n > n &&
           memcmp(field->name.p, FXT_STACK_PREFIX, n) == 0;
}

static bool is_stack_array(const ttr_field *field)
{
    return field->value.type == TTR_TYPE_ARRAY && fxt_is_stack_field(field);
}

/* Appends an address to the text of the current stack. */
static void append_stack_address(struct fxt_writer *w, const ttr_field *field, uint32_t first)
{
    char number[NUMBER_MAX + 1] = " ";
    const size_t n = number_format_hex(number + 1, field->value.v.u) + 1;
    const size_t skipped = w->stack_text_n == first; /* the blank before the first address */
    if (field->value.type != TTR_TYPE_UINT || n > FXT_STACK_TEXT_MAX - w->stack_text_n) {
        fxt_count_loss(w, FXT_LOST_FRAMES);
        return;
    }
    memcpy(w->stack_text + w->stack_text_n, number + skipped, n - skipped);
    w->stack_text_n += (uint32_t)(n - skipped);
}

/* Returns the string of a stack's text from its second occurrence on, so that it is stored once; 0
 * = the text is stored in the event. */
static ttr_id find_stack_string(struct fxt_writer *w, ttr_text text)
{
    uint64_t key = hash_bytes(text.p, text.n);
    key += key == 0;
    uint32_t *known = key_map_get(&w->stacks, key);
    if (known && *known == 0 && w->stacks_n < FXT_STACKS_MAX) {
        *known = ttr_text_add(w->out->t, text.p, text.n);
        w->failed |= *known == 0;
        w->stacks_n++;
    }
    if (known) {
        const ttr_text same = ttr_text_get(w->out->t, *known);
        return same.n == text.n && memcmp(same.p, text.p, text.n) == 0 ? *known : 0;
    }
    if (text.n && w->stacks.used < FXT_STACKS_SEEN_MAX)
        w->failed |= !key_map_put(&w->stacks, key, 0);
    return 0;
}

static void add_stack_text(struct fxt_writer *w, ttr_field *text)
{
    text->value.text_id = find_stack_string(w, text->value.text);
    add_argument(w, text);
}

/* Adds the arrays of a stack as arguments, before all others: it is worth more than the 15th field.
 */
static void add_stack_arguments(struct fxt_writer *w)
{
    ttr_fields fields;
    ttr_field field, text = {.depth = 1};
    uint32_t first = 0;
    ttr_fields_begin(w->out->t, w->event, &fields);
    while (ttr_fields_next(&fields, &field)) {
        if (field.depth == 0 && text.depth == 0)
            add_stack_text(w, &text);
        if (field.depth == 0) {
            text = (ttr_field){.name = field.name,
                               .depth = !is_stack_array(&field),
                               .value = {.type = TTR_TYPE_TEXT}};
            first = w->stack_text_n;
        } else if (text.depth == 0) {
            append_stack_address(w, &field, first);
        }
        text.value.text = (ttr_text){w->stack_text + first, w->stack_text_n - first};
    }
    if (text.depth == 0)
        add_stack_text(w, &text);
}

void fxt_collect_args(struct fxt_writer *w, struct fxt_wanted_field *wanted, size_t n,
                      uint32_t room)
{
    ttr_fields fields;
    ttr_field field;
    bool is_wanted = false;
    w->args_n = w->args_words = w->scratch_n = w->frames_n = w->stack_text_n = 0;
    w->args_room = room;
    w->has_scope = w->is_full = false;
    const bool has_stack = room && w->event->stack;
    bool is_added = false;
    if (has_stack)
        add_stack_arguments(w);
    ttr_fields_begin(w->out->t, w->event, &fields);
    while (ttr_fields_next(&fields, &field)) {
        if (field.depth == 0)
            is_added = has_stack && is_stack_array(&field);
        if (is_added)
            continue;
        if (field.depth == 0) {
            if (field.group == TTR_GROUP_COMMON || field.group == TTR_GROUP_CONTEXT)
                fxt_count_loss(w, FXT_LOST_FIELD_CONTEXT);
            is_wanted = n && store_wanted_field(wanted, n, &field);
            if (is_wanted)
                continue;
        }
        if (is_wanted)
            add_frame(w, &field);
        else if (room == 0 && field.depth == 0)
            fxt_count_loss(w, FXT_LOST_FIELD_PLACE);
        else if (room == 0)
            continue;
        else if (field.depth)
            add_nested_field(w, &field);
        else if (is_container(&field))
            begin_container(w, &field);
        else
            add_argument(w, &field);
    }
}

uint8_t *fxt_append_args(const struct fxt_writer *w, struct fxt_output to)
{
    for (const struct fxt_argument *arg = w->args; arg < w->args + w->args_n; arg++) {
        fxt_append_word(&to, arg->header);
        fxt_append_text(&to, &arg->name);
        if (fxt_count_argument_value_words((unsigned)arg->header & 15))
            fxt_append_word(&to, arg->value);
        fxt_append_text(&to, &arg->text);
        fxt_append_stream(&to, arg->bytes.p, arg->bytes.n);
    }
    return to.at;
}
