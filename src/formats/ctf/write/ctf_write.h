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
 * Ownership: everything belongs to the writer and is freed by ctf_free_writer.  Not thread-safe:
 * one writer is used by one thread at a time.
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

/* Losses of the CTF writer, in the order of the table ctf_losses, which describes them. */
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

/* --- Options (ctf_options.c) --- */

struct ctf_options {
    /* version to write; CTF_UNKNOWN: the version of each source */
    enum ctf_version version;
    bool is_big_endian;
    bool has_order; /* is_big_endian: the user has set the byte order */
    bool has_alignment, has_event_size, has_checksum, has_compression, has_cypher, has_packet_align,
        has_text; /* the user has set the option of this name, which only v1.1 has */
    /* true if the user has set packet_size, an option of all versions */
    bool has_packet_size;
    bool has_index, has_no_index, has_packetised, is_packetised, is_text_metadata;
    /* name of the first option set by the user that only v1.1 has; NULL if it has none */
    const char *rfc_option;
    uint64_t packet_size; /* bytes; a packet of this size is written */
    /* v1.1: event header type that the user has set, 1 or 2; 0 if none */
    uint8_t rfc_header;
    bool rfc_is_natural, rfc_has_event_size;
    /* v1.1: natural alignment is limited to 32 bits (CTF_ALIGN_NATURAL_32), as in the source */
    bool rfc_has_short_words;
    /* v1.1: an option requires other packets than those of the source, so they cannot be copied */
    bool changes_rfc;
    struct rfc11_pack_options packing;
    uint8_t key[RFC11_KEY];
};

/* Parses the options of the output. Fails with TTR_E_MISUSE and the name of the invalid option. */
TTR_MUST ttr_status ctf_options_read(const struct ttr_writer *out, struct ctf_options *options,
                                     ttr_error *error);

/* Fails with TTR_E_MISUSE and the name of an option if the user has set one that `version` does
 * not support. */
TTR_MUST ttr_status ctf_options_check_version(const struct ctf_options *options,
                                              enum ctf_version version, ttr_error *error);

/* Sets the options that the user did not set to the values of the source trace: byte order; in
 * v1.1 also alignment, checksum, compression, cipher (if the key is known), padding, and text or
 * binary metadata. */
void ctf_options_inherit(struct ctf_options *options, const struct ctf_trace *source,
                         enum ctf_version version);

/* --- Types of the output (ctf_shape_types.c) --- */

/* Types of one description, in its arena. They are found by shape: the hash of names, types and
 * nesting of the items that a type encodes (ctf_flatten.c). */
struct ctf_types {
    ttr *t;
    /* the description; the caller has set its version and byte order */
    struct ctf_description *description;
    bool has_conventions, is_natural;
    /* number of fields that got another name, because theirs is invalid or not unique */
    uint64_t renamed;
    uint64_t
        /* number of length fields that were added, including those of array elements */
        lengths;
    /* maps the hash of a shape or scalar type to an index in `type` */
    struct key_map by_key;
    const struct type **type;
    size_t n, capacity;
    /* number of enumerations that have a name so far: labels_1_t, labels_2_t ... */
    uint64_t labels_n;
    /* The members from here on are valid only while ctf_types_get_root builds a type. */
    const struct ctf_items *items;
    size_t at;
    /* stack: members of all structs that are not complete yet */
    struct type_member *member;
    size_t members_n, members_capacity;
    ttr_text path[2 * CTF_ITEMS_DEPTH + 2];
    /* names in the output of items that are struct members, by item index */
    ttr_text *called;
    size_t called_capacity;
    uint32_t path_n;
    enum type_root root;
    /* maps (struct, name) to the number of members with this name; in transcoded traces to
     * NAME_TAKEN and the last appended number (ctf_type_names.c) */
    struct pair_map times;
    uint64_t structs;
    struct buffer name;
    bool failed;
};

void ctf_types_init(struct ctf_types *types, ttr *t, struct ctf_description *description);
void ctf_types_free(struct ctf_types *types);

/* Returns the struct type of the items [from, to); `shape` is their shape hash. The first call for
 * a shape builds the type. If memory runs out, returns NULL and sets types->failed. */
const struct type *ctf_types_get_root(struct ctf_types *types, enum type_root root,
                                      const struct ctf_items *items, size_t from, size_t to,
                                      uint64_t shape);

/* Returns the type of a number of `bits` bits that is printed in `base`, with the alignment that
 * the target requires. */
const struct type *ctf_types_get_number(struct ctf_types *types, uint8_t kind, unsigned bits,
                                        unsigned base);

/* Returns an unsigned type of `bits` bits with the role `role` (enum ctf_role). Each call makes a
 * new type, so the caller may add a clock or labels to it. */
struct type *ctf_types_new_role_type(struct ctf_types *types, unsigned bits, uint16_t role);

/* Returns a struct type with a copy of `members`. Their names must be valid in the target
 * language. */
struct type *ctf_types_new_struct(struct ctf_types *types, const struct type_member *members,
                                  uint32_t n);

/* --- Event classes of the output (ctf_write_classes.c) --- */

/* A stream class of the output, and a map of its event classes. */
struct ctf_stream_class_out {
    struct ctf_stream_class *class;
    /* maps hash_event_class (context shape, payload shape, identity) to an index in class->events;
     * to UINT32_MAX if readers would reject every class for these events */
    struct key_map events;
    size_t refused_n; /* number of entries of `events` that are UINT32_MAX */
    bool has_cpu;     /* packet contexts have a CPU number */
    bool has_clock;   /* packet contexts have start and end times */
    /* packet contexts have a sequence number; a counter of discarded events */
    bool has_sequence, has_discarded;
    bool has_time; /* event headers have timestamps */
    /* struct of the packet context members that come from the source; NULL if it has none */
    const struct type *fields;
    /* index + 1 of the member of the common context with the event size; 0 if there is none */
    uint32_t size_member;
    /* The members from here on are used by ctf_transcode.c only. */
    const struct ctf_stream_decoder
        /* first stream class of a source that is written to this class; NULL if there is none */
        *source;
    uint64_t packet_shape;
    /* true if fields are lost: of event headers, or of the packets of events that were copied
     * without their packet */
    bool loses_header;
};

/* Output folder of one trace. */
struct ctf_output_dir {
    char *folder; /* path relative to the output, "" or "NAME/" */
    char *path;   /* path of the source trace */
    size_t folder_size, path_size;
};

/* Names of threads and processes that were written to a trace last. A name is written again only
 * if it has changed. */
struct ctf_written_names {
    /* by thread id: text id of the last written name, plus 1; 0 if none was written */
    ttr_id *thread;
    size_t threads_n;
    /* by process id: text id of the last written name, plus 1; 0 if none was written */
    ttr_id *process;
    size_t processes_n;
    /* by thread id: ttr.name_change_count, plus 1, when the thread's name was last compared; 0 if
     * never */
    uint32_t *change;
    size_t changes_n;
};

/* Output traces with the same UUID. Readers merge them into one trace, so classes with the same id
 * must be equal. */
struct ctf_trace_group {
    uint8_t uuid[16];
    size_t traces_n;
    struct key_map
        /* map of the used ids of stream and event classes, by scope (ctf_trace_group.c) */
        ids_in_use;
};

/* A trace of the output: its description and its stream files. */
struct ctf_trace_out {
    const struct ctf_options *options; /* the options of this trace: `ctx` */
    /* options that the user has set, and values of the source for all others (ctf_options_inherit)
     */
    struct ctf_options ctx;
    const struct ctf_trace
        /* source trace from which ctf_trace_out_init_from_source copies properties; NULL if there
         * is none */
        *like;
    /* v1.1: event header type of the source's first section */
    uint8_t source_header_type;
    bool source_has_event_size;
    struct ctf_description description;
    struct ctf_types types;
    bool has_conventions;
    bool is_suited;     /* ctf_trace_out_check_options was called and has succeeded */
    bool has_unix_time; /* true if at least one event has a time since 1970 */
    /* clock of the events that are encoded by the CTF conventions */
    struct ctf_clock *clock;
    int64_t base; /* time of tick 0 of `clock`, in ns since 1970 */
    struct ctf_trace
        /* source trace, with a reference to it; NULL if the trace follows the CTF conventions */
        *source;
    /* true if the clocks are those of the source, possibly with other offsets */
    bool keeps_clocks;
    /* ns that were added to the times of the source; clock offsets include them */
    int64_t moved;
    bool has_numbers; /* packet headers have a stream number (stream_instance_id) */
    /* output traces with the same UUID; NULL in v1.1 and if the trace has no UUID */
    struct ctf_trace_group *joined;
    struct ctf_stream_class_out **kinds;
    size_t kinds_n, kinds_capacity;
    size_t streams_n; /* number of stream files */
    struct ctf_written_names written_names;
    struct ctf_output_dir home;
};

/* Initializes a trace that follows the CTF conventions. `first`: its first event. Overwrites all
 * members but `home` and `like`, which the caller has set. Returns false if memory runs out. */
TTR_MUST bool ctf_trace_out_init(struct ctf_trace_out *trace, ttr *t,
                                 const struct ctf_options *options, enum ctf_version version,
                                 const ttr_event *first);
void ctf_trace_out_free(struct ctf_trace_out *trace, const struct alloc *alloc);

/* Fails if the trace's version does not support all options that the user has set
 * (ctf_options_check_version). Checks nothing after the first success. */
TTR_MUST ttr_status ctf_trace_out_check_options(struct ctf_trace_out *trace,
                                                const struct ctf_options *options,
                                                ttr_error *error);

/* Initializes a trace with the clocks, environment and names of a CTF source. Omits properties that
 * `version` cannot express. Returns false if memory runs out. */
TTR_MUST bool ctf_trace_out_init_from_source(struct ctf_trace_out *trace, ttr *t,
                                             const struct ctf_options *options,
                                             enum ctf_version version, struct ctf_trace *source);

/* Adds `ns` to the offsets of the trace's clocks. If `ns` is not a whole number of ticks of each
 * clock, replaces the clocks by one of nanoseconds and returns true. If an offset would overflow,
 * changes nothing: then the ticks of the events include the shift. */
bool ctf_trace_out_shift_clocks(struct ctf_trace_out *trace, int64_t ns);

/* Returns the nanosecond clock that the writer adds to a trace if no clock of the source is
 * suitable. The first call adds the clock. If memory runs out, returns NULL and sets
 * types->failed. */
const struct ctf_clock *ctf_trace_out_get_own_clock(struct ctf_trace_out *trace);

/* Properties of a stream class that ctf_trace_out_add_stream_class adds. */
struct ctf_stream_class_spec {
    ttr_text name;
    uint64_t id; /* id to use; another id is chosen if it is in use */
    /* hash of the stream class that is equal in all folders of a trace */
    uint64_t likeness;
    bool has_cpu;
    /* has_clock: packets have start and end times; has_time: events have timestamps */
    bool has_clock, has_time;
    bool has_sequence, has_discarded;
    /* clock of the timestamps, in this description; NULL if timestamps have no clock */
    const struct ctf_clock *clock;
    const struct type *common; /* common event context; NULL if there is none */
    /* struct of members that are appended to the packet context; NULL if it has none */
    const struct type *fields;
    /* v1.1: event header type (1 or 2) if the user has not chosen one; 0 for the default */
    uint8_t rfc_header;
    /* v1.1: events store their size, unless the user has set the option event-size */
    bool rfc_has_event_size;
};

/* Adds a stream class to the description. Returns NULL if memory runs out. */
struct ctf_stream_class_out *ctf_trace_out_add_stream_class(
    struct ctf_trace_out *trace, const struct ctf_stream_class_spec *like);

/* Properties that identify an event class, in addition to the shapes of its items. */
struct ctf_class_key {
    ttr_text name;
    /* event class of the source from which properties are copied; NULL if there is none */
    const struct ctf_event_class *like;
    /* true if events do not have this name; it is only that of the class */
    bool is_unnamed;
    /* hash of the properties that are not part of a shape, such as name and log level */
    uint64_t identity;
    uint64_t likeness; /* hash like `identity`, but equal in all folders of a trace */
    int64_t log_level;
    bool has_log_level;
};

/* Returns the event class that was added for these shapes and this key; NULL if there is none. */
const struct ctf_event_class *ctf_find_event_class(const struct ctf_stream_class_out *kind,
                                                   const struct ctf_items *items,
                                                   const struct ctf_class_key *key);

/* Returns true if ctf_get_event_class returned NULL for these shapes and this key, because readers
 * would reject any class for them. */
bool ctf_is_event_class_refused(const struct ctf_stream_class_out *kind,
                                const struct ctf_items *items, const struct ctf_class_key *key);

/* Returns the event class for the items; the first call adds it. Returns NULL if memory runs out;
 * with the CTF conventions also if readers would reject any class for the items. */
const struct ctf_event_class *ctf_get_event_class(struct ctf_trace_out *trace,
                                                  struct ctf_stream_class_out *kind,
                                                  const struct ctf_items *items,
                                                  const struct ctf_class_key *key);

/* --- Packets of the output (ctf_packet_writer.c) --- */

#define CTF_INDEX_NUMBERS 9u /* how many numbers an index entry has */

/* LTTng index of a stream file, while both are written. */
struct ctf_index_out {
    struct buffer entries; /* encoded entries that are not in the file yet */
    struct sink *file;     /* index file; NULL until its first entries are written */
    /* true if the file system does not allow the name of the index, so none is written */
    bool is_refused;
};

/* A stream file of the output, while it is written. */
struct ctf_stream_out {
    struct ctf_trace_out *trace;
    struct ctf_stream_class_out *kind;
    char *name; /* file name in the trace's folder; ends with a zero byte */
    size_t name_size;
    struct sink *sink; /* the file; NULL until the first packet is written */
    struct buffer packet;
    struct bit_writer put;
    bool is_open, has_cpu;
    uint32_t cpu;
    uint64_t number; /* number of the data stream in the trace */
    /* ticks; begin: time of the packet's first event; last: time of the stream's last event */
    uint64_t begin, last;
    uint64_t events; /* number of events in the open packet */
    uint64_t discarded, sequence;
    uint64_t offset; /* number of bytes written to the file */
    struct ctf_index_out index;
    /* bytes with which each packet starts: packet header and context; numbers that are stored when
     * the packet ends are zero */
    struct buffer head;
    uint64_t head_bits;
    uint64_t end; /* ticks; the end time of the open packet must not be earlier */
    uint64_t
        /* transcoding: file offset, plus 1, of the source packet of the events in the open packet;
         * 0 if it has none */
        packet_at;
    uint16_t source; /* source id of the input with the packet at packet_at */
    /* transcoding: hash of the fields of the source packet, without times and counters; for events
     * that were copied without their packet; 0 if unknown */
    uint64_t packet_fields_hash;
    /* true if a later file contains the same data stream and continues its counters */
    bool is_continued;
    /* true if the counter of the open packet includes events that were discarded up to its end, so
     * the packet must not be split */
    bool counts_to_end;
    /* ticks; end of a gap before an event without packet, which the open packet's counters report;
     * events after it start a new packet; 0 if there is none */
    uint64_t gap_end;
    uint64_t excess_bytes; /* bytes by which `packet` exceeds its size limit */
};

/* Ends the open packet and starts one at tick `begin`. `items`: values of the packet context
 * members that come from the source; if NULL, they are zero. */
TTR_MUST ttr_status ctf_stream_start_packet(struct ctf_stream_out *stream, struct ttr_writer *out,
                                            const struct ctf_items *items, uint64_t begin,
                                            ttr_error *error);

/* Ends the open packet and starts a packet without events. Its context has the same fields as that
 * of the previous packet. *begin: start time in ticks; if NULL, the end of the previous packet. */
TTR_MUST ttr_status ctf_stream_start_empty_packet(struct ctf_stream_out *stream,
                                                  struct ttr_writer *out, const uint64_t *begin,
                                                  ttr_error *error);

/* Appends an event to the open packet. If the packet has reached its size limit, writes it before
 * and starts another. */
TTR_MUST ttr_status ctf_stream_append_event(struct ctf_stream_out *stream, struct ttr_writer *out,
                                            const struct ctf_event_class *class,
                                            const struct ctf_items *items, uint64_t ticks,
                                            ttr_error *error);

/* Writes the last packet and the index, and finishes the file. */
TTR_MUST ttr_status ctf_stream_finish(struct ctf_stream_out *stream, struct ttr_writer *out,
                                      ttr_error *error);

/* Frees a stream. If it was not finished, removes its file. */
void ctf_stream_free(struct ctf_stream_out *stream, const struct alloc *alloc);

/* --- Files of the output (ctf_files.c) --- */

/* Creates a file named prefix + name + suffix in `folder` ("" or "NAME/"). Returns NULL with
 * `error` on failure. */
struct sink *ctf_create_file(const char *folder, struct ttr_writer *out, const char *prefix,
                             const char *name, const char *suffix, ttr_error *error);

/* Writes `bytes` as the content of a file and finishes the file. Consumes `sink`. If `sink` is
 * NULL, because ctf_create_file failed, returns the status in `error`. */
TTR_MUST ttr_status ctf_write_file(struct sink *sink, const struct buffer *bytes, ttr_error *error);

/* --- Index of a stream file (ctf_index_write.c) --- */

void ctf_index_out_init(struct ctf_index_out *index, const struct alloc *alloc);

/* Creates the file folder/index/name.idx. If the file system does not allow that name, sets *file
 * to NULL, counts a loss and returns TTR_OK. */
TTR_MUST ttr_status ctf_index_create_file(struct ttr_writer *out, const char *folder,
                                          const char *name, struct sink **file, ttr_error *error);

/* Appends an entry to the index. `numbers`: values in file order (ctf_index.h). */
void ctf_index_out_add(struct ctf_index_out *index, const uint64_t numbers[CTF_INDEX_NUMBERS]);

/* Returns true if so many bytes of entries are collected that they should be written
 * (ENTRIES_WAIT). */
bool ctf_index_out_is_full(const struct ctf_index_out *index);

/* Writes the collected entries to folder/index/name.idx if ctf_index_out_is_full returns true. */
TTR_MUST ttr_status ctf_index_out_flush_full(struct ctf_index_out *index, struct ttr_writer *out,
                                             const char *folder, const char *name,
                                             ttr_error *error);

/* Writes the remaining entries and finishes the index file. Without entries, writes a file that
 * has only a header. */
TTR_MUST ttr_status ctf_index_out_finish(struct ctf_index_out *index, struct ttr_writer *out,
                                         const char *folder, const char *name, ttr_error *error);

/* Drops all collected entries, and removes the index file if it is not finished. */
void ctf_index_out_discard(struct ctf_index_out *index);

/* Drops all collected entries, and frees the index. */
void ctf_index_out_free(struct ctf_index_out *index);

/* --- Metadata of the output (ctf_metadata_write.c) --- */

/* Prints a description as TSDL, JSON or RFC v1.1 metadata. Fails with TTR_E_UNSUPPORTED if the
 * language cannot express it. */
TTR_MUST ttr_status ctf_print_metadata(const struct ctf_description *description,
                                       enum ctf_version version, struct buffer *to,
                                       ttr_error *error);

/* Arguments of ctf_write_metadata besides the text. */
struct ctf_metadata {
    /* description that was printed; its UUID, byte order and session are written, too */
    const struct ctf_description *description;
    enum ctf_version version; /* language of the metadata text */
    const struct ctf_options *options;
    const char *folder; /* folder of the trace in the output, "" or "NAME/" */
};

/* Writes metadata text; in packets if the options require it. May append padding to `text`. */
TTR_MUST ttr_status ctf_write_metadata(const struct ctf_metadata *metadata, struct buffer *text,
                                       struct ttr_writer *out, ttr_error *error);

/* --- State of the writer (ctf_write.c) --- */

struct ctf_trace_copy;
struct ctf_file_copy;
struct ctf_pending_gaps;

/* A UUID of a source that a written trace has, and the time range of that trace. */
struct ctf_uuid_claim {
    uint8_t uuid[16]; /* UUID of the source trace */
    /* id of the first input of the trace's reader; equal for traces that were opened together */
    uint32_t group;
    /* number of traces with this UUID and overlapping times that were written before; 0: the trace
     * keeps its UUID */
    uint32_t rank;
    /* true if at least one packet has no start time, so `begin` and `end` are unknown */
    bool lacks_times;
    int64_t begin, end; /* time range of all packets in ns */
};

struct ctf_writer {
    struct ctf_options options;
    struct ctf_trace_out **traces;
    size_t traces_n, traces_capacity;
    struct ctf_stream_out **streams;
    size_t streams_n, streams_capacity;
    struct pair_map
        /* maps (source, 0) and (identity, enum ctf_trace_kind) to an index in `traces` */
        trace_of;
    struct key_map
        /* map of the file names and stream classes in use (ctf_unique_names.c) */
        names_in_use;
    /* maps (index of the trace, CPU + 1 or 0 if none) to an index in `streams`;
     * ctf_transcode_get_stream uses other keys */
    struct pair_map stream_of;
    /* gaps of each source id that no packet has reported yet */
    struct ctf_pending_gaps *missing;
    size_t missing_n;
    uint64_t packets_excess; /* sum of excess_bytes of all streams */
    struct ctf_items items, packet_items;
    struct ctf_field_list listing;
    struct buffer name; /* escaped name of the current event */
    /* State of ctf_count_reordered. now: time of the last event; latest: its stream. Of several
     * events with that time, the stream that readers return last. */
    int64_t now;
    const struct ctf_stream_out *latest;
    /* UUIDs in use, with their time ranges (ctf_uuid_policy.c) */
    struct ctf_uuid_claim *claims;
    size_t claims_n, claims_capacity;
    struct ctf_trace_group **groups; /* output traces by UUID (ctf_trace_group.c) */
    size_t groups_n, groups_capacity;
    /* output folders of all traces: copied, transcoded and encoded */
    struct ctf_output_dir **output_dirs;
    size_t output_dirs_n, output_dirs_capacity;
    /* Copied traces, and their copied files (ctf_copy.h). */
    struct ctf_trace_copy **trace_copies;
    size_t trace_copies_n, trace_copies_capacity;
    struct ctf_file_copy **copies;
    size_t copies_n, copies_capacity;
    struct pair_map copy_of; /* maps (source, 0) to an index in `copies` */
    struct ctf_file_copy *dirty, *last_copy;
    uint16_t last_source;
};

/* --- Losses of whole traces (ctf_translate.c) --- */

/* Counts the losses of a description if it is printed in the metadata language of version `to` and
 * the packets are copied unchanged. */
void ctf_count_translation_losses(struct ttr_writer *out, const struct ctf_description *from,
                                  enum ctf_version to);

/* Counts as lost the properties of a trace and its classes, but not of fields, that version `to`
 * cannot express. Called for copied and transcoded traces. */
void ctf_count_property_losses(struct ttr_writer *out, const struct ctf_description *from,
                               enum ctf_version to);

/* --- UUIDs of the output (ctf_uuid_policy.c) --- */

/* Chooses the UUID of a written trace: that of the source; a derived one if another trace with
 * that UUID overlaps it in time. Sets `uuid` to zeros if the source has none. */
TTR_MUST ttr_status ctf_choose_written_uuid(struct ttr_writer *out, const struct ctf_trace *trace,
                                            uint8_t uuid[16], ttr_error *error);

/* Replaces a UUID by a hash of it and of `rank`, so that equal inputs result in equal outputs. */
void ctf_derive_uuid(uint8_t uuid[16], uint32_t rank);

/* --- Traces in several folders (ctf_trace_group.c) --- */

/* Value of `scope` for ids of stream classes. For ids of event classes, `scope` is the id of their
 * stream class. */
#define CTF_GROUP_STREAM_CLASSES UINT64_MAX

/* Adds a trace, which must have a UUID, to the group of its UUID. Returns false if memory is
 * out. */
TTR_MUST bool ctf_trace_group_add(struct ctf_writer *w, const struct alloc *alloc,
                                  struct ctf_trace_out *trace);

/* Ids of classes, which must be equal in all folders of a trace. ctf_trace_group_find_id: finds
 * the id of the class with the hash `likeness` in any folder. Returns false if there is none.
 *
 * ctf_trace_group_uses_id: returns true if a class has the id.
 *
 * ctf_trace_group_set_id: records that the class with the hash `likeness` has the id. Returns
 * false if memory runs out. */
bool ctf_trace_group_find_id(const struct ctf_trace_out *trace, uint64_t scope, uint64_t likeness,
                             uint64_t *id);
bool ctf_trace_group_uses_id(const struct ctf_trace_out *trace, uint64_t scope, uint64_t id);
TTR_MUST bool ctf_trace_group_set_id(const struct ctf_trace_out *trace, uint64_t scope,
                                     uint64_t likeness, uint64_t id);

/* Adds to each folder the classes that only other folders of the same trace declare, so that the
 * metadata of all folders declare the same classes. Called before metadata are written. Returns
 * false if memory runs out. */
TTR_MUST bool ctf_trace_groups_complete(const struct ctf_writer *w, const struct alloc *alloc);
void ctf_trace_groups_free(struct ctf_writer *w, const struct alloc *alloc);

/* --- Output folders (ctf_output_dirs.c) --- */

/* Sets the folder of the next trace, which is final after ctf_output_dirs_rename. `path`: path of
 * its source. Returns false if memory runs out. */
TTR_MUST bool ctf_output_dir_init(struct ctf_output_dir *home, struct ctf_writer *w,
                                  const struct alloc *alloc, ttr_text path);
void ctf_output_dir_free(struct ctf_output_dir *home, const struct alloc *alloc);

/* If the output has several traces, renames their temporary folders to the final names. All files
 * must be finished. */
TTR_MUST ttr_status ctf_output_dirs_rename(struct ttr_writer *out, ttr_error *error);

/* --- Names in use (ctf_unique_names.c) --- */

/* Numbers that were appended to file names to make them unique. ctf_find_last_name_number: returns
 * the last number for names with the hash `like`; 0 if none. The caller searches for an unused
 * name from there on.
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

/* ctf_find_similar_class: returns the stream class that was recorded with the hash `like`; NULL if
 * there is none.
 *
 * ctf_record_similar_class: records the trace's newest stream class with the hash `like`. Returns
 * false if memory runs out. */
struct ctf_stream_class_out *ctf_find_similar_class(const struct ctf_writer *w,
                                                    const struct ctf_trace_out *trace,
                                                    uint64_t like);
TTR_MUST bool ctf_record_similar_class(struct ctf_writer *w, const struct ctf_trace_out *trace,
                                       uint64_t like);

/* A file name that a new stream may get if it is suitable. */
struct ctf_file_candidate {
    ttr_text name; /* file name; ends with a zero byte */
    /* v1.1: length of the section name, with which the file name starts */
    size_t section_n;
    /* stream class of that section; NULL if it is new */
    const struct ctf_stream_class_out *kind;
};

/* In v1.1, a stream file belongs to the section with the longest name with which the file name
 * starts.
 *
 * ctf_is_file_of_other_section: returns true if readers would assign the file to another section
 * than `file->kind`.
 *
 * ctf_section_has_files: returns true if readers would assign existing files to a new section
 * named `section`. */
bool ctf_is_file_of_other_section(const struct ctf_writer *w, const struct ctf_trace_out *trace,
                                  const struct ctf_file_candidate *file);
bool ctf_section_has_files(const struct ctf_writer *w, const struct ctf_trace_out *trace,
                           ttr_text section);

/* --- Transcoded events (ctf_transcode.c) --- */

/* Returns true if the event or gap comes from a CTF trace that does not follow the CTF conventions.
 */
bool ctf_is_transcoded(const struct ttr_writer *out, const ttr_event *event);

/* Processes the packet definition of a transcoded trace: if the packet has no events, writes an
 * empty packet. */
TTR_MUST ttr_status ctf_transcode_packet(struct ttr_writer *out, const ttr_event *event,
                                         ttr_error *error);

/* Transcodes an event or gap for which ctf_is_transcoded returns true. */
TTR_MUST ttr_status ctf_transcode_event(struct ttr_writer *out, const ttr_event *event,
                                        ttr_error *error);

/* --- Encoded events (ctf_encode.c) --- */

enum ctf_trace_kind {
    CTF_TRACE_OF_ANY = 1, /* trace that follows the CTF conventions, for events of any format */
    CTF_TRACE_LIKE = 2    /* trace of transcoded events, with the classes of its CTF source */
};

/* Returns the output trace with this identity and kind, and assigns it to the event's source. If
 * it is new, sets *is_new, and the caller must initialize it. Returns NULL if memory runs out. */
struct ctf_trace_out *ctf_find_or_add_trace(struct ttr_writer *out, const ttr_event *event,
                                            uint64_t identity, enum ctf_trace_kind kind,
                                            bool *is_new);

/* Adds a stream with a file named `name`. Returns NULL if memory runs out. */
struct ctf_stream_out *ctf_add_stream_file(struct ctf_writer *w, const struct alloc *alloc,
                                           struct ctf_trace_out *trace,
                                           struct ctf_stream_class_out *kind, ttr_text name);

/* Counts a loss if readers will return this event before an event that was written earlier and has
 * the same time. */
void ctf_count_reordered(struct ttr_writer *out, const struct ctf_stream_out *stream,
                         const ttr_event *event);

TTR_MUST ttr_status ctf_encode_event(struct ttr_writer *out, const ttr_event *event,
                                     ttr_error *error);

/* Finishes all streams and traces. needs_trace: write an empty trace if there were no events. */
TTR_MUST ttr_status ctf_encode_finish(struct ttr_writer *out, bool needs_trace, ttr_error *error);
void ctf_encode_free(struct ctf_writer *w, const struct alloc *alloc);

/* --- Order of streams (ctf_stream_order.c) --- */

bool ctf_writer_accepts_stream_order(struct ttr_writer *out, ttr_reader *in);

/* --- Entry points (ctf_write.c) --- */

ttr_status ctf_create(struct ttr_writer *out, ttr_error *error);
ttr_status ctf_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error);
ttr_status ctf_finish(struct ttr_writer *out, ttr_error *error);
void ctf_free_writer(struct ttr_writer *out);

#endif
