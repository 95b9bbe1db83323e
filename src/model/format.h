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

/* Input of format detection: the first uncompressed bytes of a file, followed by at least 64 zero
 * bytes that are not counted. */
struct peek {
    const uint8_t *bytes;
    size_t n;      /* at most 64 KiB */
    bool is_whole; /* the input has no more bytes */
    const char *path;
};

/* A folder of files found below a directory. */
struct found_folder {
    struct folder *folder;
    /* reason why nothing in it can be read (no valid anchor), as a sentence, or NULL */
    const char *untold;
};

/* Folders of one format found below a directory. */
struct found_folders {
    const struct found_folder *list;
    size_t n; /* at least 1 */
    /* more folders exist than these; if none of these can be read, the damage that replaces them
     * gives the reason */
    bool has_others;
};

/* Purpose of an option, and the diagnostics that it can resolve. */
struct option_use {
    const char *option;   /* "FORMAT.KEY" */
    ttr_option_role role; /* 0 = none */
    const char *notes;    /* codes separated by blanks; "" = none */
};

/* Properties of a format that programs need, so that they name no format themselves. Each list may
 * be empty. */
struct format_hints {
    bool is_general; /* can store events of any other format: TTR_FORMAT_GENERAL */
    const struct option_use *uses;
    size_t uses_n;
    const char
        /* codes of diagnostics for ttr_note_is_warning, separated by blanks; "" = none */
        *warnings;
    const ttr_style_info *styles;
    size_t styles_n;
};

/* Reader of one file or byte stream. */
struct format_reader {
    ttr_order order; /* guaranteed order of events */
    /* Returns the number of bits of the first bytes that it verified, 0 = not this format. Keeps no
     * state. Optional: NULL if only the folder's reader opens such files. */
    unsigned (*bid)(const struct peek *peek);
    /* Returns a sentence that explains why an input is not this format despite its looks (a name
     * clash), or NULL. Optional. */
    const char *(*refuse)(const struct peek *peek);
    size_t state_size; /* size of input->ctx, zeroed before open */
    ttr_status (*open)(struct input *in, ttr_error *error);
    /* Adds up to in->batch events, at least one, with input_add_event; or returns TTR_END or an
     * error.
     */
    ttr_status (*next)(struct input *in, ttr_error *error);
    void (*close)(struct input *in); /* also called after a failed open */
    /* `next` stops before the first event at or after in->until and sets in->is_stopped; it may
     * then add no event. */
    bool stops;
    /* Optional: returns a bit set of the kinds of events that may occur. Called before the first
     * `next`. */
    uint32_t (*kinds)(struct input *in);
    /* Optional: events outside of [from_ns, to_ns) may be skipped, except spans that overlap it.
     * Times are before the user's offset. Called before the first `next`; if called repeatedly, all
     * ranges apply. */
    void (*range)(struct input *in, int64_t from_ns, int64_t to_ns);
    /* Keys of options, separated by blanks, that affect only how this input is read and do not
     * apply to a copy of it ("metadata"). Optional. */
    const char *input_options;
};

/* Reader of traces that consist of a folder of files. */
struct format_folder {
    /* file that makes a folder a trace ("metadata"); `bid` is given its first bytes */
    const char *anchor;
    /* optional: option that names a replacement of the anchor file; a folder then needs no anchor
     */
    const char *anchor_option;
    bool reads_alone; /* a single file is a trace, too */
    /* Opens a reader over the folder's files: inputs (input_new), merged. Owns the folder, even on
     * failure. `only`: the one file to read, NULL = all. Also called for a file that `bid` accepts
     * and that is next to an anchor. */
    ttr_reader *(*open)(ttr *t, struct folder *folder, const char *only,
                        const ttr_read_options *options, ttr_error *error);
    /* Optional: opens folders below one directory together, so that parts of one trace are read as
     * one. Owns all of them. A folder that is `untold`, or that cannot be read while others can, is
     * replaced by an input without events and with damage (`directory.untold`, `trace.unreadable`).
     * NULL: each folder is a trace of its own. */
    ttr_reader *(*open_together)(ttr *t, const struct found_folders *found,
                                 const ttr_read_options *options, ttr_error *error);
};

/* Reader of traces from a network. */
struct format_url {
    const char *schemes; /* URL schemes, separated by blanks: "net net4" */
    ttr_reader *(*open)(ttr *t, const char *url, const ttr_read_options *options, ttr_error *error);
};

/* Declarations of a trace, as far as they precede its events. */
struct format_description {
    /* Describes event class i; returns false past the last. `events`: number of its events read so
     * far. */
    bool (*describe)(struct input *in, size_t i, struct event_class *about, uint64_t *events);
    /* Optional: appends the complete declaration in a metadata language to `to`. */
    ttr_status (*print)(struct input *in, const char *language, struct buffer *to,
                        ttr_error *error);
};

struct format_writer {
    bool is_text;           /* the output is text, for people or line-based tools */
    bool wants_order;       /* events must be in time order; the caller sorts them */
    const ttr_loss *losses; /* possible losses, with count 0; NULL if it loses nothing */
    size_t losses_n;
    /* The output is a folder, which contains format->folder->anchor when finished; out->folder is
     * set instead of out->sink. */
    bool writes_folder;
    /* Optional: returns true if a file may belong to the trace with this anchor, judged by the
     * first bytes of both. Any other file prevents the folder from being replaced. */
    bool (*is_part)(const struct file_prefix *anchor, const struct file_prefix *file);
    size_t state_size; /* size of out->ctx, zeroed before create */
    /* Initializes the state only; the first bytes are written with the first batch or by finish. */
    ttr_status (*create)(struct ttr_writer *out, ttr_error *error);
    ttr_status (*write)(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error);
    /* Optional: updates the state as `write` would, without writing. With it, several writers can
     * each write some of the batches, and their texts are concatenated. */
    void (*pass)(struct ttr_writer *out, const ttr_batch *batch);
    ttr_status (*finish)(struct ttr_writer *out, ttr_error *error);
    /* Optional: returns true if the output does not depend on whether the reader merges its inputs
     * or reads them one after another. Nothing was read yet. */
    bool (*can_use_stream_order)(struct ttr_writer *out, ttr_reader *in);
    /* Optional: frees the state; called with or without a preceding finish. */
    void (*drop)(struct ttr_writer *out);
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
    const struct format_hints *hints;
    const ttr_option_info *options; /* options of the reader and the writer */
    size_t options_n;
};

#endif
