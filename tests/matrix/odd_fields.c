/* See odd_fields.h. */
#include "matrix/odd_fields.h"

#include <stdio.h>
#include <string.h>

#include "matrix/sources.h"
#include "support/support.h"
#include "support/tap.h"

enum { FIELDS_LONG = 300000, LEVELS = 10, SEEDS = 12, SEED_EVENTS = 600 };

uint64_t odd_below(uint64_t *seed, uint64_t n)
{
    return support_random(seed) % n;
}

ttr_text odd_name(uint64_t *seed)
{
    static const ttr_text names[] = {{"", 0},
                                     {"a", 1},
                                     {"int", 3},
                                     {"struct", 6},
                                     {"event", 5},
                                     {"string", 6},
                                     {"align", 5},
                                     {"_a", 2},
                                     {"__a", 3},
                                     {"a_length", 8},
                                     {"_", 1},
                                     {"id", 2},
                                     {"timestamp", 9},
                                     {"vpid", 4},
                                     {"name", 4},
                                     {"kind", 4},
                                     {"koid", 4},
                                     {"number", 6},
                                     {"elements", 8},
                                     {"elements_length", 15},
                                     {"a b", 3},
                                     {"a.b[0]", 6},
                                     {"\xff\xfe", 2},
                                     {"n\0l", 3},
                                     {"_x41", 4},
                                     {"gr\xc3\xbc\xc3\x9f", 6},
                                     {"9", 1},
                                     {"content_size", 12},
                                     {"packet_size", 11},
                                     {"cpu_id", 6},
                                     {"uuid", 4},
                                     {"magic", 5},
                                     {"stream_id", 9},
                                     {"v", 1},
                                     {"fields", 6},
                                     {"\"\\\n*/", 5},
                                     {"frames", 6}};
    static char longest[3000];
    size_t i = odd_below(seed, 39);
    memset(longest, 'n', sizeof longest);
    return i < sizeof names / sizeof *names ? names[i]
                                            : (ttr_text){longest, odd_below(seed, sizeof longest)};
}

static ttr_text any_text(struct odd *m)
{
    static const ttr_text texts[] = {{"", 0},
                                     {"text", 4},
                                     {"a\0b", 3},
                                     {"\xff\x80", 2},
                                     {"\xed\xa0\x80", 3},
                                     {"\n\t\"\\", 4},
                                     {"\xf0\x9f\x90\x9d", 4}};
    static char longest[FIELDS_LONG];
    size_t i = odd_below(&m->seed, m->is_short ? 196 : 200);
    memset(longest, 't', sizeof longest);
    return i < 196 ? texts[i % 7]
                   : (ttr_text){longest, i == 199 ? sizeof longest : odd_below(&m->seed, 70000)};
}

static ttr_value any_number(struct odd *m)
{
    static const double floats[] = {0.0, -0.0, 0.1, 1e300, -1.5, 65504, 1e-320};
    uint64_t r = support_random(&m->seed), value = r >> (r & 63);
    ttr_value number = {.type = (uint8_t)(TTR_TYPE_BOOL + (r >> 8) % 4),
                        .bits = (uint8_t)((r >> 12) % 65),
                        .v.u = value,
                        .text = {"", 0}};
    switch (number.type) {
    case TTR_TYPE_BOOL:
        number.v.u &= 1;
        break;
    case TTR_TYPE_FLOAT:
        number.v.f = floats[value % 7];
        number.bits = (uint8_t)(16u << (r >> 20) % 3);
        break;
    case TTR_TYPE_UINT:
        number.hint = (uint8_t)((r >> 24) % 3);
        break;
    default:
        number.v.s = (r >> 30) & 1   ? -(int64_t)(value >> 1)
                     : (r >> 31) & 1 ? INT64_MIN
                                     : number.v.s;
    }
    return number;
}

static ttr_value any_scalar(struct odd *m)
{
    switch (odd_below(&m->seed, 9)) {
    case 0:
        return (ttr_value){.type = TTR_TYPE_NULL,
                           .hint = (uint8_t)(odd_below(&m->seed, 2) * TTR_DISPLAY_ABSENT),
                           .text = {"", 0}};
    case 1:
    case 2:
        return (ttr_value){.type = TTR_TYPE_TEXT, .text = any_text(m)};
    case 3:
        return (ttr_value){.type = TTR_TYPE_BYTES, .text = any_text(m)};
    case 4:
        return (ttr_value){.type = TTR_TYPE_TEXT,
                           .hint = TTR_DISPLAY_DECIMAL,
                           .text = {"-170141183460469231731687303715884105728", 40}};
    default:
        return any_number(m);
    }
}

/* Adds the elements of an array, usually all of one type. */
static void put_elements(struct odd *m, unsigned depth, unsigned group, uint32_t count)
{
    uint64_t kind = odd_below(&m->seed, 6), seed = m->seed;
    for (uint32_t i = 0; i < count; i++) {
        ttr_field field = {.depth = (uint16_t)depth,
                           .group = (uint8_t)group,
                           .value = {.type = TTR_TYPE_UINT, .bits = 8, .v.u = i, .text = {"", 0}}};
        if (kind == 0)
            m->seed = seed;
        if (kind < 2) {
            odd_put(m, (ttr_text){"", 0}, depth, group);
            continue;
        }
        if (kind == 2)
            field.value = (ttr_value){.type = TTR_TYPE_STRUCT, .text = {"", 0}};
        if (kind == 3)
            field.value = (ttr_value){
                .type = TTR_TYPE_ARRAY, .text = {"", 0}, .count = depth < LEVELS ? 1 : 0};
        ttr_add_field(m->b, &field);
        if (field.value.type == TTR_TYPE_ARRAY && field.value.count)
            put_elements(m, depth + 1, group, 1);
    }
}

void odd_put(struct odd *m, ttr_text name, unsigned depth, unsigned group)
{
    uint64_t r = support_random(&m->seed);
    ttr_field field = {.name = name, .depth = (uint16_t)depth, .group = (uint8_t)group};
    unsigned share = m->budget / 2;
    m->budget -= m->budget > 0;
    if (depth >= LEVELS || share == 0 || r % 4) {
        field.value = any_scalar(m);
        ttr_add_field(m->b, &field);
        return;
    }
    bool is_array = r >> 8 & 1;
    field.value = (ttr_value){.type = is_array ? TTR_TYPE_ARRAY : TTR_TYPE_STRUCT,
                              .text = {"", 0},
                              .count = (uint32_t)((r >> 12) % (r >> 20 & 15 ? 4 : 40))};
    field.value.count = field.value.count > share ? share : field.value.count;
    m->budget -= field.value.count;
    ttr_add_field(m->b, &field);
    if (is_array)
        put_elements(m, depth + 1, group, field.value.count);
    for (uint32_t i = 0; !is_array && i < field.value.count; i++)
        odd_put(m, odd_name(&m->seed), depth + 1, group);
}

void odd_put_shape(struct odd *m, uint64_t n)
{
    char name[24];
    for (m->budget = 40; n > 0; n--) {
        (void)snprintf(name, sizeof name, "f%u", (unsigned)odd_below(&m->seed, 5000));
        odd_put(m, (ttr_text){name, strlen(name)}, 0, TTR_GROUP_PAYLOAD);
    }
}

void odd_try(const char *version, bool has_no_past, bool (*run)(const struct odd_trial *trial))
{
    static const int64_t froms[] = {1000, -5000000000000, INT64_C(1700000000000000000), INT64_MIN,
                                    INT64_MAX - (INT64_C(1) << 53)};
    const struct odd_trial many = {
        .version = version, .seed = 99, .from = 1000, .events = ODD_EVENTS, .is_shapeless = true};
    bool ok = true;
    unsigned seeds = support_rounds(5, SEEDS);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        const struct odd_trial trial = {.version = version,
                                        .seed = seed,
                                        .from = froms[has_no_past && seed % 5 == 1 ? 0 : seed % 5],
                                        .events = SEED_EVENTS};
        ok = run(&trial) && ok;
    }
    (void)tap_case(ok, "odd events come back, %s", version);
    (void)tap_case(run(&many), "many shapes come back, %s", version);
}
