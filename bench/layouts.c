/* Measures the layout library alone, on records like those of an LTTng user-space trace.
 *
 *   usage: layouts MODE ROUNDS
 *     measure   find the end of each record
 *     walk      iterate over the fields of each record
 *     NAME      measure and walk records of one class, for instruction counts: simple, sched,
 *               net, mixed, tick, empty
 *
 * Prints one line of JSON: records, fields, CPU seconds, and a checksum, so that the compiler
 * cannot remove the work. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "layout/layout.h"
#include "support/typetext.h"

#define RECORDS 4000u
#define ROOM (1u << 20)

/* Record classes: payload type in the notation of tests/support/typetext.h, and how many of twenty
 * records have it. */
static const struct {
    const char *name, *type;
    unsigned share;
} classes[] = {
    {"simple", "i:i32 s:s", 7},
    {"sched", "prev_comm:T16 prev_tid:i32 next_comm:T16 next_tid:i32 prio:i64", 5},
    {"net", "port:u16> ip:u32> skb:u64 data_length:u16 data:[p.data_length]u8", 3},
    {"mixed",
     "d:f64 f:f32 c:u8=RED=0,GREEN=1,MANY=2..9; arr:[4]i32 txt_length:u32 txt:T(p.txt_length)", 2},
    {"tick", "n:u64", 2},
    {"empty", "", 1},
};
#define CLASSES (sizeof classes / sizeof classes[0])

struct bench {
    const struct layout *layout[CLASSES];
    uint8_t *bytes;
    uint64_t end; /* number of bits written */
    uint8_t class_of[RECORDS];
    uint64_t seed;
    uint64_t records, fields, sum;
};

static uint64_t next_random(struct bench *bench)
{
    bench->seed ^= bench->seed << 13;
    bench->seed ^= bench->seed >> 7;
    bench->seed ^= bench->seed << 17;
    return bench->seed;
}

static void put(struct bench *bench, const void *p, size_t n)
{
    memcpy(bench->bytes + bench->end / 8, p, n);
    bench->end += n * 8;
}

static void put_number(struct bench *bench, uint64_t x, size_t n)
{
    put(bench, &x, n);
}

static void make_record(struct bench *bench, unsigned class)
{
    static const char *const texts[] = {"open", "read /etc/hosts",
                                        "a somewhat longer message with some text in it", "x"};
    uint64_t x = next_random(bench);
    const char *text = texts[x >> 8 & 3];
    switch (class) {
    case 0:
        put_number(bench, x, 4), put(bench, text, strlen(text) + 1);
        break;
    case 1:
        put(bench, "swapper/0\0\0\0\0\0\0", 16), put_number(bench, x >> 40, 4);
        put(bench, "worker\0\0\0\0\0\0\0\0\0", 16), put_number(bench, x >> 20, 4),
            put_number(bench, 20, 8);
        break;
    case 2:
        put_number(bench, x, 8), put_number(bench, x, 6), put_number(bench, x % 33, 2),
            put(bench, bench->bytes, x % 33);
        break;
    case 3:
        put_number(bench, x, 8), put_number(bench, x, 4), put_number(bench, x % 10, 1),
            put(bench, bench->bytes, 16);
        put_number(bench, strlen(text), 4), put(bench, text, strlen(text));
        break;
    case 4:
        put_number(bench, x, 8);
        break;
    default:
        break;
    }
}

static void make_records(struct bench *bench, const char *mode)
{
    unsigned all = 0, only = CLASSES;
    for (unsigned i = 0; i < CLASSES; i++) {
        all += classes[i].share;
        only = strcmp(mode, classes[i].name) == 0 ? i : only;
    }
    for (unsigned i = 0; i < RECORDS; i++) {
        unsigned k = (unsigned)(next_random(bench) >> 32) % all, class = 0;
        while (k >= classes[class].share)
            k -= classes[class ++].share;
        bench->class_of[i] = (uint8_t)(only < CLASSES ? only : class);
        make_record(bench, bench->class_of[i]);
    }
}

static void measure_all(struct bench *bench)
{
    struct layout_cursor run = {.bits = bits_init(bench->bytes, 0, bench->end)};
    for (unsigned i = 0; i < RECORDS; i++)
        bench->sum += layout_find_record_end(bench->layout[bench->class_of[i]], &run);
    bench->records += RECORDS;
    bench->sum += run.bits.at != bench->end;
}

static void place(const struct layout_schema *schema, const ttr_event *event,
                  struct layout_cursor *run)
{
    (void)schema;
    run->bits = bits_init(event->payload, 0, event->payload_size * UINT64_C(8));
}

static void walk_all(struct bench *bench)
{
    struct layout_cursor run = {.bits = bits_init(bench->bytes, 0, bench->end)};
    for (unsigned i = 0; i < RECORDS; i++) {
        uint64_t begin = run.bits.at;
        struct layout_schema schema = {.layout = bench->layout[bench->class_of[i]], .place = place};
        bench->sum += layout_find_record_end(schema.layout, &run);
        ttr_event event = {.payload = bench->bytes + begin / 8,
                           .payload_size = (uint32_t)((run.bits.at - begin) / 8)};
        ttr_fields fields;
        ttr_field field;
        fields.event = &event;
        fields.ctx = &schema;
        layout_field_ops.begin(&fields);
        while (layout_field_ops.next(&fields, &field)) {
            bench->sum += field.value.v.u + field.value.text.n;
            bench->fields++;
        }
    }
    bench->records += RECORDS;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "measure";
    long rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 1000;
    static struct bench bench = {.seed = 88172645463325252u};
    ttr *t = ttr_new(NULL);
    struct arena arena;
    arena_init(&arena, &t->counted);
    bench.bytes = calloc(ROOM, 1);
    for (unsigned i = 0; i < CLASSES; i++) {
        struct layout_spec spec = {
            .t = t, .arena = &arena, .root[ROOT_PAYLOAD] = type_of_text(&arena, classes[i].type)};
        bench.layout[i] = layout_compile(&spec, NULL);
        if (!bench.layout[i] || !bench.bytes)
            return 1;
    }
    make_records(&bench, mode);
    clock_t begin = clock();
    for (long i = 0; i < rounds; i++)
        strcmp(mode, "measure") == 0 ? measure_all(&bench) : walk_all(&bench);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    printf("{\"records\":%llu,\"fields\":%llu,\"cpu_s\":%.3f,\"sum\":%llu}\n",
           (unsigned long long)bench.records, (unsigned long long)bench.fields, seconds,
           (unsigned long long)bench.sum);
    free(bench.bytes);
    arena_free(&arena);
    ttr_free(t);
    return 0;
}
