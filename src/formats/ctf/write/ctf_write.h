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

/* Losses that are counted per output; ctf_losses describes them. */
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
    enum ctf_version version; /* CTF_UNKNOWN: the version of the source */
    bool is_big_endian;
    bool has_order; /* true if the user asked for a byte order */
    bool has_alignment, has_event_size, has_checksum, has_compression, has_cypher, has_packet_align,
        has_text;         /* true if the user set this option; only v1.1 has them */
    bool has_packet_size; /* true if the user set packet_size; every version has it */
    bool has_index, has_no_index, has_packetised, is_packetised, is_text_metadata;
    const char *rfc_option; /* name of the first v1.1-only option that was set; NULL = none */
    uint64_t packet_size;   /* bytes; a packet is ended when it reaches this size */
    uint8_t rfc_header;     /* 1 or 2; 0 = not set */
    bool rfc_is_natural, rfc_has_event_size;
    bool rfc_has_short_words; /* natural alignment with 32-bit words, as in the source */
    /* an option changes the packets of a v1.1 source, so they cannot be copied */
    bool changes_rfc;
    struct rfc11_pack_options packing;
    uint8_t key[RFC11_KEY];
};

/* Parses the options of the output. Fails with TTR_E_MISUSE, naming the wrong option. */
TTR_MUST ttr_status ctf_options_read(const struct ttr_writer *out, struct ctf_options *options,
                                     ttr_error *error);

/* Checks that the version has every option that was set. Fails with TTR_E_MISUSE, naming the one
 * that it lacks. */
TTR_MUST ttr_status ctf_options_check_version(const struct ctf_options *options,
                                              enum ctf_version version, ttr_error *error);

/* Fills each option that the user did not set from the source: byte order, and for v1.1 also
 * alignment, checksums, compression, cipher (if the key is known), padding and kind of metadata. */
void ctf_options_inherit(struct ctf_options *options, const struct ctf_trace *source,
                         enum ctf_version version);

/* --- ctf_shape_types.c --- */

/* The types of one description, cached by shape. All types are in the description's arena. */
struct ctf_types {
    ttr *t;
    struct ctf_description *description; /* version and byte order are set by the caller */
    bool is_dialect, is_natural;
    uint64_t renamed; /* fields whose names had to change */
    uint64_t
        /* lengths that were added as fields; includes lengths of elements that became structs for
         * this */
        lengths;
    struct key_map by_key; /* hash of a shape or of a scalar -> index in `type` */
    const struct type **type;
    size_t n, capacity;
    uint64_t labels_n; /* enumerations so far; each gets a name of its own */
    /* State while one struct is built; valid inside ctf_types_get_root only. */
    const struct ctf_items *items;
    size_t at;
    struct type_member *member; /* stack of the members of all unfinished structs */
    size_t members_n, members_capacity;
    ttr_text path[2 * CTF_ITEMS_DEPTH + 2];
    ttr_text *called; /* chosen name of each item that is a member, by item index */
    size_t called_capacity;
    uint32_t path_n;
    enum type_root root;
    /* (struct, name) -> how often the name occurs in it, or facts about the member */
    struct pair_map times;
    uint64_t structs;
    struct buffer name;
    bool failed;
};

void ctf_types_init(struct ctf_types *types, ttr *t, struct ctf_description *description);
void ctf_types_free(struct ctf_types *types);

/* Returns the struct type for items [from, to) of a shape, from the cache if possible. Returns
 * NULL, and sets types->failed, if memory runs out. */
const struct type *ctf_types_get_root(struct ctf_types *types, enum type_root root,
                                      const struct ctf_items *items, size_t from, size_t to,
                                      uint64_t shape);

/* Returns the type of a number of `bits` bits with the target's alignment. */
const struct type *ctf_types_get_number(struct ctf_types *types, uint8_t kind, unsigned bits,
                                        unsigned base);

/* Returns a new unsigned type that the caller may give a role, a clock or labels; it is not in the
 * cache. */
struct type *ctf_types_new_special(struct ctf_types *types, unsigned bits, uint16_t role);

/* Returns a struct type with a copy of `members`. Names must be valid in the target language. */
struct type *ctf_types_new_struct(struct ctf_types *types, const struct type_member *members,
                                  uint32_t n);

/* --- ctf_write_classes.c --- */

/* A stream class of the output with the index of its event classes. */
struct ctf_stream_class_out {
    struct ctf_stream_class *class;
    /* hash of name, shape and identity -> index in class->events; UINT32_MAX: no class is possible
     */
    struct key_map events;
    size_t refused_n; /* entries of `events` that are UINT32_MAX */
    bool has_cpu;     /* the packet context has the CPU */
    bool has_clock;   /* the packet context has start and end times */
    /* the packet context has a sequence number; a counter of discarded events */
    bool has_sequence, has_discarded;
    bool has_time;             /* event headers have a time */
    const struct type *fields; /* other members of the packet context; NULL = none */
    /* 1-based member of the events' context that holds the event size, as in the source; 0 = none
     */
    uint32_t size_member;
    /* Used by ctf_transcode.c only. */
    const struct ctf_stream_decoder
        *source; /* stream class of the first source stream; NULL = none */
    uint64_t packet_shape;
    /* event headers of the source have more than id and time, or packets of reordered events have
     * fields that are lost */
    bool loses_header;
};

/* The folder of one trace in the output. */
struct ctf_output_dir {
    char *folder; /* "" or "NAME/" */
    char *path;   /* path of the source */
    size_t folder_size, path_size;
};

/* Thread and process names that the trace already contains, to avoid writing them again. */
struct ctf_written_names {
    ttr_id *thread; /* by thread: id of the name written last, plus 1; 0 = none yet */
    size_t threads_n;
    ttr_id *process; /* by process: the same */
    size_t processes_n;
    uint32_t *change; /* by thread: index + 1 of its last rename */
    size_t changes_n;
};

/* Traces with the same UUID. Readers see them as one trace, so their class ids must not collide. */
struct ctf_trace_group {
    uint8_t uuid[16];
    size_t traces_n;
    struct key_map given; /* ids of classes in use (ctf_trace_group.c) */
};

/* One trace of the output: a description and its stream files. */
struct ctf_trace_out {
    const struct ctf_options *options; /* points to `ctx` */
    struct ctf_options ctx;            /* the user's options, completed from the source */
    const struct ctf_trace
        /* source whose properties the trace copies; valid while it is being started; NULL = none */
        *like;
    uint8_t like_header; /* v1.1 with dialect: header type of the source's sections */
    bool like_event_size;
    struct ctf_description description;
    struct ctf_types types;
    bool is_dialect;
    bool is_suited;           /* cached: the version has all options that were set */
    bool has_unix_time;       /* at least one event has a time since 1970 */
    struct ctf_clock *clock;  /* clock of events that are not transcoded */
    int64_t base;             /* nanoseconds: time of tick 0 of `clock` */
    struct ctf_trace *source; /* source trace, retained; NULL if the trace uses the dialect */
    bool keeps_clocks;        /* the source's clocks are used unchanged, apart from their offsets */
    /* nanoseconds by which times are later than in the source; already added to the clocks' offsets
     */
    int64_t moved;
    bool has_numbers;               /* packets record the number of their data stream */
    struct ctf_trace_group *joined; /* the group of traces with this UUID; NULL = not in a group */
    struct ctf_stream_class_out **kinds;
    size_t kinds_n, kinds_capacity;
    size_t streams_n; /* number of stream files */
    struct ctf_written_names told;
    struct ctf_output_dir home;
};

/* Starts a trace in the dialect with `first` as its first event. The caller zeroes it, except for
 * `home`, `like` and what follows `like`. Returns false if memory runs out. */
TTR_MUST bool ctf_trace_out_init(struct ctf_trace_out *trace, ttr *t,
                                 const struct ctf_options *options, enum ctf_version version,
                                 const ttr_event *first);
void ctf_trace_out_free(struct ctf_trace_out *trace, const struct alloc *alloc);

/* Checks once per trace that its version has all options that were set; see
 * ctf_options_check_version. */
TTR_MUST ttr_status ctf_trace_out_check_options(struct ctf_trace_out *trace,
                                                const struct ctf_options *options,
                                                ttr_error *error);

/* Starts a trace with the clocks, environment and names of a CTF source, as far as `version` has
 * them. Returns false if memory runs out. */
TTR_MUST bool ctf_trace_out_init_like(struct ctf_trace_out *trace, ttr *t,
                                      const struct ctf_options *options, enum ctf_version version,
                                      struct ctf_trace *source);

/* Adds `ns` nanoseconds to the offsets of the trace's clocks. Returns true if that is no integer
 * number of ticks of each clock; a nanosecond clock then replaces them. */
bool ctf_trace_out_shift_clocks(struct ctf_trace_out *trace, int64_t ns);

/* Returns the trace's own nanosecond clock and adds it to the description at first use. Returns
 * NULL, and sets types->failed, if memory runs out. */
const struct ctf_clock *ctf_trace_out_own_clock(struct ctf_trace_out *trace);

/* Properties of a stream class to be added. */
struct ctf_stream_class_spec {
    ttr_text name;
    uint64_t id;       /* used if it is free, otherwise another one is chosen */
    uint64_t likeness; /* hash that identifies the class in all folders of the trace */
    bool has_cpu;
    bool has_clock, has_time; /* packets have times; events have times */
    bool has_sequence, has_discarded;
    const struct ctf_clock *clock; /* a clock of this description; NULL = times without a clock */
    const struct type *common;     /* common context; NULL = none */
    /* additional members of the packet context, a struct; NULL = none */
    const struct type *fields;
    /* v1.1 if the user did not choose: header type 1 or 2; 0 = any */
    uint8_t rfc_header;
    bool rfc_has_event_size; /* v1.1 if the user did not choose: events have a size */
};

/* Adds a stream class to the description. Returns NULL if memory runs out. */
struct ctf_stream_class_out *ctf_trace_out_add_stream_class(
    struct ctf_trace_out *trace, const struct ctf_stream_class_spec *like);

/* What distinguishes event classes of the same shape. */
struct ctf_class_key {
    ttr_text name;
    const struct ctf_event_class *like; /* class of the source; NULL = none */
    bool is_unnamed;   /* the events have no name: `name` is a made-up name of the class */
    uint64_t identity; /* hash of all properties that are not items */
    uint64_t likeness; /* the same, but equal in all folders of a trace */
    int64_t log_level;
    bool has_log_level;
};

/* Returns the event class for the items; NULL if none exists yet. */
const struct ctf_event_class *ctf_find_event_class(const struct ctf_stream_class_out *kind,
                                                   const struct ctf_items *items,
                                                   const struct ctf_class_key *key);

/* Returns true if no readable class exists for the items; the answer is cached by
 * ctf_get_event_class.
 */
bool ctf_is_event_class_refused(const struct ctf_stream_class_out *kind,
                                const struct ctf_items *items, const struct ctf_class_key *key);

/* Returns the event class for the items and makes it if it is new. Returns NULL if memory runs out
 * or, with the dialect only, if no readable class is possible. */
const struct ctf_event_class *ctf_get_event_class(struct ctf_trace_out *trace,
                                                  struct ctf_stream_class_out *kind,
                                                  const struct ctf_items *items,
                                                  const struct ctf_class_key *key);

/* --- ctf_packet_writer.c --- */

#define CTF_INDEX_NUMBERS 9u /* numbers of an index entry, in file order */

/* The LTTng index of a stream file. */
struct ctf_index_out {
    struct buffer entries; /* entries that are not written yet */
    struct sink *file;     /* NULL until the first entries are written */
    bool is_refused;       /* no file can have the index's name: no index is written */
};

/* A stream file that is being written. */
struct ctf_stream_out {
    struct ctf_trace_out *trace;
    struct ctf_stream_class_out *kind;
    char *name; /* file name, relative to the trace's folder */
    size_t name_size;
    struct sink *sink; /* NULL until the first packet is written */
    struct buffer packet;
    struct bit_writer put;
    bool is_open, has_cpu;
    uint32_t cpu;
    uint64_t number;      /* number of the data stream */
    uint64_t begin, last; /* ticks: time of the packet's first event; of the stream's last event */
    uint64_t events;      /* events in the open packet */
    uint64_t discarded, sequence;
    uint64_t offset; /* bytes written to the file */
    struct ctf_index_out index;
    /* template of the packet's first bytes: fields of its own, and zeros for members that are
     * filled in when it ends */
    struct buffer head;
    uint64_t head_bits;
    uint64_t end; /* ticks; the end time of the packet is not earlier */
    uint64_t
        /* transcoding: offset + 1 of the source packet that the open packet stands for; 0 = none
         * yet */
        packet_at;
    uint16_t source; /* source that packet_at belongs to */
    /* for events without their packet: hash of the packet fields, without times and counters */
    uint64_t packet_fields_hash;
    bool is_continued; /* another file continues its counters */
    /* the open packet counts discarded events up to its end, so it must not be split */
    bool counts_to_end;
    /* ticks: end of the open packet if it carries the gap before a packet-less event; later events
     * go to the next packet; 0 = none */
    uint64_t gap_end;
    uint64_t over; /* bytes of `packet` above its share of memory */
};

/* Ends the open packet and starts one at tick `begin`. `items`: fields of the packet itself; NULL =
 * none. */
TTR_MUST ttr_status ctf_stream_start_packet(struct ctf_stream_out *stream, struct ttr_writer *out,
                                            const struct ctf_items *items, uint64_t begin,
                                            ttr_error *error);

/* Starts a packet without events, with the fields of the packet before. `begin`: NULL = where that
 * packet ends. */
TTR_MUST ttr_status ctf_stream_start_empty_packet(struct ctf_stream_out *stream,
                                                  struct ttr_writer *out, const uint64_t *begin,
                                                  ttr_error *error);

/* Appends an event to the open packet. Writes the packet first if it has reached its size. */
TTR_MUST ttr_status ctf_stream_append_event(struct ctf_stream_out *stream, struct ttr_writer *out,
                                            const struct ctf_event_class *class,
                                            const struct ctf_items *items, uint64_t ticks,
                                            ttr_error *error);

/* Writes the last packet and the index, and finishes the file. */
TTR_MUST ttr_status ctf_stream_finish(struct ctf_stream_out *stream, struct ttr_writer *out,
                                      ttr_error *error);

/* Frees the stream, finished or not. */
void ctf_stream_free(struct ctf_stream_out *stream, const struct alloc *alloc);

/* --- ctf_files.c --- */

/* Creates the file before + name + behind in a folder ("" or "NAME/"). Returns NULL and fills
 * `error` on failure. */
struct sink *ctf_create_file(const char *folder, struct ttr_writer *out, const char *before,
                             const char *name, const char *behind, ttr_error *error);

/* Writes `bytes` as the complete content of a file and finishes it. */
TTR_MUST ttr_status ctf_write_file(struct sink *sink, const struct buffer *bytes, ttr_error *error);

/* --- ctf_index_write.c --- */

void ctf_index_out_init(struct ctf_index_out *index, const struct alloc *alloc);

/* Creates folder/index/name.idx. Sets *file to NULL, and counts a loss, if no file can have that
 * name. */
TTR_MUST ttr_status ctf_index_create_file(struct ttr_writer *out, const char *folder,
                                          const char *name, struct sink **file, ttr_error *error);

/* Appends an entry; `numbers` are in file order. */
void ctf_index_out_add(struct ctf_index_out *index, const uint64_t numbers[CTF_INDEX_NUMBERS]);

/* Returns true if enough entries are buffered to be worth a write. */
bool ctf_index_out_is_full(const struct ctf_index_out *index);

/* Writes the buffered entries to folder/index/name.idx if ctf_index_out_is_full. */
TTR_MUST ttr_status ctf_index_out_flush_full(struct ctf_index_out *index, struct ttr_writer *out,
                                             const char *folder, const char *name,
                                             ttr_error *error);

/* Writes the remaining entries, at least the header, and finishes the file. */
TTR_MUST ttr_status ctf_index_out_finish(struct ctf_index_out *index, struct ttr_writer *out,
                                         const char *folder, const char *name, ttr_error *error);

/* Drops all entries and removes a file that is not finished. */
void ctf_index_out_discard(struct ctf_index_out *index);

/* Drops all entries and frees the index. */
void ctf_index_out_free(struct ctf_index_out *index);

/* --- ctf_metadata_write.c --- */

/* Prints a description as TSDL, JSON or v1.1 sections. Fails with TTR_E_UNSUPPORTED if the language
 * cannot express it. */
TTR_MUST ttr_status ctf_print_metadata(const struct ctf_description *description,
                                       enum ctf_version version, struct buffer *to,
                                       ttr_error *error);

/* Parameters of a metadata file. */
struct ctf_metadata {
    const struct ctf_description *description; /* provides UUID, byte order and session */
    enum ctf_version version;                  /* language of the text */
    const struct ctf_options *options;
    const char *folder; /* "" or "NAME/" */
};

/* Writes metadata text, split into packets if the options ask for it. May append padding to `text`.
 */
TTR_MUST ttr_status ctf_write_metadata(const struct ctf_metadata *metadata, struct buffer *text,
                                       struct ttr_writer *out, ttr_error *error);

/* --- ctf_write.c --- */

struct ctf_trace_copy;
struct ctf_file_copy;

/* Events and packets that a source lost before its next packet. Collected from gaps, written as
 * counters of the next packet. */
struct ctf_pending_gaps {
    uint64_t events, packets;
    uint64_t unknown; /* number of gaps whose size is unknown */
    uint64_t ticks;   /* ticks: start of the first gap of known size; valid if has_ticks */
    bool has_ticks;
    int64_t begin; /* nanoseconds: start of the first gap; end of the gaps of events, of packets */
    int64_t events_end, packets_end;
    bool has_no_place; /* several gaps were added up, so the times above do not describe one gap */
    struct ctf_stream_out
        *stream; /* transcoding: output stream of the source's last packet; NULL = none */
};

/* A UUID that is in use, with the trace that has it. */
struct ctf_uuid_claim {
    uint8_t uuid[16];   /* UUID in the source */
    uint32_t group;     /* traces of one group were opened together */
    uint32_t rank;      /* number of earlier traces with this UUID; 0 = the UUID is kept */
    bool lacks_times;   /* some packets have no start time */
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
    struct key_map given; /* names in use of files and stream classes (ctf_unique_names.c) */
    /* (trace, CPU + 1 or 0) -> index in `streams`; keys of transcoded streams: ctf_transcode.c */
    struct pair_map stream_of;
    struct ctf_pending_gaps *missing; /* by source */
    size_t missing_n;
    uint64_t packets_over; /* bytes of all open packets above their share of memory */
    struct ctf_items items, packet_items;
    struct ctf_field_list listing;
    struct buffer name; /* escaped name of an event that contains its own name */
    /* To detect reordering of equal times: the last time, and of its streams the last in file
     * order. */
    int64_t now;
    const struct ctf_stream_out *latest;
    struct ctf_uuid_claim *claims; /* UUIDs in use (ctf_uuid_policy.c) */
    size_t claims_n, claims_capacity;
    struct ctf_trace_group **unions; /* groups of traces with one UUID (ctf_trace_group.c) */
    size_t unions_n, unions_capacity;
    struct ctf_output_dir **homes; /* folders of all traces, copied or encoded */
    size_t homes_n, homes_capacity;
    /* Copied traces (ctf_copy.h). */
    struct ctf_trace_copy **trace_copies;
    size_t trace_copies_n, trace_copies_capacity;
    struct ctf_file_copy **copies;
    size_t copies_n, copies_capacity;
    struct pair_map copy_of; /* (source, 0) -> index in `copies` */
    struct ctf_file_copy *dirty, *last_copy;
    uint16_t last_source;
};

/* --- ctf_translate.c --- */

/* Counts the losses of a description that is printed in another language for unchanged packets. */
void ctf_count_translation_losses(struct ttr_writer *out, const struct ctf_description *from,
                                  enum ctf_version to);

/* Counts the properties of a trace, apart from its fields, that the target version cannot express.
 * Applies to transcoding, too. */
void ctf_count_property_losses(struct ttr_writer *out, const struct ctf_description *from,
                               enum ctf_version to);

/* --- ctf_uuid_policy.c --- */

/* Chooses the UUID that a trace is written with; all zeros if it has none. */
TTR_MUST ttr_status ctf_claim_uuid(struct ttr_writer *out, const struct ctf_trace *trace,
                                   uint8_t uuid[16], ttr_error *error);

/* Changes a UUID deterministically: the same UUID and rank give the same result. */
void ctf_change_uuid(uint8_t uuid[16], uint32_t rank);

/* --- ctf_trace_group.c --- */

/* Scope of stream class ids. Event class ids use the id of their stream class as scope. */
#define CTF_GROUP_STREAM_CLASSES UINT64_MAX

/* Adds a trace, whose UUID is set, to the group of its UUID. Returns false if memory runs out. */
TTR_MUST bool ctf_trace_group_add(struct ctf_writer *w, const struct alloc *alloc,
                                  struct ctf_trace_out *trace);

/* ctf_trace_group_find_id: looks up the id of a class by its likeness in any folder of the trace.
 *
 * ctf_trace_group_uses_id: returns true if the id is in use.
 *
 * ctf_trace_group_set_id: marks the id as used by the likeness; returns false if memory runs out.
 */
bool ctf_trace_group_find_id(const struct ctf_trace_out *trace, uint64_t scope, uint64_t likeness,
                             uint64_t *id);
bool ctf_trace_group_uses_id(const struct ctf_trace_out *trace, uint64_t scope, uint64_t id);
TTR_MUST bool ctf_trace_group_set_id(const struct ctf_trace_out *trace, uint64_t scope,
                                     uint64_t likeness, uint64_t id);

/* Adds to each folder the declarations of the other folders of its group. Called before metadata
 * are written. Returns false if memory runs out. */
TTR_MUST bool ctf_trace_groups_complete(const struct ctf_writer *w, const struct alloc *alloc);
void ctf_trace_groups_free(struct ctf_writer *w, const struct alloc *alloc);

/* --- ctf_output_dirs.c --- */

/* Reserves the folder of the next trace, read from `path`. Returns false if memory runs out. */
TTR_MUST bool ctf_output_dir_init(struct ctf_output_dir *home, struct ctf_writer *w,
                                  const struct alloc *alloc, ttr_text path);
void ctf_output_dir_free(struct ctf_output_dir *home, const struct alloc *alloc);

/* Renames the folders of several traces to their final names. All files must be finished. */
TTR_MUST ttr_status ctf_output_dirs_rename(struct ttr_writer *out, ttr_error *error);

/* --- ctf_unique_names.c --- */

/* ctf_last_number_used: returns the last number used in names with this hash, 0 if none; the search
 * for a free name starts there.
 *
 * ctf_record_number: records it; returns false if memory runs out. */
uint32_t ctf_last_number_used(const struct ctf_writer *w, const struct ctf_trace_out *trace,
                              uint64_t like);
TTR_MUST bool ctf_record_number(struct ctf_writer *w, const struct ctf_trace_out *trace,
                                uint64_t like, uint32_t number);

/* ctf_is_file_name_used: returns true if the trace has a file of this name.
 *
 * ctf_record_file_name: records the name for a stream class; returns false if memory runs out.
 * `file` is zero-terminated. */
bool ctf_is_file_name_used(const struct ctf_writer *w, const struct ctf_trace_out *trace,
                           ttr_text file);
TTR_MUST bool ctf_record_file_name(struct ctf_writer *w, const struct ctf_trace_out *trace,
                                   const struct ctf_stream_class_out *kind, ttr_text file);

/* ctf_find_similar_class: returns the stream class recorded for the hash `like`; NULL = none.
 *
 * ctf_record_similar_class: records the trace's last stream class for it; returns false if memory
 * runs out. */
struct ctf_stream_class_out *ctf_find_similar_class(const struct ctf_writer *w,
                                                    const struct ctf_trace_out *trace,
                                                    uint64_t like);
TTR_MUST bool ctf_record_similar_class(struct ctf_writer *w, const struct ctf_trace_out *trace,
                                       uint64_t like);

/* A proposed file name. */
struct ctf_file_candidate {
    ttr_text name;    /* zero-terminated */
    size_t section_n; /* bytes of the name that are the section name (v1.1) */
    const struct ctf_stream_class_out *kind; /* stream class of the section; NULL = none yet */
};

/* v1.1 finds the section of a file by its name: the longest section name that the file name starts
 * with.
 *
 * ctf_is_file_of_other_section: returns true if this file would be read as part of another section.
 *
 * ctf_section_has_files: returns true if existing files would be read as part of the new `section`.
 */
bool ctf_is_file_of_other_section(const struct ctf_writer *w, const struct ctf_trace_out *trace,
                                  const struct ctf_file_candidate *file);
bool ctf_section_has_files(const struct ctf_writer *w, const struct ctf_trace_out *trace,
                           ttr_text section);

/* --- ctf_discarded_write.c --- */

struct ctf_packet;

/* The first packet of a transcoded stream. */
struct ctf_first_packet {
    const struct ctf_packet *about; /* the packet in the source */
    bool goes_on;                   /* in the source, its counters continue those of another file */
};

/* Returns the collected gaps of a source; NULL if memory runs out. */
struct ctf_pending_gaps *ctf_pending_gaps_of_source(struct ttr_writer *out, uint16_t source);

/* Returns true if at least one event or packet of known number is missing. */
bool ctf_pending_gaps_have_count(const struct ctf_pending_gaps *missing);

/* Returns true if the counters of the stream's next packet can express some of it. */
bool ctf_pending_gaps_fit_counters(const struct ctf_pending_gaps *missing,
                                   const struct ctf_stream_out *stream);

/* Returns true if an earlier stream was made of the same source packets and will report what is
 * missing. */
bool ctf_pending_gaps_are_in_other_stream(const struct ctf_pending_gaps *missing,
                                          const struct ctf_stream_out *stream);

/* Adds a gap event to the collected gaps of its source. */
TTR_MUST ttr_status ctf_pending_gaps_add(struct ttr_writer *out, const ttr_event *event,
                                         ttr_error *error);

/* Starts the counters of a new stream. Returns true if readers see the missing events only after an
 * empty packet, which the caller must write first. */
bool ctf_pending_gaps_start_stream(struct ttr_writer *out, struct ctf_stream_out *stream,
                                   const struct ctf_first_packet *first,
                                   struct ctf_pending_gaps *missing);

/* Times of the packets around a gap, in ticks of the stream. */
struct ctf_gap_place {
    uint64_t before; /* end of the packet before the gap */
    /* start and end of the packet whose counters report the gap; end 0 = end of its events */
    uint64_t begin, end;
    bool is_alone; /* that packet has no events */
};

/* Computes the times for a gap before a packet-less event at `ticks`. Returns false if the gap's
 * times cannot be preserved. */
bool ctf_pending_gaps_place(const struct ctf_pending_gaps *missing,
                            const struct ctf_stream_out *stream, uint64_t ticks,
                            struct ctf_gap_place *place);

/* Moves the collected gaps into the counters of the open packet. Counts as lost what these cannot
 * express. */
void ctf_pending_gaps_store_counters(struct ttr_writer *out, struct ctf_stream_out *stream,
                                     struct ctf_pending_gaps *missing, uint64_t offset);

/* Writes the remaining gaps to the ends of their streams, before these are finished. Counts gaps
 * without a stream as lost. */
TTR_MUST ttr_status ctf_pending_gaps_finish(struct ttr_writer *out, ttr_error *error);

/* --- ctf_transcode.c --- */

/* Returns true if the event, or gap, comes from a CTF trace that does not use our dialect. */
bool ctf_is_transcoded(const struct ttr_writer *out, const ttr_event *event);

/* Handles the definition of a packet of such a trace: writes the packet if it has no events. */
TTR_MUST ttr_status ctf_transcode_packet(struct ttr_writer *out, const ttr_event *event,
                                         ttr_error *error);

/* Transcodes such an event. */
TTR_MUST ttr_status ctf_transcode_event(struct ttr_writer *out, const ttr_event *event,
                                        ttr_error *error);

/* --- ctf_encode.c --- */

enum ctf_trace_kind {
    CTF_TRACE_OF_ANY = 1, /* events of any format, in the dialect */
    CTF_TRACE_LIKE = 2    /* transcoded events */
};

/* Returns the output trace for the event's source, kind and identity. Sets *is_new if the caller
 * has to start it. Returns NULL if memory runs out. */
struct ctf_trace_out *ctf_find_or_add_trace(struct ttr_writer *out, const ttr_event *event,
                                            uint64_t identity, enum ctf_trace_kind kind,
                                            bool *is_new);

/* Adds a stream with a file name. Returns NULL if memory runs out. */
struct ctf_stream_out *ctf_add_stream_file(struct ctf_writer *w, const struct alloc *alloc,
                                           struct ctf_trace_out *trace,
                                           struct ctf_stream_class_out *kind, ttr_text name);

/* Counts a loss if readers will see the event in another order than the writer did. */
void ctf_count_reordered(struct ttr_writer *out, const struct ctf_stream_out *stream,
                         const ttr_event *event);

TTR_MUST ttr_status ctf_encode_event(struct ttr_writer *out, const ttr_event *event,
                                     ttr_error *error);

/* Finishes all streams and traces. needs_trace: write a trace even if no event came. */
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
