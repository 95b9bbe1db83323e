/* The FXT reader: state and internal functions of its parts.
 *
 *   fxt_read.c     loop over records; end of the window; repair of records with a wrong size
 *   fxt_measure.c  computes the size of a record from its content
 *   fxt_tables.c   providers with their string tables, thread tables and clocks
 *   fxt_events.c   converts event records (the hot path)
 *   fxt_views.c    converts all other records
 *   fxt_fields.c   decodes arguments and other fields when a caller asks for them
 *   fxt_resync.c   finds the next record after damage
 *   fxt_bid.c      detects the format and the byte order
 *
 * A view is the function that converts one record to an event of the model, or applies it to the
 * tables.
 *
 * Bounds: fxt_read.c checks once that a record lies inside the window. Offsets within a record are
 * checked against its size in words, and fxt_record_word loads a word below that size.  Lazy field
 * decoding goes through a cursor.
 *
 * Lifetime: a string is redefined only between batches if fields of the current batch could refer
 * to it. So lazy decoding sees the string that the record referred to. */
#ifndef TRACETTA_FXT_READ_H
#define TRACETTA_FXT_READ_H

#include "base/clock_math.h"
#include "base/endian.h"
#include "base/pair_map.h"
#include "formats/fxt/fxt_format.h"
#include "model/input.h"

#define FXT_LIKELY(x) __builtin_expect(!!(x), 1)
#define FXT_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define FXT_INLINE inline __attribute__((always_inline))
/* for rare cases: keeps their register use out of the hot function */
#define FXT_NOINLINE __attribute__((noinline))

/* maximum of providers with tables of their own; bounds memory if an input has many section records
 */
#define FXT_PROVIDERS_MAX 4096u
#define FXT_PAGE_SLOTS \
    256u /* slots per page of the string table; also the slots of the thread table */
#define FXT_PAGES (FXT_STRINGS / FXT_PAGE_SLOTS)
/* bytes; room for three records of the maximum ordinary size, and more */
/* The reader state that lazy field decoding needs. */
#define FXT_LOOKAHEAD ((size_t)128 * 1024)
struct fxt_common {
    ttr *t;
    bool is_big; /* true if words are big-endian */
};

/* State of a provider.  Table slots hold ~id, so that zeroed memory means "not defined". */
struct fxt_provider {
    const struct fxt_common *common;
    /* string table; a page without definitions points to a page shared by all providers */
    uint32_t *page[FXT_PAGES];
    /* FXT_THREADS slots; shared and empty until the first thread record */
    uint32_t *threads;
    struct clock_math clock;
    uint64_t base_ticks; /* tick value that corresponds to anchor_ns */
    int64_t anchor_ns;
    bool is_anchored;
    uint32_t id;
    ttr_id name, track, schema;
    size_t clock_index;        /* index of its clock in in->clocks */
    bool is_unix_time_checked; /* true after fxt_provider_check_unix_time examined an event */
};

struct fxt_reader {
    struct fxt_common common;
    struct input *in;
    ttr_error *error; /* error of the current call of fxt_reader_next */
    /* the current provider; NULL before the first record that needs one */
    struct fxt_provider *provider;
    struct fxt_provider **providers;
    size_t providers_n, providers_capacity;
    /* maps (id, 0) to an index in `providers`; (0, 1) is the provider of records before any section
     */
    struct pair_map by_id;
    /* shared page for string pages and thread tables without definitions; never written */
    uint32_t empty_page[FXT_PAGE_SLOTS];
    /* shared first page of string tables: only slot 0, the empty string, is defined */
    uint32_t empty_first_page[FXT_PAGE_SLOTS];
    ttr_id schema; /* schema of events that stand for definitions */
    uint64_t at;   /* file offset of the next record */
    /* time in ns of the last event; used for events without a time */
    int64_t last_time;
    uint64_t
        /* file offset; bytes from `at` to here are known to be zero, even if they left the window
         */
        zeros_end;
    bool has_fields; /* true if the batch has events whose fields may be decoded later */
    /* copy of a record with a corrected size, FXT_SIZE_MAX words; NULL until the first repair */
    uint8_t *repaired;
};

/* The record that a view converts. */
struct fxt_record {
    const uint8_t *bytes;
    uint64_t header;
    uint64_t offset;
    uint32_t words; /* size of the record; all its words are inside the window */
    /* true if the reader accepts the record although its content and size disagree */
    bool is_accepted;
};

/* Result of a view. */
enum fxt_view_result {
    FXT_VIEWED = 0,
    /* the record changes a table that fields of this batch still need: end the batch, then retry */
    FXT_END_BATCH,
    FXT_BAD_SIZE, /* the size differs from that of the content; the view had no effect */
    FXT_FAILED    /* out of memory; reader->error is set */
};

static inline uint64_t fxt_load_u64(const uint8_t *bytes, bool is_big)
{
    return is_big ? load_u64be(bytes) : load_u64le(bytes);
}

/* Returns word `i` of a record.  The caller guarantees i < record->words. */
static inline uint64_t fxt_record_word(const struct fxt_reader *reader,
                                       const struct fxt_record *record, uint32_t i)
{
    return fxt_load_u64(record->bytes + (size_t)i * FXT_WORD_BYTES, reader->common.is_big);
}

/* --- fxt_measure.c --- */

/* Words in memory, from the first word of a record on. */
struct fxt_span {
    const uint8_t *bytes;
    uint64_t words;
    bool is_big;
};

/* The layout of a record as its content implies it; sizes and positions in words. */
struct fxt_record_shape {
    uint64_t body;     /* start of the arguments, or of the payload, or the end */
    uint64_t args_end; /* end of the last valid argument */
    uint64_t total;    /* size of the complete record */
    uint64_t bytes;    /* payload size of a blob or log message, in bytes */
    uint32_t args;     /* number of arguments by the header */
    /* words of inline process and thread koids; the sum of both threads in a context switch */
    uint32_t inline_words;
    /* false if the type or subtype is unknown; then the other members mean nothing */
    bool is_known;
    /* refs or arguments continue after the available words; `total` is a lower bound */
    bool is_cut;
    bool is_broken; /* an argument has size 0, so the arguments after it cannot be located */
    /* reserved bits are zero and all values are in range: evidence that this is a real record */
    bool is_clean;
};

/* Measures the record at the start of the span, which holds at least one word.  `words` is the size
 * in the header; it only chooses between two layouts that both exist in files. */
void fxt_measure_record(const struct fxt_span *span, uint64_t words,
                        struct fxt_record_shape *shape);

/* Counts the consecutive records from the start of the span that are clean and exactly as long as
 * their header declares, up to `most`. Returns `most` if the input ends, or zeros follow, exactly
 * after a record. Also returns `most` if the span, but not the input, ends after at least one
 * record. */
unsigned fxt_count_clean_records(const struct fxt_span *span, bool is_end, unsigned most);

/* Counts clean records like fxt_count_clean_records, but accepts no early end: all `most` records
 * must be in the span. */
unsigned fxt_count_complete_records(const struct fxt_span *span, unsigned most);

/* Returns whether plausible records follow after the first `words` words of the span. Accepted are:
 * two clean records, possibly after a few of unknown type or with surplus words; a row of records
 * with surplus words; zeros; or the end of the input. */
bool fxt_has_plausible_records(const struct fxt_span *span, uint64_t words, bool is_end);

/* --- fxt_tables.c --- */

/* Makes the provider with this id current, and creates it if it is new.  Returns false if out of
 * memory. */
TTR_MUST bool fxt_provider_select(struct fxt_reader *reader, uint32_t id, bool *is_new);

/* Makes current the provider of records that precede any section.  Returns false if out of memory.
 */
TTR_MUST bool fxt_provider_select_default(struct fxt_reader *reader);

void fxt_provider_set_name(struct fxt_reader *reader, ttr_id name);
TTR_MUST bool fxt_provider_set_string(struct fxt_reader *reader, uint32_t index, ttr_id text);
TTR_MUST bool fxt_provider_set_thread(struct fxt_reader *reader, uint32_t index, ttr_id thread);
void fxt_provider_set_clock(struct fxt_reader *reader, uint64_t frequency);
void fxt_provider_set_anchor(struct fxt_reader *reader, uint64_t base_ticks, int64_t anchor_ns);

/* Declares the clock of the current provider as Unix time if the ticks of its first event in the
 * batch can mean nothing else.  Runs once per provider and frequency. */
void fxt_provider_check_unix_time(struct fxt_reader *reader);

void fxt_free_providers(struct fxt_reader *reader);

/* Returns ~id of string `index`, 0 if it is not defined. */
static inline uint32_t fxt_find_string_slot(const struct fxt_provider *provider, uint32_t index)
{
    return provider->page[index / FXT_PAGE_SLOTS % FXT_PAGES][index % FXT_PAGE_SLOTS];
}

/* Returns the id of a placeholder such as "<string 17>"; 0 if out of memory. */
ttr_id fxt_add_placeholder_string(const struct fxt_common *common, uint32_t index);

/* Converts ticks to ns since the Unix epoch, for a provider with an anchor. */
int64_t fxt_ticks_to_unix_ns(const struct fxt_provider *provider, uint64_t ticks, bool *clamped);

static inline int64_t fxt_ticks_to_ns(const struct fxt_provider *provider, uint64_t ticks,
                                      bool *clamped)
{
    if (FXT_LIKELY(!provider->is_anchored))
        return ticks_to_ns(&provider->clock, ticks, clamped);
    return fxt_ticks_to_unix_ns(provider, ticks, clamped);
}

/* --- fxt_events.c --- */

enum fxt_view_result fxt_view_event(struct fxt_reader *reader, const struct fxt_record *record);

/* Converts consecutive events until the batch is full, another record follows, or the span ends.
 * Advances `left` and reader->at. A result other than FXT_VIEWED concerns the event at reader->at.
 */
enum fxt_view_result fxt_view_events(struct fxt_reader *reader, struct fxt_span *left);

/* Emits bytes that hold no event as an event of kind definition, if the caller of the reader asked
 * for definitions. */
void fxt_emit_definition(struct fxt_reader *reader, const uint8_t *bytes, size_t n,
                         uint64_t offset);

/* Resolve the string or thread ref `ref`, whose inline part starts at word `at`.  Return
 * FXT_BAD_SIZE if that part exceeds the record. */
enum fxt_view_result fxt_resolve_string(struct fxt_reader *reader, const struct fxt_record *record,
                                        uint32_t ref, uint32_t at, ttr_id *id);
enum fxt_view_result fxt_resolve_thread(struct fxt_reader *reader, const struct fxt_record *record,
                                        uint32_t ref, uint32_t at, ttr_id *id);

/* --- fxt_views.c --- */

/* Views by record type; a type that the specification does not define has a view that skips it. */
typedef enum fxt_view_result (*fxt_view)(struct fxt_reader *reader,
                                         const struct fxt_record *record);
extern const fxt_view fxt_views[16];

/* --- fxt_fields.c --- */

extern const struct field_ops fxt_field_ops;

/* --- fxt_resync.c --- */

/* The words from reader->at on that decisions about damage use. Their number does not depend on the
 * window, so reading in chunks gives the same result. */
struct fxt_lookahead {
    struct fxt_span span;
    bool is_end; /* true if the input ends with them */
};

/* Returns whether clean records start inside [first, end) of the words. */
bool fxt_has_record(const struct fxt_reader *reader, const struct fxt_lookahead *look,
                    uint64_t first, uint64_t end);

/* Finds the next record after damage at reader->at; the batch must be empty.  On TTR_OK *offset is
 * its file offset or the end of the input, at least one byte after reader->at. */
TTR_MUST ttr_status fxt_find_next_record(struct fxt_reader *reader, uint64_t *offset);

/* --- fxt_bid.c --- */

unsigned fxt_bid(const struct peek *peek);
const char *fxt_refuse(const struct peek *peek);

/* Detects big-endian words: by the magic number, or without one by records that are valid only in
 * that byte order. */
bool fxt_is_big_endian(const uint8_t *bytes, size_t n, bool is_whole);
bool fxt_has_magic(const uint8_t *bytes, size_t n);

/* --- fxt_read.c --- */

ttr_status fxt_reader_open(struct input *in, ttr_error *error);
ttr_status fxt_reader_next(struct input *in, ttr_error *error);
void fxt_reader_close(struct input *in);

#endif
