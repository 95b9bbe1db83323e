/* The CTF writer: state of an output and the interface of each of its files.
 *
 * Writes events as CTF 1.8, CTF 2 or RFC v1.1: a folder with metadata, stream files and indexes.
 * README.md compares the four ways (copy, filter, transcode, encode) and lists the files in reading
 * order.
 *
 * Order of calls for one event that is transcoded or encoded:
 *
 * |  ctf_write                    selects the way of the event           (ctf_write.c)
 * |    ctf_transcode_event, ctf_encode_event        find trace and stream
 * |      ctf_items_collect        event -> list of items, shape hashes   (ctf_flatten.c)
 * |      ctf_get_event_class      shape -> event class, cached           (ctf_write_classes.c)
 * |        ctf_types_get_root     items -> struct type, for a new shape  (ctf_shape_types.c)
 * |      ctf_stream_start_packet  starts the packet                      (ctf_packet_writer.c)
 * |      ctf_stream_append_event  items -> bits of the packet            (layout_encode.c)
 * |  ctf_finish                   last packets, indexes, metadata, folder names
 *
 * Invariants: a class never changes after its first event. Metadata text is printed after the last
 * event, because any event may add a class; copied traces print it first, because their classes are
 * known.
 *
 * Cost per event: one pass over its fields, one hash lookup of the class, one pass over the items.
 * Memory: one packet per open stream, plus the description; all open packets share
 * about 8 MiB.
 *
 * Ownership: everything belongs to the writer and is freed by ctf_drop.  Not thread-safe: one
 * writer is used by one thread at a time.
 *
 * Left out: attributes of kinds that the target cannot
 * declare; ctf_losses.c lists them. */
#ifndef TRACETTA_FORMATS_CTF_WRITE_CTF_WRITE_H
#define TRACETTA_FORMATS_CTF_WRITE_CTF_WRITE_H

#include "base/clock_math.h"
#include "base/hash.h"
#include "base/key_map.h"
#include "base/number.h"
#include "formats/ctf/dialect/ctf_dialect.h"
#include "formats/ctf/read/ctf_read.h"
#include "formats/ctf/metadata/rfc11/rfc11.h"
#include "formats/ctf/packet/rfc11_packet.h"
#include "formats/ctf/write/ctf_items.h"
#include "io/folder.h"
#include "layout/layout_encode.h"
#include "model/output.h"

/* Losses of the CTF writer, counted per output. ctf_losses describes each one, in this order. */
enum ctf_loss {
    CTF_LOST_KIND,
    CTF_LOST_TICKS,
    CTF_LOST_BACKWARD,
    CTF_LOST_TIME,
    CTF_LOST_ORDER,
    CTF_LOST_MIXED,
    CTF_LOST_DEPTH,
    CTF_LOST_NUL,
    CTF_LOST_AFTER_NUL,
    CTF_LOST_HINT,
    CTF_LOST_WIDE,
    CTF_LOST_LENGTH,
    CTF_LOST_FLOAT,
    CTF_LOST_SIZE,
    CTF_LOST_WRAP,
    CTF_LOST_MOVED,
    CTF_LOST_NAME,
    CTF_LOST_ABSENT,
    CTF_LOST_TYPE,
    CTF_LOST_VARIANT,
    CTF_LOST_PROPERTY,
    CTF_LOST_CONTEXT,
    CTF_LOST_PACKET,
    CTF_LOST_PACKET_TIME,
    CTF_LOST_GAP,
    CTF_LOST_GAP_TIME,
    CTF_LOST_NUMBER,
    CTF_LOST_LABEL,
    CTF_LOST_THREAD,
    CTF_LOST_UUID,
    CTF_LOST_FILE,
    CTF_LOST_CHECKSUM,
    CTF_LOST_INDEX,
    CTF_LOST_EVENTS,
    CTF_LOST_PACKETS,
    CTF_LOSSES
};

extern const ttr_loss ctf_losses[CTF_LOSSES];

/* --- ctf_options.c --- */

struct ctf_options {
    enum ctf_version version; /* target version; CTF_UNKNOWN: the version of each source */
    bool is_big_endian;
    bool has_order; /* the user set the byte order (is_big_endian) */
    bool has_alignment, has_event_size, has_checksum, has_compression, has_cypher, has_packet_align,
        has_text;         /* the user set this option, which only v1.1 has */
    bool has_packet_size; /* the user set packet_size, which all versions have */
    bool has_index, has_no_index, has_packetised, is_packetised, is_text_metadata;
    const char *rfc_option; /* name of the first v1.1-only option that the user set; NULL = none */
    uint64_t packet_size;   /* bytes; a packet ends when its size reaches this */
    uint8_t rfc_header;     /* v1.1: event header type, 1 or 2; 0 = not set */
    bool rfc_is_natural, rfc_has_event_size;
    bool rfc_has_short_words; /* v1.1: natural alignment, but at most 32 bits, as in the source */
    /* the options require other packets than those of a v1.1 source, so these cannot be copied */
    bool changes_rfc;
    struct rfc11_pack_options packing;
    uint8_t key[RFC11_KEY];
};

/* Parses the options of the output. Fails with TTR_E_MISUSE, naming the invalid option. */
TTR_MUST ttr_status ctf_options_read(const struct ttr_writer *out, struct ctf_options *options,
                                     ttr_error *error);

/* Checks that `version` supports every option that the user set. Fails with TTR_E_MISUSE, naming
 * the first unsupported option. */
TTR_MUST ttr_status ctf_options_check_version(const struct ctf_options *options,
                                              enum ctf_version version, ttr_error *error);

/* Sets each option that the user did not set to its value in the source: byte order; for v1.1 also
 * alignment, checksum, compression, cipher (if the key is known), padding and text or binary
 * metadata. */
void ctf_options_inherit(struct ctf_options *options, const struct ctf_trace *source,
                         enum ctf_version version);

/* --- ctf_shape_types.c --- */

/* Types of one description, cached by the hash of the values that they encode (the shape,
 * ctf_flatten.c). All types are in the description's arena. */
struct ctf_types {
    ttr *t;
    struct ctf_description *description; /* version and byte order are set by the caller */
    bool is_dialect, is_natural;
    uint64_t renamed; /* number of fields whose names had to change */
    uint64_t
        /* number of length fields that were added, including those of elements wrapped in a struct
         * with their length */
        lengths;
    struct key_map by_key; /* hash of a shape or of a scalar type -> index in `type` */
    const struct type **type;
    size_t n, capacity;
    /* number of enumerations made so far; names them labels_1_t, labels_2_t ... */
    uint64_t labels_n;
    /* The following members are valid only inside ctf_types_get_root, while it builds a type. */
    const struct ctf_items *items;
    size_t at;
    struct type_member *member; /* stack of the members of all unfinished structs */
    size_t members_n, members_capacity;
    ttr_text path[2 * CTF_ITEMS_DEPTH + 2];
    ttr_text *called; /* written name of each item that is a struct member, by item index */
    size_t called_capacity;
    uint32_t path_n;
    enum type_root root;
    /* (struct, name) -> number of members with this name, or state of the member (ctf_type_names.c)
     */
    struct pair_map times;
    uint64_t structs;
    struct buffer name;
    bool failed;
};

void ctf_types_init(struct ctf_types *types, ttr *t, struct ctf_description *description);
void ctf_types_free(struct ctf_types *types);

/* Returns the struct type for items [from, to), whose shape hash is `shape`; makes it at first use.
 * Returns NULL, and sets types->failed, if memory runs out. */
const struct type *ctf_types_get_root(struct ctf_types *types, enum type_root root,
                                      const struct ctf_items *items, size_t from, size_t to,
                                      uint64_t shape);

/* Returns the type of a number of `bits` bits, printed in `base`, with the target's alignment. */
const struct type *ctf_types_get_number(struct ctf_types *types, uint8_t kind, unsigned bits,
                                        unsigned base);

/* Returns a new unsigned type of `bits` bits with the role `role` (enum ctf_role). It is not
 * cached, so the caller may add a clock or labels to it. */
struct type *ctf_types_new_special(struct ctf_types *types, unsigned bits, uint16_t role);

/* Returns a struct type with a copy of `members`. Names must be valid in the target language. */
struct type *ctf_types_new_struct(struct ctf_types *types, const struct type_member *members,
                                  uint32_t n);

/* --- ctf_write_classes.c --- */

/* A stream class of the output with the index of its event classes. */
struct ctf_stream_class_out {
    struct ctf_stream_class *class;
    /* hash of name, shape and identity -> index in class->events; UINT32_MAX: no class can express
     * these events */
    struct key_map events;
    size_t refused_n; /* number of entries of `events` that are UINT32_MAX */
    bool has_cpu;     /* the packet context has the CPU */
    bool has_clock;   /* the packet context has start and end times */
    /* the packet context has a sequence number; it has a counter of discarded events */
    bool has_sequence, has_discarded;
    bool has_time;             /* event headers have a timestamp */
    const struct type *fields; /* further members of the packet context, a struct; NULL = none */
    /* 1-based index of the common context's member that holds the event size; 0 = none */
    uint32_t size_member;
    /* The following members are used by ctf_transcode.c only. */
    const struct ctf_stream_decoder
        /* stream class of the first source stream that is written to this class; NULL = none */
        *source;
    uint64_t packet_shape;
    /* the output loses fields of event headers, or packet fields of events that were copied out of
     * their packets */
    bool loses_header;
};

/* Folder of one trace in the output. */
struct ctf_output_dir {
    char *folder; /* folder name relative to the output, "" or "NAME/" */
    char *path;   /* path of the source trace */
    size_t folder_size, path_size;
};

/* Names of threads and processes that were last written to a trace. A name is written only if it
 * differs from these. */
struct ctf_written_names {
    ttr_id *thread; /* by thread id: id of the thread name written last, plus 1; 0 = none yet */
    size_t threads_n;
    ttr_id *process; /* by process id: id of the process name written last, plus 1; 0 = none yet */
    size_t processes_n;
    /* by thread id: name_change_count plus 1 at the thread's last check; 0 = never checked */
    uint32_t *change;
    size_t changes_n;
};

/* Traces with the same UUID. Readers merge them into one trace, so their class ids must not
 * collide. */
struct ctf_trace_group {
    uint8_t uuid[16];
    size_t traces_n;
    struct key_map given; /* class ids in use (ctf_trace_group.c) */
};

/* One trace of the output: a description and its stream files. */
struct ctf_trace_out {
    const struct ctf_options *options; /* points to `ctx` */
    /* options of this trace: the user's, completed from the source */
    struct ctf_options ctx;
    const struct ctf_trace
        /* source trace whose properties are copied while this trace is started; NULL = none */
        *like;
    uint8_t source_header_type; /* v1.1: header type of the source's first section */
    bool source_has_event_size;
    struct ctf_description description;
    struct ctf_types types;
    bool is_dialect;
    bool is_suited;           /* true once ctf_trace_out_check_options succeeded */
    bool has_unix_time;       /* at least one event has a time since 1970 */
    struct ctf_clock *clock;  /* clock of events that are encoded in the dialect */
    int64_t base;             /* nanoseconds since 1970 at tick 0 of `clock` */
    struct ctf_trace *source; /* source trace, retained; NULL if the trace is in the dialect */
    bool keeps_clocks;        /* the source's clocks are used unchanged, except for their offsets */
    /* nanoseconds that were added to the source's times; already part of the clocks' offsets */
    int64_t moved;
    bool has_numbers; /* packets record the number of their data stream */
    /* group of traces with this UUID; NULL = no other trace has it */
    struct ctf_trace_group *joined;
    struct ctf_stream_class_out **kinds;
    size_t kinds_n, kinds_capacity;
    size_t streams_n; /* number of stream files */
    struct ctf_written_names written_names;
    struct ctf_output_dir home;
};

/* Starts a trace in the dialect; `first` is its first event. The caller zeroes *trace, except for
 * `home` and the three members from `like` on. Returns false if memory runs out. */
TTR_MUST bool ctf_trace_out_init(struct ctf_trace_out *trace, ttr *t,
                                 const struct ctf_options *options, enum ctf_version version,
                                 const ttr_event *first);
void ctf_trace_out_free(struct ctf_trace_out *trace, const struct alloc *alloc);

/* Checks that the trace's version supports all options that the user set
 * (ctf_options_check_version). Does nothing if an earlier check succeeded. */
TTR_MUST ttr_status ctf_trace_out_check_options(struct ctf_trace_out *trace,
                                                const struct ctf_options *options,
                                                ttr_error *error);

/* Starts a trace with the clocks, environment and names of a CTF source; omits those that `version`
 * cannot express. Returns false if memory runs out. */
TTR_MUST bool ctf_trace_out_init_like(struct ctf_trace_out *trace, ttr *t,
                                      const struct ctf_options *options, enum ctf_version version,
                                      struct ctf_trace *source);

/* Adds `ns` nanoseconds to the offsets of the trace's clocks. If that is not an integer number of
 * ticks of each clock, replaces the clocks by one of nanoseconds and returns true. */
bool ctf_trace_out_shift_clocks(struct ctf_trace_out *trace, int64_t ns);

/* Returns the trace's own nanosecond clock; adds it to the description at first use. Returns NULL,
 * and sets types->failed, if memory runs out. */
const struct ctf_clock *ctf_trace_out_get_own_clock(struct ctf_trace_out *trace);

/* Properties of a stream class that ctf_trace_out_add_stream_class makes. */
struct ctf_stream_class_spec {
    ttr_text name;
    uint64_t id;       /* preferred id; another one is chosen if it is in use */
    uint64_t likeness; /* hash that identifies the stream class in all folders of a trace */
    bool has_cpu;
    /* has_clock: packets have start and end times; has_time: events have timestamps */
    bool has_clock, has_time;
    bool has_sequence, has_discarded;
    /* clock of this description; NULL = timestamps without a clock */
    const struct ctf_clock *clock;
    const struct type *common; /* common event context; NULL = none */
    /* further members of the packet context, a struct; NULL = none */
    const struct type *fields;
    /* v1.1: event header type if the user did not choose one: 1, 2 or 0 = any */
    uint8_t rfc_header;
    bool rfc_has_event_size; /* v1.1: events have a size, if the user did not choose */
};

/* Adds a stream class to the description. Returns NULL if memory runs out. */
struct ctf_stream_class_out *ctf_trace_out_add_stream_class(
    struct ctf_trace_out *trace, const struct ctf_stream_class_spec *like);

/* Properties, apart from the items, that identify an event class. */
struct ctf_class_key {
    ttr_text name;
    /* source class whose properties the new class copies; NULL = none */
    const struct ctf_event_class *like;
    bool is_unnamed; /* the events have no name; `name` names only the class */
    /* hash of the event's properties that are not items, such as name and log level */
    uint64_t identity;
    uint64_t likeness; /* hash as `identity`, but equal in all folders of a trace */
    int64_t log_level;
    bool has_log_level;
};

/* Returns the existing event class for the items; NULL if there is none. */
const struct ctf_event_class *ctf_find_event_class(const struct ctf_stream_class_out *kind,
                                                   const struct ctf_items *items,
                                                   const struct ctf_class_key *key);

/* Returns true if ctf_get_event_class found earlier that no class that readers accept can express
 * the items. */
bool ctf_is_event_class_refused(const struct ctf_stream_class_out *kind,
                                const struct ctf_items *items, const struct ctf_class_key *key);

/* Returns the event class for the items; makes it at first use. Returns NULL if memory runs out or,
 * with the dialect only, if readers would reject every possible class. */
const struct ctf_event_class *ctf_get_event_class(struct ctf_trace_out *trace,
                                                  struct ctf_stream_class_out *kind,
                                                  const struct ctf_items *items,
                                                  const struct ctf_class_key *key);

/* --- ctf_packet_writer.c --- */

#define CTF_INDEX_NUMBERS 9u /* numbers per index entry */

/* LTTng index of a stream file that is being written. */
struct ctf_index_out {
    struct buffer entries; /* buffered entries that are not written yet */
    struct sink *file;     /* index file; NULL until the first entries are written */
    /* the file system cannot store the index's name, so no index is written */
    bool is_refused;
};

/* A stream file that is being written. */
struct ctf_stream_out {
    struct ctf_trace_out *trace;
    struct ctf_stream_class_out *kind;
    char *name; /* file name in the trace's folder, zero-terminated */
    size_t name_size;
    struct sink *sink; /* stream file; NULL until the first packet is written */
    struct buffer packet;
    struct bit_writer put;
    bool is_open, has_cpu;
    uint32_t cpu;
    uint64_t number; /* number of the data stream in its trace */
    /* ticks: time of the packet's first event; time of the stream's last event */
    uint64_t begin, last;
    uint64_t events; /* number of events in the open packet */
    uint64_t discarded, sequence;
    uint64_t offset; /* bytes written to the file */
    struct ctf_index_out index;
    /* template of the start of each packet: header and context, with zeros for numbers that are
     * stored when the packet ends */
    struct buffer head;
    uint64_t head_bits;
    uint64_t end; /* ticks; minimum of the open packet's end time */
    uint64_t
        /* transcoding: 1 + file offset of the source packet whose events the open packet holds; 0 =
         * none yet */
        packet_at;
    uint16_t source; /* source id of the input that `packet_at` refers to */
    /* hash of the source packet's fields, without times and counters; for events that were copied
     * out of their packets */
    uint64_t packet_fields_hash;
    bool is_continued; /* a later file of the same data stream continues its counters */
    /* the open packet's counter includes events discarded up to its end, so it must not be split */
    bool counts_to_end;
    /* ticks; end time of the open packet if its counters report a gap before an event without
     * packet; later events go to the next packet; 0 = no such gap */
    uint64_t gap_end;
    uint64_t excess_bytes; /* bytes of `packet` above its size limit */
};

/* Ends the open packet and starts one at tick `begin`. `items`: values of the packet context's
 * further members; NULL = none. */
TTR_MUST ttr_status ctf_stream_start_packet(struct ctf_stream_out *stream, struct ttr_writer *out,
                                            const struct ctf_items *items, uint64_t begin,
                                            ttr_error *error);

/* Starts a packet without events, with the context fields of the previous packet, at tick *begin;
 * NULL: at the end of the previous packet. */
TTR_MUST ttr_status ctf_stream_start_empty_packet(struct ctf_stream_out *stream,
                                                  struct ttr_writer *out, const uint64_t *begin,
                                                  ttr_error *error);

/* Appends an event to the open packet. If the packet has reached its size limit, writes it first
 * and starts another. */
TTR_MUST ttr_status ctf_stream_append_event(struct ctf_stream_out *stream, struct ttr_writer *out,
                                            const struct ctf_event_class *class,
                                            const struct ctf_items *items, uint64_t ticks,
                                            ttr_error *error);

/* Writes the last packet and the index, and finishes the file. */
TTR_MUST ttr_status ctf_stream_finish(struct ctf_stream_out *stream, struct ttr_writer *out,
                                      ttr_error *error);

/* Frees a stream, finished or not. The file of an unfinished stream is removed. */
void ctf_stream_free(struct ctf_stream_out *stream, const struct alloc *alloc);

/* --- ctf_files.c --- */

/* Creates a file named before + name + behind in `folder` ("" or "NAME/"). Returns NULL and fills
 * `error` on failure. */
struct sink *ctf_create_file(const char *folder, struct ttr_writer *out, const char *before,
                             const char *name, const char *behind, ttr_error *error);

/* Writes `bytes` as the complete content of a file and finishes the file. Consumes `sink`; NULL
 * means that `error` is already filled. */
TTR_MUST ttr_status ctf_write_file(struct sink *sink, const struct buffer *bytes, ttr_error *error);

/* --- ctf_index_write.c --- */

void ctf_index_out_init(struct ctf_index_out *index, const struct alloc *alloc);

/* Creates the file folder/index/name.idx. If the file system cannot store that name, sets *file to
 * NULL, counts a loss and returns TTR_OK. */
TTR_MUST ttr_status ctf_index_create_file(struct ttr_writer *out, const char *folder,
                                          const char *name, struct sink **file, ttr_error *error);

/* Appends an entry; `numbers` are in file order (ctf_index.h). */
void ctf_index_out_add(struct ctf_index_out *index, const uint64_t numbers[CTF_INDEX_NUMBERS]);

/* Returns true if the buffered entries are enough for an efficient write. */
bool ctf_index_out_is_full(const struct ctf_index_out *index);

/* Writes the buffered entries to folder/index/name.idx if ctf_index_out_is_full returns true. */
TTR_MUST ttr_status ctf_index_out_flush_full(struct ctf_index_out *index, struct ttr_writer *out,
                                             const char *folder, const char *name,
                                             ttr_error *error);

/* Writes the remaining entries and finishes the index file. Without entries the file has only a
 * header. */
TTR_MUST ttr_status ctf_index_out_finish(struct ctf_index_out *index, struct ttr_writer *out,
                                         const char *folder, const char *name, ttr_error *error);

/* Discards all buffered entries and removes an unfinished index file. */
void ctf_index_out_discard(struct ctf_index_out *index);

/* Discards all buffered entries and frees the index. */
void ctf_index_out_free(struct ctf_index_out *index);

/* --- ctf_metadata_write.c --- */

/* Prints a description as TSDL, JSON or RFC v1.1 metadata. Fails with TTR_E_UNSUPPORTED if the
 * language cannot express it. */
TTR_MUST ttr_status ctf_print_metadata(const struct ctf_description *description,
                                       enum ctf_version version, struct buffer *to,
                                       ttr_error *error);

/* Parameters of a metadata file. */
struct ctf_metadata {
    /* description that was printed; provides UUID, byte order and session */
    const struct ctf_description *description;
    enum ctf_version version; /* language of the text */
    const struct ctf_options *options;
    const char *folder; /* folder of the trace, "" or "NAME/" */
};

/* Writes metadata text, split into packets if the options ask for it. May append padding to `text`.
 */
TTR_MUST ttr_status ctf_write_metadata(const struct ctf_metadata *metadata, struct buffer *text,
                                       struct ttr_writer *out, ttr_error *error);

/* --- ctf_write.c --- */

struct ctf_trace_copy;
struct ctf_file_copy;

/* Events and packets that a source lost before its next packet. Gap events add to it; the next
 * packet's counters report it. */
struct ctf_pending_gaps {
    uint64_t events, packets;
    /* number of gaps for which the source does not record how many events were lost */
    uint64_t unknown;
    uint64_t ticks; /* ticks; start of the first gap of known size; valid if has_ticks */
    bool has_ticks;
    /* begin: nanoseconds, start of the first gap; events_end, packets_end: nanoseconds, end of the
     * gap of events and of packets */
    int64_t begin;
    int64_t events_end, packets_end;
    /* the times above do not describe one gap, because several gaps were added up */
    bool has_mixed_times;
    struct ctf_stream_out
        *stream; /* transcoding: output stream of the source's last packet; NULL = none */
};

/* A UUID in use and the trace that has it. */
struct ctf_uuid_claim {
    uint8_t uuid[16];   /* UUID of the source trace */
    uint32_t group;     /* number of the open call; traces opened by one call share it */
    uint32_t rank;      /* number of earlier traces with this UUID; 0 = the trace keeps its UUID */
    bool lacks_times;   /* at least one packet has no start time */
    int64_t begin, end; /* nanoseconds; time range of all packets */
};

struct ctf_writer {
    struct ctf_options options;
    struct ctf_trace_out **traces;
    size_t traces_n, traces_capacity;
    struct ctf_stream_out **streams;
    size_t streams_n, streams_capacity;
    struct pair_map
        trace_of;         /* (source, 0) or (identity, enum ctf_trace_kind) -> index in `traces` */
    struct key_map given; /* file names and stream classes in use (ctf_unique_names.c) */
    /* (trace, CPU + 1 or 0) -> index in `streams`; ctf_transcode_stream.c defines the keys of
     * transcoded streams */
    struct pair_map stream_of;
    struct ctf_pending_gaps *missing; /* gaps that are not written yet, by source */
    size_t missing_n;
    uint64_t packets_excess; /* bytes; sum of excess_bytes of all streams */
    struct ctf_items items, packet_items;
    struct ctf_field_list listing;
    struct buffer name; /* buffer for an escaped event name */
    /* State of ctf_count_reordered: time of the last event, and its stream. Among events of equal
     * time: the stream that readers deliver last. */
    int64_t now;
    const struct ctf_stream_out *latest;
    struct ctf_uuid_claim *claims; /* UUIDs in use (ctf_uuid_policy.c) */
    size_t claims_n, claims_capacity;
    struct ctf_trace_group **groups; /* groups of traces with the same UUID (ctf_trace_group.c) */
    size_t groups_n, groups_capacity;
    struct ctf_output_dir **output_dirs; /* folders of all traces, copied, transcoded or encoded */
    size_t output_dirs_n, output_dirs_capacity;
    /* Traces and files that are copied (ctf_copy.h). */
    struct ctf_trace_copy **trace_copies;
    size_t trace_copies_n, trace_copies_capacity;
    struct ctf_file_copy **copies;
    size_t copies_n, copies_capacity;
    struct pair_map copy_of; /* (source, 0) -> index in `copies` */
    struct ctf_file_copy *dirty, *last_copy;
    uint16_t last_source;
};

/* --- ctf_translate.c --- */

/* Counts the losses that arise if a description is printed in another language while its packets
 * are copied unchanged. */
void ctf_count_translation_losses(struct ttr_writer *out, const struct ctf_description *from,
                                  enum ctf_version to);

/* Counts the properties of a trace that the target version cannot express, except for those of its
 * fields. Used for copied and for transcoded traces. */
void ctf_count_property_losses(struct ttr_writer *out, const struct ctf_description *from,
                               enum ctf_version to);

/* --- ctf_uuid_policy.c --- */

/* Chooses the UUID that a trace is written with. Sets `uuid` to zeros if the trace has none. */
TTR_MUST ttr_status ctf_claim_uuid(struct ttr_writer *out, const struct ctf_trace *trace,
                                   uint8_t uuid[16], ttr_error *error);

/* Replaces a UUID by one that depends only on it and on `rank`, so output is reproducible. */
void ctf_change_uuid(uint8_t uuid[16], uint32_t rank);

/* --- ctf_trace_group.c --- */

/* Scope of stream class ids. The scope of event class ids is the id of their stream class. */
#define CTF_GROUP_STREAM_CLASSES UINT64_MAX

/* Adds a trace, whose UUID is set, to the group of its UUID. Returns false if memory runs out. */
TTR_MUST bool ctf_trace_group_add(struct ctf_writer *w, const struct alloc *alloc,
                                  struct ctf_trace_out *trace);

/* Ids of classes that are shared by all folders of a trace. ctf_trace_group_find_id: finds the id
 * of the class with the hash `likeness` in any folder. Returns false if there is none.
 *
 * ctf_trace_group_uses_id: returns true if the id is in use.
 *
 * ctf_trace_group_set_id: records `id` as used by the class with the hash `likeness`. Returns false
 * if memory runs out. */
bool ctf_trace_group_find_id(const struct ctf_trace_out *trace, uint64_t scope, uint64_t likeness,
                             uint64_t *id);
bool ctf_trace_group_uses_id(const struct ctf_trace_out *trace, uint64_t scope, uint64_t id);
TTR_MUST bool ctf_trace_group_set_id(const struct ctf_trace_out *trace, uint64_t scope,
                                     uint64_t likeness, uint64_t id);

/* Adds the classes of the other folders of its group to each folder, so all declare the same.
 * Called before metadata are written. Returns false if memory runs out. */
TTR_MUST bool ctf_trace_groups_complete(const struct ctf_writer *w, const struct alloc *alloc);
void ctf_trace_groups_free(struct ctf_writer *w, const struct alloc *alloc);

/* --- ctf_output_dirs.c --- */

/* Assigns an output folder to the next trace; `path` is the path of its source. Returns false if
 * memory runs out. */
TTR_MUST bool ctf_output_dir_init(struct ctf_output_dir *home, struct ctf_writer *w,
                                  const struct alloc *alloc, ttr_text path);
void ctf_output_dir_free(struct ctf_output_dir *home, const struct alloc *alloc);

/* Renames the folders to their final names if the output has several traces. All files must be
 * finished. */
TTR_MUST ttr_status ctf_output_dirs_rename(struct ttr_writer *out, ttr_error *error);

/* --- ctf_unique_names.c --- */

/* Numbers that were appended to names to make them unique. ctf_find_last_name_number: returns the
 * last number appended to names with the hash `like`; 0 if none. The search for an unused name
 * continues there.
 *
 * ctf_record_name_number: records `number` as the last one. Returns false if memory runs out. */
uint32_t ctf_find_last_name_number(const struct ctf_writer *w, const struct ctf_trace_out *trace,
                                   uint64_t like);
TTR_MUST bool ctf_record_name_number(struct ctf_writer *w, const struct ctf_trace_out *trace,
                                     uint64_t like, uint32_t number);

/* ctf_is_file_name_used: returns true if the trace has a file of this name.
 *
 * ctf_record_file_name: records the file name of a stream of class `kind`. `file` is
 * zero-terminated. Returns false if memory runs out. */
bool ctf_is_file_name_used(const struct ctf_writer *w, const struct ctf_trace_out *trace,
                           ttr_text file);
TTR_MUST bool ctf_record_file_name(struct ctf_writer *w, const struct ctf_trace_out *trace,
                                   const struct ctf_stream_class_out *kind, ttr_text file);

/* ctf_find_similar_class: returns the stream class recorded for the hash `like`; NULL = none.
 *
 * ctf_record_similar_class: records the trace's newest stream class for the hash `like`. Returns
 * false if memory runs out. */
struct ctf_stream_class_out *ctf_find_similar_class(const struct ctf_writer *w,
                                                    const struct ctf_trace_out *trace,
                                                    uint64_t like);
TTR_MUST bool ctf_record_similar_class(struct ctf_writer *w, const struct ctf_trace_out *trace,
                                       uint64_t like);

/* A file name that is checked before it is used. */
struct ctf_file_candidate {
    ttr_text name;    /* file name, zero-terminated */
    size_t section_n; /* v1.1: length in bytes of the section name that the file name starts with */
    /* stream class of that section; NULL = not created yet */
    const struct ctf_stream_class_out *kind;
};

/* In v1.1 a stream file belongs to the section with the longest name that the file name starts
 * with.
 *
 * ctf_is_file_of_other_section: returns true if readers would assign the file to another section
 * than `file->kind`.
 *
 * ctf_section_has_files: returns true if readers would assign existing files to a new section named
 * `section`. */
bool ctf_is_file_of_other_section(const struct ctf_writer *w, const struct ctf_trace_out *trace,
                                  const struct ctf_file_candidate *file);
bool ctf_section_has_files(const struct ctf_writer *w, const struct ctf_trace_out *trace,
                           ttr_text section);

/* --- ctf_discarded_write.c --- */

struct ctf_packet;

/* First packet of a transcoded stream. */
struct ctf_first_packet {
    const struct ctf_packet *about; /* the packet as the source records it */
    bool is_continuation;           /* its counters continue those of another source file */
};

/* Returns the collected gaps of a source; NULL if memory runs out. */
struct ctf_pending_gaps *ctf_pending_gaps_get(struct ttr_writer *out, uint16_t source);

/* Returns true if the gaps include a known number of events or packets. */
bool ctf_pending_gaps_have_count(const struct ctf_pending_gaps *missing);

/* Returns true if the stream's packets have a counter for the missing events or for the missing
 * packets. */
bool ctf_pending_gaps_fit_counters(const struct ctf_pending_gaps *missing,
                                   const struct ctf_stream_out *stream);

/* Returns true if another output stream contains packets of the same source stream, so that its
 * counters report the gaps. */
bool ctf_pending_gaps_are_in_other_stream(const struct ctf_pending_gaps *missing,
                                          const struct ctf_stream_out *stream);

/* Adds a gap event to the pending gaps of its source. */
TTR_MUST ttr_status ctf_pending_gaps_add(struct ttr_writer *out, const ttr_event *event,
                                         ttr_error *error);

/* Sets the first counters of a new stream. Returns true if readers can detect the missing events
 * only if an empty packet comes first; the caller must write that. */
bool ctf_pending_gaps_start_stream(struct ttr_writer *out, struct ctf_stream_out *stream,
                                   const struct ctf_first_packet *first,
                                   struct ctf_pending_gaps *missing);

/* Times of the packets next to a gap, in ticks of the stream. */
struct ctf_gap_times {
    uint64_t before; /* end time of the packet before the gap */
    /* start and end time of the packet whose counters report the gap; end 0 = time of its last
     * event */
    uint64_t begin, end;
    bool is_alone; /* that packet has no events */
};

/* Computes the packet times for a gap before an event at `ticks` that has no packet. Returns false
 * if no packet times can preserve those of the gap. */
bool ctf_pending_gaps_find_times(const struct ctf_pending_gaps *missing,
                                 const struct ctf_stream_out *stream, uint64_t ticks,
                                 struct ctf_gap_times *place);

/* Adds the pending gaps to the counters of the open packet and clears them. Counts a loss for gaps
 * that the packet has no counter for. */
void ctf_pending_gaps_store_counters(struct ttr_writer *out, struct ctf_stream_out *stream,
                                     struct ctf_pending_gaps *missing, uint64_t offset);

/* Writes the remaining pending gaps as empty packets at the ends of their streams. Called before
 * the streams are finished. Counts gaps of sources without an output stream as lost. */
TTR_MUST ttr_status ctf_pending_gaps_finish(struct ttr_writer *out, ttr_error *error);

/* --- ctf_transcode.c --- */

/* Returns true if the event or gap comes from a CTF trace that is not in our dialect. */
bool ctf_is_transcoded(const struct ttr_writer *out, const ttr_event *event);

/* Handles the definition of a packet of a transcoded trace: writes the packet if it has no events.
 */
TTR_MUST ttr_status ctf_transcode_packet(struct ttr_writer *out, const ttr_event *event,
                                         ttr_error *error);

/* Transcodes an event or gap of such a trace. */
TTR_MUST ttr_status ctf_transcode_event(struct ttr_writer *out, const ttr_event *event,
                                        ttr_error *error);

/* --- ctf_encode.c --- */

enum ctf_trace_kind {
    CTF_TRACE_OF_ANY = 1, /* trace in the dialect, from events of any format */
    CTF_TRACE_LIKE = 2    /* trace of transcoded events */
};

/* Returns the output trace for the event's source, kind of trace and identity. Sets *is_new if the
 * trace was added and the caller must start it. Returns NULL if memory runs out. */
struct ctf_trace_out *ctf_find_or_add_trace(struct ttr_writer *out, const ttr_event *event,
                                            uint64_t identity, enum ctf_trace_kind kind,
                                            bool *is_new);

/* Adds a stream that is written to a file named `name`. Returns NULL if memory runs out. */
struct ctf_stream_out *ctf_add_stream_file(struct ctf_writer *w, const struct alloc *alloc,
                                           struct ctf_trace_out *trace,
                                           struct ctf_stream_class_out *kind, ttr_text name);

/* Counts a loss if readers will deliver the event before an earlier written event of equal time. */
void ctf_count_reordered(struct ttr_writer *out, const struct ctf_stream_out *stream,
                         const ttr_event *event);

TTR_MUST ttr_status ctf_encode_event(struct ttr_writer *out, const ttr_event *event,
                                     ttr_error *error);

/* Finishes all streams and traces. needs_trace: write a trace even if there were no events. */
TTR_MUST ttr_status ctf_encode_finish(struct ttr_writer *out, bool needs_trace, ttr_error *error);
void ctf_encode_free(struct ctf_writer *w, const struct alloc *alloc);

/* --- ctf_stream_order.c --- */

bool ctf_writer_accepts_stream_order(struct ttr_writer *out, ttr_reader *in);

/* --- ctf_write.c --- */

ttr_status ctf_create(struct ttr_writer *out, ttr_error *error);
ttr_status ctf_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error);
ttr_status ctf_finish(struct ttr_writer *out, ttr_error *error);
void ctf_drop(struct ttr_writer *out);

#endif
