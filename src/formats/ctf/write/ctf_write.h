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
#include "formats/ctf/conventions/ctf_conventions.h"
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
        has_text;         /* the user set the v1.1-only option of this name */
    bool has_packet_size; /* the user set packet_size, an option of all versions */
    bool has_index, has_no_index, has_packetised, is_packetised, is_text_metadata;
    const char *rfc_option; /* name of the first v1.1-only option that the user set; NULL = none */
    uint64_t packet_size;   /* bytes; a packet ends when its size reaches this */
    uint8_t rfc_header;     /* v1.1: event header type, 1 or 2; 0 = not set */
    bool rfc_is_natural, rfc_has_event_size;
    /* v1.1: natural alignment, but of at most 32 bits (CTF_ALIGN_NATURAL_32), as in the source */
    bool rfc_has_short_words;
    /* an option requires packets that differ from those of a v1.1 source, so the source's packets
     * cannot be copied */
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

/* Sets each option that the user did not set to its value in the source trace: byte order; for v1.1
 * also alignment, checksum, compression, cipher (if the key is known), padding, and text or binary
 * metadata. */
void ctf_options_inherit(struct ctf_options *options, const struct ctf_trace *source,
                         enum ctf_version version);

/* --- ctf_shape_types.c --- */

/* Types of one description. They are cached by shape: the hash of names, types and nesting of the
 * items that a type encodes (ctf_flatten.c). All types are in the description's arena. */
struct ctf_types {
    ttr *t;
    struct ctf_description *description; /* version and byte order are set by the caller */
    bool has_conventions, is_natural;
    /* number of fields that were renamed, because the name is invalid or not unique */
    uint64_t renamed;
    uint64_t
        /* number of length fields that were added; includes the length fields of array elements
         * that are wrapped in a struct */
        lengths;
    struct key_map by_key; /* hash of a shape or of a scalar type -> index in `type` */
    const struct type **type;
    size_t n, capacity;
    /* number of named enumerations so far; part of the next one's name: labels_1_t, labels_2_t ...
     */
    uint64_t labels_n;
    /* The following members are valid only inside ctf_types_get_root, while it builds a type. */
    const struct ctf_items *items;
    size_t at;
    struct type_member *member; /* stack of the members of all structs that are not complete yet */
    size_t members_n, members_capacity;
    ttr_text path[2 * CTF_ITEMS_DEPTH + 2];
    ttr_text *called; /* name in the output of each item that is a struct member, by item index */
    size_t called_capacity;
    uint32_t path_n;
    enum type_root root;
    /* (struct, name) -> number of members with this name; for transcoded traces the NAME_TAKEN
     * state and last appended number (ctf_type_names.c) */
    struct pair_map times;
    uint64_t structs;
    struct buffer name;
    bool failed;
};

void ctf_types_init(struct ctf_types *types, ttr *t, struct ctf_description *description);
void ctf_types_free(struct ctf_types *types);

/* Returns the struct type of the items [from, to); `shape` is their shape hash. Builds the type at
 * the first call for a shape. Returns NULL, and sets types->failed, if memory runs out. */
const struct type *ctf_types_get_root(struct ctf_types *types, enum type_root root,
                                      const struct ctf_items *items, size_t from, size_t to,
                                      uint64_t shape);

/* Returns the type of a number of `bits` bits, printed in `base`, with the target's alignment. */
const struct type *ctf_types_get_number(struct ctf_types *types, uint8_t kind, unsigned bits,
                                        unsigned base);

/* Returns a new unsigned type of `bits` bits with the role `role` (enum ctf_role). The type is not
 * cached, so the caller may add a clock or labels to it. */
struct type *ctf_types_new_role_type(struct ctf_types *types, unsigned bits, uint16_t role);

/* Returns a struct type with a copy of `members`. Names must be valid in the target language. */
struct type *ctf_types_new_struct(struct ctf_types *types, const struct type_member *members,
                                  uint32_t n);

/* --- ctf_write_classes.c --- */

/* A stream class of the output and the hash map of its event classes. */
struct ctf_stream_class_out {
    struct ctf_stream_class *class;
    /* hash_event_class (context shape, payload shape, identity) -> index in class->events;
     * UINT32_MAX: readers would reject every class for these events */
    struct key_map events;
    size_t refused_n; /* number of entries of `events` that are UINT32_MAX */
    bool has_cpu;     /* the packet context has the CPU */
    bool has_clock;   /* the packet context has start and end times */
    /* has_sequence, has_discarded: the packet context has a sequence number, a counter of discarded
     * events */
    bool has_sequence, has_discarded;
    bool has_time;             /* event headers have a timestamp */
    const struct type *fields; /* struct of the packet context members that are copied from the
                                  source; NULL = none */
    /* 1-based index of the common context's member that holds the event size; 0 = none */
    uint32_t size_member;
    /* The following members are used by ctf_transcode.c only. */
    const struct ctf_stream_decoder
        /* stream class of the first source stream that is written to this class; NULL = none */
        *source;
    uint64_t packet_shape;
    /* event header fields are lost or, for events that a stage copied without their packet, packet
     * fields */
    bool loses_header;
};

/* Folder of one trace in the output. */
struct ctf_output_dir {
    char *folder; /* folder name relative to the output, "" or "NAME/" */
    char *path;   /* path of the source trace */
    size_t folder_size, path_size;
};

/* The last names of threads and processes that were written to a trace. A thread's name is written
 * again only if it differs. */
struct ctf_written_names {
    ttr_id *thread; /* by thread id: text id of the name written last, plus 1; 0 = none yet */
    size_t threads_n;
    ttr_id *process; /* by process id: text id of the name written last, plus 1; 0 = none yet */
    size_t processes_n;
    /* by thread id: value of ttr.name_change_count, plus 1, when the thread's name was last
     * compared; 0 = never */
    uint32_t *change;
    size_t changes_n;
};

/* Output traces with the same UUID. Readers merge them into one trace, so equal class ids must mean
 * equal classes. */
struct ctf_trace_group {
    uint8_t uuid[16];
    size_t traces_n;
    struct key_map
        ids_in_use; /* ids of stream and event classes in use, by scope (ctf_trace_group.c) */
};

/* One trace of the output: a description and its stream files. */
struct ctf_trace_out {
    const struct ctf_options *options; /* points to `ctx` */
    /* options of this trace: the user's and, for those not set, the source's (ctf_options_inherit)
     */
    struct ctf_options ctx;
    const struct ctf_trace
        /* source trace that ctf_trace_out_init_from_source copies properties from; NULL = none */
        *like;
    uint8_t source_header_type; /* v1.1: header type of the source's first section */
    bool source_has_event_size;
    struct ctf_description description;
    struct ctf_types types;
    bool has_conventions;
    bool is_suited;          /* ctf_trace_out_check_options has succeeded */
    bool has_unix_time;      /* at least one event has a time since 1970 */
    struct ctf_clock *clock; /* clock of events that are encoded with the CTF conventions */
    int64_t base;            /* nanoseconds since 1970 at tick 0 of `clock` */
    struct ctf_trace
        *source; /* source trace, retained; NULL if the trace follows the CTF conventions */
    /* the output has the source's clocks; only their offsets may differ */
    bool keeps_clocks;
    /* nanoseconds that were added to the source's times; included in the clocks' offsets */
    int64_t moved;
    bool has_numbers; /* packet headers have the stream number (stream_instance_id) */
    /* group of output traces with this UUID; NULL for v1.1 and for a trace without UUID */
    struct ctf_trace_group *joined;
    struct ctf_stream_class_out **kinds;
    size_t kinds_n, kinds_capacity;
    size_t streams_n; /* number of stream files */
    struct ctf_written_names written_names;
    struct ctf_output_dir home;
};

/* Initializes a trace that follows the CTF conventions; `first` is its first event. The caller has
 * set `home` and `like`; all other members are overwritten. Returns false if memory runs out. */
TTR_MUST bool ctf_trace_out_init(struct ctf_trace_out *trace, ttr *t,
                                 const struct ctf_options *options, enum ctf_version version,
                                 const ttr_event *first);
void ctf_trace_out_free(struct ctf_trace_out *trace, const struct alloc *alloc);

/* Checks that the trace's version supports all options that the user set
 * (ctf_options_check_version). Returns TTR_OK at once if an earlier check succeeded. */
TTR_MUST ttr_status ctf_trace_out_check_options(struct ctf_trace_out *trace,
                                                const struct ctf_options *options,
                                                ttr_error *error);

/* Initializes a trace with the clocks, environment and names of a CTF source. Omits properties that
 * `version` cannot express. Returns false if memory runs out. */
TTR_MUST bool ctf_trace_out_init_from_source(struct ctf_trace_out *trace, ttr *t,
                                             const struct ctf_options *options,
                                             enum ctf_version version, struct ctf_trace *source);

/* Adds `ns` nanoseconds to the offsets of the trace's clocks. If that is not an integer number of
 * ticks of every clock, replaces the clocks by one of nanoseconds and returns true. If only an
 * offset would overflow, changes nothing: the ticks of the events express the shift. */
bool ctf_trace_out_shift_clocks(struct ctf_trace_out *trace, int64_t ns);

/* Returns the nanosecond clock that the writer adds to a trace if no source clock fits. Adds the
 * clock to the description at the first call. Returns NULL, and sets types->failed, if memory runs
 * out. */
const struct ctf_clock *ctf_trace_out_get_own_clock(struct ctf_trace_out *trace);

/* Properties of a new stream class, for ctf_trace_out_add_stream_class. */
struct ctf_stream_class_spec {
    ttr_text name;
    uint64_t id;       /* preferred id; another one is chosen if it is in use */
    uint64_t likeness; /* hash that is equal for the same stream class in every folder of a trace */
    bool has_cpu;
    /* has_clock: packets have start and end times; has_time: events have timestamps */
    bool has_clock, has_time;
    bool has_sequence, has_discarded;
    /* clock of this description that timestamps refer to; NULL = timestamps without a clock */
    const struct ctf_clock *clock;
    const struct type *common; /* common event context; NULL = none */
    /* struct with members to append to the packet context; NULL = none */
    const struct type *fields;
    /* v1.1: event header type (1 or 2) if the user did not choose one; 0 = the default */
    uint8_t rfc_header;
    /* v1.1: events record their size; used if the user did not set event-size */
    bool rfc_has_event_size;
};

/* Adds a stream class to the description. Returns NULL if memory runs out. */
struct ctf_stream_class_out *ctf_trace_out_add_stream_class(
    struct ctf_trace_out *trace, const struct ctf_stream_class_spec *like);

/* Properties that identify an event class together with the shapes of its items. */
struct ctf_class_key {
    ttr_text name;
    /* source class that the new class copies properties from; NULL = none */
    const struct ctf_event_class *like;
    bool is_unnamed; /* the events have no name; `name` is only the name of the class */
    /* hash of event properties that the shapes do not cover, such as name and log level */
    uint64_t identity;
    uint64_t likeness; /* same as `identity`, but equal in all folders of a trace */
    int64_t log_level;
    bool has_log_level;
};

/* Returns the event class that was added for items of these shapes and this key; NULL if there is
 * none. */
const struct ctf_event_class *ctf_find_event_class(const struct ctf_stream_class_out *kind,
                                                   const struct ctf_items *items,
                                                   const struct ctf_class_key *key);

/* Returns true if ctf_get_event_class has returned NULL for these shapes and this key, because
 * readers would reject every possible class. */
bool ctf_is_event_class_refused(const struct ctf_stream_class_out *kind,
                                const struct ctf_items *items, const struct ctf_class_key *key);

/* Returns the event class for the items; adds the class at the first call. Returns NULL if memory
 * runs out and, with the CTF conventions, if readers would reject every possible class. */
const struct ctf_event_class *ctf_get_event_class(struct ctf_trace_out *trace,
                                                  struct ctf_stream_class_out *kind,
                                                  const struct ctf_items *items,
                                                  const struct ctf_class_key *key);

/* --- ctf_packet_writer.c --- */

#define CTF_INDEX_NUMBERS 9u /* numbers per index entry */

/* LTTng index of a stream file that is being written. */
struct ctf_index_out {
    struct buffer entries; /* entries that are not written to the file yet */
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
        /* transcoding: file offset, plus 1, of the source packet that the open packet's events come
         * from; 0 = none yet */
        packet_at;
    uint16_t source; /* source id of the input that `packet_at` refers to */
    /* transcoding: hash of the source packet's fields without times and counters, for events that a
     * stage copied without their packet; 0 = unknown */
    uint64_t packet_fields_hash;
    bool is_continued; /* a later file of the same data stream continues its counters */
    /* the open packet's counter includes events discarded up to the end of the packet; such a
     * packet must not be split */
    bool counts_to_end;
    /* ticks; end of a gap that the open packet's counters report, if the gap comes before an event
     * without packet; later events start a new packet; 0 = no such gap */
    uint64_t gap_end;
    uint64_t excess_bytes; /* bytes by which `packet` exceeds its size limit */
};

/* Ends the open packet and starts one at tick `begin`. `items`: values of the packet context
 * members that come from the source; NULL = zeros. */
TTR_MUST ttr_status ctf_stream_start_packet(struct ctf_stream_out *stream, struct ttr_writer *out,
                                            const struct ctf_items *items, uint64_t begin,
                                            ttr_error *error);

/* Ends the open packet and starts one for no events, which repeats the previous packet's context
 * fields. *begin: start time in ticks; NULL = end of the previous packet. */
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

/* Creates a file named prefix + name + suffix in `folder` ("" or "NAME/"). Returns NULL and fills
 * `error` on failure. */
struct sink *ctf_create_file(const char *folder, struct ttr_writer *out, const char *prefix,
                             const char *name, const char *suffix, ttr_error *error);

/* Writes `bytes` as the complete content of a file and finishes the file. Consumes `sink`. If
 * `sink` is NULL, returns the status in `error`, which ctf_create_file has filled. */
TTR_MUST ttr_status ctf_write_file(struct sink *sink, const struct buffer *bytes, ttr_error *error);

/* --- ctf_index_write.c --- */

void ctf_index_out_init(struct ctf_index_out *index, const struct alloc *alloc);

/* Creates the file folder/index/name.idx. If the file system cannot store that name, sets *file to
 * NULL, counts a loss and returns TTR_OK. */
TTR_MUST ttr_status ctf_index_create_file(struct ttr_writer *out, const char *folder,
                                          const char *name, struct sink **file, ttr_error *error);

/* Appends an entry; `numbers` are in file order (ctf_index.h). */
void ctf_index_out_add(struct ctf_index_out *index, const uint64_t numbers[CTF_INDEX_NUMBERS]);

/* Returns true if at least ENTRIES_WAIT bytes of entries are buffered, so that they should be
 * written. */
bool ctf_index_out_is_full(const struct ctf_index_out *index);

/* Writes the buffered entries to folder/index/name.idx if ctf_index_out_is_full returns true. */
TTR_MUST ttr_status ctf_index_out_flush_full(struct ctf_index_out *index, struct ttr_writer *out,
                                             const char *folder, const char *name,
                                             ttr_error *error);

/* Writes the remaining entries and finishes the index file. If there are no entries, writes a file
 * with only a header. */
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
struct ctf_pending_gaps;

/* A source UUID that a written trace uses, and the time range of that trace. */
struct ctf_uuid_claim {
    uint8_t uuid[16]; /* UUID of the source trace */
    /* id of the first input that the trace's reader was opened with; equal for traces that were
     * opened together */
    uint32_t group;
    /* number of earlier claims of this UUID with overlapping times; 0 = the trace keeps its UUID */
    uint32_t rank;
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
        trace_of; /* (source, 0) or (identity, enum ctf_trace_kind) -> index in `traces` */
    struct key_map
        names_in_use; /* map of file names and stream classes in use (ctf_unique_names.c) */
    /* (index of the trace, CPU + 1 or 0 for no CPU) -> index in `streams`; ctf_transcode_get_stream
     * uses other keys */
    struct pair_map stream_of;
    struct ctf_pending_gaps *missing; /* gaps that no packet has reported yet, by source id */
    size_t missing_n;
    uint64_t packets_excess; /* sum of excess_bytes of all streams */
    struct ctf_items items, packet_items;
    struct ctf_field_list listing;
    struct buffer name; /* escaped event name; reused for each event */
    /* State of ctf_count_reordered. now: time of the last event. latest: stream of the last event;
     * of events with equal time, the stream that readers deliver last. */
    int64_t now;
    const struct ctf_stream_out *latest;
    struct ctf_uuid_claim *claims; /* UUIDs in use (ctf_uuid_policy.c) */
    size_t claims_n, claims_capacity;
    struct ctf_trace_group **groups; /* traces grouped by UUID (ctf_trace_group.c) */
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

/* Counts the losses of a description that is printed in the metadata language of version `to`,
 * while the packets are copied unchanged. */
void ctf_count_translation_losses(struct ttr_writer *out, const struct ctf_description *from,
                                  enum ctf_version to);

/* Counts as lost the properties of a trace and of its classes, but not of its fields, that version
 * `to` cannot express. Called for copied and for transcoded traces. */
void ctf_count_property_losses(struct ttr_writer *out, const struct ctf_description *from,
                               enum ctf_version to);

/* --- ctf_uuid_policy.c --- */

/* Chooses the UUID that a trace is written with: the source's or, if the times overlap with another
 * trace of that UUID, a derived one. Sets `uuid` to zeros if the trace has none. */
TTR_MUST ttr_status ctf_claim_uuid(struct ttr_writer *out, const struct ctf_trace *trace,
                                   uint8_t uuid[16], ttr_error *error);

/* Replaces a UUID by a hash of the UUID and `rank`, so that equal input gives equal output. */
void ctf_change_uuid(uint8_t uuid[16], uint32_t rank);

/* --- ctf_trace_group.c --- */

/* Value of `scope` for stream class ids. For event class ids, `scope` is the id of their stream
 * class. */
#define CTF_GROUP_STREAM_CLASSES UINT64_MAX

/* Adds a trace to the group of its UUID, which must be set. Returns false if memory runs out. */
TTR_MUST bool ctf_trace_group_add(struct ctf_writer *w, const struct alloc *alloc,
                                  struct ctf_trace_out *trace);

/* Class ids are shared by all folders of a trace. ctf_trace_group_find_id: finds the id that was
 * recorded for the hash `likeness` of a class in any folder. Returns false if there is none.
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

/* Adds to each folder the classes that only other folders of the same trace declare, so that all
 * metadata declare the same classes. Called before metadata are written. Returns false if memory
 * runs out. */
TTR_MUST bool ctf_trace_groups_complete(const struct ctf_writer *w, const struct alloc *alloc);
void ctf_trace_groups_free(struct ctf_writer *w, const struct alloc *alloc);

/* --- ctf_output_dirs.c --- */

/* Sets the folder that the next trace is written to until ctf_output_dirs_rename; `path` is the
 * path of its source. Returns false if memory runs out. */
TTR_MUST bool ctf_output_dir_init(struct ctf_output_dir *home, struct ctf_writer *w,
                                  const struct alloc *alloc, ttr_text path);
void ctf_output_dir_free(struct ctf_output_dir *home, const struct alloc *alloc);

/* Renames the temporary folders to their final names if the output has several traces. All files
 * must be finished. */
TTR_MUST ttr_status ctf_output_dirs_rename(struct ttr_writer *out, ttr_error *error);

/* --- ctf_unique_names.c --- */

/* Numbers that were appended to file names to make them unique. ctf_find_last_name_number: returns
 * the last number appended to names with the hash `like`; 0 if none. The caller continues its
 * search for an unused name after that number.
 *
 * ctf_record_name_number: records `number` as the last one. Returns false if memory runs out. */
uint32_t ctf_find_last_name_number(const struct ctf_writer *w, const struct ctf_trace_out *trace,
                                   uint64_t like);
TTR_MUST bool ctf_record_name_number(struct ctf_writer *w, const struct ctf_trace_out *trace,
                                     uint64_t like, uint32_t number);

/* ctf_is_file_name_used: returns true if ctf_record_file_name recorded this name for the trace.
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

/* A possible file name of a new stream, before it is used. */
struct ctf_file_candidate {
    ttr_text name; /* file name, zero-terminated */
    /* v1.1: number of bytes at the start of the file name that are the section name */
    size_t section_n;
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

/* --- ctf_transcode.c --- */

/* Returns true if the event or gap comes from a CTF trace that does not follow the CTF conventions.
 */
bool ctf_is_transcoded(const struct ttr_writer *out, const ttr_event *event);

/* Handles the packet definition event of a transcoded trace. If the packet has no events, writes an
 * empty packet. */
TTR_MUST ttr_status ctf_transcode_packet(struct ttr_writer *out, const ttr_event *event,
                                         ttr_error *error);

/* Transcodes an event or gap for which ctf_is_transcoded returns true. */
TTR_MUST ttr_status ctf_transcode_event(struct ttr_writer *out, const ttr_event *event,
                                        ttr_error *error);

/* --- ctf_encode.c --- */

enum ctf_trace_kind {
    CTF_TRACE_OF_ANY = 1, /* trace that follows the CTF conventions, for events of any format */
    CTF_TRACE_LIKE = 2    /* trace of transcoded events, with the classes of its CTF source */
};

/* Returns the output trace with this identity and kind, and records it for the event's source. Sets
 * *is_new if the trace was added; then the caller must initialize it. Returns NULL if memory runs
 * out. */
struct ctf_trace_out *ctf_find_or_add_trace(struct ttr_writer *out, const ttr_event *event,
                                            uint64_t identity, enum ctf_trace_kind kind,
                                            bool *is_new);

/* Adds a stream that is written to a file named `name`. Returns NULL if memory runs out. */
struct ctf_stream_out *ctf_add_stream_file(struct ctf_writer *w, const struct alloc *alloc,
                                           struct ctf_trace_out *trace,
                                           struct ctf_stream_class_out *kind, ttr_text name);

/* Counts a loss if readers will deliver this event before an event that was written earlier and has
 * the same time. */
void ctf_count_reordered(struct ttr_writer *out, const struct ctf_stream_out *stream,
                         const ttr_event *event);

TTR_MUST ttr_status ctf_encode_event(struct ttr_writer *out, const ttr_event *event,
                                     ttr_error *error);

/* Finishes all streams and traces. needs_trace: if there were no events, write an empty trace. */
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
