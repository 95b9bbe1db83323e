/* The parts of the CTF writer: what they share, and what each of them offers.
 *
 *   ctf_write.c        the loop over events
 *   ctf_encode.c       events encoded: traces and streams of the output
 *   ctf_transcode.c        events of CTF encoded in another language
 *   ctf_output_dirs.c        folders of several traces
 *   ctf_uuid_policy.c         their uuids
 *   ctf_copy.h         traces of CTF copied
 *   ctf_options.c      options
 *   ctf_items.c        the list of an event's items, its attributes first
 *   ctf_flatten.c      an event taken apart: attributes and fields in the order they are written,
 *                      and their shape
 *   ctf_flatten_list.c the same as a list, where there would be too many shapes
 *   ctf_shape_types.c        types for a shape
 *   ctf_write_classes.c      streams and events as classes of a description
 *   ctf_packet_writer.c      packets of a stream file
 *   ctf_index_write.c  its index
 *   ctf_metadata_write.c     the metadata file
 *   ctf_files.c        files at all
 *   ctf_stream_order.c      streams that come one after another
 *   ctf_translate.c    what is lost in another language
 *
 * An event becomes a list of items (ctf_items); the hash of its shape finds its class, made when it
 * is new (ctf_types, ctf_classes); the items are encoded as the class says into the packet under
 * way (ctf_packets).  The description is printed when all is written. Ownership: everything belongs
 * to the writer and dies with it. */
#ifndef TRACETTA_FORMATS_CTF_WRITE_CTF_WRITE_H
#define TRACETTA_FORMATS_CTF_WRITE_CTF_WRITE_H

#include "base/clockmath.h"
#include "base/hash.h"
#include "base/keymap.h"
#include "base/number.h"
#include "formats/ctf/dialect/ctf_dialect.h"
#include "formats/ctf/read/ctf_read.h"
#include "formats/ctf/metadata/rfc11/rfc11.h"
#include "formats/ctf/packet/rfc11_packet.h"
#include "io/folder.h"
#include "layout/layout_encode.h"
#include "model/output.h"

#define CTF_ITEMS_DEPTH 12u /* structs and arrays inside one another that are written */

enum ctf_loss {
    CTF_LOST_KIND,
    CTF_LOST_TICKS,
    CTF_LOST_BACKWARD,
    CTF_LOST_TIME,
    CTF_LOST_ORDER,
    CTF_LOST_MIXED,
    CTF_LOST_DEPTH,
    CTF_LOST_NUL,
    CTF_LOST_BEHIND,
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
    CTF_LOST_ABOUT,
    CTF_LOST_PLACE,
    CTF_LOST_PACKET,
    CTF_LOST_MARK,
    CTF_LOST_GAP,
    CTF_LOST_WHEN,
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
    enum ctf_version version; /* CTF_UNKNOWN: that of the source */
    bool is_big_endian;
    bool has_order; /* byte order was asked for */
    bool has_alignment, has_event_size, has_checksum, has_compression, has_cypher, has_packet_align,
        has_text;         /* so were these, of 1.1 */
    bool has_packet_size; /* and this, of all */
    bool has_index, has_no_index, has_packetised, is_packetised, is_text_metadata;
    const char *rfc_option; /* the first that only 1.1 has; NULL = none was given */
    uint64_t packet_size;   /* bytes: packets end when they are as large */
    uint8_t rfc_header;     /* 1 or 2; 0 = not asked for */
    bool rfc_is_natural, rfc_has_event_size;
    bool rfc_has_short_words; /* natural with words of 32 bits, as the source has it */
    bool changes_rfc;         /* packets of 1.1 must be made anew */
    struct rfc11_packing packing;
    uint8_t key[RFC11_KEY];
};

/* Reads the options of the output; TTR_E_MISUSE says what is wrong with one. */
TTR_MUST ttr_status ctf_options_read(const struct ttr_writer *out, struct ctf_options *options,
                                     ttr_error *error);

/* Whether all that was asked for can be had of a version; TTR_E_MISUSE says what cannot. */
TTR_MUST ttr_status ctf_options_suit(const struct ctf_options *options, enum ctf_version version,
                                     ttr_error *error);

/* Where nothing else was asked for, a trace is written as its source is: in its byte order, and
 * of 1.1 with its alignment, its checksums, its compression, its cypher (where the key is known),
 * its padding and its kind of metadata. */
void ctf_options_like(struct ctf_options *options, const struct ctf_trace *source,
                      enum ctf_version version);

/* --- ctf_flatten.c --- */

/* Private hints of items beside those of ttr_hint. */
enum ctf_item_hint {
    CTF_ITEM_CONSTANT =
        0x80,       /* UINT of 8 bits: the same for all events of the class, named by `text` */
    CTF_ITEM_FIXED, /* ARRAY, BYTES: always as many; TEXT: always v.u bytes, the rest of them zeros
                     */
    CTF_ITEM_MIXED, /* ARRAY of unlike elements */
    CTF_ITEM_LABELLED, /* numbers: text.p is a struct type_labels */
    CTF_ITEM_FLAGS     /* the same, of bits */
};

/* An event taken apart.  field[i].name_id is the name of whatever stands in a struct; of arrays and
 * bytes whose length is an item of the same struct before, value.v.u is that item's index + 1, and
 * value.text_id tells of its name; 0 = none.  Of arrays value.text.p is the source's type of
 * elements, and of empty ones value.text.n the first element of another array of that type; 0 =
 * none. */
struct ctf_items {
    ttr_field *field;
    size_t n, capacity;
    size_t common_n;  /* [0, common_n): the common context */
    size_t context_n; /* [common_n, context_n): attributes and the specific context; behind it the
                         payload */
    size_t attributes_n;
    size_t payload_at; /* behind the context, in whatever part of the event that is written */
    uint64_t common_shape, context_shape, payload_shape;
    uint64_t offset;          /* of the event */
    uint32_t context_members; /* version 1.1: of the payload's, the first that are of the event's
                                 context */
    char number[NUMBER_MAX], version[NUMBER_MAX]; /* labels of the event's */
    const struct alloc *alloc;
    bool failed; /* no memory */
};

/* What the items are for. */
struct ctf_items_for {
    struct ttr_writer *out;
    enum ctf_version version;
    bool is_dialect; /* with attributes */
    bool has_cpu;    /* the packet tells the cpu */
    bool is_packet;  /* what the event's packet says, all of it as payload, in place of the event's
                        own fields */
    bool has_no_common; /* contexts come before the fields of the payload */
    bool drops_size;    /* the common context tells the event's size, which is written of its own */
};

/* Takes an event apart; losses are counted. */
void ctf_items_collect(struct ctf_items *items, const struct ctf_items_for *what,
                       const ttr_event *event);

/* Adds the attributes of an event; attributes_n is how many there are. */
void ctf_items_add_attributes(struct ctf_items *items, const struct ctf_items_for *what,
                              const ttr_event *event);

/* Items by hand: empties; adds an attribute of so many bits, or a constant; adds a text; ends. */
void ctf_items_begin(struct ctf_items *items);
void ctf_items_add_constant(struct ctf_items *items, enum ctf_attribute attribute, uint64_t value,
                            ttr_text label);
void ctf_items_add_thread(struct ctf_items *items, const ttr_thread *thread,
                          enum ctf_attribute pid);
void ctf_items_add_text(struct ctf_items *items, const char *name, ttr_text text);
/* Adds the name of the event as its last attribute, for classes that have none for it. */
void ctf_items_add_name(struct ctf_items *items, ttr_text name, bool is_rfc);
void ctf_items_end(struct ctf_items *items, const struct ctf_items_for *what, uint64_t offset);

void ctf_items_init(struct ctf_items *items, const struct alloc *alloc);
void ctf_items_free(struct ctf_items *items);

/* Adds an item, cleared; NULL when memory is out. */
ttr_field *ctf_items_add(struct ctf_items *items);

/* Counts an item and those inside it. */
size_t ctf_items_inside(const struct ctf_items *items, size_t at);

/* What an element of an empty array would be like, a number or text; false where nobody knows. */
bool ctf_items_likeness(const ttr_value *array, ttr_value *element);

/* --- ctf_flatten_list.c --- */

/* An event that lists its fields, each an entry of one and the same shape: any event is of one of
 * few classes then. */
struct ctf_listing {
    struct ctf_items items;
    struct buffer text; /* names that were escaped */
    ttr_id name[CTF_LISTED_MEMBERS + 1];
};

/* Lists items, the last of their attributes being the name of their event; level: of the event,
 * where no item tells it, 0 = none.  The listing is zeroed at first, but for its allocators.  False
 * when memory is out. */
TTR_MUST bool ctf_list_items(struct ctf_listing *listing, ttr *t, const struct ctf_items *from,
                             uint8_t level, bool is_rfc);
void ctf_listing_free(struct ctf_listing *listing);

/* --- ctf_shape_types.c --- */

/* What types are made for; they lie in the description's arena. */
struct ctf_types {
    ttr *t;
    struct ctf_description *description; /* its version and byte order are set */
    bool is_dialect, is_natural;
    uint64_t renamed; /* fields whose names had to change */
    uint64_t
        lengths; /* that were added as fields; of elements, which became structs for them, too */
    struct keymap by_key; /* hash of a shape or of a scalar to `type` */
    const struct type **type;
    size_t n, capacity;
    uint64_t labels_n; /* enumerations with a name of their own */
    /* of the struct being made */
    const struct ctf_items *items;
    size_t at;
    struct type_member *member; /* of all structs under way */
    size_t members_n, members_capacity;
    ttr_text path[2 * CTF_ITEMS_DEPTH + 2];
    ttr_text *called; /* what items that are members were called */
    size_t called_capacity;
    uint32_t path_n;
    enum type_root root;
    struct pairmap times; /* (struct, name) to how often it stands there, or what is known of it */
    uint64_t structs;
    struct buffer name;
    bool failed;
};

void ctf_types_init(struct ctf_types *types, ttr *t, struct ctf_description *description);
void ctf_types_free(struct ctf_types *types);

/* The struct for items [from, to) of a shape; NULL also when memory is out (types->failed). */
const struct type *ctf_types_root(struct ctf_types *types, enum type_root root,
                                  const struct ctf_items *items, size_t from, size_t to,
                                  uint64_t shape);

/* A number of so many bits, aligned as the target has it. */
const struct type *ctf_types_number(struct ctf_types *types, uint8_t kind, unsigned bits,
                                    unsigned base);

/* A number with a role, a clock or labels; not shared. */
struct type *ctf_types_special(struct ctf_types *types, unsigned bits, uint16_t role);

/* A struct of these members, which are copied; names are those of the language. */
struct type *ctf_types_struct(struct ctf_types *types, const struct type_member *members,
                              uint32_t n);

/* --- ctf_write_classes.c --- */

/* A stream class of the output, and how its event classes are found. */
struct ctf_kind_out {
    struct ctf_stream_class *class;
    struct keymap events; /* hash of all that makes a class to the index in class->events;
                             UINT32_MAX: it cannot be one */
    size_t refused_n;     /* of the latter */
    bool has_cpu;         /* the packet's context tells the cpu */
    bool has_clock;       /* and when it begins and ends */
    bool has_sequence, has_discarded; /* and its number, and how many events are missing */
    bool has_time;                    /* events have a time */
    const struct type *fields;        /* what else the packet's context tells; NULL = nothing */
    uint32_t size_member; /* of the context of events, from 1: it says their size, as in their
                             source; 0 = none */
    /* of another CTF trace (ctf_transcode.c) */
    const struct ctf_kind *source; /* of the first such stream; NULL = none */
    uint64_t packet_shape;
    bool loses_header; /* its events' headers say more than id and time, or the packets of sorted
                          events what is kept nowhere */
};

/* The folder of a trace in the output. */
struct ctf_home {
    char *folder; /* "", or "NAME/" */
    char *path;   /* of its source */
    size_t folder_size, path_size;
};

/* Threads whose names were written. */
struct ctf_names_told {
    ttr_id *thread; /* by thread: the name told + 1; 0 = not met yet */
    size_t threads_n;
    ttr_id *process; /* by process, the same */
    size_t processes_n;
    uint32_t *change; /* by thread: of which change of names they are + 1 */
    size_t changes_n;
};

/* Traces of one uuid, which are one to readers. */
struct ctf_union {
    uint8_t uuid[16];
    size_t traces_n;
    struct keymap given; /* ids of classes: ctf_trace_group.c */
};

/* One trace of the output: a description with its stream files. */
struct ctf_trace_out {
    const struct ctf_options *options; /* `own` */
    struct ctf_options own; /* those given, and what the source has where nothing was asked for */
    const struct ctf_trace
        *like;           /* what the trace is written like, only while it begins; NULL = nothing */
    uint8_t like_header; /* the dialect in the RFC: what its sections had there */
    bool like_event_size;
    struct ctf_description description;
    struct ctf_types types;
    bool is_dialect;
    bool is_suited;          /* by the options, as was found out */
    bool has_unix_time;      /* an event's time is one since 1970 */
    struct ctf_clock *clock; /* of events of any kind */
    int64_t base;            /* the time of its tick 0 */
    struct ctf_trace
        *source; /* the CTF trace that it is made from, held; NULL where it speaks the dialect */
    bool keeps_clocks; /* those of the source */
    int64_t moved;     /* ns that times are later than in the source; its clocks have them in their
                          offsets */
    bool has_numbers;  /* packets tell their data stream */
    struct ctf_union *joined; /* with others; NULL = stands for itself */
    struct ctf_kind_out **kinds;
    size_t kinds_n, kinds_capacity;
    size_t streams_n; /* files */
    struct ctf_names_told told;
    struct ctf_home home;
};

/* Begins a trace, zeroed but for its home and what it is to be like, for events of any kind, of
 * which this is the first; false when memory is out. */
TTR_MUST bool ctf_trace_begin(struct ctf_trace_out *trace, ttr *t,
                              const struct ctf_options *options, enum ctf_version version,
                              const ttr_event *first);
void ctf_trace_end(struct ctf_trace_out *trace, const struct alloc *alloc);

/* Whether all that was asked for can be had of the trace's version, as ctf_options_suit says; found
 * out once. */
TTR_MUST ttr_status ctf_trace_suits(struct ctf_trace_out *trace, const struct ctf_options *options,
                                    ttr_error *error);

/* Whether packets say of which data stream they are; where not, streams are told apart by their
 * files. */
bool ctf_tells_streams(const struct ctf_description *from);

/* Begins a trace that says what a CTF trace of another language says, as far as it can. */
TTR_MUST bool ctf_trace_begin_like(struct ctf_trace_out *trace, ttr *t,
                                   const struct ctf_options *options, enum ctf_version version,
                                   struct ctf_trace *source);

/* Has the clocks of such a trace begin so many nanoseconds later.  True: one of nanoseconds stands
 * for them, for these are no whole ticks of theirs. */
bool ctf_trace_move(struct ctf_trace_out *trace, int64_t ns);

/* The clock of a trace that counts nanoseconds, for those that have no other; NULL when memory is
 * out, which the types remember. */
const struct ctf_clock *ctf_trace_clock(struct ctf_trace_out *trace);

/* What is to be a stream class. */
struct ctf_kind_like {
    ttr_text name;
    uint64_t id; /* taken where it is free */
    uint64_t
        likeness; /* a hash of what tells it from others of its trace, in all folders the same */
    bool has_cpu;
    bool has_clock, has_time; /* of packets; of events */
    bool has_sequence, has_discarded;
    const struct ctf_clock *clock; /* one of the description; NULL = the times are of none */
    const struct type *common;     /* NULL = none */
    const struct type *fields;     /* the packet's; a struct, NULL = none */
    uint8_t rfc_header;            /* of the RFC where none was asked for: 1 or 2, 0 = any */
    bool rfc_has_event_size;       /* the same */
};

/* Adds a stream class.  NULL when memory is out. */
struct ctf_kind_out *ctf_trace_add_kind(struct ctf_trace_out *trace,
                                        const struct ctf_kind_like *like);

/* What tells event classes apart, beside their shape. */
struct ctf_class_key {
    ttr_text name;
    const struct ctf_event_class *like; /* a class of another trace; NULL = none */
    bool is_unnamed;   /* its events have none: `name` is what the class is called instead */
    uint64_t identity; /* a hash of everything that is not in the items */
    uint64_t likeness; /* the same, in all folders of a trace */
    int64_t log_level;
    bool has_log_level;
};

/* The event class for the items; NULL when there is none yet. */
const struct ctf_event_class *ctf_trace_find_class(const struct ctf_kind_out *kind,
                                                   const struct ctf_items *items,
                                                   const struct ctf_class_key *key);

/* Whether no class can be made for the items, such that a reader can read it. */
bool ctf_trace_refuses(const struct ctf_kind_out *kind, const struct ctf_items *items,
                       const struct ctf_class_key *key);

/* The class, made when new; NULL when memory is out, and where it is refused, which only the
 * dialect knows. */
const struct ctf_event_class *ctf_trace_class(struct ctf_trace_out *trace,
                                              struct ctf_kind_out *kind,
                                              const struct ctf_items *items,
                                              const struct ctf_class_key *key);

/* --- ctf_packet_writer.c --- */

#define CTF_INDEX_NUMBERS 9u /* of an entry */

/* The index of a stream file. */
struct ctf_index_out {
    struct buffer entries; /* that are not in the file yet */
    struct sink *file;     /* NULL until the first of them are */
    bool is_refused;       /* there can be none of its name: none is written */
};

/* A stream file being written. */
struct ctf_stream_out {
    struct ctf_trace_out *trace;
    struct ctf_kind_out *kind;
    char *name; /* of the file, below the trace */
    size_t name_size;
    struct sink *sink; /* NULL until its first packet */
    struct buffer packet;
    struct bitput put;
    bool is_open, has_cpu;
    uint32_t cpu;
    uint64_t number;      /* of the data stream */
    uint64_t begin, last; /* ticks: of the packet's first event; of the last of the stream */
    uint64_t events;      /* in the packet */
    uint64_t discarded, sequence;
    uint64_t offset; /* bytes in the file */
    struct ctf_index_out index;
    struct buffer head; /* as its packets begin: zeros for what is filled in at their ends, and
                           fields of their own */
    uint64_t head_bits;
    uint64_t end; /* ticks: the packet ends no earlier */
    uint64_t
        packet_at; /* of packets that are those of another trace: offset + 1 there; 0 = none yet */
    uint16_t source;      /* and their input */
    uint64_t packet_says; /* of events that were copied: a hash of what their packet says beside
                             times and counters */
    bool is_continued;    /* another file goes on with its counters */
    bool counts_to_end; /* the packet under way counts events that are missing up to its end: it is
                           not to be split */
    uint64_t gap_end; /* the packet's, of a gap that has copied events: later ones are in the next;
                         0 = none */
    uint64_t over;    /* bytes of it that are more than it may have */
};

/* Ends the packet under way and begins one at a time; items: its own fields, NULL = none. */
TTR_MUST ttr_status ctf_stream_enter(struct ctf_stream_out *stream, struct ttr_writer *out,
                                     const struct ctf_items *items, uint64_t begin,
                                     ttr_error *error);

/* The same of a packet without events, whose own fields are those of the packet before; begin: NULL
 * = where that ends. */
TTR_MUST ttr_status ctf_stream_enter_empty(struct ctf_stream_out *stream, struct ttr_writer *out,
                                           const uint64_t *begin, ttr_error *error);

/* Appends an event.  A packet that is large enough goes to its file first. */
TTR_MUST ttr_status ctf_stream_put(struct ctf_stream_out *stream, struct ttr_writer *out,
                                   const struct ctf_event_class *class,
                                   const struct ctf_items *items, uint64_t ticks, ttr_error *error);

/* Writes what is left, and the index; ends the file. */
TTR_MUST ttr_status ctf_stream_finish(struct ctf_stream_out *stream, struct ttr_writer *out,
                                      ttr_error *error);

/* Frees, whatever state it is in. */
void ctf_stream_free(struct ctf_stream_out *stream, const struct alloc *alloc);

/* --- ctf_files.c --- */

/* Makes a file of these three names in a row, in a folder ("" or "NAME/"); NULL with `error` when
 * that fails. */
struct sink *ctf_add_file(const char *folder, struct ttr_writer *out, const char *before,
                          const char *name, const char *behind, ttr_error *error);

/* Writes a whole file. */
TTR_MUST ttr_status ctf_write_file(struct sink *sink, const struct buffer *bytes, ttr_error *error);

/* --- ctf_index_write.c --- */

void ctf_index_out_begin(struct ctf_index_out *index, const struct alloc *alloc);

/* Makes folder/index/name.idx; NULL in *file where no file can be called so, which is told as a
 * loss. */
TTR_MUST ttr_status ctf_index_add(struct ttr_writer *out, const char *folder, const char *name,
                                  struct sink **file, ttr_error *error);

/* Appends an entry: its numbers in the order of the file. */
void ctf_index_out_add(struct ctf_index_out *index, const uint64_t numbers[CTF_INDEX_NUMBERS]);

/* Whether so many entries wait that they should be written. */
bool ctf_index_out_is_full(const struct ctf_index_out *index);

/* Writes the entries that wait to folder/index/name.idx where these are many. */
TTR_MUST ttr_status ctf_index_out_settle(struct ctf_index_out *index, struct ttr_writer *out,
                                         const char *folder, const char *name, ttr_error *error);

/* Writes what is left, if only the header, and ends the file. */
TTR_MUST ttr_status ctf_index_out_end(struct ctf_index_out *index, struct ttr_writer *out,
                                      const char *folder, const char *name, ttr_error *error);

/* Forgets all entries; a file that was not ended is not there. */
void ctf_index_out_drop(struct ctf_index_out *index);

/* The same, and frees. */
void ctf_index_out_free(struct ctf_index_out *index);

/* --- ctf_metadata_write.c --- */

/* Prints a description in the language of a version. */
TTR_MUST ttr_status ctf_print_metadata(const struct ctf_description *description,
                                       enum ctf_version version, struct buffer *to,
                                       ttr_error *error);

/* Metadata as a file. */
struct ctf_metadata {
    const struct ctf_description *description; /* its UUID, byte order and session */
    enum ctf_version version;                  /* of the text */
    const struct ctf_options *options;
    const char *folder; /* "" or "NAME/" */
};

/* Writes metadata text, in packets where the options say so.  The text may grow. */
TTR_MUST ttr_status ctf_write_text(const struct ctf_metadata *metadata, struct buffer *text,
                                   struct ttr_writer *out, ttr_error *error);

/* --- ctf_write.c --- */

struct ctf_trace_copy;
struct ctf_file_copy;

/* What is missing in a source before its next packet. */
struct ctf_missing {
    uint64_t events, packets;
    uint64_t unknown; /* gaps of unknown size */
    uint64_t ticks;   /* where the first gap of known size begins */
    bool has_ticks;
    int64_t begin; /* the same as a time, and where the gaps of events and of packets end */
    int64_t events_end, packets_end;
    bool has_no_place; /* these are not those of one gap of each */
    struct ctf_stream_out
        *stream; /* of another CTF trace: what its packets became last; NULL = none */
};

/* A uuid that is taken. */
struct ctf_claim {
    uint8_t uuid[16];   /* of the source */
    uint32_t group;     /* of traces that were opened together */
    uint32_t rank;      /* how many others have it: 0 = it stays */
    bool lacks_times;   /* some packets do not tell when they begin */
    int64_t begin, end; /* of all packets */
};

struct ctf_writer {
    struct ctf_options options;
    struct ctf_trace_out **traces;
    size_t traces_n, traces_capacity;
    struct ctf_stream_out **streams;
    size_t streams_n, streams_capacity;
    struct pairmap
        trace_of; /* (source, 0), and what makes a trace (1 to 3), to the index of its trace */
    struct keymap given;      /* names of files and stream classes: ctf_unique_names.c */
    struct pairmap stream_of; /* (trace, cpu + 1, or 0 for none) to the index of a stream; of plain
                                 ones see ctf_transcode.c */
    struct ctf_missing *missing; /* by source */
    size_t missing_n;
    uint64_t packets_over; /* bytes of all packets under way beyond what they may have */
    struct ctf_items items, packet_items;
    struct ctf_listing listing;
    struct buffer name; /* of an event that tells it itself, escaped */
    /* events at the same time: the last in the order of files */
    int64_t now;
    const struct ctf_stream_out *latest;
    struct ctf_claim *claims; /* ctf_uuid_policy.c */
    size_t claims_n, claims_capacity;
    struct ctf_union **unions; /* ctf_trace_group.c */
    size_t unions_n, unions_capacity;
    struct ctf_home **homes; /* of all traces, copied or encoded */
    size_t homes_n, homes_capacity;
    /* copies (ctf_copy.h) */
    struct ctf_trace_copy **trace_copies;
    size_t trace_copies_n, trace_copies_capacity;
    struct ctf_file_copy **copies;
    size_t copies_n, copies_capacity;
    struct pairmap copy_of; /* (source, 0) to the index of its file */
    struct ctf_file_copy *dirty, *last_copy;
    uint16_t last_source;
};

/* --- ctf_translate.c --- */

/* Counts what a description loses when it is printed in another language, packets staying as they
 * are. */
void ctf_count_translation(struct ttr_writer *out, const struct ctf_description *from,
                           enum ctf_version to);

/* Counts what is said of a trace, apart from its fields, that another version, or events encoded
 * anew, cannot say. */
void ctf_count_about(struct ttr_writer *out, const struct ctf_description *from,
                     enum ctf_version to);

/* --- ctf_uuid_policy.c --- */

/* The uuid that a trace is written with; all zeros where it has none. */
TTR_MUST ttr_status ctf_claim_uuid(struct ttr_writer *out, const struct ctf_trace *trace,
                                   uint8_t uuid[16], ttr_error *error);

/* Makes another uuid of one, the same for the same number. */
void ctf_change_uuid(uint8_t uuid[16], uint32_t rank);

/* --- ctf_trace_group.c --- */

#define CTF_UNION_KINDS                                                                         \
    UINT64_MAX /* the scope of ids of stream classes; those of event classes have that of their \
                  stream class */

/* Has a trace, which has its uuid, be one with those of the same uuid; false when memory is out. */
TTR_MUST bool ctf_union_join(struct ctf_writer *w, const struct alloc *alloc,
                             struct ctf_trace_out *trace);

/* The id that something alike has, in any folder of the trace; whether one is taken; and that one
 * is, false when memory is out. */
bool ctf_union_finds(const struct ctf_trace_out *trace, uint64_t scope, uint64_t likeness,
                     uint64_t *id);
bool ctf_union_has(const struct ctf_trace_out *trace, uint64_t scope, uint64_t id);
TTR_MUST bool ctf_union_give(const struct ctf_trace_out *trace, uint64_t scope, uint64_t likeness,
                             uint64_t id);

/* Has each folder declare what the others declare, before metadata are written; false when memory
 * is out. */
TTR_MUST bool ctf_unions_settle(const struct ctf_writer *w, const struct alloc *alloc);
void ctf_unions_free(struct ctf_writer *w, const struct alloc *alloc);

/* --- ctf_output_dirs.c --- */

/* The folder of the next trace, which comes from a path; false when memory is out. */
TTR_MUST bool ctf_home_begin(struct ctf_home *home, struct ctf_writer *w, const struct alloc *alloc,
                             ttr_text path);
void ctf_home_free(struct ctf_home *home, const struct alloc *alloc);

/* Gives the folders of several traces their names, when all files are ended. */
TTR_MUST ttr_status ctf_homes_settle(struct ttr_writer *out, ttr_error *error);

/* --- ctf_unique_names.c --- */

/* The last number that stood in the name of a stream so called (a hash); 0 = none has one, which
 * all are tried from. */
uint32_t ctf_given_number(const struct ctf_writer *w, const struct ctf_trace_out *trace,
                          uint64_t like);
TTR_MUST bool ctf_give_number(struct ctf_writer *w, const struct ctf_trace_out *trace,
                              uint64_t like, uint32_t number);

/* Whether a file has the name, and that one has it from now on, which is one of a stream class;
 * false when memory is out.  `file` ends with a zero. */
bool ctf_is_given(const struct ctf_writer *w, const struct ctf_trace_out *trace, ttr_text file);
TTR_MUST bool ctf_give_file(struct ctf_writer *w, const struct ctf_trace_out *trace,
                            const struct ctf_kind_out *kind, ttr_text file);

/* The stream class of streams like these (a hash), NULL = none yet; and that the last of the trace
 * is, false when memory is out. */
struct ctf_kind_out *ctf_given_kind(const struct ctf_writer *w, const struct ctf_trace_out *trace,
                                    uint64_t like);
TTR_MUST bool ctf_give_kind(struct ctf_writer *w, const struct ctf_trace_out *trace, uint64_t like);

/* A file to be called so. */
struct ctf_file_given {
    ttr_text name;                   /* ends with a zero */
    size_t section_n;                /* bytes of it that are its section's */
    const struct ctf_kind_out *kind; /* its section; NULL = there is none yet */
};

/* v1.1: whether the name is that of a file of another section, of this name or a longer one;
 * whether files that there are, of sections with such a name or a shorter one, are called as those
 * of a section are. */
bool ctf_given_is_other(const struct ctf_writer *w, const struct ctf_trace_out *trace,
                        const struct ctf_file_given *file);
bool ctf_given_has_files(const struct ctf_writer *w, const struct ctf_trace_out *trace,
                         ttr_text section);

/* --- ctf_discarded_write.c --- */

struct ctf_packet;

/* The first packet of a stream that is encoded anew. */
struct ctf_first {
    const struct ctf_packet *about; /* in the source */
    bool goes_on;                   /* its counters are read behind those of another file there */
};

/* What is missing in a source so far; NULL when memory is out. */
struct ctf_missing *ctf_missing_of(struct ttr_writer *out, uint16_t source);

/* Whether something is missing whose number is known. */
bool ctf_missing_is_known(const struct ctf_missing *missing);

/* Whether counters of the next packet of a stream tell something of it. */
bool ctf_missing_is_told(const struct ctf_missing *missing, const struct ctf_stream_out *stream);

/* Whether a new stream is of packets that another one was made of, too, which tells what is
 * missing. */
bool ctf_missing_is_beside(const struct ctf_missing *missing, const struct ctf_stream_out *stream);

/* Takes a gap. */
TTR_MUST ttr_status ctf_missing_add(struct ttr_writer *out, const ttr_event *event,
                                    ttr_error *error);

/* Has the counters of a new stream begin.  True: only a packet without events, to be written first,
 * makes readers see what is missing. */
bool ctf_missing_begin(struct ttr_writer *out, struct ctf_stream_out *stream,
                       const struct ctf_first *first, struct ctf_missing *missing);

/* Where a gap is to be told, in ticks of a stream. */
struct ctf_gap_place {
    uint64_t before;     /* the packet before ends */
    uint64_t begin, end; /* of the packet that tells of it; end: 0 = as long as its events */
    bool is_alone;       /* that has no events */
};

/* Finds it for a gap before an event at these ticks, of whose packet nothing is known; false where
 * the times of gaps cannot stay. */
bool ctf_missing_place(const struct ctf_missing *missing, const struct ctf_stream_out *stream,
                       uint64_t ticks, struct ctf_gap_place *place);

/* Moves what is missing into the counters of the packet that was entered; what they have no room
 * for is counted as lost. */
void ctf_missing_settle(struct ttr_writer *out, struct ctf_stream_out *stream,
                        struct ctf_missing *missing, uint64_t offset);

/* Writes what is missing at the ends of streams, before these are ended; counts as lost what has no
 * stream. */
TTR_MUST ttr_status ctf_missing_finish(struct ttr_writer *out, ttr_error *error);

/* --- ctf_transcode.c --- */

/* Whether the event is one of a CTF trace that does not speak our dialect, or a gap in one. */
bool ctf_is_plain(const struct ttr_writer *out, const ttr_event *event);

/* Takes the definition of a packet of such a trace: it may have no events. */
TTR_MUST ttr_status ctf_plain_packet(struct ttr_writer *out, const ttr_event *event,
                                     ttr_error *error);

/* Writes such an event. */
TTR_MUST ttr_status ctf_plain_event(struct ttr_writer *out, const ttr_event *event,
                                    ttr_error *error);

/* --- ctf_encode.c --- */

enum ctf_trace_kind {
    CTF_TRACE_OF_ANY = 1, /* events of any kind, in the dialect */
    CTF_TRACE_LIKE = 2    /* those of another CTF trace */
};

/* The trace for events of a source, with this identity among those of its kind: one that is known,
 * or a new one, which is to be begun. NULL when memory is out. */
struct ctf_trace_out *ctf_add_trace(struct ttr_writer *out, const ttr_event *event,
                                    uint64_t identity, enum ctf_trace_kind kind, bool *is_new);

/* A stream of a trace, its file to be called so.  NULL when memory is out. */
struct ctf_stream_out *ctf_stream_add(struct ctf_writer *w, const struct alloc *alloc,
                                      struct ctf_trace_out *trace, struct ctf_kind_out *kind,
                                      ttr_text name);

/* Counts events that will be read in another order than they came. */
void ctf_watch_order(struct ttr_writer *out, const struct ctf_stream_out *stream,
                     const ttr_event *event);

TTR_MUST ttr_status ctf_encode_event(struct ttr_writer *out, const ttr_event *event,
                                     ttr_error *error);

/* Ends all streams and traces; needs_trace: there must be one, though it be empty. */
TTR_MUST ttr_status ctf_encode_finish(struct ttr_writer *out, bool needs_trace, ttr_error *error);
void ctf_encode_free(struct ctf_writer *w, const struct alloc *alloc);

/* --- ctf_stream_order.c --- */

bool ctf_takes_scattered(struct ttr_writer *out, ttr_reader *in);

/* --- ctf_write.c --- */

ttr_status ctf_create(struct ttr_writer *out, ttr_error *error);
ttr_status ctf_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error);
ttr_status ctf_finish(struct ttr_writer *out, ttr_error *error);
void ctf_drop(struct ttr_writer *out);

#endif
