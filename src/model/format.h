/* How a format plugs in: its folder has one constant `struct format`, and formats/formats.list has
 * its name.
 *
 * The constant points to tables of what the format can do.  A table is NULL if the format cannot,
 * else complete: only the members marked optional may be NULL. */
#ifndef TRACETTA_MODEL_FORMAT_H
#define TRACETTA_MODEL_FORMAT_H

#include <tracetta/read.h>
#include <tracetta/write.h>

struct buffer;
struct event_class;
struct folder;
struct file_prefix;
struct input;

/* What a bidder sees: the first bytes of the (uncompressed) input, followed by at least 64 zero
 * bytes that do not count. */
struct peek {
    const uint8_t *bytes;
    size_t n;      /* at most 64 KiB */
    bool is_whole; /* the input ends with them */
    const char *path;
};

/* A folder that was found below a directory. */
struct found_folder {
    struct folder *folder;
    const char *untold; /* a sentence why nothing in it can be read (it lacks a good anchor), or
                           NULL */
};

/* Folders of one format that were found below a directory. */
struct found_folders {
    const struct found_folder *list;
    size_t n;        /* >= 1 */
    bool has_others; /* there are more folders than these: if none of them can be read, the damage
                        that replaces them names the reason */
};

/* What an option is for, and which notes it helps with. */
struct option_use {
    const char *option;   /* "FORMAT.KEY" */
    ttr_option_role role; /* 0 = none */
    const char *notes;    /* codes, with blanks between them; "" = none */
};

/* Answers to questions of programs, so that these know no format by name.  Each list may be empty.
 */
struct format_hints {
    bool is_general; /* holds traces of all kinds: TTR_FORMAT_GENERAL */
    const struct option_use *uses;
    size_t uses_n;
    const char
        *warnings; /* codes of notes for ttr_note_is_warning, with blanks between; "" = none */
    const ttr_style_info *styles;
    size_t styles_n;
};

/* Reads one file, or one stream of bytes. */
struct format_reader {
    ttr_order order; /* what it promises */
    /* Returns how many bits of the first bytes it verified, 0 = not this format.  Keeps no state.
     * Optional: a part of a trace that only its folder opens has none. */
    unsigned (*bid)(const struct peek *peek);
    /* Returns a sentence why this is not the format though it looks like it (a name clash), or
     * NULL.  Optional. */
    const char *(*refuse)(const struct peek *peek);
    size_t state_size; /* of input->ctx, zeroed before open */
    ttr_status (*open)(struct input *in, ttr_error *error);
    /* Adds up to in->batch events (at least one) with input_add_event, or returns TTR_END or an
     * error. */
    ttr_status (*next)(struct input *in, ttr_error *error);
    void (*close)(struct input *in); /* also after a failed open */
    /* `next` stops before the first event at or after in->until, and then sets in->is_stopped; it
     * may add no event. */
    bool stops;
    /* Optional: returns the kinds of events that may come, as bits.  Before the first `next`. */
    uint32_t (*kinds)(struct input *in);
    /* Optional: events outside of [from_ns, to_ns) (before the user's offset) need not be read, but
     * spans that reach in must.  Before the first `next`; if called more than once, each of the
     * ranges holds. */
    void (*range)(struct input *in, int64_t from_ns, int64_t to_ns);
    /* Keys of options, with blanks between them, that say how an input is read, or how much of it,
     * and that do not apply to a copy of it ("metadata").  Optional. */
    const char *input_options;
};

/* Traces of many files, each trace a folder. */
struct format_folder {
    const char *anchor; /* the file that makes a folder a trace ("metadata"); the reader's `bid`
                           sees its first bytes */
    const char *anchor_option; /* optional: the option that names a file to be read instead, so that
                                  a folder needs no anchor */
    bool reads_alone;          /* a single file is a trace too */
    /* Makes the reader: inputs (input_new) over the files, merged.  Owns the folder, also on
     * failure.  `only`: the one file of the folder to be read, NULL = all.  A file that bids and is
     * next to an anchor is opened so too. */
    ttr_reader *(*open)(ttr *t, struct folder *folder, const char *only,
                        const ttr_read_options *options, ttr_error *error);
    /* Optional: the same for folders below one directory, so that parts of one trace are read as
     * one.  Owns all of them.  A folder that is `untold` is replaced by an input without events
     * with that damage (`directory.untold`); one that cannot be read, among others that can, too
     * (`trace.unreadable`).  NULL: each folder is a trace of its own. */
    ttr_reader *(*open_together)(ttr *t, const struct found_folders *found,
                                 const ttr_read_options *options, ttr_error *error);
};

/* Traces that come over a network. */
struct format_url {
    const char *schemes; /* of its URLs: "net net4" */
    ttr_reader *(*open)(ttr *t, const char *url, const ttr_read_options *options, ttr_error *error);
};

/* What a trace declares before its events. */
struct format_description {
    /* Describes the i-th class of events; false past the end.  `events` = how many of it this input
     * has read so far. */
    bool (*describe)(struct input *in, size_t i, struct event_class *about, uint64_t *events);
    /* Optional: appends all of it, in a language, to `to`. */
    ttr_status (*print)(struct input *in, const char *language, struct buffer *to,
                        ttr_error *error);
};

struct format_writer {
    bool is_text;           /* the output is for people or for tools that read lines */
    bool wants_order;       /* events by time; the caller sorts them first */
    const ttr_loss *losses; /* what it may lose, count 0; NULL if it loses nothing */
    size_t losses_n;
    /* The target is a folder, which has the file format->folder->anchor in the end; out->folder is
     * set instead of out->sink. */
    bool writes_folder;
    /* Optional: returns whether a file may be of the trace whose anchor is next to it, by the first
     * bytes of both: other files keep the folder from being replaced. */
    bool (*is_part)(const struct file_prefix *anchor, const struct file_prefix *file);
    size_t state_size; /* of out->ctx, zeroed before create */
    /* Makes state only: the first bytes are written with the first batch or by finish. */
    ttr_status (*create)(struct ttr_writer *out, ttr_error *error);
    ttr_status (*write)(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error);
    /* Optional: keeps what `write` of later batches needs to know of this one.  With it, several
     * writers may each write some of the batches, and the texts are joined. */
    void (*pass)(struct ttr_writer *out, const ttr_batch *batch);
    ttr_status (*finish)(struct ttr_writer *out, ttr_error *error);
    /* Optional: returns whether the output is the same if the inputs of a reader, of which nothing
     * was read yet, come one after another. */
    bool (*can_use_stream_order)(struct ttr_writer *out, ttr_reader *in);
    /* Optional: frees the state, after finish or without it. */
    void (*drop)(struct ttr_writer *out);
};

struct format {
    const char *name, *title; /* "fxt"; one line */
    const char *extensions;   /* "fxt ftf" */
    const char *spec;         /* which versions */
    const struct format_reader *reader;
    const struct format_folder *folder;
    const struct format_url *url;
    const struct format_description *description;
    const struct format_writer *writer;
    const struct format_hints *hints;
    const ttr_option_info *options; /* of reading and writing */
    size_t options_n;
};

#endif
