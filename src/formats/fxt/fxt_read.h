/* The FXT reader: state and internal functions of its files.
 *
 *   fxt_read.c     loop over records; end of the window; repair of records with a wrong size
 *   fxt_measure.c  computes the size of a record from its content
 *   fxt_tables.c   providers with their string tables, thread tables and clocks
 *   fxt_events.c   converts event records (the hot path)
 *   fxt_records.c  converts all other records
 *   fxt_fields.c   decodes arguments and other fields when a caller asks for them
 *   fxt_resync.c   finds the next record after damage
 *   fxt_bid.c      detects the format and the byte order
 *
 * Each record type has a conversion function (fxt_convert_fn): it emits the record as an event, or
 * applies it to the tables if the record only defines something.
 *
 * Bounds: fxt_read.c checks once that a record is inside the window. Offsets within a record are
 * checked against its size in words, and fxt_load_record_word loads a word below that size. Lazy
 * field decoding goes through a cursor.
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
/* for rarely called functions: not inline, so that the hot function has more registers */
#define FXT_NOINLINE __attribute__((noinline))

/* maximum number of providers with separate state; limits memory if the input has many section
 * records */
#define FXT_PROVIDERS_MAX 4096u
/* number of slots in a page of the string table, and in the thread table */
#define FXT_PAGE_SLOTS 256u
#define FXT_PAGES (FXT_STRINGS / FXT_PAGE_SLOTS)
/* bytes that are examined for a decision about damage: at least three records of maximum size,
 * except large ones */
#define FXT_LOOKAHEAD ((size_t)128 * 1024)

/* Members of the reader that are needed to decode fields later. */
struct fxt_common {
    ttr *t;
    bool is_big; /* true if words of the trace are big-endian */
};

/* State of a provider. Table slots hold ~id, so that a zero slot means "not defined". */
/* Attributes of events that FXT does not have, but that trace points of tracetta/trace.h write as
 * the first arguments of an event. They are not fields. */
enum fxt_attribute {
    FXT_ATTRIBUTE_LEVEL,
    FXT_ATTRIBUTE_KEYWORD,
    FXT_ATTRIBUTE_OPCODE,
    FXT_ATTRIBUTES
};

struct fxt_provider {
    const struct fxt_common *common;
    /* pages of the string table; all providers share the pages without definitions */
    uint32_t *page[FXT_PAGES];
    /* thread table with FXT_THREADS slots; until the first thread record, an empty table that all
     * providers share */
    uint32_t *threads;
    struct clock_math clock;
    uint64_t base_ticks; /* ticks at the time anchor_ns */
    int64_t anchor_ns;
    bool is_anchored;
    uint32_t id;
    ttr_id name, track, schema;
    /* true if the string table contains the name of an attribute */
    bool has_attributes;
    size_t clock_index; /* index of the provider's clock in in->clocks */
    /* fxt_provider_detect_unix_time was called for an event */
    bool is_unix_time_checked;
};

/* The index of an archive and the range of time that is wanted of it. */
struct fxt_index {
    struct fxt_index_entry *entries; /* NULL = not in use */
    size_t n, next;                  /* next: the first entry after reader->at */
    uint64_t end;                    /* file offset of the index */
    int64_t from, to;                /* ns */
    bool is_limited;                 /* `from` and `to` are valid */
};

struct fxt_reader {
    struct fxt_common common;
    struct input *in;
    ttr_error *error; /* `error` argument of the current call of fxt_read_batch */
    /* current provider; NULL until a record needs one */
    struct fxt_provider *provider;
    struct fxt_provider **providers;
    size_t providers_n, providers_capacity;
    /* maps (id, 0) to an index in `providers`; the key of the provider for records before any
     * section is (0, 1) */
    struct pair_map by_id;
    /* page without definitions, which tables share until they define something; never written */
    uint32_t empty_page[FXT_PAGE_SLOTS];
    /* first page of string tables until they define something: only slot 0, the empty string, is
     * defined */
    uint32_t empty_first_page[FXT_PAGE_SLOTS];
    ttr_id schema;          /* schema of definition events */
    ttr_id sample_category; /* category of instants that may be samples */
    /* string ids of the names of attributes, by enum fxt_attribute; 0 if not in the trace */
    ttr_id attribute[FXT_ATTRIBUTES];
    uint64_t at; /* file offset of the next record */
    struct fxt_index index;
    uint64_t boundary; /* file offset at which fxt_enter_parts must be called; else UINT64_MAX */
    /* time of the last event in ns; an event without a time gets the same */
    int64_t last_time;
    /* all bytes from `at` up to this file offset are zero, even those that left the window */
    uint64_t zeros_end;
    /* number of lost events in the event before file offset lost_end, which tracetta writes before
     * a provider event */
    uint64_t lost, lost_end;
    /* true if the fields of an event in the batch may still be decoded */
    bool has_fields;
    /* buffer of FXT_SIZE_MAX words for a record with a corrected size; NULL until needed */
    uint8_t *repaired;
};

/* A record that is completely in the window. */
struct fxt_record {
    const uint8_t *bytes;
    uint64_t header;
    uint64_t offset;
    uint32_t words; /* size of the record in words, which are all in the window */
    /* true if the reader has accepted different sizes in header and content */
    bool is_accepted;
};

/* Results of the conversion of a record. */
enum fxt_convert_result {
    FXT_CONVERTED = 0,
    /* the record changes a table that fields of this batch need: return the batch first, then
     * convert the record again */
    FXT_END_BATCH,
    /* header and content have different sizes; nothing was changed */
    FXT_BAD_SIZE,
    FXT_FAILED /* memory runs out; reader->error is set */
};

static inline uint64_t fxt_load_u64(const uint8_t *bytes, bool is_big)
{
    return is_big ? load_u64be(bytes) : load_u64le(bytes);
}

/* Returns word `i` of a record; `i` must be less than record->words. */
static inline uint64_t fxt_load_record_word(const struct fxt_reader *reader,
                                            const struct fxt_record *record, uint32_t i)
{
    return fxt_load_u64(record->bytes + (size_t)i * FXT_WORD_BYTES, reader->common.is_big);
}

/* --- Sizes of records (fxt_measure.c) --- */

/* Consecutive words in memory; the first is the start of a record. */
struct fxt_span {
    const uint8_t *bytes;
    uint64_t words;
    bool is_big;
};

/* Parts of a record, as computed from its content. Sizes and positions are in words, except
 * `bytes`. */
struct fxt_record_shape {
    /* start of the arguments; without arguments, start of the payload, or end of the record */
    uint64_t body;
    uint64_t args_end; /* end of the last argument with a valid size */
    uint64_t total;    /* size of the record */
    uint64_t bytes;    /* payload size of a blob or log message, in bytes */
    uint32_t args;     /* number of arguments that the header declares */
    /* number of words for inline process and thread koids, in a context switch of both threads */
    uint32_t inline_words;
    /* true if the type and subtype are known; otherwise the other members are invalid */
    bool is_known;
    /* true if the content continues after the words in memory, so `total` is only a lower bound */
    bool is_cut;
    /* true if an argument has size 0, so the arguments after it cannot be found */
    bool is_broken;
    /* true if all reserved bits are zero and all values in range, so the record is certainly
     * genuine */
    bool is_clean;
};

/* Measures the record at the start of the span, which has at least one word. words: size in the
 * record's header, used only to choose between two layouts that both exist in files. */
void fxt_measure_record(const struct fxt_span *span, uint64_t words,
                        struct fxt_record_shape *shape);

/* Counts the consecutive records, up to `most`, that are clean and have the size that their header
 * declares. Returns `most` if they end at the end of the input or before zeros; also if the span
 * ends before the input does, and at least one was found. */
unsigned fxt_count_clean_records(const struct fxt_span *span, bool is_end, unsigned most);

/* Like fxt_count_clean_records, but counts only records that are completely in the span, and
 * ignores what follows them. */
unsigned fxt_count_complete_records(const struct fxt_span *span, unsigned most);

/* Returns true if plausible records follow the first `words` words of the span: two clean records,
 * also after a few records of unknown type or with additional words; several records with
 * additional words; zeros; or the end of the input. */
bool fxt_has_plausible_records(const struct fxt_span *span, uint64_t words, bool is_end);

/* --- Providers and their tables (fxt_tables.c) --- */

/* Makes the provider with this id the current one; adds it if it is new. Returns false if memory
 * is out. */
TTR_MUST bool fxt_provider_select(struct fxt_reader *reader, uint32_t id, bool *is_new);

/* Makes the provider for records before any section the current one; adds it at first use. Returns
 * false if memory runs out. */
TTR_MUST bool fxt_provider_select_default(struct fxt_reader *reader);

void fxt_provider_set_name(struct fxt_reader *reader, ttr_id name);
TTR_MUST bool fxt_provider_set_string(struct fxt_reader *reader, uint32_t index, ttr_id text);
TTR_MUST bool fxt_provider_set_thread(struct fxt_reader *reader, uint32_t index, ttr_id thread);
void fxt_provider_set_clock(struct fxt_reader *reader, uint64_t frequency);
void fxt_provider_set_clock_reference(struct fxt_reader *reader, uint64_t base_ticks,
                                      int64_t anchor_ns);

/* If the ticks of the current provider's first event in the batch can only be Unix time, declares
 * its clock as Unix time. Does nothing after the first call per provider and frequency. */
void fxt_provider_detect_unix_time(struct fxt_reader *reader);

void fxt_free_providers(struct fxt_reader *reader);

/* Returns the slot of string `index`: the complement (~) of its id; 0 if the string is not defined.
 */
static inline uint32_t fxt_find_string_slot(const struct fxt_provider *provider, uint32_t index)
{
    return provider->page[index / FXT_PAGE_SLOTS % FXT_PAGES][index % FXT_PAGE_SLOTS];
}

/* Adds a placeholder such as "<string 17>" for an undefined string. Returns its id; 0 if memory is
 * out. */
ttr_id fxt_add_placeholder_string(const struct fxt_common *common, uint32_t index);

/* Converts ticks to ns since the Unix epoch. The provider must have an anchor. */
int64_t fxt_ticks_to_unix_ns(const struct fxt_provider *provider, uint64_t ticks, bool *clamped);

static inline int64_t fxt_ticks_to_ns(const struct fxt_provider *provider, uint64_t ticks,
                                      bool *clamped)
{
    if (FXT_LIKELY(!provider->is_anchored))
        return ticks_to_ns(&provider->clock, ticks, clamped);
    return fxt_ticks_to_unix_ns(provider, ticks, clamped);
}

/* --- Event records (fxt_events.c) --- */

enum fxt_convert_result fxt_convert_event(struct fxt_reader *reader,
                                          const struct fxt_record *record);

/* Converts consecutive event records, until the batch is full, another type of record follows, or
 * the span ends. Advances `left` and reader->at. A result other than FXT_CONVERTED is that of the
 * event at reader->at. */
enum fxt_convert_result fxt_convert_events(struct fxt_reader *reader, struct fxt_span *left);

/* If definitions are requested, emits bytes that are not an event as a definition event. */
void fxt_emit_definition(struct fxt_reader *reader, const uint8_t *bytes, size_t n,
                         uint64_t offset);

/* Returns the id of a string or thread ref. If the ref is inline, its string or koids are at word
 * `at`; returns FXT_BAD_SIZE if they exceed the record. */
enum fxt_convert_result fxt_resolve_string(struct fxt_reader *reader,
                                           const struct fxt_record *record, uint32_t ref,
                                           uint32_t at, ttr_id *id);
enum fxt_convert_result fxt_resolve_thread(struct fxt_reader *reader,
                                           const struct fxt_record *record, uint32_t ref,
                                           uint32_t at, ttr_id *id);

/* --- Skipping by the index of an archive (fxt_index.c) --- */

/* Implements format_reader.range. */
void fxt_set_range(struct input *in, int64_t from_ns, int64_t to_ns);

/* Skips parts of the file that have no event in the range, from reader->at on, and sets the next
 * boundary. */
void fxt_enter_parts(struct fxt_reader *reader);

/* Frees the index; the file is then read without it. */
void fxt_free_index(struct fxt_reader *reader);

/* Returns how many arguments of an event are attributes. */
uint32_t fxt_count_attributes(const struct fxt_provider *provider, const ttr_event *event);

/* --- All other records (fxt_records.c) --- */

/* Conversion functions by record type. For types that the specification does not define, the
 * function skips the record. */
typedef enum fxt_convert_result (*fxt_convert_fn)(struct fxt_reader *reader,
                                                  const struct fxt_record *record);
extern const fxt_convert_fn fxt_converters[16];

/* --- Field iterator (fxt_fields.c) --- */

extern const struct field_ops fxt_field_ops;

/* --- Search after damage (fxt_resync.c) --- */

/* Words from reader->at on that are examined for a decision about damage. A fixed number, so that
 * results do not depend on the window size. */
struct fxt_lookahead {
    struct fxt_span span;
    bool is_end; /* true if the input ends after these words */
};

/* Returns true if clean records start somewhere in the words [first, end) of the look-ahead. */
bool fxt_has_record(const struct fxt_reader *reader, const struct fxt_lookahead *look,
                    uint64_t first, uint64_t end);

/* Finds the next record after damage at reader->at. Sets *offset, which is greater than
 * reader->at, to its file offset; to the end of the input if there is none. The batch must be
 * empty. */
TTR_MUST ttr_status fxt_find_next_record(struct fxt_reader *reader, uint64_t *offset);

/* --- Detection of the format (fxt_bid.c) --- */

unsigned fxt_bid(const struct peek *peek);
const char *fxt_explain_refusal(const struct peek *peek);

/* Returns true if words are big-endian, as the magic number shows; without one, if the records are
 * valid only in that byte order. */
bool fxt_is_big_endian(const uint8_t *bytes, size_t n, bool is_whole);
bool fxt_has_magic(const uint8_t *bytes, size_t n);

/* --- Entry points of the reader (fxt_read.c) --- */

ttr_status fxt_reader_open(struct input *in, ttr_error *error);
ttr_status fxt_read_batch(struct input *in, ttr_error *error);
void fxt_reader_close(struct input *in);

/* --- Table of diagnostic codes (fxt_diagnostics.c) --- */
extern const ttr_diagnostic_info fxt_diagnostics[];

#endif
