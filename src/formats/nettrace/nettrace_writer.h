/* The nettrace writer: shared types, and the functions that its files offer to each other.
 *
 *   nettrace_writer.c           entry points; choice between copying and encoding; options
 *   nettrace_copy.c             copies chunks of a trace of the same version (nettrace_copy.h)
 *   nettrace_encode.c           event to header and payload; clock and process of the trace
 *   nettrace_signature.c        fields to payload and signature
 *   nettrace_classes.c          one metadata record for all events of a class
 *   nettrace_metadata_writer.c  metadata of V4, V5 and V6 from a signature
 *   nettrace_translate.c        metadata of another trace to a signature, to keep its payloads
 *   nettrace_block_writer.c     blocks, stacks, labels, threads, sequence points
 *   nettrace_output_threads.c   threads and their sequence numbers
 *
 * Order of calls for an event that is encoded:
 *
 *   nettrace_encode_event()
 *     -> class: by the metadata of its source (nettrace_get_source_class()), or by its fields
 *        (nettrace_encode_fields(), nettrace_get_signature_class())
 *     -> stack and labels: nettrace_intern_bytes()
 *     -> nettrace_append_event(), nettrace_write_full_blocks()
 *
 * A signature encodes the names and types of a payload's fields, in the same form for all versions:
 *
 *   fields   u32 n   n times: u32 bytes of the name, name, type
 *   type     u8 code    19, 24, 25: type of the elements    22: type of the elements, u16 count
 *            1: fields
 *
 * Events are written in order of time, each marked as sorted. Between two sequence points each
 * distinct stack and label list is written once. In V6 a thread is declared once until the thread
 * table is cleared. A renamed thread causes a sequence point that clears the table, so that earlier
 * events are read under the earlier name. */
#ifndef TRACETTA_NETTRACE_WRITER_H
#define TRACETTA_NETTRACE_WRITER_H

#include "base/key_map.h"
#include "formats/nettrace/nettrace_copy.h"

/* Losses of the writer, in the order of the table in nettrace_losses.c. */
enum nettrace_loss {
    NETTRACE_LOST_PAIR,
    NETTRACE_LOST_KIND,
    NETTRACE_LOST_SAMPLE,
    NETTRACE_LOST_SAMPLE_FIELDS,
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

/* Content of the metadata record of a class; `level` is a level of .NET. */
struct nettrace_class_info {
    ttr_text provider, name;
    uint32_t id, version;
    uint64_t keyword;
    uint8_t level, opcode;
    struct cursor signature;
};

/* A thread of the output. In V4 and V5 there is one per tid, in V6 one per pid and tid. */
struct nettrace_output_thread {
    uint64_t pid, tid;
    ttr_id thread;     /* thread of the library context; 0 if it has none */
    uint32_t sequence; /* sequence number of the last event */
    uint32_t missing;  /* number of events that were lost after the last event */
    /* V6: index in the thread table; valid if `generation` equals nettrace_block_writer.generation
     */
    uint32_t index;
    uint32_t generation;
    ttr_id declared_name;
};

/* The output thread of a ttr_id, and the names for which a loss was counted, so that each is
 * counted once. */
struct nettrace_thread_id {
    uint32_t index; /* index + 1 in `threads`; 0 while the pid may still become known */
    ttr_id process_name, thread_name;
};

/* Numbers of byte strings (stacks or label lists), assigned since the last sequence point. Equal
 * strings have the same number. */
struct nettrace_number_table {
    struct key_map known; /* maps the hash of a byte string to its number */
    struct buffer rows;   /* byte strings that are written before the next block */
    uint32_t first, n;    /* first: lowest number in `rows`; n: how many there are */
};

struct nettrace_block_writer {
    struct buffer events, metadata, threads;
    struct nettrace_number_table stacks, labels;
    /* header of the last event that was added to the block */
    struct nettrace_header last;
    /* activity, related: copies of the ids in `last`; none: 16 zeros */
    uint8_t activity[16], related[16], none[16];
    uint64_t least, most; /* lowest and highest ticks in the block */
    size_t bytes;         /* bytes written since the last sequence point */
    /* V6: 1 + number of times that the thread table was cleared; indexes of earlier generations
     * are invalid */
    uint32_t generation;
    uint32_t declared_n; /* V6: number of threads declared since the thread table was cleared */
    uint32_t *declared;  /* V6: indexes of these threads in `threads` */
    size_t declared_capacity;
};

/* Class of the events of another nettrace trace, by schema. */
struct nettrace_source_class {
    /* metadata number; 0 if not known yet; UINT32_MAX if payloads cannot be copied */
    uint32_t class;
    uint64_t keyword;
    uint8_t level, opcode;
    /* index of the payload layout if metadata are wrong (NETTRACE_LAYOUTS_MAX); only for V6, which
     * can store the right types */
    uint8_t layout_index;
};

/* Classes for samples of other formats, and for the code at their addresses. */
enum nettrace_universal_class {
    NETTRACE_UNIVERSAL_PROCESS,
    NETTRACE_UNIVERSAL_MAPPING,
    NETTRACE_UNIVERSAL_SYMBOL,
    NETTRACE_UNIVERSAL_CPU,
    NETTRACE_UNIVERSAL_CLASSES
};

/* Records about the code of samples that were written already. */
struct nettrace_samples {
    uint32_t class[NETTRACE_UNIVERSAL_CLASSES]; /* class numbers; 0 if not added yet */
    uint32_t mappings_n, functions_n;           /* ids of the last mapping and function */
    /* set of keys (address, process) that were looked up, and of processes */
    struct pair_map known;
    struct pair_map mappings; /* maps the mappings of processes to ids */
    /* maps (start, hash of process and last address) to the name that was written last */
    struct pair_map functions;
};

enum nettrace_mode { NETTRACE_UNDECIDED, NETTRACE_COPIES, NETTRACE_ENCODES };

struct nettrace_writer {
    enum nettrace_mode mode;
    /* version to write: 4, 5 or 6; by default that of the source, else 6; 0 until the first event
     */
    unsigned version;
    bool is_out_of_memory;
    struct nettrace_copy copy;

    struct nettrace_trace_info trace_info;
    uint64_t base_ticks; /* ticks = time + base_ticks, if ticks are nanoseconds */
    /* true if ticks are kept from the only source, a nettrace trace */
    bool has_source_clock;
    uint16_t clock_source;
    uint32_t sequence; /* sequence number of the current event */
    uint64_t last_ticks;

    struct nettrace_block_writer blocks;
    struct key_map classes; /* maps the hash of a class key to class number and flags */
    /* maps the hash of a metadata record, without its number, to the number */
    struct key_map rows;
    struct pair_map ids; /* maps (provider, 0) to the event id that was assigned last */
    struct nettrace_source_class *source_classes; /* classes of source events, by schema id */
    size_t source_classes_n;
    uint32_t classes_n;

    struct nettrace_output_thread *threads;
    size_t threads_n, threads_capacity;
    struct pair_map
        /* maps (pid, tid) to an index in `threads`; in V4 and V5 the key is (0, tid) */
        thread_of;
    struct nettrace_thread_id *by_id; /* output threads by ttr_id */
    size_t by_id_n;
    /* maps (track, 0) to the index in `threads` of the thread that captured its last event */
    struct pair_map of_track;
    ttr_id last_track;
    size_t last_capture; /* index in `threads` of that thread for `last_track` */
    bool is_capture;     /* true if track numbers are ids of capture threads */

    struct nettrace_samples samples;
    struct buffer signature, payload, scratch;
    uint64_t *frames;
    size_t frames_capacity;
};

static inline bool nettrace_is_v6(const struct nettrace_writer *w)
{
    return w->version >= NETTRACE_V6;
}

/* --- Entry points of the writer (nettrace_writer.c) --- */

ttr_status nettrace_writer_create(struct ttr_writer *out, ttr_error *error);
ttr_status nettrace_writer_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error);
ttr_status nettrace_writer_finish(struct ttr_writer *out, ttr_error *error);
void nettrace_writer_free(struct ttr_writer *out);

/* --- Events to headers and payloads (nettrace_encode.c) --- */

void nettrace_encode_init(struct nettrace_writer *w, const struct alloc *alloc);
void nettrace_encode_free(struct nettrace_writer *w, const struct alloc *alloc);

TTR_MUST ttr_status nettrace_encode_event(struct ttr_writer *out, const ttr_event *event,
                                          ttr_error *error);
TTR_MUST ttr_status nettrace_encode_finish(struct ttr_writer *out, ttr_error *error);

/* --- Samples of other formats, with their code (nettrace_samples.c) --- */

void nettrace_samples_init(struct nettrace_samples *samples, const struct alloc *alloc);
void nettrace_samples_free(struct nettrace_samples *samples);

/* Returns true if an event is a sample that V6 stores as an event of Universal.Events. */
bool nettrace_is_code_sample(const struct ttr_writer *out, const ttr_event *event);

/* Appends events that declare the process, mappings and functions of a sample's stack, unless they
 * were declared. Returns false if memory runs out. */
TTR_MUST bool nettrace_declare_sample_code(struct ttr_writer *out, const ttr_event *event,
                                           uint64_t ticks);

/* Sets w->payload to the payload of a sample. Returns the class of the sample; 0 if memory is
 * out. */
uint32_t nettrace_encode_code_sample(struct ttr_writer *out, const ttr_event *event);

/* --- Fields to payload and signature (nettrace_signature.c) --- */

/* Appends a description of the event's fields to w->signature, and their values to w->payload. */
void nettrace_encode_fields(struct ttr_writer *out, const ttr_event *event);

/* Appends UTF-8 text as UTF-16, with a zero at the end. Replaces invalid bytes and NUL characters
 * by U+FFFD; the result states which of these were found. */
struct nettrace_text_flaws {
    bool is_broken, has_zeros;
};
struct nettrace_text_flaws nettrace_append_z16(struct buffer *to, ttr_text text);

/* --- Metadata records of classes (nettrace_classes.c) --- */

/* Returns the class of the event with its fields in w->signature and w->payload; adds it if it is
 * new. Returns 0 if memory runs out. If the metadata would be too large, writes them without fields
 * and clears the payload. */
uint32_t nettrace_get_signature_class(struct ttr_writer *out, const ttr_event *event);

/* Adds a class by its V6 metadata without size and number. Returns its number; 0 if memory is
 * out. */
uint32_t nettrace_add_row_class(struct nettrace_writer *w, const struct buffer *row);

/* Returns the class of a sample with no content but a stack, as the runtime's profiler writes it,
 * and sets the payload. Returns 0 for other events. */
uint32_t nettrace_get_sample_class(struct ttr_writer *out, const ttr_event *event);

/* Returns the class of an event from another nettrace trace if its payload can be copied. Returns
 * 0 if it cannot, or memory runs out. */
uint32_t nettrace_get_source_class(struct ttr_writer *out, const ttr_event *event);

/* Returns the opcode to write for an event; 0 if the output version has no opcodes, or the kind of
 * event needs none. */
uint8_t nettrace_get_output_opcode(const struct nettrace_writer *w, const ttr_event *event);

/* --- Bytes of metadata (nettrace_metadata_writer.c) --- */

/* Appends metadata without their number: in V4 and V5 a payload, in V6 a row without its size.
 * Returns false if they are too large. */
bool nettrace_append_metadata(struct buffer *to, unsigned version,
                              const struct nettrace_class_info *info);

/* Returns true if a version supports all types of a signature. */
bool nettrace_signature_fits(const struct cursor *signature, unsigned version);

/* Returns what prevents names of a class from being stored in UTF-16. */
struct nettrace_text_flaws nettrace_find_class_text_flaws(const struct nettrace_class_info *info);

/* --- Metadata of another trace (nettrace_translate.c) --- */

/* Converts the metadata of a reader's type to class info, and to a signature that is appended to
 * `signature`; `texts` owns the names. Returns false if the fields are unknown. If layout_index is
 * not 0, the metadata are wrong (see NETTRACE_LAYOUTS_MAX); the signature then has the right
 * types, which only V6 can store. */
bool nettrace_translate_metadata(const struct nettrace_type *type, struct nettrace_class_info *info,
                                 struct buffer *signature, struct buffer *texts,
                                 unsigned layout_index);

/* --- Blocks and sequence points (nettrace_block_writer.c) --- */

void nettrace_block_writer_init(struct nettrace_block_writer *blocks, const struct alloc *alloc);
void nettrace_block_writer_free(struct nettrace_block_writer *blocks);

/* Returns the number of a byte string; adds it if it is new, so that it is written before the next
 * block. Returns 0 if memory runs out. has_size: the bytes start with their size. */
uint32_t nettrace_intern_bytes(struct nettrace_number_table *numbered, const uint8_t *bytes,
                               size_t n, bool has_size);

/* Appends an event with header->payload_size bytes of payload to the current block. */
void nettrace_append_event(struct nettrace_writer *w, const struct nettrace_header *header,
                           const uint8_t *payload);

/* Writes the current block if it is full, and a sequence point if enough was written since the
 * last one. */
TTR_MUST ttr_status nettrace_write_full_blocks(struct ttr_writer *out, ttr_error *error);

/* Writes the current block and a sequence point. */
TTR_MUST ttr_status nettrace_write_sequence_point(struct ttr_writer *out, ttr_error *error);

/* --- Threads of the output (nettrace_output_threads.c) --- */

/* Return the index of a thread in w->threads, by its id or by pid and tid. Return SIZE_MAX if
 * memory runs out. */
size_t nettrace_get_output_thread_index(struct ttr_writer *out, ttr_id thread);
size_t nettrace_get_thread_index_of_tid(struct nettrace_writer *w, uint64_t pid, uint64_t tid);

/* Returns the number by which events refer to a thread: the tid; in V6 the thread index. In V6, a
 * new thread is declared before the next block. */
uint64_t nettrace_declare_thread(struct ttr_writer *out, size_t index);

/* Counts a loss for each new name of thread `id` that cannot be stored. index: that of the thread
 * in w->threads. Returns false if memory runs out. */
bool nettrace_count_lost_names(struct ttr_writer *out, ttr_id id, size_t index, uint64_t offset);

/* V6: returns true if a thread was renamed after it was declared. */
bool nettrace_thread_is_renamed(const struct ttr_writer *out, size_t index);

/* V6: returns true if the thread table should be cleared: a thread was renamed, or the table is
 * large. */
bool nettrace_threads_are_stale(struct ttr_writer *out);

/* Returns the reader that returned a nettrace event; NULL for events of other formats, and for
 * copies without a reader. */
const struct nettrace_reader *nettrace_get_source_reader(const struct ttr_writer *out,
                                                         const ttr_event *event);

/* Sets the threads, the sequence number and the CPU of a header to those of an event. Returns
 * false if memory runs out. */
TTR_MUST bool nettrace_set_header_threads(struct ttr_writer *out, const ttr_event *event,
                                          struct nettrace_header *header);

#endif
