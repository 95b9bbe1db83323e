/* See sources.h. */
#include "matrix/sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/support.h"

static void put_random_field(ttr_builder *b, uint64_t r)
{
    static const char *const names[] = {"a", "b", "process", "message", "", "frames", "scope"};
    static char text[40000];
    const char *name = names[r % 7];
    uint64_t value = r >> (r >> 8 & 63);
    switch (r >> 3 & 7) {
    case 0:
        ttr_add_null(b, name);
        break;
    case 1:
        ttr_add_bool(b, name, value & 1);
        break;
    case 2:
        ttr_add_uint(b, name, value);
        break;
    case 3:
        ttr_add_int(b, name, -(int64_t)(value >> 1));
        break;
    case 4:
        ttr_add_float(b, name, (double)value / 3);
        break;
    case 5:
        memset(text, 'x', sizeof text - 1);
        text[r >> 16 & 127 ? value % 20 : sizeof text - 1] = 0;
        ttr_add_text(b, name, text);
        text[value % 20] = 'x';
        break;
    case 6:
        ttr_add_bytes(b, name, &r, r >> 16 & 7);
        break;
    default:
        ttr_add_field(b,
                      &(ttr_field){.name = {"list", 4},
                                   .value = {.type = r >> 20 & 1 ? TTR_TYPE_ARRAY : TTR_TYPE_STRUCT,
                                             .count = 1}});
        ttr_add_field(b, &(ttr_field){.name = {"x", 1},
                                      .depth = 1,
                                      .value = {.type = TTR_TYPE_UINT, .v.u = value}});
        break;
    }
}

/* Attributes that are rare, each with its own chance. */
static void make_odd(ttr_builder *b, uint64_t r)
{
    static const uint8_t activity[16] = {9};
    ttr_event *e = ttr_event_attributes(b);
    if ((r >> 56 & 31) == 0)
        ttr_event_set_thread(b, r >> (r & 31), r);
    if ((r & 31) == 0)
        e->level = TTR_LEVEL_ERROR;
    if ((r >> 5 & 31) == 0)
        e->keyword = r;
    if ((r >> 10 & 31) == 0)
        e->activity = activity;
    if ((r >> 15 & 31) == 0)
        e->sequence = 7;
    if ((r >> 20 & 15) == 0)
        e->thread = 0;
    if ((r >> 24 & 31) == 0)
        e->time = -e->time;
    if ((r >> 29 & 3) == 0)
        e->flags |= TTR_EVENT_HAS_CPU;
    if (e->flags & TTR_EVENT_HAS_CPU)
        e->cpu = (uint32_t)(r >> 40 & 0x1ffff);
    if ((r >> 31 & 31) == 0)
        e->flags |= TTR_EVENT_NO_TIME;
    if ((r >> 36 & 31) == 0)
        e->flags |= TTR_EVENT_PARTIAL;
}

void sources_make_event(ttr_builder *b, uint64_t *state, int64_t time)
{
    static const uint8_t kinds[] = {TTR_KIND_INSTANT,   TTR_KIND_BEGIN,     TTR_KIND_END,
                                    TTR_KIND_SPAN,      TTR_KIND_COUNTER,   TTR_KIND_ASYNC_BEGIN,
                                    TTR_KIND_ASYNC_END, TTR_KIND_FLOW_STEP, TTR_KIND_SWITCH,
                                    TTR_KIND_WAKE,      TTR_KIND_LOG,       TTR_KIND_BLOB,
                                    TTR_KIND_GAP};
    uint64_t r = support_random(state);
    ttr_kind kind = kinds[r % sizeof kinds];
    ttr_event_begin(b, kind, time, r >> 8 & 3 ? "category" : "", r >> 10 & 7 ? "name" : "");
    ttr_event_set_provider(b, r >> 13 & 15 ? "one" : "another");
    if (kind == TTR_KIND_SWITCH) {
        ttr_event_set_thread(b, 3, r >> 17 & 255);
        ttr_event_attributes(b)->link = ttr_event_attributes(b)->thread;
        ttr_event_attributes(b)->tag = (uint16_t)(r >> 25 & 31);
    } else if (r >> 17 & 1) {
        ttr_event_attributes(b)->link = r >> 40;
    }
    ttr_event_set_thread(b, r >> 30 & 3, r >> 32 & 511);
    if (kind == TTR_KIND_SPAN)
        ttr_event_attributes(b)->duration = r >> (r >> 50 & 63);
    make_odd(b, support_random(state));
    if (kind == TTR_KIND_LOG)
        ttr_add_text(b, "message", "a message");
    if (kind == TTR_KIND_BLOB)
        ttr_add_bytes(b, "data", state, 8);
    unsigned n = r >> 44 & 15 ? r >> 48 & 3 : r >> 48 & 31;
    for (unsigned i = 0; i < n && kind != TTR_KIND_BLOB; i++)
        put_random_field(b, support_random(state));
}

bool sources_generate(const char *generator, const char *options, char path[64])
{
    char command[512];
    (void)snprintf(path, 64, "/tmp/tracetta-matrix-XXXXXX");
    int file = mkstemp(path);
    (void)snprintf(command, sizeof command, "'%s' %s %s", generator, options, path);
    return file >= 0 && close(file) == 0 && system(command) == 0;
}
