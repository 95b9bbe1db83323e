/* The parts of the nettrace writer.
 *
 *   nettrace_write.c      what becomes of an event: copied or encoded; options
 *   nettrace_copy.c       pieces of a trace of the same version, as they are (nettrace_copy.h)
 *   nettrace_encode.c     an event becomes a header and a payload; clock and process of the trace
 *   nettrace_shape.c      fields become a payload and the shape that describes it
 *   nettrace_classes.c    events of one shape share metadata
 *   nettrace_metadata_put.c  metadata of V4, V5 and V6, printed from a shape
 *   nettrace_translate.c  metadata of another trace become a shape, so that payloads stay as they
 * are nettrace_region.c     blocks, stacks, labels, threads, sequence points
 *
 * A shape is metadata's fields in the order of the payload, in a form of its own:
 *   fields   u32 n, then n times: u32 bytes of the name, name, type
 *   type     u8 code    19, 24, 25: type of the elements    22: type of the elements, u16 count 1:
 * fields
 *
 * Events are written in order of time, each marked as sorted; blocks have at most BLOCK_BYTES and
 * an event.  Stacks and labels are told once between two sequence points; of V6 threads are told
 * again behind one where more became known of their names, and a thread that was renamed brings one
 * about, so that events before it are read under the name that they had. */
#ifndef TRACETTA_NETTRACE_WRITER_H
#define TRACETTA_NETTRACE_WRITER_H

#include "base/keymap.h"
#include "formats/nettrace/nettrace_copy.h"

/* What may be lost; the table is in nettrace_losses.c. */
enum nettrace_loss {
    NETTRACE_LOST_PAIR,
    NETTRACE_LOST_KIND,
    NETTRACE_LOST_SAMPLE,
    NETTRACE_LOST_GAP,
    NETTRACE_LOST_GAP_UNKNOWN,
    NETTRACE_LOST_NAME,
    NETTRACE_LOST_PROVIDER,
    NETTRACE_LOST_CATEGORY,
    NETTRACE_LOST_OPCODE,
    NETTRACE_LOST_START_NAME,
    NETTRACE_LOST_SEQUENCE,
    NETTRACE_LOST_THREAD,
    NETTRACE_LOST_PID,
    NETTRACE_LOST_THREAD_NAME,
    NETTRACE_LOST_TICKS,
    NETTRACE_LOST_ORDER,
    NETTRACE_LOST_MARK,
    NETTRACE_LOST_BACKWARD,
    NETTRACE_LOST_PARTIAL,
    NETTRACE_LOST_TEXT,
    NETTRACE_LOST_NUL,
    NETTRACE_LOST_WIDTH,
    NETTRACE_LOST_BYTES,
    NETTRACE_LOST_ARRAY,
    NETTRACE_LOST_MIXED,
    NETTRACE_LOST_ELEMENTS,
    NETTRACE_LOST_NULL,
    NETTRACE_LOST_HINT,
    NETTRACE_LOST_LABEL,
    NETTRACE_LOST_CONTEXT,
    NETTRACE_LOST_DEPTH,
    NETTRACE_LOST_LARGE,
    NETTRACE_LOST_POINTER,
    NETTRACE_LOST_METADATA,
    NETTRACE_LOST_TEXTS,
    NETTRACE_LOST_GUEST,
    NETTRACE_LOST_NUMBER,
    NETTRACE_LOSSES
};

extern const ttr_loss nettrace_losses[NETTRACE_LOSSES];

/* What metadata tell of a class of events; level as .NET counts. */
struct nettrace_told {
    ttr_text provider, name;
    uint32_t id, version;
    uint64_t keyword;
    uint8_t level, opcode;
    struct cursor shape;
};

/* A thread as it is written; of V4 and V5 one for each tid, of V6 one for each process and tid. */
struct nettrace_thread_out {
    uint64_t pid, tid;
    ttr_id thread;     /* whose names it has, 0 = none */
    uint32_t sequence; /* of its last event */
    uint32_t hole;     /* what is missing behind that */
    uint32_t index;    /* V6: as it was told in the era `era` */
    uint32_t era;
    ttr_id told_name;
};

/* What a thread's id stands for, and which of its names had no place: those of its last event. */
struct nettrace_thread_id {
    uint32_t index; /* in `threads` + 1, 0 = not settled */
    ttr_id process_name, thread_name;
};

/* What many events refer to by number, told since the last sequence point. */
struct nettrace_numbered {
    struct keymap known; /* hash of the bytes to number */
    struct buffer rows;  /* of those to be told with the next block */
    uint32_t first, n;   /* numbers of these */
};

struct nettrace_region {
    struct buffer events, metadata, threads;
    struct nettrace_numbered stacks, labels;
    struct nettrace_header last;                 /* in the block */
    uint8_t activity[16], related[16], none[16]; /* of `last`; zeros */
    uint64_t least, most;                        /* ticks in the block */
    size_t bytes;                                /* since the last sequence point */
    uint32_t era;                                /* V6: how often threads were forgotten, from 1 */
    uint32_t indices;                            /* V6: threads told since */
    uint32_t *told;                              /* V6: their indices in `threads` */
    size_t told_capacity;
};

/* What events of a schema of a nettrace reader become. */
struct nettrace_known {
    uint32_t class; /* number of the metadata, 0 = not known yet, UINT32_MAX = by their fields */
    uint64_t keyword;
    uint8_t level, opcode;
    uint8_t reading; /* of metadata that lie; V6 is told the truth */
};

enum nettrace_mode { NETTRACE_UNDECIDED, NETTRACE_COPIES, NETTRACE_ENCODES };

struct nettrace_writer {
    enum nettrace_mode mode;
    unsigned version; /* 4, 5 or 6; 0 = not decided: as the source has it, else 6 */
    bool is_out_of_memory;
    struct nettrace_copy copy;

    struct nettrace_about about;
    uint64_t base_ticks;   /* ticks = time + this, where they are nanoseconds */
    bool has_source_clock; /* else those of the only source */
    uint16_t clock_source;
    uint32_t sequence; /* of the event at hand */
    uint64_t last_ticks;

    struct nettrace_region region;
    struct keymap classes;        /* hash of a shape with what else is told, to number */
    struct keymap rows;           /* hash of metadata without number, to number */
    struct pairmap ids;           /* (provider, 0) to the last event id */
    struct nettrace_known *known; /* by schema */
    size_t known_n;
    uint32_t classes_n;

    struct nettrace_thread_out *threads;
    size_t threads_n, threads_capacity;
    struct pairmap thread_of; /* (pid, tid), of V4 and V5 (0, tid), to the index in `threads` */
    struct nettrace_thread_id *by_id; /* by ttr_id */
    size_t by_id_n;
    struct pairmap
        of_track; /* (track, 0) to the index in `threads` of who captured its last event */
    ttr_id last_track;
    size_t last_capture; /* of that */
    bool is_capture;     /* it is what the track is called by */

    struct buffer shape, payload, scratch;
    uint64_t *frames;
    size_t frames_capacity;
};

static inline bool nettrace_is_v6(const struct nettrace_writer *w)
{
    return w->version >= NETTRACE_V6;
}

/* --- nettrace_write.c --- */

ttr_status nettrace_create(struct ttr_writer *out, ttr_error *error);
ttr_status nettrace_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error);
ttr_status nettrace_finish(struct ttr_writer *out, ttr_error *error);
void nettrace_drop(struct ttr_writer *out);

/* --- nettrace_encode.c --- */

void nettrace_encode_init(struct nettrace_writer *w, const struct alloc *alloc);
void nettrace_encode_free(struct nettrace_writer *w, const struct alloc *alloc);

TTR_MUST ttr_status nettrace_encode(struct ttr_writer *out, const ttr_event *event,
                                    ttr_error *error);
TTR_MUST ttr_status nettrace_encode_finish(struct ttr_writer *out, ttr_error *error);

/* --- nettrace_shape.c --- */

/* Puts the fields of an event: what describes them into w->shape, behind what is there, and their
 * values into w->payload. */
void nettrace_shape_event(struct ttr_writer *out, const ttr_event *event);

/* Puts UTF-8 as UTF-16 with a zero behind it; what is no UTF-8, and zeros, become U+FFFD.  Gives
 * which of both there was. */
struct nettrace_text_flaws {
    bool is_broken, has_zeros;
};
struct nettrace_text_flaws nettrace_put_z16(struct buffer *to, ttr_text text);

/* --- nettrace_classes.c --- */

/* The class of an event whose fields are in w->shape and w->payload, made when new; 0 when memory
 * is out.  One that cannot be described with its fields is described without, and the payload
 * becomes empty. */
uint32_t nettrace_class_of_shape(struct ttr_writer *out, const ttr_event *event);

/* The class of a sample that has nothing but its stack, as the runtime writes them, with its
 * payload; 0 where it has more. */
uint32_t nettrace_class_of_sample(struct ttr_writer *out, const ttr_event *event);

/* The class of an event of another nettrace trace whose payload can stay as it is; 0 where it
 * cannot (or memory is out). */
uint32_t nettrace_class_of_source(struct ttr_writer *out, const ttr_event *event);

/* The opcode that an event is written with. */
uint8_t nettrace_opcode_out(const struct nettrace_writer *w, const ttr_event *event);

/* --- nettrace_metadata_put.c --- */

/* Puts metadata without their number: of V4 and V5 a payload, of V6 a row without its size.  False
 * where they are too large. */
bool nettrace_put_metadata(struct buffer *to, unsigned version, const struct nettrace_told *told);

/* Whether a version has all types of a shape. */
bool nettrace_shape_fits(const struct cursor *shape, unsigned version);

/* What of a class's names cannot be said in UTF-16. */
struct nettrace_text_flaws nettrace_told_flaws(const struct nettrace_told *told);

/* --- nettrace_translate.c --- */

/* Makes told and shape (appended to `shape`) of a type of a reader; texts in `texts`.  False where
 * its fields are not understood. `reading`: in which way its metadata lie (NETTRACE_LIES): booleans
 * and bytes are then said as they are, by the types of V6. */
bool nettrace_translate(const struct nettrace_type *type, struct nettrace_told *told,
                        struct buffer *shape, struct buffer *texts, unsigned reading);

/* --- nettrace_region.c --- */

void nettrace_region_init(struct nettrace_region *region, const struct alloc *alloc);
void nettrace_region_free(struct nettrace_region *region);

/* The number of something by its bytes, told with the next block when new; 0 when memory is out. */
uint32_t nettrace_number_of(struct nettrace_numbered *numbered, const uint8_t *bytes, size_t n,
                            bool has_size);

/* Takes an event; header->payload_size bytes are at `payload`. */
void nettrace_region_add(struct nettrace_writer *w, const struct nettrace_header *header,
                         const uint8_t *payload);

/* Writes a block where there is enough for one, and a sequence point behind enough of them. */
TTR_MUST ttr_status nettrace_region_drain(struct ttr_writer *out, ttr_error *error);

/* Writes what is left, and a sequence point. */
TTR_MUST ttr_status nettrace_region_point(struct ttr_writer *out, ttr_error *error);

/* --- nettrace_write_threads.c --- */

/* The index of a thread in w->threads, by its id or its numbers; SIZE_MAX when memory is out. */
size_t nettrace_thread_out(struct ttr_writer *out, ttr_id thread);
size_t nettrace_thread_numbered(struct nettrace_writer *w, uint64_t pid, uint64_t tid);

/* How events name a thread: by tid, of V6 by index, and then the thread is told with the next block
 * where it is new. */
uint64_t nettrace_thread_name(struct ttr_writer *out, size_t index);

/* Counts names of a thread, that of this index, that have no place and are others than those of its
 * events before; false when memory is out. */
bool nettrace_thread_count_names(struct ttr_writer *out, ttr_id id, size_t index, uint64_t offset);

/* V6: whether a thread that was told has another name by now. */
bool nettrace_thread_is_renamed(const struct ttr_writer *out, size_t index);

/* V6: whether threads are to be told again: names became known, or there are very many. */
bool nettrace_threads_are_stale(struct ttr_writer *out);

#endif
