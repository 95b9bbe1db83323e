/* The generator of FXT files. generate_fxt_parts.c makes texts, references, arguments and words of
 * records; generate_fxt.c makes the records. Of the library it uses only the constants of
 * fxt_format.h. */
#ifndef TRACETTA_TESTS_SUPPORT_GENERATE_FXT_H
#define TRACETTA_TESTS_SUPPORT_GENERATE_FXT_H

#include <stdio.h>

#include <tracetta/event.h>

#include "base/endian.h"
#include "formats/fxt/fxt_format.h"

enum {
    PROVIDERS_MAX = 5,
    THREADS = 128,
    PROCESSES = 8,
    /* the texts: categories first, then names, argument names, values, extreme texts */
    CATEGORIES = 8,
    NAMES = 200,
    KEYS = 12,
    VALUES = 60,
    ODD = 24,
    FIRST_NAME = CATEGORIES,
    FIRST_KEY = FIRST_NAME + NAMES,
    FIRST_VALUE = FIRST_KEY + KEYS,
    FIRST_ODD = FIRST_VALUE + VALUES, /* 280 texts so far: all that `bench` uses */
    TEXTS = FIRST_ODD + ODD,
    DEPTH_MAX = 8,
    INLINE_MAX = 1000, /* longer texts are always indexed, which limits the size of records */
    RECORD_WORDS = 16384,
    OUTPUT_SIZE = 1 << 20
};

struct text {
    char *bytes;
    size_t n;
    uint64_t hash;
};

struct thread {
    uint64_t pid, tid, busy_until; /* busy_until: ticks; no span may start or end before */
    unsigned depth;
    uint16_t open[DEPTH_MAX][2]; /* category and name of the open spans */
};

struct provider {
    uint32_t id;
    char name[32];
    uint64_t frequency, base_ticks, base_ns, now;
    bool is_anchored;
    uint16_t text_slot[TEXTS]; /* 0 = not registered */
    uint16_t slot_text[TEXTS + 1];
    uint16_t slots_used;
    uint8_t thread_slot[THREADS];
    uint8_t slot_thread[FXT_THREADS];
    uint8_t threads_used;
    struct thread threads[THREADS];
};

struct truth {
    uint64_t kinds[TTR_KIND_COUNT], fibers, definitions, duration_ns, arguments, text_hash,
        field_hash;
};

struct generator {
    FILE *out;
    uint8_t *output;
    size_t output_n;
    uint64_t random, bytes;
    bool is_big, is_everything, failed;
    struct text texts[TEXTS];
    struct provider *providers, *provider;
    size_t providers_n;
    uint8_t record[RECORD_WORDS * FXT_WORD_BYTES];
    size_t record_n; /* words */
    struct truth truth;
};

/* Random numbers: one below n, true with a probability in 1/1000, any word. */
uint32_t below(struct generator *g, uint32_t n);
bool happens(struct generator *g, uint32_t per_thousand);
uint64_t random_value(struct generator *g);
uint64_t random_word(struct generator *g);

/* Builds a record: starts it, appends words and streams, and ends it with its header, in which the
 * size is filled in. */
void record_begin(struct generator *g);
void record_word(struct generator *g, uint64_t word);
void record_stream(struct generator *g, const void *bytes, size_t n);
void record_end(struct generator *g, uint64_t header);

/* Writes a record without an event immediately, even while another record is being built. */
void emit_definition(struct generator *g, uint64_t header, const void *bytes, size_t n);

/* Writes bytes to the output. */
void store(const struct generator *g, uint8_t *at, uint64_t word);
void emit(struct generator *g, const void *bytes, size_t n);
void write_out(struct generator *g);

/* Make references, registering the referenced entity if needed, and append the inline part to the
 * record. */
uint16_t text_ref(struct generator *g, uint16_t text);
void record_text(struct generator *g, uint16_t ref, uint16_t text);
void register_text(struct generator *g, uint16_t text, uint16_t slot);
uint8_t thread_ref(struct generator *g, unsigned thread);
void record_thread(struct generator *g, uint8_t ref, unsigned thread);
void register_thread(struct generator *g, unsigned thread, uint8_t slot);

/* Returns a random text for use as a value. */
uint16_t any_text(struct generator *g);

/* Return a random number of arguments; append that many, and return their hash for the truth. */
unsigned arguments_count(struct generator *g);
uint64_t record_arguments(struct generator *g, unsigned n, bool is_numeric);

/* Makes all texts. Returns false if memory runs out. */
bool make_texts(struct generator *g);

#endif
