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
/* keeps rarely called functions out of line, so that the hot function has more registers */
#define FXT_NOINLINE __attribute__((noinline))

/* maximum number of providers with separate state; bounds the memory for an input with many section
 * records */
#define FXT_PROVIDERS_MAX 4096u
/* slots per page of the string table; slots of the thread table */
#define FXT_PAGE_SLOTS 256u
#define FXT_PAGES (FXT_STRINGS / FXT_PAGE_SLOTS)
/* Bytes that a decision about damage examines: at least three records of the maximum size (except
 * large ones). */
#define FXT_LOOKAHEAD ((size_t)128 * 1024)

/* The members of the reader that lazy field decoding needs. */
struct fxt_common {
    ttr *t;
    bool is_big; /* words are big-endian */
};

/* State of a provider. Table slots hold ~id, so that a zero slot means "not defined". */
/* Arguments that trace points of tracetta/trace.h write for attributes that FXT does not have. They
 * are the first arguments of an event and no fields. */
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
    /* thread table of FXT_THREADS slots; a shared, empty one until the first thread record */
    uint32_t *threads;
    struct clock_math clock;
    uint64_t base_ticks; /* tick value that corresponds to anchor_ns */
    int64_t anchor_ns;
    bool is_anchored;
    uint32_t id;
    ttr_id name, track, schema;
    bool has_attributes;       /* its string table has a name of an attribute */
    size_t clock_index;        /* index of the provider's clock in in->clocks */
    bool is_unix_time_checked; /* fxt_provider_check_unix_time has examined an event */
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
    /* current provider; NULL before the first record that needs one */
    struct fxt_provider *provider;
    struct fxt_provider **providers;
    size_t providers_n, providers_capacity;
    /* maps (id, 0) to an index in `providers`; (0, 1) is the provider of records before any section
     */
    struct pair_map by_id;
    /* shared page without definitions, for string and thread tables; never written */
    uint32_t empty_page[FXT_PAGE_SLOTS];
    /* shared first page of string tables, in which only slot 0, the empty string, is defined */
    uint32_t empty_first_page[FXT_PAGE_SLOTS];
    ttr_id schema;          /* schema of events of kind definition */
    ttr_id sample_category; /* category of instants that may be samples */
    /* names of the arguments that are attributes of events, by enum fxt_attribute; 0 = not in the
     * trace */
    ttr_id attribute[FXT_ATTRIBUTES];
    uint64_t at; /* file offset of the next record */
    struct fxt_index index;
    uint64_t boundary; /* file offset at which fxt_enter_parts must be called; else UINT64_MAX */
    /* time of the last event in ns; events without a time get it, too */
    int64_t last_time;
    /* file offset up to which the bytes from `at` on are known to be zero, even if the window no
     * longer contains them */
    uint64_t zeros_end;
    bool has_fields; /* true if an event of the batch has fields that may be decoded later */
    /* copy of a record with a corrected size, FXT_SIZE_MAX words; NULL until the first repair */
    uint8_t *repaired;
};

/* A record that is completely in the window. */
struct fxt_record {
    const uint8_t *bytes;
    uint64_t header;
    uint64_t offset;
    uint32_t words; /* size of the record in words; all are inside the window */
    /* true if the reader accepts the record although its header and content declare different sizes
     */
    bool is_accepted;
};

/* Result of converting a record. */
enum fxt_convert_result {
    FXT_CONVERTED = 0,
    /* the record changes a table that fields of the current batch need: end the batch, then convert
     * the record again */
    FXT_END_BATCH,
    /* the size in the header differs from that of the content; nothing was changed */
    FXT_BAD_SIZE,
    FXT_FAILED /* out of memory; reader->error is set */
};

static inline uint64_t fxt_load_u64(const uint8_t *bytes, bool is_big)
{
    return is_big ? load_u64be(bytes) : load_u64le(bytes);
}

/* Returns word `i` of a record. The caller guarantees i < record->words. */
static inline uint64_t fxt_load_record_word(const struct fxt_reader *reader,
                                            const struct fxt_record *record, uint32_t i)
{
    return fxt_load_u64(record->bytes + (size_t)i * FXT_WORD_BYTES, reader->common.is_big);
}

/* --- fxt_measure.c: sizes of records --- */

/* A sequence of words in memory that starts with the first word of a record. */
struct fxt_span {
    const uint8_t *bytes;
    uint64_t words;
    bool is_big;
};

/* Layout of a record, computed from its content. Sizes and positions are in words, except `bytes`.
 */
struct fxt_record_shape {
    /* start of the arguments; without arguments start of the payload or end of the record */
    uint64_t body;
    uint64_t args_end; /* end of the last argument with a valid size */
    uint64_t total;    /* size of the record */
    uint64_t bytes;    /* payload size of a blob or log message, in bytes */
    uint32_t args;     /* number of arguments that the header declares */
    /* number of words of inline process and thread koids; in a context switch those of both threads
     */
    uint32_t inline_words;
    /* true if type and subtype are known; if not, the other members are not valid */
    bool is_known;
    /* true if the content continues after the words in memory; `total` is then a lower bound */
    bool is_cut;
    /* true if an argument has size 0, so that the arguments after it cannot be located */
    bool is_broken;
    /* true if all reserved bits are zero and all values in range, which shows that the record is
     * genuine */
    bool is_clean;
};

/* Measures the record at the start of the span, which has at least one word. `words` is the size in
 * the record's header; it is used only to choose between two layouts that both exist in files. */
void fxt_measure_record(const struct fxt_span *span, uint64_t words,
                        struct fxt_record_shape *shape);

/* Returns the number of consecutive records, up to `most`, that are clean and have the size that
 * their header declares. Also returns `most` if such a record ends at the end of the input or
 * before zeros, or if at least one was found and the span, but not the input, ends. */
unsigned fxt_count_clean_records(const struct fxt_span *span, bool is_end, unsigned most);

/* Like fxt_count_clean_records, but counts only records that are completely in the span, whatever
 * follows it. */
unsigned fxt_count_complete_records(const struct fxt_span *span, unsigned most);

/* Returns true if plausible records follow the first `words` words of the span. Plausible are: two
 * clean records, possibly after a few records of unknown type or with surplus words; several
 * records with surplus words; zeros; the end of the input. */
bool fxt_has_plausible_records(const struct fxt_span *span, uint64_t words, bool is_end);

/* --- fxt_tables.c: providers and their tables --- */

/* Makes the provider with this id current; adds it if it is new. Returns false if out of memory. */
TTR_MUST bool fxt_provider_select(struct fxt_reader *reader, uint32_t id, bool *is_new);

/* Makes the provider of records before any section current; adds it at first use. Returns false if
 * out of memory. */
TTR_MUST bool fxt_provider_select_default(struct fxt_reader *reader);

void fxt_provider_set_name(struct fxt_reader *reader, ttr_id name);
TTR_MUST bool fxt_provider_set_string(struct fxt_reader *reader, uint32_t index, ttr_id text);
TTR_MUST bool fxt_provider_set_thread(struct fxt_reader *reader, uint32_t index, ttr_id thread);
void fxt_provider_set_clock(struct fxt_reader *reader, uint64_t frequency);
void fxt_provider_set_clock_reference(struct fxt_reader *reader, uint64_t base_ticks,
                                      int64_t anchor_ns);

/* Declares the current provider's clock as Unix time if the ticks of its first event in the batch
 * are plausible only as Unix time. Done once per provider and frequency. */
void fxt_provider_check_unix_time(struct fxt_reader *reader);

void fxt_free_providers(struct fxt_reader *reader);

/* Returns the slot of string `index`: the complement (~) of its id; 0 if the string is not defined.
 */
static inline uint32_t fxt_find_string_slot(const struct fxt_provider *provider, uint32_t index)
{
    return provider->page[index / FXT_PAGE_SLOTS % FXT_PAGES][index % FXT_PAGE_SLOTS];
}

/* Adds a placeholder for an undefined string, such as "<string 17>". Returns its id; 0 if out of
 * memory. */
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

/* --- fxt_events.c: event records --- */

enum fxt_convert_result fxt_convert_event(struct fxt_reader *reader,
                                          const struct fxt_record *record);

/* Converts consecutive event records until the batch is full, another type of record follows, or
 * the span ends. Advances `left` and reader->at past the converted records. A result other than
 * FXT_CONVERTED concerns the event at reader->at. */
enum fxt_convert_result fxt_convert_events(struct fxt_reader *reader, struct fxt_span *left);

/* Emits bytes that contain no event as an event of kind definition, if definitions are requested.
 */
void fxt_emit_definition(struct fxt_reader *reader, const uint8_t *bytes, size_t n,
                         uint64_t offset);

/* Resolves the string or thread ref `ref` to an id. If the ref is inline, its string or koids start
 * at word `at`. Returns FXT_BAD_SIZE if they exceed the record. */
enum fxt_convert_result fxt_resolve_string(struct fxt_reader *reader,
                                           const struct fxt_record *record, uint32_t ref,
                                           uint32_t at, ttr_id *id);
enum fxt_convert_result fxt_resolve_thread(struct fxt_reader *reader,
                                           const struct fxt_record *record, uint32_t ref,
                                           uint32_t at, ttr_id *id);

/* --- fxt_index.c: skipping by the index of an archive --- */

/* Implements format_reader.range. */
void fxt_set_range(struct input *in, int64_t from_ns, int64_t to_ns);

/* Skips parts of the file that have no event in the range, from reader->at on, and sets the next
 * boundary. */
void fxt_enter_parts(struct fxt_reader *reader);

/* Frees the index; the file is then read without it. */
void fxt_free_index(struct fxt_reader *reader);

/* Returns the number of arguments of an event that are attributes. */
uint32_t fxt_count_attributes(const struct fxt_provider *provider, const ttr_event *event);

/* --- fxt_records.c: all other records --- */

/* Conversion functions by record type. The function for types that the specification does not
 * define skips the record. */
typedef enum fxt_convert_result (*fxt_convert_fn)(struct fxt_reader *reader,
                                                  const struct fxt_record *record);
extern const fxt_convert_fn fxt_converters[16];

/* --- fxt_fields.c: lazy decoding of fields --- */

extern const struct field_ops fxt_field_ops;

/* --- fxt_resync.c: search after damage --- */

/* Words from reader->at on that a decision about damage examines. Their number is fixed, so that
 * results do not depend on the window size. */
struct fxt_lookahead {
    struct fxt_span span;
    bool is_end; /* the input ends after these words */
};

/* Returns true if clean records start at a word in [first, end) of the look-ahead. */
bool fxt_has_record(const struct fxt_reader *reader, const struct fxt_lookahead *look,
                    uint64_t first, uint64_t end);

/* Finds the next record after damage at reader->at. The batch must be empty. Sets *offset to its
 * file offset or to the end of the input; *offset is greater than reader->at. */
TTR_MUST ttr_status fxt_find_next_record(struct fxt_reader *reader, uint64_t *offset);

/* --- fxt_bid.c: detection --- */

unsigned fxt_bid(const struct peek *peek);
const char *fxt_refuse(const struct peek *peek);

/* Returns true if the words are big-endian: the magic number shows the byte order; without it, the
 * byte order in which the records are valid. */
bool fxt_is_big_endian(const uint8_t *bytes, size_t n, bool is_whole);
bool fxt_has_magic(const uint8_t *bytes, size_t n);

/* --- fxt_read.c: entry points of the reader --- */

ttr_status fxt_reader_open(struct input *in, ttr_error *error);
ttr_status fxt_read_batch(struct input *in, ttr_error *error);
void fxt_reader_close(struct input *in);

/* --- fxt_diagnostics.c: table of diagnostic codes --- */
extern const ttr_diagnostic_info fxt_diagnostics[];

#endif
