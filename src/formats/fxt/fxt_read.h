/* The parts of the FXT reader: what they share, and what each of them offers.
 *
 *   fxt_read.c     the loop over records, the edges of the window, recovery decided
 *   fxt_measure.c  how many words the content of a record asks for, whatever its header says
 *   fxt_tables.c   providers with their strings, threads and clocks
 *   fxt_events.c   views of event records, the hot path
 *   fxt_views.c    views of all other records
 *   fxt_fields.c   arguments and other fields, decoded when asked for
 *   fxt_resync.c   finding the next record after damage
 *   fxt_bid.c      is this a Fuchsia trace at all
 *
 * Bounds: every record is checked against the window once (fxt_read.c), and every offset used
 * inside it against its size in words (in the view); loads go through fxt_word with an index below
 * that size.  Everything that is decoded late goes through a cursor. Tables change only between
 * batches where a field could tell, so that late decoding sees what the record meant. */
#ifndef TRACETTA_FXT_READ_H
#define TRACETTA_FXT_READ_H

#include "base/clockmath.h"
#include "base/endian.h"
#include "base/pairmap.h"
#include "formats/fxt/fxt_format.h"
#include "model/input.h"

#define FXT_LIKELY(x) __builtin_expect(!!(x), 1)
#define FXT_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define FXT_INLINE inline __attribute__((always_inline))
/* rare: keeps its registers out of the hot path around it */
#define FXT_APART __attribute__((noinline))

/* providers with a state of their own; bounds memory under hostile section records */
#define FXT_PROVIDERS_MAX 4096u
#define FXT_PAGE 256u /* slots of one page of the string table, and of the thread table */
#define FXT_PAGES (FXT_STRINGS / FXT_PAGE)
/* Late decoding needs these of the reader. */
/* room for three records of the usual kind, and more */
#define FXT_LOOKAHEAD ((size_t)128 * 1024)
struct fxt_common {
    ttr *t;
    bool is_big; /* words are big-endian */
};

/* State of a provider.  Table slots hold ~id, so that zeroed memory means "not defined". */
struct fxt_provider {
    const struct fxt_common *common;
    /* the string table; pages nobody wrote are the reader's empty ones */
    uint32_t *page[FXT_PAGES];
    /* FXT_THREADS slots; the reader's empty ones until the first thread record */
    uint32_t *threads;
    struct clockmath clock;
    uint64_t base_ticks; /* the tick that is anchor_ns */
    int64_t anchor_ns;
    bool is_anchored;
    uint32_t id;
    ttr_id name, track, schema;
    size_t clock_index;   /* in the report */
    bool is_clock_judged; /* an event was looked at: whether its ticks can only be Unix times */
};

struct fxt_reader {
    struct fxt_common common;
    struct input *in;
    ttr_error *error; /* of the call to next that is under way */
    /* whose records come now; NULL before the first that needs one */
    struct fxt_provider *provider;
    struct fxt_provider **providers;
    size_t providers_n, providers_capacity;
    /* (id, 0) to index; (0, 1) is the provider of records before any section */
    struct pairmap by_id;
    uint32_t no_slots[FXT_PAGE];    /* table pages of providers that defined nothing there; never
                                       written ... */
    uint32_t first_slots[FXT_PAGE]; /* ... with slot 0, the empty string, defined */
    ttr_id schema;                  /* of definitions */
    uint64_t at;                    /* offset in the input of the next record */
    int64_t last_time;              /* given to events without a time */
    uint64_t
        zeros_end;     /* up to here there are zeros, whether or not they are still in the window */
    bool has_fields;   /* the batch has events whose fields may be decoded later */
    uint8_t *repaired; /* a record with its size put right, FXT_SIZE_MAX words; NULL until needed */
};

/* A record under the hands of a view. */
struct fxt_record {
    const uint8_t *bytes;
    uint64_t header;
    uint64_t offset;
    uint32_t words;   /* all of them can be loaded */
    bool is_accepted; /* content and size disagree, and it was decided to live with that */
};

/* What became of a record. */
enum fxt_taken {
    FXT_TAKEN = 0,
    FXT_HOLD,  /* it changes tables that the batch may still need: end the batch, then come again */
    FXT_ODD,   /* its size is not what its content asks for; the view did nothing */
    FXT_FAILED /* reader->error says why */
};

static inline uint64_t fxt_load(const uint8_t *bytes, bool is_big)
{
    return is_big ? load_u64be(bytes) : load_u64le(bytes);
}

/* The i-th word of a record; i < record->words is the caller's promise. */
static inline uint64_t fxt_word(const struct fxt_reader *reader, const struct fxt_record *record,
                                uint32_t i)
{
    return fxt_load(record->bytes + (size_t)i * FXT_WORD, reader->common.is_big);
}

/* --- fxt_measure.c --- */

/* Words at hand: of a record and whatever follows it. */
struct fxt_span {
    const uint8_t *bytes;
    uint64_t words;
    bool is_big;
};

/* What the content of a record asks for, in words. */
struct fxt_shape {
    uint64_t body;         /* where arguments begin, or the payload, or the end */
    uint64_t args_end;     /* behind the last good argument */
    uint64_t total;        /* the whole record */
    uint64_t bytes;        /* payload bytes of blobs */
    uint32_t args;         /* arguments by the header */
    uint32_t inline_words; /* of the process and thread koid (two refs together in a switch) */
    bool is_known;         /* the type is known, so the rest counts */
    bool is_cut;    /* refs or arguments go on behind the words at hand; total is a lower bound */
    bool is_broken; /* an argument is empty or smaller than what it holds; those behind it are out
                       of reach */
    bool is_clean;  /* reserved bits are zero and all values are in range: a strong sign of a real
                       record */
};

/* Measures the record at the begin of the span, which holds at least one word.  `words` is what the
 * header says of its size: only used where two layouts are around and the size tells which. */
void fxt_measure(const struct fxt_span *span, uint64_t words, struct fxt_shape *shape);

/* How many records in a row, up to `most`, are clean and exactly as long as they say, from the
 * begin of the span.  Where the input ends with the span, or zeros follow, exactly behind a record,
 * that counts as `most`; so does running out of the span when it is not the end of the input, if
 * there was a record at all. */
unsigned fxt_chain(const struct fxt_span *span, bool is_end, unsigned most);

/* The same without any allowance for the end of the span. */
unsigned fxt_chain_whole(const struct fxt_span *span, unsigned most);

/* Whether records go on behind `words` words of the span: two beyond doubt, if need be after a few
 * of unknown type or with words we do not know; or many with such words; or zeros that go on, or
 * the end. */
bool fxt_is_followed(const struct fxt_span *span, uint64_t words, bool is_end);

/* --- fxt_tables.c --- */

/* Makes the provider with this id current, creating it; false when memory is out. */
TTR_MUST bool fxt_provider_select(struct fxt_reader *reader, uint32_t id, bool *is_new);

/* The provider of records that stand before any section. */
TTR_MUST bool fxt_provider_default(struct fxt_reader *reader);

void fxt_provider_rename(struct fxt_reader *reader, ttr_id name);
TTR_MUST bool fxt_provider_set_string(struct fxt_reader *reader, uint32_t index, ttr_id text);
TTR_MUST bool fxt_provider_set_thread(struct fxt_reader *reader, uint32_t index, ttr_id thread);
void fxt_provider_set_clock(struct fxt_reader *reader, uint64_t frequency);
void fxt_provider_set_anchor(struct fxt_reader *reader, uint64_t base_ticks, int64_t anchor_ns);

/* Says of the current provider's clock, once, that it counts Unix time where nothing else makes
 * sense of the ticks of the first of its events in the batch. */
void fxt_provider_judge_clock(struct fxt_reader *reader);

void fxt_providers_free(struct fxt_reader *reader);

/* ~id of a string by its index, 0 where the index is not defined. */
static inline uint32_t fxt_string_slot(const struct fxt_provider *provider, uint32_t index)
{
    return provider->page[index / FXT_PAGE % FXT_PAGES][index % FXT_PAGE];
}

/* The id of a placeholder text, "<string 17>"; 0 when memory is out. */
ttr_id fxt_unknown_string(const struct fxt_common *common, uint32_t index);

/* Time in ns of a tick. */
int64_t fxt_time_anchored(const struct fxt_provider *provider, uint64_t ticks, bool *clamped);

static inline int64_t fxt_time(const struct fxt_provider *provider, uint64_t ticks, bool *clamped)
{
    if (FXT_LIKELY(!provider->is_anchored))
        return clockmath_ns(&provider->clock, ticks, clamped);
    return fxt_time_anchored(provider, ticks, clamped);
}

/* --- fxt_events.c --- */

enum fxt_taken fxt_view_event(struct fxt_reader *reader, const struct fxt_record *record);

/* Views events for as long as they follow each other, are whole, and the batch has room; moves the
 * span and reader->at along. Anything but FXT_TAKEN is about the event that stands at reader->at
 * then. */
enum fxt_taken fxt_view_events(struct fxt_reader *reader, struct fxt_span *left);

/* Emits bytes that carry no event as a definition, if definitions are wanted. */
void fxt_give_definition(struct fxt_reader *reader, const uint8_t *bytes, size_t n,
                         uint64_t offset);

/* Parts of a record that refs lead to. */
enum fxt_taken fxt_string_id(struct fxt_reader *reader, const struct fxt_record *record,
                             uint32_t ref, uint32_t at, ttr_id *id);
enum fxt_taken fxt_thread_id(struct fxt_reader *reader, const struct fxt_record *record,
                             uint32_t ref, uint32_t at, ttr_id *id);

/* --- fxt_views.c --- */

/* Views by record type; NULL: no such type. */
typedef enum fxt_taken (*fxt_view)(struct fxt_reader *reader, const struct fxt_record *record);
extern const fxt_view fxt_views[16];

/* --- fxt_fields.c --- */

extern const struct field_ops fxt_field_ops;

/* --- fxt_resync.c --- */

/* Words from reader->at on to judge by: always as many, whatever the window shows, so that chunks
 * do not change a verdict. */
struct fxt_look {
    struct fxt_span span;
    bool is_end; /* the input ends with them */
};

/* Whether records that are beyond doubt begin inside [first, end) of the words. */
bool fxt_has_record(const struct fxt_reader *reader, const struct fxt_look *look, uint64_t first,
                    uint64_t end);

/* Finds the next record behind damage at reader->at; the batch is empty.  On TTR_OK *offset is
 * where it begins, or the end of the input; at least one byte is behind reader->at. */
TTR_MUST ttr_status fxt_resync(struct fxt_reader *reader, uint64_t *offset);

/* --- fxt_bid.c --- */

unsigned fxt_bid(const struct peek *peek);
const char *fxt_refuse(const struct peek *peek);

/* Whether the bytes begin with the magic, or else with records that make sense, in big-endian
 * words. */
bool fxt_is_big_endian(const uint8_t *bytes, size_t n, bool is_whole);
bool fxt_has_magic(const uint8_t *bytes, size_t n);

/* --- fxt_read.c --- */

ttr_status fxt_open(struct input *in, ttr_error *error);
ttr_status fxt_next(struct input *in, ttr_error *error);
void fxt_close(struct input *in);

#endif
