/* Interface of a format: its folder defines one constant `struct format`, which
 * formats/formats.list names.
 *
 * The constant points to tables of functions, one per capability. A table is NULL if the format
 * lacks the capability. In other tables only the members marked optional may be NULL. */
#ifndef TRACETTA_MODEL_FORMAT_H
#define TRACETTA_MODEL_FORMAT_H

#include <tracetta/advanced.h>
#include <tracetta/formats.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

struct buffer;
struct event_class;
struct folder;
struct file_prefix;
struct input;

/* Input of format detection: the first bytes of a file, decompressed. At least 64 zero bytes follow
 * them, which `n` does not count. */
struct peek {
    const uint8_t *bytes;
    size_t n;      /* number of bytes, at most 64 KiB */
    bool is_whole; /* `bytes` is the complete file */
    const char *path;
};

/* The files of one trace, found below a directory. */
struct found_folder {
    struct folder *folder;
    /* reason, as a sentence, why the folder is not a readable trace; NULL if it is one */
    const char *unreadable_reason;
};

/* All folders of one format found below a directory. */
struct found_folders {
    const struct found_folder *list;
    size_t n; /* number of folders, at least 1 */
    /* the directory contains other traces, too; a folder that cannot be read is then reported as
     * damage, without failing */
    bool has_others;
};

/* Role of an option of the format, and the diagnostics that setting the option resolves. */
struct option_use {
    const char *option;   /* "FORMAT.KEY" */
    ttr_option_role role; /* purpose of the option; 0 = none */
    /* diagnostic codes that the option resolves, separated by blanks; "" = none */
    const char *notes;
};

/* Properties of a format for generic code, which must not name formats. Each list may be empty. */
struct format_hints {
    bool is_general; /* the format can store events of any other format: TTR_FORMAT_GENERAL */
    const struct option_use *uses;
    size_t uses_n;
    const char
        /* codes of diagnostics for which ttr_note_is_warning returns true, separated by blanks; ""
         * = none */
        *warnings;
    const ttr_style_info *styles;
    size_t styles_n;
};

/* Reader of one file or byte stream. */
struct format_reader {
    ttr_order order; /* order in which the reader returns events */
    /* Returns how many bits of the file's beginning match the format; 0 = not this format. Keeps no
     * state. NULL = single files of this format are read only by format_folder.open. */
    unsigned (*bid)(const struct peek *peek);
    /* Returns a sentence that explains why a file with the right name or first bytes is of another
     * format, or NULL. Optional. */
    const char *(*refuse)(const struct peek *peek);
    size_t state_size; /* size of input->ctx, zeroed before open */
    ttr_status (*open)(struct input *in, ttr_error *error);
    /* Adds up to in->batch events, at least one, with input_add_event; or returns TTR_END or an
     * error.
     */
    ttr_status (*next)(struct input *in, ttr_error *error);
    void (*close)(struct input *in); /* closes the input; also called after a failed open */
    /* `next` stops before the first event at or after in->until: it sets in->is_stopped, and may
     * then return no events. */
    bool stops;
    bool has_stacks; /* events may have stacks outside of their fields: TTR_FORMAT_STACKS */
    /* symbols may follow the stacks that need them: TTR_FORMAT_LATE_SYMBOLS */
    bool has_late_symbols;
    /* Optional: returns a bit set of the kinds of events that the input may contain. Called before
     * the first `next`. */
    uint32_t (*kinds)(struct input *in);
    /* Optional: limits reading to events in [from_ns, to_ns). Others may be skipped, except spans
     * that overlap the range. Times do not include the user's offset. Called before the first
     * `next`; if called again, the ranges are intersected. */
    void (*range)(struct input *in, int64_t from_ns, int64_t to_ns);
    /* Optional: option keys, separated by blanks, that affect only the reading of this input
     * ("metadata"). A copy of the input is read without them. */
    const char *input_options;
};

/* Reader of traces that consist of a folder of files. */
/* A packet, or a main file, of a trace that arrives while it is read. */
struct fed_packet {
    uint64_t trace; /* number of the trace */
    const char
        *file; /* name of the stream file, file_n bytes; NULL = the bytes are the main file */
    size_t file_n;
    const uint8_t *bytes;
    size_t n;
};

/* Source of packets for a reader. */
struct packet_feed {
    /* Sets the next packet, which remains the next one until `consume`. Waits for one at most
     * limit_ms. Returns TTR_AGAIN if there is none. */
    ttr_status (*peek)(void *ctx, unsigned limit_ms, struct fed_packet *packet, ttr_error *error);
    void (*consume)(void *ctx);
    void *ctx;
};

/* Losses of a receiver while it wrote a file. */
struct packet_losses {
    uint64_t kernel_drops; /* datagrams that the kernel dropped */
    /* numbers of packets and events that were dropped because a queue was full */
    uint64_t dropped_packets, dropped_events;
};

struct format_folder {
    /* file that makes a folder a trace ("metadata"); `bid` checks its first bytes */
    const char *main_file;
    /* optional: key of the option that names another file in place of the main file; the folder
     * then needs no main file */
    const char *main_file_option;
    bool reads_alone; /* a single file without a main file is a trace, too */
    /* Opens a reader that merges the folder's files; each file is an input (input_new). Owns the
     * folder, even on failure. `only`: the one file to read, NULL = all. Also called for a single
     * file with a main file next to it, if `bid` accepts the file. */
    ttr_reader *(*open)(ttr *t, struct folder *folder, const char *only,
                        const ttr_read_options *options, ttr_error *error);
    /* Optional: opens all folders below a directory together, so that folders of one trace become
     * one trace. Owns all of them. A folder without a valid main file becomes an input without
     * events that reports damage (`directory.bad-main-file`). So does a folder that cannot be read
     * (`trace.unreadable`), if another can. NULL = each folder is opened separately. */
    ttr_reader *(*open_together)(ttr *t, const struct found_folders *found,
                                 const ttr_read_options *options, ttr_error *error);
    /* Optional: opens a reader of the packets of a feed. Copies `feed`; the `ctx` of the feed must
     * outlive the reader. */
    ttr_reader *(*open_feed)(ttr *t, const char *path, const struct packet_feed *feed,
                             const ttr_read_options *options, ttr_error *error);
    /* tag of the TTR_KIND_DEFINITION with a complete packet of a file as payload; 0 = none. Each
     * file is the concatenation of its packets, so that they can be sent one by one. */
    uint16_t packet_tag;
    /* Optional: hidden file next to the main file, in which a receiver of packets stores its
     * losses, and a function that appends the content of this file. */
    const char *losses_file;
    void (*write_losses)(struct buffer *to, const struct packet_losses *losses);
};

/* Reader of traces from a network. */
struct format_url {
    const char *schemes; /* URL schemes, separated by blanks: "net net4" */
    ttr_reader *(*open)(ttr *t, const char *url, const ttr_read_options *options, ttr_error *error);
};

/* Facts about one packet. */
struct packet_facts {
    /* the packet has a number in its stream; `stream`, `counter`, `events`, `time_ns` are valid */
    bool is_counted;
    bool is_head; /* the packet is repeated at the head of each file of a source */
    bool has_epoch;
    uint32_t stream, counter; /* `counter` numbers the packets of `stream` */
    uint32_t events;          /* number of events in the packet */
    bool has_events_before;   /* events_before is valid; else each packet is one event */
    uint64_t events_before;   /* events in the earlier packets of the stream */
    uint64_t time_ns;         /* end of the last event, in ns after the epoch */
    uint64_t epoch_ns;        /* Unix time of time 0, in ns; valid with has_epoch */
    /* ports of the earlier connections of the sender, big-endian, 16 bits each; borrowed. Such a
     * packet is not stored. */
    const uint8_t *ports;
    uint32_t ports_n;
};

/* The last counter of a stream. */
struct packet_counter {
    uint32_t stream, counter;
};

/* Packets of a format that need no earlier ones to be decoded, so that they can be sent and
 * received one by one. */
struct format_transfer {
    size_t frame_size; /* number of bytes of which get_size returns a packet's size */
    bool has_checksum; /* a packet that `parse` refuses is garbage, although its size is known */
    bool allows_datagrams; /* the loss of a packet leaves the others readable */
    /* Returns the size of the packet that starts with these bytes; 0 if none starts with them or it
     * exceeds `max`. */
    uint64_t (*get_size)(const uint8_t *frame, uint64_t max);
    /* Returns the facts of a complete packet, which `get_size` accepts. Returns false if its
     * content is invalid; the facts are then valid as far as the header. */
    bool (*parse)(const uint8_t *packet, size_t n, struct packet_facts *facts);
    /* Adds a time to an event, and sets its stream. Does nothing to other packets. NULL = packets
     * of several sources cannot be merged. */
    void (*rebase)(uint8_t *packet, uint32_t stream, uint64_t delta_ns);
    /* Appends a packet with the last counters of n streams. The receiver writes it at the start of
     * a file that continues another one. NULL = the format has no such packet. */
    void (*write_counters)(struct buffer *to, const struct packet_counter *counters, size_t n);
    /* Appends a packet with the losses of the receiver, which writes it at the end of a file. NULL
     * = the format has no such packet. */
    void (*write_losses)(struct buffer *to, const struct packet_losses *losses);
    /* Appends a packet with the local ports of earlier connections, which the sender sends first
     * when it connects again. NULL = the format has no such packet. */
    void (*write_ports)(struct buffer *to, const uint16_t *ports, size_t n);
    const uint8_t *merged_head; /* first packet of a trace with time 0 at 1970 */
    size_t merged_head_n;
};

/* Declarations of event classes, and metadata text. */
struct format_description {
    /* Describes event class i in `about`; returns false after the last. `events`: number of events
     * of the class read so far. */
    bool (*describe)(struct input *in, size_t i, struct event_class *about, uint64_t *events);
    /* Optional: appends all declarations to `to`, in a metadata language. */
    ttr_status (*print)(struct input *in, const char *language, struct buffer *to,
                        ttr_error *error);
};

struct format_writer {
    bool is_text;       /* the output is text, for people or line-based tools, not a trace */
    bool wants_symbols; /* the output has names of functions: TTR_FORMAT_SYMBOLS */
    bool stores_stacks_as_fields; /* TTR_FORMAT_STACK_FIELDS */
    /* Kinds of events that `write` expects in time order, as a bit set; the caller sorts the
     * events. 0 = none, READER_ANY_KIND = all. */
    uint32_t ordered_kinds;
    /* the losses that a copy to this format may have, with count 0; NULL = none */
    const ttr_loss *losses;
    size_t losses_n;
    /* The output is a folder, which contains format->folder->main file when complete; out->folder
     * is set instead of out->sink. */
    bool writes_folder;
    /* Optional: returns true if a file may belong to the trace of this main file, judged by the
     * first bytes of both. A folder that contains any other file is not overwritten. */
    bool (*is_part)(const struct file_prefix *main_file, const struct file_prefix *file);
    size_t state_size; /* size of out->ctx, zeroed before create */
    /* Initializes out->ctx; must not write. The first bytes are written with the first batch, or by
     * finish. */
    ttr_status (*create)(struct ttr_writer *out, ttr_error *error);
    ttr_status (*write)(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error);
    /* Optional: updates the state as `write` would, without output. Parallel writing needs it: each
     * of several writers formats some of the batches and passes the others; the texts are
     * concatenated. */
    void (*pass)(struct ttr_writer *out, const ttr_batch *batch);
    ttr_status (*finish)(struct ttr_writer *out, ttr_error *error);
    /* Optional: returns true if the output is the same whether `in` merges its inputs by time or
     * reads them one after another. Called before the first read. */
    bool (*can_use_stream_order)(struct ttr_writer *out, ttr_reader *in);
    /* Optional: frees the state; called after finish, or without it if the output is abandoned. */
    void (*drop)(struct ttr_writer *out);
};

/* Facts of a packet that only the main file of its trace explains. */
struct bare_facts {
    uint64_t size;     /* bytes of the packet */
    uint64_t class_id; /* number of its stream class */
    uint64_t number;   /* number of the stream in its class; 0 = it has none */
    bool has_sequence; /* the packets of the stream are numbered */
    uint64_t sequence; /* number of the packet, from 0 */
};

/* Reception of packets without frames, one or more per datagram. The main file of the trace is
 * received in datagrams too, or known before. */
struct format_bare {
    /* Returns true if a datagram starts with a packet. */
    bool (*is_packet)(const uint8_t *bytes, size_t n);
    /* Returns true if a datagram is a piece of the main file; sets *is_whole if it is the file. */
    bool (*is_main)(const uint8_t *bytes, size_t n, bool *is_whole);
    /* Parses a main file. Returns NULL if it is invalid or incomplete. */
    void *(*open)(const uint8_t *bytes, size_t n, ttr_error *error);
    /* Sets the facts of the packet at the start of the bytes. Returns false if no packet of the
     * trace starts there, or the packet is longer than the n bytes. */
    bool (*examine)(void *state, const uint8_t *bytes, size_t n, struct bare_facts *facts);
    /* Frees the result of `open`. A NULL state is allowed. */
    void (*close)(void *state);
};

struct format {
    const char *name, *title; /* "fxt"; a title of one line */
    const char *extensions;   /* without dots, separated by blanks: "fxt ftf" */
    const char *spec;         /* supported versions of the specification */
    /* codes of its diagnostics, ended by a row without a code; NULL if it has none */
    const ttr_diagnostic_info *diagnostics;
    const struct format_reader *reader;
    const struct format_folder *folder;
    const struct format_url *url;
    const struct format_description *description;
    const struct format_writer *writer;
    const struct format_transfer *transfer; /* NULL = only complete files can be sent */
    const struct format_bare *bare;         /* NULL = its packets need no main file, or frames */
    const struct format_hints *hints;
    const ttr_option_info *options; /* options of the reader and the writer */
    size_t options_n;
};

#endif
