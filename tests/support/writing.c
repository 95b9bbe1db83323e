/* Driving writers through the public API.  Left out: files on disk, which tests of the command line
 * use. */
#include "support/writing.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "support/support.h"

static int64_t push(void *ctx, const void *bytes, size_t n)
{
    struct writing *w = ctx;
    size_t take = n < w->room - w->n ? n : w->room - w->n;
    if (take == 0) {
        errno = ENOSPC;
        return -1;
    }
    if (w->capacity - w->n <= take) {
        w->capacity = (w->n + take) * 2;
        w->text = realloc(w->text, w->capacity);
        assert_non_null(w->text);
    }
    memcpy(w->text + w->n, bytes, take);
    w->n += take;
    w->text[w->n] = '\0';
    return (int64_t)take;
}

int64_t writing_to_buffer(void *ctx, const void *bytes, size_t n)
{
    struct buffer *to = ctx;
    buffer_add(to, bytes, n);
    return to->failed ? -1 : (int64_t)n;
}

static void note(struct writing *w, ttr_status status, const ttr_error *error)
{
    if (status == TTR_OK || w->status != TTR_OK)
        return;
    w->status = status;
    w->error = *error;
}

static void open_with(struct writing *w, const ttr_options *options, const char *format,
                      const ttr_write_options *how)
{
    ttr_error error = {0};
    w->t = ttr_new(options);
    w->builder = w->t ? ttr_builder_new(w->t) : NULL;
    w->writer = w->builder ? ttr_create_push(w->t, push, w, format, how, &error) : NULL;
    if (!w->writer)
        note(w, error.status ? error.status : TTR_E_NOMEM, &error);
}

void writing_open(struct writing *w, const char *format, uint32_t flags, const char *const *options)
{
    *w = (struct writing){.room = SIZE_MAX};
    open_with(w, NULL, format,
              &(ttr_write_options){
                  .size = sizeof(ttr_write_options), .flags = flags, .format_options = options});
    if (!w->writer)
        fail_msg("%s", w->error.text);
}

void writing_begin(struct writing *w, ttr_kind kind, int64_t time, const char *name)
{
    ttr_event_begin(w->builder, kind, time, "cat", name);
    ttr_event_set_provider(w->builder, "prov");
    ttr_event_set_thread(w->builder, 7, 9);
}

void writing_end(struct writing *w)
{
    ttr_error error = {0};
    note(w, ttr_event_end(w->builder, w->writer, &error), &error);
}

void writing_event(struct writing *w, ttr_kind kind, int64_t time, const char *name)
{
    writing_begin(w, kind, time, name);
    writing_end(w);
}

static void put_every_type(struct writing *w)
{
    const double not_a_number = strtod("nan", NULL), infinite = strtod("inf", NULL);
    ttr_add_null(w->builder, "null");
    ttr_add_bool(w->builder, "bool", true);
    ttr_add_uint(w->builder, "uint", UINT64_MAX);
    ttr_add_int(w->builder, "int", INT64_MIN);
    ttr_add_float(w->builder, "float", 0.1);
    ttr_add_float(w->builder, "nan", not_a_number);
    ttr_add_float(w->builder, "inf", infinite);
    ttr_add_float(w->builder, "minus inf", -infinite);
    ttr_add_text(w->builder, "text", "a \"b\" \\ , \r\n \x01 \xc3\xa9 \xff\x80 \xe2\x82");
    ttr_add_bytes(w->builder, "bytes", "\x00\xff", 2);
    ttr_add_field(w->builder, &(ttr_field){.name = {"array", 5},
                                           .value = {.type = TTR_TYPE_ARRAY, .count = 2}});
    ttr_add_field(w->builder, &(ttr_field){.depth = 1, .value = {.type = TTR_TYPE_UINT, .v.u = 1}});
    ttr_add_field(w->builder,
                  &(ttr_field){.depth = 1, .value = {.type = TTR_TYPE_STRUCT, .count = 2}});
    ttr_add_field(
        w->builder,
        &(ttr_field){.depth = 2, .name = {"x", 1}, .value = {.type = TTR_TYPE_UINT, .v.u = 2}});
    ttr_add_field(
        w->builder,
        &(ttr_field){.depth = 2, .name = {"x", 1}, .value = {.type = TTR_TYPE_ARRAY, .count = 0}});
    ttr_add_uint(w->builder, "x", 3);
    ttr_add_uint(w->builder, "uint", 4);
    ttr_add_field(
        w->builder,
        &(ttr_field){.name = {"who", 3},
                     .value = {.type = TTR_TYPE_UINT, .hint = TTR_DISPLAY_THREAD, .v.u = 1}});
}

void writing_everything(struct writing *w)
{
    static const uint8_t id[16] = {1, 2, 3, 255};
    ttr_thread_name(w->t, 7, 9, "proc", "thr\"ead");
    for (unsigned kind = 0; kind < TTR_KIND_COUNT && w->status == TTR_OK; kind++) {
        writing_begin(w, (ttr_kind)kind, 1000 + kind, "na\xffme,\"x\"\n");
        ttr_event *event = ttr_event_attributes(w->builder);
        event->duration = 1234;
        event->link = 1;
        event->cpu = kind % 3;
        event->level = (uint8_t)(kind % 8);
        event->tag = (uint16_t)(kind % 7);
        event->flags |= (uint8_t)(kind * 8 & ~TTR_EVENT_RAW);
        event->keyword = kind & 1;
        event->opcode = kind & 2;
        event->activity = kind & 1 ? id : NULL;
        event->related = kind & 4 ? id : NULL;
        put_every_type(w);
        writing_end(w);
    }
}

/* A text of up to 11 bytes without zeros: builders take C strings. */
static const char *random_text(uint64_t *seed, char to[12])
{
    uint64_t n = support_random(seed) % 12, any = support_random(seed),
             style = support_random(seed) % 3;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t byte = style ? 1 + support_random(seed) % 255
                              : (uint64_t)("a\"\\#,{\n\t2:}["[(any >> i * 4) % 12]);
        to[i] = (char)byte;
    }
    to[n] = '\0';
    return to;
}

static void put_random_field(struct writing *w, uint64_t *seed)
{
    char name[12], text[12];
    uint64_t bits = support_random_word(seed);
    ttr_field field = {.depth = (uint16_t)(support_random(seed) % 4)};
    field.name.p = random_text(seed, name);
    field.name.n = strlen(name);
    field.value.type = (uint8_t)(support_random(seed) % TTR_TYPE_COUNT);
    field.value.hint = (uint8_t)(support_random(seed) % 5);
    field.value.v.u = bits;
    if (field.value.type == TTR_TYPE_TEXT || field.value.type == TTR_TYPE_BYTES)
        field.value.text = (ttr_text){random_text(seed, text), strlen(text)};
    ttr_add_field(w->builder, &field);
}

unsigned writing_random(struct writing *w, uint64_t seed, unsigned n)
{
    char text[12], other[12];
    unsigned gaps = 0;
    for (unsigned i = 0; i < n && w->status == TTR_OK; i++) {
        ttr_event_begin(w->builder, (ttr_kind)(support_random(&seed) % TTR_KIND_COUNT),
                        (int64_t)support_random_word(&seed), random_text(&seed, text),
                        random_text(&seed, other));
        ttr_event_set_provider(w->builder, random_text(&seed, text));
        uint64_t pid = support_random_word(&seed), tid = support_random_word(&seed);
        ttr_thread_name(w->t, pid, tid, random_text(&seed, text), random_text(&seed, other));
        if (support_random(&seed) % 4)
            ttr_event_set_thread(w->builder, pid, tid);
        ttr_event *event = ttr_event_attributes(w->builder);
        event->duration = support_random_word(&seed);
        event->link =
            support_random(&seed) % 2 ? support_random_word(&seed) : support_random(&seed) % 8;
        event->cpu = (uint32_t)support_random_word(&seed);
        event->level = (uint8_t)support_random_word(&seed);
        event->tag = (uint16_t)support_random_word(&seed);
        event->flags = (uint8_t)(support_random(&seed) & ~(uint64_t)TTR_EVENT_RAW);
        for (uint64_t fields = support_random(&seed) % 9; fields > 0; fields--)
            put_random_field(w, &seed);
        gaps += event->kind == TTR_KIND_GAP;
        writing_end(w);
    }
    return gaps;
}

uint64_t writing_lost(struct writing *w, const char *code)
{
    const ttr_loss *losses;
    size_t n = ttr_losses(w->writer, &losses);
    for (size_t i = 0; i < n; i++)
        if (strcmp(losses[i].code, code) == 0)
            return losses[i].count;
    return 0;
}

void writing_finish(struct writing *w)
{
    ttr_error error = {0};
    if (w->writer)
        note(w, ttr_finish(w->writer, &error), &error);
    w->writer = NULL;
}

void writing_close(struct writing *w)
{
    ttr_writer_abort(w->writer);
    ttr_builder_free(w->builder);
    ttr_free(w->t);
    free(w->text);
    *w = (struct writing){0};
}

void writing_expect(struct writing *w, const char *text)
{
    writing_finish(w);
    assert_int_equal(w->status, TTR_OK);
    support_assert_text(w->text ? w->text : "", w->n, text);
    writing_close(w);
}

static const char *format_under_test(const char *format)
{
    static const char *current;
    current = format ? format : current;
    return current;
}

static bool scenario(const struct alloc *alloc)
{
    struct writing w = {.room = SIZE_MAX};
    open_with(
        &w, &(ttr_options){.size = sizeof(ttr_options), .resize = alloc->resize, .ctx = alloc->ctx},
        format_under_test(NULL), NULL);
    if (w.writer)
        writing_everything(&w);
    writing_finish(&w);
    bool is_through = w.status == TTR_OK;
    if (!is_through)
        assert_int_equal(w.status, TTR_E_NOMEM);
    writing_close(&w);
    return is_through;
}

/* Bytes of the whole output, with the sink full after `room`. */
static size_t write_into(const char *format, size_t room, ttr_status expected)
{
    struct writing w;
    writing_open(&w, format, 0, NULL);
    w.room = room;
    writing_everything(&w);
    writing_finish(&w);
    assert_int_equal(w.status, expected);
    if (expected != TTR_OK)
        assert_int_equal(w.error.sys, ENOSPC);
    size_t n = w.n;
    writing_close(&w);
    return n;
}

void writing_fails_cleanly(const char *format)
{
    (void)format_under_test(format);
    support_fail_each(scenario);
    size_t whole = write_into(format, SIZE_MAX, TTR_OK);
    for (size_t room = 0; room < whole; room++)
        assert_int_equal(write_into(format, room, TTR_E_IO), room);
}
