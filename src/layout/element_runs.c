/* The values have no marks between them: the fields of the first element say what comes next.  So a
 * walk over values goes along the first element once for each, whatever its caller makes of the
 * fields. */
#include "layout/element_runs.h"

#include <assert.h>

#include "base/endian.h"

#define TEXT_ROOM (sizeof(const char *) + 4) /* of a text's value */

size_t alike_inside(const ttr_field *field, size_t n, size_t at)
{
    size_t inside = 0;
    for (uint64_t left = 1; left && at + inside < n; inside++) {
        const ttr_value *value = &field[at + inside].value;
        const uint32_t stands_for = alike_stands_for(&field[at + inside]);
        left -= stands_for < left ? stands_for : left;
        left += value->type == TTR_TYPE_ARRAY || value->type == TTR_TYPE_STRUCT ? value->count : 0;
    }
    return inside;
}

/* --- Values --- */

unsigned alike_width(const ttr_value *first)
{
    switch (first->type) {
    case TTR_TYPE_BOOL:
        return 1;
    case TTR_TYPE_FLOAT:
        return first->bits == 32 ? 4 : 8;
    case TTR_TYPE_UINT:
    case TTR_TYPE_INT:
        break;
    default:
        return 0;
    }
    if (first->bits == 0 || first->bits > 32)
        return 8;
    return first->bits <= 8 ? 1 : first->bits <= 16 ? 2 : 4;
}

/* The bits of a number as they are kept. */
static uint64_t kept(const ttr_value *first, const ttr_value *value)
{
    if (first->type != TTR_TYPE_FLOAT || first->bits != 32)
        return value->v.u;
    const float narrow = (float)value->v.f;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return bits;
}

uint64_t alike_number(const ttr_value *first, const uint8_t *bytes, unsigned width)
{
    uint64_t x = width == 1   ? bytes[0]
                 : width == 2 ? load_u16le(bytes)
                 : width == 4 ? load_u32le(bytes)
                              : load_u64le(bytes);
    if (first->type == TTR_TYPE_INT)
        return (uint64_t)((int64_t)(x << (64 - 8 * width)) >> (64 - 8 * width));
    if (first->type != TTR_TYPE_FLOAT || width == 8)
        return x;
    const uint32_t low = (uint32_t)x;
    float narrow;
    memcpy(&narrow, &low, sizeof narrow);
    return bits_of_double(narrow);
}

bool alike_fits(const ttr_value *first, const ttr_value *value)
{
    const unsigned width = alike_width(first), spare = 64 - 8 * width;
    if (first->type == TTR_TYPE_TEXT || first->type == TTR_TYPE_BYTES)
        return value->text.n <= UINT32_MAX;
    if (width == 0)
        return true;
    if (first->type != TTR_TYPE_FLOAT)
        return (first->type == TTR_TYPE_INT ? (uint64_t)((int64_t)(value->v.u << spare) >> spare)
                                            : value->v.u << spare >> spare) == value->v.u;
    return width == 8 || (double)(float)value->v.f == value->v.f || value->v.f != value->v.f;
}

void alike_put(struct buffer *values, const ttr_value *first, const ttr_value *value)
{
    const unsigned width = alike_width(first);
    uint8_t *at = buffer_room(values, TEXT_ROOM);
    if (!at)
        return;
    if (width) {
        store_u64le(at, kept(first, value));
        buffer_filled(values, width);
    } else if (first->type == TTR_TYPE_TEXT || first->type == TTR_TYPE_BYTES) {
        const uint32_t n = (uint32_t)value->text.n;
        memcpy(at, &value->text.p, sizeof value->text.p);
        memcpy(at + sizeof value->text.p, &n, 4);
        buffer_filled(values, TEXT_ROOM);
    } else if (first->type == TTR_TYPE_ARRAY) {
        memcpy(at, &value->count, 4);
        buffer_filled(values, 4);
    }
}

/* Gives a field of the first element the next value. */
static void load(struct alike_walk *walk, ttr_value *value)
{
    const uint8_t *bytes = walk->value;
    const unsigned width = alike_width(value);
    uint32_t n;
    if (width) {
        value->v.u = alike_number(value, bytes, width);
        walk->value += width;
    } else if (value->type == TTR_TYPE_TEXT || value->type == TTR_TYPE_BYTES) {
        memcpy(&value->text.p, bytes, sizeof value->text.p);
        memcpy(&n, bytes + sizeof value->text.p, 4);
        value->text.n = n;
        walk->value += TEXT_ROOM;
    } else if (value->type == TTR_TYPE_ARRAY) {
        memcpy(&value->count, bytes, 4);
        walk->value += 4;
    }
}

/* --- Walks --- */

static void enter(struct alike_walk *walk, size_t begin, size_t back, uint32_t count)
{
    walk->at = count ? begin : back;
    if (!count)
        return;
    assert(walk->depth < ALIKE_DEPTH);
    walk->frame[walk->depth++] =
        (struct alike_frame){.begin = begin,
                             .end = begin + alike_inside(walk->field, walk->n, begin),
                             .back = back,
                             .left = count};
}

static const uint8_t none[1]; /* no values given yet */

/* Whether an element begins for which no values were given. */
static bool needs_piece(const struct alike_walk *walk)
{
    return walk->depth == 1 && !walk->has_one && walk->value == walk->end &&
           walk->at == walk->frame[0].begin;
}

/* Has the next values given, of elements that are in no others.  Only where those given before are
 * needed no more. */
static void refill(struct alike_walk *walk)
{
    size_t n = 0;
    if (walk->source &&
        walk->source->give(walk->source->own, walk->frame[0].back - 1, &walk->value, &n) && n) {
        walk->end = walk->value + n;
        return;
    }
    walk->at = walk->n;
    walk->depth = 0;
    walk->end = NULL;
}

/* Goes on with the next element, or behind the last one, where one is over. */
static void end_element(struct alike_walk *walk)
{
    while (walk->depth && walk->at == walk->frame[walk->depth - 1].end) {
        struct alike_frame *frame = &walk->frame[walk->depth - 1];
        frame->left--;
        walk->depth -= frame->left == 0;
        walk->at = frame->left ? frame->begin : frame->back;
    }
}

/* Comes to rest at a field. */
static void settle(struct alike_walk *walk)
{
    end_element(walk);
    while (!walk->depth && walk->at < walk->n && alike_is_more(&walk->field[walk->at])) {
        const ttr_value *more = &walk->field[walk->at].value;
        const bool is_in_pieces = more->hint == ALIKE_IN_PIECES;
        walk->end = is_in_pieces ? none : NULL;
        walk->value = more->text.p   ? (const uint8_t *)more->text.p
                      : is_in_pieces ? none
                                     : walk->values + more->v.u;
        enter(walk, walk->at - more->text.n, walk->at + 1, more->count);
    }
    if (walk->end && needs_piece(walk))
        refill(walk);
}

const ttr_field *alike_peek_inside(struct alike_walk *walk)
{
    if (walk->has_one)
        return &walk->one;
    settle(walk);
    if (walk->at >= walk->n)
        return NULL;
    if (!walk->depth)
        return &walk->field[walk->at];
    walk->one = walk->field[walk->at];
    load(walk, &walk->one.value);
    walk->has_one = true;
    return &walk->one;
}

const ttr_field *alike_next_inside(struct alike_walk *walk)
{
    const ttr_field *field = alike_peek(walk);
    if (!field)
        return NULL;
    const bool is_inside = walk->has_one;
    walk->has_one = false;
    if (is_inside && field->value.type == TTR_TYPE_ARRAY)
        enter(walk, walk->at + 1, walk->at + alike_inside(walk->field, walk->n, walk->at),
              field->value.count);
    else
        walk->at++;
    return field;
}

bool alike_is_over(struct alike_walk *walk)
{
    settle(walk);
    return walk->at >= walk->n;
}

bool alike_take_run(struct alike_walk *walk, uint32_t most, struct alike_run *run)
{
    if (walk->has_one)
        return false;
    settle(walk);
    struct alike_frame *frame = walk->depth ? &walk->frame[walk->depth - 1] : NULL;
    const ttr_value *first = frame ? &walk->field[frame->begin].value : NULL;
    if (!frame || walk->at != frame->begin || frame->end != frame->begin + 1 || !alike_width(first))
        return false;
    *run = (struct alike_run){.first = first,
                              .bytes = walk->value,
                              .n = frame->left < most ? frame->left : most,
                              .width = alike_width(first)};
    if (walk->end && (size_t)(walk->end - walk->value) / run->width < run->n)
        run->n = (uint32_t)((size_t)(walk->end - walk->value) / run->width);
    walk->value += (size_t)run->n * run->width;
    frame->left -= run->n;
    if (frame->left == 0) {
        walk->at = frame->back;
        walk->depth--;
    }
    return true;
}
