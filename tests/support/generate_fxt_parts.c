/* Texts, references, arguments and words of generated FXT records; see generate_fxt.h. */
#include "support/generate_fxt.h"

#include <stdlib.h>
#include <string.h>

/* --- Chance --- */

uint64_t random_word(struct generator *g)
{
    uint64_t z = g->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint32_t below(struct generator *g, uint32_t n)
{
    return (uint32_t)((random_word(g) >> 32) * n >> 32);
}

bool happens(struct generator *g, uint32_t per_thousand)
{
    return below(g, 1000) < per_thousand;
}

/* Returns a value that is usually small; in `everything` also the limits of encodings. */
uint64_t random_value(struct generator *g)
{
    static const uint64_t edges[] = {0,
                                     1,
                                     0x7f,
                                     0xff,
                                     0x7fffffff,
                                     0x80000000,
                                     0xffffffff,
                                     0x100000000,
                                     (UINT64_C(1) << 53) + 1,
                                     UINT64_C(0x7fffffffffffffff),
                                     UINT64_C(0x8000000000000000),
                                     UINT64_MAX};
    if (g->is_everything && happens(g, 500))
        return edges[below(g, sizeof edges / sizeof *edges)];
    return random_word(g) >> (8 + below(g, 56));
}

static double random_double(struct generator *g)
{
    static const double edges[] = {0.0, -0.0, 1.5, -1e308, 5e-324, 1.0 / 3, 9007199254740993.0};
    static const uint64_t specials[] = {UINT64_C(0x7ff0000000000000), UINT64_C(0xfff0000000000000),
                                        UINT64_C(0x7ff8000000000000)};
    if (g->is_everything && happens(g, 200))
        return double_of_bits(specials[below(g, 3)]);
    if (g->is_everything && happens(g, 400))
        return edges[below(g, sizeof edges / sizeof *edges)];
    return (double)(int64_t)random_word(g) / 4096;
}

/* --- Bytes --- */

static uint64_t hash_bytes(const void *bytes, size_t n)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

void write_out(struct generator *g)
{
    if (fwrite(g->output, 1, g->output_n, g->out) != g->output_n)
        g->failed = true;
    g->output_n = 0;
}

void store(const struct generator *g, uint8_t *at, uint64_t word)
{
    if (g->is_big)
        store_u64be(at, word);
    else
        store_u64le(at, word);
}

void emit(struct generator *g, const void *bytes, size_t n)
{
    if (g->output_n + n > OUTPUT_SIZE)
        write_out(g);
    if (n)
        memcpy(g->output + g->output_n, bytes, n);
    g->output_n += n;
    g->bytes += n;
}

void record_begin(struct generator *g)
{
    g->record_n = 1; /* the header comes last */
}

void record_word(struct generator *g, uint64_t word)
{
    store(g, g->record + FXT_WORD_BYTES * g->record_n++, word);
}

void record_stream(struct generator *g, const void *bytes, size_t n)
{
    size_t words = (n + 7) / 8;
    memset(g->record + FXT_WORD_BYTES * g->record_n, 0, words * FXT_WORD_BYTES);
    if (n)
        memcpy(g->record + FXT_WORD_BYTES * g->record_n, bytes, n);
    g->record_n += words;
}

void record_end(struct generator *g, uint64_t header)
{
    unsigned size = (header & 15) == FXT_LARGE ? FXT_LARGE_SIZE : FXT_SIZE;
    store(g, g->record, header | fxt_set_bits(size, g->record_n));
    emit(g, g->record, FXT_WORD_BYTES * g->record_n);
}

/* Writes the record immediately, since another one may be under construction. */
void emit_definition(struct generator *g, uint64_t header, const void *bytes, size_t n)
{
    static const uint8_t zeros[8];
    uint8_t word[8];
    store(g, word, header | fxt_set_bits(FXT_SIZE, 1 + (n + 7) / 8));
    emit(g, word, sizeof word);
    emit(g, bytes, n);
    emit(g, zeros, (8 - n % 8) % 8);
    g->truth.definitions++;
}

/* --- References --- */

void register_text(struct generator *g, uint16_t text, uint16_t slot)
{
    struct provider *p = g->provider;
    const struct text *t = &g->texts[text];
    if (p->text_slot[p->slot_text[slot]] == slot)
        p->text_slot[p->slot_text[slot]] = 0;
    p->text_slot[text] = slot;
    p->slot_text[slot] = text;
    emit_definition(
        g, FXT_STRING | fxt_set_bits(FXT_STRING_INDEX, slot) | fxt_set_bits(FXT_STRING_BYTES, t->n),
        t->bytes, t->n);
}

/* Returns a reference to a text. The empty text has reference 0 and is not in the table. */
uint16_t text_ref(struct generator *g, uint16_t text)
{
    struct provider *p = g->provider;
    const struct text *t = &g->texts[text];
    if (t->n == 0)
        return 0;
    if (t->n <= INLINE_MAX && happens(g, g->is_everything ? 100 : 3))
        return (uint16_t)(FXT_REF_INLINE | t->n);
    if (!p->text_slot[text])
        register_text(g, text, (uint16_t)(++p->slots_used));
    return p->text_slot[text];
}

void record_text(struct generator *g, uint16_t ref, uint16_t text)
{
    if (ref & FXT_REF_INLINE)
        record_stream(g, g->texts[text].bytes, g->texts[text].n);
}

void register_thread(struct generator *g, unsigned thread, uint8_t slot)
{
    struct provider *p = g->provider;
    uint8_t words[16];
    if (p->thread_slot[p->slot_thread[slot]] == slot)
        p->thread_slot[p->slot_thread[slot]] = 0;
    p->thread_slot[thread] = slot;
    p->slot_thread[slot] = (uint8_t)thread;
    store(g, words, p->threads[thread].pid);
    store(g, words + 8, p->threads[thread].tid);
    emit_definition(g, FXT_THREAD | fxt_set_bits(FXT_THREAD_INDEX, slot), words, sizeof words);
}

uint8_t thread_ref(struct generator *g, unsigned thread)
{
    struct provider *p = g->provider;
    if (happens(g, g->is_everything ? 100 : 5))
        return 0;
    if (!p->thread_slot[thread])
        register_thread(g, thread, ++p->threads_used);
    return p->thread_slot[thread];
}

void record_thread(struct generator *g, uint8_t ref, unsigned thread)
{
    if (ref)
        return;
    record_word(g, g->provider->threads[thread].pid);
    record_word(g, g->provider->threads[thread].tid);
}

/* --- Arguments --- */

uint16_t any_text(struct generator *g)
{
    if (g->is_everything && happens(g, 100))
        return (uint16_t)(FIRST_ODD + below(g, ODD));
    return (uint16_t)(FIRST_VALUE + below(g, VALUES));
}

static uint64_t argument_bits(struct generator *g, unsigned type)
{
    uint64_t value = random_value(g);
    if (type == FXT_ARG_INT32)
        return (uint64_t)(int64_t)(int32_t)(uint32_t)value;
    if (type == FXT_ARG_UINT32)
        return (uint32_t)value;
    if (type == FXT_ARG_BOOLEAN)
        return value & 1;
    if (type == FXT_ARG_DOUBLE)
        return bits_of_double(random_double(g));
    return type == FXT_ARG_NULL ? 0 : value;
}

/* Appends an argument that fits in its header and at most one word. */
static uint64_t record_scalar(struct generator *g, unsigned type, uint64_t head, uint16_t key)
{
    uint16_t key_ref = text_ref(g, key);
    uint64_t bits = argument_bits(g, type);
    uint64_t words = 1 + fxt_get_inline_words(key_ref) + fxt_count_argument_value_words(type);
    bool is_in_head = type == FXT_ARG_INT32 || type == FXT_ARG_UINT32 || type == FXT_ARG_BOOLEAN;
    record_word(g, head | fxt_set_bits(FXT_ARG_SIZE, words) | fxt_set_bits(FXT_ARG_NAME, key_ref) |
                       (is_in_head ? bits << 32 : 0));
    record_text(g, key_ref, key);
    if (fxt_count_argument_value_words(type))
        record_word(g, bits);
    return bits;
}

static uint64_t record_text_argument(struct generator *g, uint16_t key)
{
    uint16_t value = any_text(g);
    uint16_t key_ref = text_ref(g, key), ref = text_ref(g, value);
    uint64_t words = 1 + fxt_get_inline_words(key_ref) + fxt_get_inline_words(ref);
    record_word(g, FXT_ARG_TEXT | fxt_set_bits(FXT_ARG_SIZE, words) |
                       fxt_set_bits(FXT_ARG_NAME, key_ref) | fxt_set_bits(FXT_ARG_STRING, ref));
    record_text(g, key_ref, key);
    record_text(g, ref, value);
    return g->texts[value].hash;
}

static uint64_t record_blob_argument(struct generator *g, uint16_t key)
{
    uint8_t bytes[64];
    size_t n = below(g, g->is_everything ? sizeof bytes : 8);
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)random_word(g);
    uint16_t key_ref = text_ref(g, key);
    uint64_t words = 1 + fxt_get_inline_words(key_ref) + fxt_words_for_bytes(n);
    record_word(g, FXT_ARG_BLOB | fxt_set_bits(FXT_ARG_SIZE, words) |
                       fxt_set_bits(FXT_ARG_NAME, key_ref) | fxt_set_bits(FXT_ARG_VALUE, n));
    record_text(g, key_ref, key);
    record_stream(g, bytes, n);
    return hash_bytes(bytes, n);
}

/* Returns a number of arguments, a little less than one on average. */
unsigned arguments_count(struct generator *g)
{
    static const uint8_t often[16] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 4};
    if (g->is_everything && happens(g, 20))
        return FXT_ARGS_MAX;
    return often[below(g, 16)];
}

/* Appends arguments. Returns their hash for the truth. */
uint64_t record_arguments(struct generator *g, unsigned n, bool is_numeric)
{
    static const uint8_t numeric[] = {FXT_ARG_INT32, FXT_ARG_UINT32, FXT_ARG_INT64, FXT_ARG_UINT64,
                                      FXT_ARG_DOUBLE};
    uint64_t hash = 0;
    for (unsigned i = 0; i < n; i++) {
        uint16_t key = (uint16_t)(FIRST_KEY + below(g, KEYS));
        unsigned type = is_numeric ? numeric[below(g, sizeof numeric)] : below(g, FXT_ARG_TYPES);
        uint64_t value;
        if (type == FXT_ARG_TEXT)
            value = record_text_argument(g, key);
        else if (type == FXT_ARG_BLOB)
            value = record_blob_argument(g, key);
        else
            value = record_scalar(g, type, type, key);
        hash += 5 * g->texts[key].hash + 7 * value;
    }
    return hash;
}

/* --- Texts --- */

static bool set_text(struct text *text, const char *bytes, size_t n)
{
    text->bytes = malloc(n + 1);
    if (!text->bytes)
        return false;
    memcpy(text->bytes, bytes, n);
    text->n = n;
    text->hash = hash_bytes(bytes, n);
    return true;
}

static bool make_odd_text(struct text *text, unsigned i)
{
    static const char *const odd[] = {"",
                                      "a",
                                      "seven b",
                                      "eight by",
                                      "nine byte",
                                      "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
                                      "quote\"back\\slash",
                                      "tab\tnew\nline",
                                      "<&>",
                                      "\x01\x1f\x7f",
                                      "comma,semi;colon",
                                      "name=value"};
    static const size_t lengths[] = {255, 256, 999, 1001, 4095, 31999, 32000};
    char filled[FXT_STRING_MAX];
    if (i < sizeof odd / sizeof *odd)
        return set_text(text, odd[i], strlen(odd[i]));
    memset(filled, 'a' + (int)(i % 26), sizeof filled);
    return set_text(text, filled, lengths[i % (sizeof lengths / sizeof *lengths)]);
}

bool make_texts(struct generator *g)
{
    static const struct {
        unsigned first, n;
        const char *format;
    } pools[] = {{0, CATEGORIES, "category%u"},
                 {FIRST_NAME, NAMES, "Example::operation_%u"},
                 {FIRST_KEY, KEYS, "key_%u"},
                 {FIRST_VALUE, VALUES, "the value number %u"}};
    bool ok = true;
    for (size_t p = 0; p < sizeof pools / sizeof *pools; p++)
        for (unsigned i = 0; i < pools[p].n; i++) {
            char text[64];
            int n = snprintf(text, sizeof text, pools[p].format, i);
            ok = ok && set_text(&g->texts[pools[p].first + i], text, (size_t)n);
        }
    for (unsigned i = 0; i < ODD; i++)
        ok = ok && make_odd_text(&g->texts[FIRST_ODD + i], i);
    return ok;
}
