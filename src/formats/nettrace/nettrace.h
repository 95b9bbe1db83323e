/* The parts of the nettrace reader: what they share, and what each of them offers.
 *
 *   nettrace_read.c      opening, the Trace object, what comes next, V1 and V2
 *   nettrace_objects.c   V3 to V5: the frame of objects, and the next one behind damage
 *   nettrace_search.c    V1, V2 and V6: the next event or block behind damage
 *   nettrace_trace.c     the object Trace: clock, pointers, process
 *   nettrace_header.c    one step from event to event
 *   nettrace_scan.c      a block becomes runs of events in order; losses, metadata on the way
 *   nettrace_order.c     runs are merged by time into batches
 *   nettrace_threads.c   capture threads with their counters, threads, gaps
 *   nettrace_stacks.c    stacks by their numbers
 *   nettrace_metadata.c  what metadata say of a type of events, V1 to V5
 *   nettrace_blocks.c    V6: blocks, threads
 *   nettrace_metadata6.c V6: metadata
 *   nettrace_labels.c    V6: lists of labels
 *   nettrace_types.c     types of events: schemas, what is told of them
 *   nettrace_readings.c  types of fields compiled, when they are needed
 *   nettrace_fields.c    fields, decoded when asked for
 *   nettrace_spans.c     begin and end of collections and of compilation
 *   nettrace_symbols.c   code and modules that the runtime tells of, where wanted
 *   nettrace_universal.c the same of whole machines, and their processes
 *   nettrace_pieces.c    the bytes as they stand in the file, where a copy is wanted
 *
 * Scanning a block checks its headers and finds where times go back; what lies between is a run, of
 * which the place and the header state at its begin are kept.  Runs of one capture thread that
 * follow each other in time are a chain.  When nothing older can come (a sorted event, a sequence
 * point, the end) the chains are merged.  What was found of headers is kept of some thousand events
 * (struct nettrace_seen); headers of more than wait are decoded again right where they are given.
 * So memory grows with the threads and the blocks of a region, not with its events; the bytes stay
 * in the window until their last event is given. Everything that events refer to (metadata, stacks,
 * threads, labels) changes only while the batch is empty and what may refer to the old is given. */
#ifndef TRACETTA_NETTRACE_H
#define TRACETTA_NETTRACE_H

#include "base/arena.h"
#include "base/clockmath.h"
#include "base/cursor.h"
#include "base/pairmap.h"
#include "formats/nettrace/nettrace_header.h"
#include "model/input.h"
#include "layout/layout.h"

#define NETTRACE_NONE UINT32_MAX
#define NETTRACE_LIES                                                                            \
    4u /* readings of a type whose metadata may lie: bit 0 = booleans of one byte, bit 1 = bytes \
          of four */
#define NETTRACE_DENSE 65536u    /* metadata numbers below are looked up in a plain array */
#define NETTRACE_RUNS_MAX 65536u /* runs that wait; more are given out of order */
#define NETTRACE_SEEN_MAX \
    16384u /* events that wait whose headers need not be decoded again; a power of two */
#define NETTRACE_REGION_MAX ((uint64_t)256 << 20) /* bytes that wait; the same */
#define NETTRACE_GAPS_MAX 65536u                  /* gaps that wait; more are counted in the last */
#define NETTRACE_THREAD_CACHE 256u

struct nettrace_reader;

/* What events of a type say of code, or of processes. */
enum symbols_kind {
    SYMBOLS_NONE,
    SYMBOLS_METHOD,
    SYMBOLS_METHOD_RUNDOWN,
    SYMBOLS_MODULE,
    SYMBOLS_MODULE_OF_DOMAIN,
    SYMBOLS_PROCESS,
    SYMBOLS_MAPPED,
    SYMBOLS_SYMBOL
};

/* How payloads of a type are read; filled while fields are walked over. */
struct nettrace_readings {
    const struct type *root;                    /* NULL: no fields are known */
    const struct layout *layout[NETTRACE_LIES]; /* of those `tried`; NULL = cannot be compiled */
    uint64_t offset;                            /* of the metadata */
    uint64_t shown;           /* where it is plain: bits of the fields that are shown otherwise */
    uint8_t tried, could_lie; /* could_lie: bits as in the numbers of readings */
    bool is_plain; /* there is no more to an event without labels than reading 0, where that fits;
                      likewise */
};

/* A type of events, as metadata describe it. */
struct nettrace_type {
    struct nettrace_reader *reader;
    struct nettrace_readings *readings;
    uint64_t given;                 /* events of it so far */
    uint32_t index, provider_index; /* among all types, and of its provider among all */
    bool has_places;                /* what stands behind its fields is theirs */
    ttr_id schema, name, provider;
    ttr_id task; /* of start and stop events, see model/activity.h */
    uint64_t keyword;
    uint32_t id, version;
    uint8_t level, opcode, kind;
    uint8_t span;    /* how its begins and ends are told apart; see nettrace_spans.c */
    uint8_t symbols; /* what its events say of code; see nettrace_symbols.c */
    uint32_t number; /* of the metadata */
    ttr_text message, description;
    const uint8_t *said; /* the metadata as stored; of V6 what follows their number */
    uint32_t said_n;
    ttr_event like; /* what all its events have alike */
};

/* Types by the number of their metadata, and all there ever were by what they say. */
struct nettrace_types {
    struct nettrace_type **dense; /* below NETTRACE_DENSE */
    size_t dense_n;
    struct nettrace_type **all;
    size_t all_n, all_capacity;
    struct pairmap sparse;        /* the others: number to index in `all` */
    struct pairmap known;         /* hash of what is said, to index in `all` */
    struct pairmap providers;     /* (provider, 0) to its index */
    struct nettrace_type **shown; /* the first of all, by provider */
    size_t shown_n, shown_capacity;
    uint32_t awaited; /* number of the last type that was not known when an event of it was met; 0 =
                         none */
};

/* Who captures events; a thread of the process. */
struct nettrace_capture {
    uint64_t id;
    uint64_t ticks;      /* of the last event seen, not given */
    uint32_t sequence;   /* of that */
    uint32_t tail;       /* the run that ends last, NETTRACE_NONE = given already */
    uint32_t tail_stamp; /* of that run, so that a reused one is told apart */
    ttr_id track;
    bool is_known; /* `sequence` is */
};

struct nettrace_threads {
    struct pairmap by_index; /* V6: (index, 0) to thread */
    struct nettrace_capture *capture;
    size_t capture_n, capture_capacity;
    struct pairmap by_id; /* (id, 0) to index; V6: of the thread */
    struct {
        uint64_t tid;
        ttr_id thread;
    } cache[NETTRACE_THREAD_CACHE];
};

/* Events that are missing. */
struct nettrace_gap {
    uint64_t from, to, count, offset;
    ttr_id track;
};

/* What the header of an event says beside that of the one before it; nothing of the thread.  Places
 * count from the begin of the event, 0 = none. */
struct nettrace_seen {
    uint64_t ticks;
    uint32_t metadata, stack, payload_size;
    uint8_t payload_at, activity_at, related_at;
    uint8_t flags;
};

/* Events in order, at least one of which was not given yet. */
struct nettrace_run {
    struct nettrace_header at;      /* the event to give next */
    struct nettrace_span span;      /* from the block's begin to the run's end */
    uint64_t last;                  /* ticks of its last event */
    uint64_t hold;                  /* offset from which on its bytes must stay */
    uint64_t capture_id, thread_id; /* of the ids below */
    ttr_id track, thread;
    uint32_t next, stamp; /* next: of the chain, or of free runs */
    uint32_t seen,
        seen_end; /* numbers in order->seen: what comes behind `at`, as far as it was kept */
};

/* An entry of the heap: the first event of a chain. */
struct nettrace_head {
    uint64_t ticks;
    const uint8_t *place; /* ties go by it */
    uint32_t run;
};

struct nettrace_order {
    struct nettrace_run *runs;
    size_t runs_capacity;
    uint32_t runs_n, runs_used, free, stamp;
    struct nettrace_head *heap;
    size_t heap_capacity;
    uint32_t heap_n;
    struct nettrace_seen *seen; /* a ring of NETTRACE_SEEN_MAX, NULL before the first is needed */
    uint32_t seen_n,
        seen_least; /* the number of the next; the first that a run that waits still has */
    struct nettrace_gap *gaps; /* by `from` once giving has begun */
    size_t gaps_n, gaps_capacity, gaps_given;
    uint64_t limit; /* while giving: the last ticks that may be given */
    uint64_t given; /* ticks of the last event given */
    uint64_t hold;  /* the first offset that runs still need; UINT64_MAX where none waits; not kept
                       up while giving */
    bool is_giving, has_given;
};

/* Addresses.  How many stands here, so that it is known before their bytes are there. */
struct nettrace_stack {
    uint64_t at;
    uint32_t bytes;
};

/* Stacks since the last sequence point.  Runtimes number them upwards: ranges hold those, each
 * behind the one before.  Numbers that go back are in `others`, so that finding one costs no more
 * in files that no runtime wrote. */
struct nettrace_stacks {
    uint8_t *bytes; /* each begins at a multiple of 8 */
    size_t bytes_n, bytes_capacity;
    struct nettrace_stack *at; /* where in `bytes` each stack stands */
    size_t at_n, at_capacity;
    struct nettrace_stack_range *ranges;
    size_t ranges_n, ranges_capacity;
    struct pairmap others;         /* number to index in `at` */
    uint32_t usual_first, usual_n; /* numbers that are at[number - usual_first] and can be copied as
                                      they stand; none where it is not so for all */
};

/* Numbers first .. first + n - 1, none of them beyond 32 bits, are at[begin ..]. */
struct nettrace_stack_range {
    uint32_t first, n;
    size_t begin;
};

struct nettrace_label_list {
    size_t at, n; /* bytes */
};

/* Lists of labels since the last sequence point. */
struct nettrace_labels {
    uint8_t *bytes;
    size_t bytes_n, bytes_capacity;
    struct nettrace_label_list *list;
    size_t list_n, list_capacity;
    struct pairmap by_number; /* to index in `list` */
};

/* A process that has a mapping. */
struct nettrace_mapping {
    uint32_t process, module; /* module: 0 = none */
    uint32_t next;            /* of the same mapping, NETTRACE_NONE = none */
};

struct nettrace_universal {
    struct nettrace_mapping *mapping;
    size_t n, capacity;
    struct pairmap by_id; /* (id of the mapping, 0) to the first */
};

/* Bytes that stand together in the input: an object, a block, a head.  Pieces are given as
 * definitions (TTR_READ_DEFINITIONS): all of them, in order, are every undamaged byte, those of
 * events too.  `tag` is the kind; `body` is where its content begins; `sequence` is how many of its
 * events come behind it; `link` is an offset: all events that stand before it were given.  A piece
 * marked TTR_EVENT_PARTIAL ends where it could no longer be decoded. */
enum nettrace_piece_kind {
    NETTRACE_PIECE_HEAD = 1,
    NETTRACE_PIECE_TRACE,
    NETTRACE_PIECE_EVENTS,
    NETTRACE_PIECE_METADATA,
    NETTRACE_PIECE_STACKS,
    NETTRACE_PIECE_POINT,
    NETTRACE_PIECE_THREADS,
    NETTRACE_PIECE_GONE,
    NETTRACE_PIECE_LABELS,
    NETTRACE_PIECE_OTHER,
    NETTRACE_PIECE_FLAT, /* V1, V2: events */
    NETTRACE_PIECE_END,  /* the end mark */
    NETTRACE_PIECE_REST  /* what stands behind it */
};

struct nettrace_piece {
    uint64_t offset;
    uint32_t size, body, events;
    uint8_t kind;
    bool is_part;
};

#define NETTRACE_PIECES_MAX 4u

struct nettrace_reader {
    struct input *in;
    ttr *t;
    ttr_error *error; /* of the call to next that is under way */
    unsigned version;
    uint32_t pointer_bytes;
    uint64_t pid;
    struct clockmath clock;
    uint64_t sync_ticks;
    int64_t sync_ns;
    uint64_t
        plain_ticks;   /* behind sync_ticks this many are nanoseconds whose sum with sync_ns fits */
    uint64_t at;       /* offset of the next object */
    bool gives_blocks; /* events of a block do not wait for older ones of others */
    bool has_trace;    /* Trace was met */
    bool is_over;      /* nothing comes behind what waits */
    bool resets_point; /* what waits is given: forget stacks and labels */
    bool resets_threads, resets_metadata; /* and these too */
    bool is_lost;                         /* the next object must be searched */
    bool is_out_of_memory;                /* while fields were walked over */
    ttr_status failed;                    /* why nettrace_order_give did */
    struct nettrace_types types;
    struct nettrace_threads threads;
    struct nettrace_order order;
    struct nettrace_stacks stacks;
    struct nettrace_labels labels;
    struct nettrace_universal universal;
    int64_t from, to; /* ns; where has_range, blocks with no event in it are passed over */
    bool has_range;
    bool has_jit;               /* some type begins the compilation of methods */
    bool has_universal;         /* some type is of Universal.System */
    struct arena arena;         /* types */
    struct arena scratch;       /* texts of the batch */
    struct buffer symbol;       /* a name in the making */
    bool gives_pieces, has_end; /* has_end: the end mark was met, and stands before `at` */
    uint64_t keep; /* offset from which on bytes must stay for a piece; UINT64_MAX = none */
    struct nettrace_piece pieces[NETTRACE_PIECES_MAX];
    uint32_t pieces_n;
    uint32_t
        known_events; /* events of the block at hand that were understood but for their metadata */
    bool has_bad_metadata; /* the block at hand defines a type of events of which not even the id is
                              known */
    ttr_id piece_schema;
};

/* Bytes of the window from an offset on. */
struct nettrace_bytes {
    const uint8_t *p;
    size_t n;
    uint64_t offset;
};

/* --- nettrace_read.c --- */

ttr_status nettrace_open(struct input *in, ttr_error *error);
/* With TTR_READ_SYMBOLS the context also gets the symbols that the events of the batch declare. */
ttr_status nettrace_next(struct input *in, ttr_error *error);
void nettrace_close(struct input *in);

/* Events outside of a range need not be given.  With TTR_READ_SYMBOLS all are read: code may be
 * told of anywhere. */
void nettrace_range(struct input *in, int64_t from_ns, int64_t to_ns);

/* --- nettrace_trace.c --- */

/* Reads the object Trace; `c` is after its frame.  c->failed is set if the object is cut. */
TTR_MUST ttr_status nettrace_take_trace(struct nettrace_reader *reader, struct cursor *c);

/* --- nettrace_pieces.c --- */

/* Shows the bytes from `offset` on (not before what is held), `need` of them if the input has so
 * many. */
TTR_MUST ttr_status nettrace_show(struct nettrace_reader *reader, uint64_t offset, uint64_t need,
                                  struct nettrace_bytes *bytes);

/* Ends the trace with the end mark of so many bytes at reader->at.  Notes bytes that follow it. */
TTR_MUST ttr_status nettrace_take_end(struct nettrace_reader *reader, uint32_t size);

/* Begins to keep what stands from here on for pieces; false when memory is out. */
TTR_MUST bool nettrace_pieces_begin(struct nettrace_reader *reader);

/* Adds a piece that is in the window, where pieces are wanted. */
void nettrace_piece_add(struct nettrace_reader *reader, const struct nettrace_piece *piece);

/* Gives the pieces that were added; the batch is empty before. */
void nettrace_pieces_give(struct nettrace_reader *reader);

/* Adds some of what stands behind the end mark; none where nothing is left. */
TTR_MUST ttr_status nettrace_pieces_rest(struct nettrace_reader *reader);

/* --- nettrace_objects.c --- */

/* Attends to the object at reader->at: V3 to V5. */
TTR_MUST ttr_status nettrace_object(struct nettrace_reader *reader);

/* --- nettrace_search.c --- */

/* Looks for what comes next behind damage, and moves there: V1, V2 and V6.  The end mark of V1 and
 * V2 is found here too. */
TTR_MUST ttr_status nettrace_search(struct nettrace_reader *reader);

/* How far a block of V6 goes that has this word before it. */
struct nettrace_extent6 {
    uint64_t size;
    uint64_t next;   /* offset of the block that comes next instead, 0 = where its size says */
    bool is_cut;     /* the input ends inside it */
    bool is_lost;    /* its size is not believed */
    bool is_strange; /* of a kind that nobody knows, but what it holds are events */
};

TTR_MUST ttr_status nettrace_extent6(struct nettrace_reader *reader, uint64_t at, uint32_t head,
                                     struct nettrace_extent6 *extent);

/* --- nettrace_scan.c --- */

struct nettrace_block {
    const uint8_t *begin, *end; /* its events */
    uint64_t offset;            /* of begin */
    uint8_t codec;
    bool is_metadata;    /* all events are metadata */
    bool is_cut;         /* it may end inside an event; that is told elsewhere */
    const uint8_t *stop; /* out: behind the last event decoded */
};

/* Takes a block of events (V3: metadata among them). */
TTR_MUST ttr_status nettrace_scan(struct nettrace_reader *reader, struct nettrace_block *block);

/* --- nettrace_order.c --- */

void nettrace_order_init(struct nettrace_order *order);
void nettrace_order_free(struct nettrace_reader *reader);

/* A new run whose first event is `header`; NULL when memory is out. */
TTR_MUST struct nettrace_run *nettrace_run_new(struct nettrace_reader *reader,
                                               const struct nettrace_header *header);

/* Puts a run that is whole where it belongs; false when memory is out. */
TTR_MUST bool nettrace_run_add(struct nettrace_reader *reader, struct nettrace_run *run,
                               uint64_t first_ticks);

/* Lets everything up to `limit` be given. */
void nettrace_order_release(struct nettrace_reader *reader, uint64_t limit);

/* Gives into the batch until it is full or nothing that may be given is left; false when that
 * failed, as reader->failed says. */
TTR_MUST bool nettrace_order_give(struct nettrace_reader *reader);

/* The time of ticks; TTR_EVENT_CLAMPED is added to `flags` where it does not fit. */
int64_t nettrace_time_of(const struct nettrace_reader *reader, uint64_t ticks, uint8_t *flags);

/* The window moved: what pointed into `before` points into `after`. */
void nettrace_order_move(struct nettrace_order *order, const struct window *before,
                         const struct window *after);

/* --- nettrace_threads.c --- */

/* Gives the index of a capture thread, added when new; SIZE_MAX when memory is out. */
size_t nettrace_capture(struct nettrace_reader *reader, uint64_t id);

/* Counts an event of a capture thread, or where it stands at a sequence point (`is_point`); false
 * when memory is out. */
TTR_MUST bool nettrace_count(struct nettrace_reader *reader, size_t capture,
                             const struct nettrace_header *header, bool is_point);

/* The thread of a tid, or of an index (V6); 0 when memory is out. */
ttr_id nettrace_thread(struct nettrace_reader *reader, uint64_t tid);

/* V6: says which thread an index means, that it means none any more, that none does; false when
 * memory is out. */
TTR_MUST bool nettrace_thread_put(struct nettrace_reader *reader, uint64_t index, ttr_id thread);
void nettrace_thread_remove(struct nettrace_reader *reader, uint64_t index);
void nettrace_threads_reset(struct nettrace_reader *reader);

/* --- nettrace_stacks.c --- */

/* Adds `n` stacks from `first` on that stand at the cursor; what is not whole is left.  False when
 * memory is out. */
TTR_MUST bool nettrace_stacks_add(struct nettrace_reader *reader, uint32_t first, uint32_t n,
                                  struct cursor *c);
void nettrace_stacks_reset(struct nettrace_stacks *stacks);
void nettrace_stacks_free(struct nettrace_reader *reader);

/* The addresses of an event's stack as stored; `*n` of them.  NULL: it has none. */
const uint8_t *nettrace_frames(const struct nettrace_reader *reader, const ttr_event *event,
                               uint32_t *n);

/* ttr_event_frames; `own` is the event's type. */
uint32_t nettrace_frames_take(const void *own, const ttr_event *event, uint64_t *addresses,
                              uint32_t room);

/* ttr_event_stack; `own` is the event's type. */
const uint64_t *nettrace_stack(const void *own, const ttr_event *event, uint32_t *n);

/* An address of 4 or 8 bytes. */
static inline uint64_t nettrace_address(const uint8_t *p, uint32_t bytes)
{
    return bytes == 8 ? load_u64le(p) : load_u32le(p);
}

/* --- nettrace_metadata.c --- */

/* Takes metadata of V1 to V5 (the payload at the cursor, `number` that of V1 and V2). */
TTR_MUST ttr_status nettrace_metadata(struct nettrace_reader *reader, struct cursor *c,
                                      uint64_t number);

/* Whether metadata of V1 to V5 tell at least which provider's event they are of, and its id. */
bool nettrace_metadata_is_usable(unsigned version, struct cursor c);

struct nettrace_said;

/* Gives an event that says nothing of itself what is known of it; false when memory is out. */
TTR_MUST bool nettrace_name_event(struct nettrace_reader *reader, struct nettrace_said *said);

/* --- nettrace_blocks.c --- */

/* Attends to the block at reader->at: V6. */
TTR_MUST ttr_status nettrace_block6(struct nettrace_reader *reader);

/* --- nettrace_metadata6.c --- */

TTR_MUST ttr_status nettrace_metadata6(struct nettrace_reader *reader, struct cursor *c);

/* --- nettrace_labels.c --- */

TTR_MUST ttr_status nettrace_labels_add(struct nettrace_reader *reader, struct cursor *c);
void nettrace_labels_reset(struct nettrace_reader *reader);
void nettrace_labels_free(struct nettrace_reader *reader);

/* Moves behind a list; false where it is not whole. */
bool nettrace_labels_pass(struct cursor *c);

/* The bytes of a list; false where there is none of that number. */
bool nettrace_labels_of(const struct nettrace_reader *reader, uint32_t number, const uint8_t **p,
                        uint32_t *n);

/* Lets the labels of an event (in event->part) take the place of what its metadata say. */
void nettrace_labels_apply(const struct nettrace_reader *reader, ttr_event *event);

/* Gives the next label that is a field, moving behind it; false at the end. */
bool nettrace_label_field(const uint8_t **p, uint32_t *n, ttr_field *field);

/* --- nettrace_types.c --- */

/* What metadata say. */
struct nettrace_said {
    ttr_id provider, name;
    uint32_t number, id, version;
    uint64_t keyword;
    uint32_t level;
    uint8_t opcode;
    bool has_opcode;               /* it is said, 0 too */
    bool has_places;               /* fields that lie elsewhere in the payload */
    bool is_known;                 /* name and fields are not said, but known of the runtime */
    struct type *root;             /* the payload; NULL = unknown */
    ttr_text message, description; /* of V6; borrowed from the row */
    uint8_t could_lie;             /* ways in which it may lie, see nettrace_readings.c */
    const uint8_t *bytes;          /* all of it; of V6 all but the number */
    size_t bytes_n;
};

void nettrace_types_init(struct nettrace_reader *reader);
void nettrace_types_free(struct nettrace_reader *reader);
TTR_MUST ttr_status nettrace_type_add(struct nettrace_reader *reader,
                                      const struct nettrace_said *said, uint64_t offset);

/* Whether the same was said before under this number; then it means the same type again.  False
 * also when memory is out. */
bool nettrace_type_again(struct nettrace_reader *reader, const struct nettrace_said *said);

/* Forgets which numbers mean which types. */
void nettrace_types_forget(struct nettrace_reader *reader);

/* A level of .NET's as the model's. */
uint8_t nettrace_level(uint32_t level);

struct nettrace_type *nettrace_type_sparse(const struct nettrace_types *types, uint32_t number);

static inline struct nettrace_type *nettrace_type_of(const struct nettrace_types *types,
                                                     uint32_t number)
{
    return NETTRACE_LIKELY(number < types->dense_n) ? types->dense[number]
                                                    : nettrace_type_sparse(types, number);
}

/* --- nettrace_types.c: description --- */

bool nettrace_describe(struct input *in, size_t i, struct event_class *about, uint64_t *events);

/* --- nettrace_readings.c --- */

/* The reading of its type that fits an event, compiled when it is not yet; NULL where nothing is
 * known. */
const struct layout *nettrace_reading_of(const struct nettrace_type *type, const ttr_event *event);

/* --- nettrace_fields.c --- */

extern const struct field_ops nettrace_field_ops;

/* --- nettrace_spans.c --- */

/* Gives a type the opcode that its events stand for, where the runtime does not say it; its names
 * are known. */
void nettrace_span_of(struct nettrace_reader *reader, struct nettrace_type *type);

/* Makes an event with an opcode what it means. */
void nettrace_span_mark(const struct nettrace_reader *reader, ttr_event *event,
                        const struct nettrace_type *type);

/* --- nettrace_symbols.c --- */

/* What events of a provider say of code; 0 = nothing. */
uint8_t nettrace_symbols_kind(ttr_text provider, uint32_t id);

/* Adds the symbols that an event declares to the context.  Returns false when memory is out. */
TTR_MUST bool nettrace_symbols_take(struct nettrace_reader *reader, const ttr_event *event);

/* --- nettrace_universal.c --- */

/* Whether a provider is one of whole machines, whose texts are stored otherwise than declared. */
bool nettrace_is_universal(ttr_text provider);

/* Whether events of that name are samples. */
bool nettrace_is_universal_sample(ttr_text provider, ttr_text name);

/* What events say of processes and code; 0 = nothing. */
uint8_t nettrace_universal_kind(ttr_text provider, uint32_t id);

/* Takes what an event of such a kind says; false when memory is out. */
TTR_MUST bool nettrace_universal_take(struct nettrace_reader *reader, const ttr_event *event,
                                      uint8_t kind);
void nettrace_universal_free(struct nettrace_reader *reader);

/* --- nettrace_diagnostics.c --- */
extern const ttr_diagnostic_info nettrace_diagnostics[];

#endif
