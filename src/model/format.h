/* How a format plugs in: one constant of this struct in its folder, one line in
 * formats/formats.list. */
#ifndef TRACETTA_MODEL_FORMAT_H
#define TRACETTA_MODEL_FORMAT_H

#include <tracetta/read.h>
#include <tracetta/write.h>

struct buffer;
struct event_class;
struct folder;
struct folder_begin;
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
struct folder_found {
    struct folder *folder;
    const char *untold; /* why nothing in it can be read, for it lacks a good anchor: a sentence;
                           NULL = it can be read */
};

/* Those of one format. */
struct folders_found {
    const struct folder_found *list;
    size_t n;        /* >= 1 */
    bool has_others; /* more than these were found: where none of them can be read, that is told in
                        their places too */
};

struct format {
    const char *name, *title, *extensions, *spec; /* "fxt", one line, "fxt ftf", which versions */
    uint32_t abilities;                           /* TTR_FORMAT_* */
    ttr_order order;                              /* what its reader promises */

    /* Reading.  bid: how many bits it verified, 0 = not mine; no state. */
    unsigned (*bid)(const struct peek *peek);
    /* Why this is not the format though it looks like it (a name clash): a sentence, or NULL.
     * Optional. */
    const char *(*refuse)(const struct peek *peek);
    size_t reader_size; /* of input->own, zeroed before open */
    ttr_status (*open)(struct input *in, ttr_error *error);
    /* Adds up to in->batch events (at least one) with input_event, or gives TTR_END or an error. */
    ttr_status (*next)(struct input *in, ttr_error *error);
    /* `next` stops before an event that is not before in->until, and then says so (in->is_stopped);
     * it may give none. */
    bool stops;
    /* Optional, for formats that fill in->run (model/reader.h): counts what that gave into
     * events_total, position, last. */
    void (*settle)(struct input *in);
    void (*close)(struct input *in); /* also after a failed open */
    /* Optional: the kinds of events that may come, as bits, where some cannot.  Before the first
     * `next`. */
    uint32_t (*kinds)(struct input *in);
    /* Optional: events outside of [from_ns, to_ns) (before the user's offset) need not be given,
     * but spans that reach in must.  Before the first `next`; maybe more than once, and then each
     * of the ranges holds. */
    void (*range)(struct input *in, int64_t from_ns, int64_t to_ns);

    /* A trace of many files: the file that makes a folder one ("metadata"); `bid` sees that file's
     * first bytes.  NULL = one file. open_folder makes its reader: inputs (input_new) over the
     * files, merged.  It takes the folder over, also on failure.  `only`: the one file of the
     * folder that was asked for, NULL = all.  A file that bids and stands beside the anchor is
     * opened so too. */
    const char *anchor;
    const char *anchor_option; /* the option that names a file to be read instead, so that a folder
                                  may be without; NULL = none */
    bool reads_alone;          /* a single file is a trace too */
    ttr_reader *(*open_folder)(ttr *t, struct folder *folder, const char *only,
                               const ttr_read_options *options, ttr_error *error);
    /* The same for folders that were found below one directory, so that those which are parts of
     * one trace are read as one; all are taken over. In the place of one that is untold stands an
     * input without events whose damage (`directory.untold`) says so; of one among others that
     * cannot be read as well (`trace.unreadable`).  NULL: each is a trace of its own. */
    ttr_reader *(*open_folders)(ttr *t, const struct folders_found *found,
                                const ttr_read_options *options, ttr_error *error);

    /* Traces that come over a network: the schemes of their URLs ("net net4", a path that begins
     * with one and "://" is such a URL), and who opens one.  NULL = none. */
    const char *schemes;
    ttr_reader *(*open_url)(ttr *t, const char *url, const ttr_read_options *options,
                            ttr_error *error);

    /* What the trace describes beforehand; NULL = nothing.  describe: its i-th class of events,
     * false past the end; `events` = how many of it this input gave so far.  print: all of it in a
     * language, appended to `to`. */
    bool (*describe)(struct input *in, size_t i, struct event_class *about, uint64_t *events);
    ttr_status (*print)(struct input *in, const char *language, struct buffer *to,
                        ttr_error *error);

    /* Writing.  writes_folder: the target is a folder, which has a file `anchor` in the end;
     * out->folder is there instead of out->sink. create makes state only: the first bytes go out
     * with the first batch or finish. */
    const ttr_loss *losses; /* what it may lose, count 0 */
    size_t losses_n;
    bool writes_folder,
        wants_order; /* wants_order: events by time; who feeds it sorts them first */
    /* Whether a file may be of the trace whose anchor stands beside it, by the first bytes of both:
     * others keep the folder from being replaced. NULL: any may. */
    bool (*is_part)(const struct folder_begin *anchor, const struct folder_begin *file);
    size_t writer_size; /* of out->own, zeroed before create */
    ttr_status (*create)(struct ttr_writer *out, ttr_error *error);
    ttr_status (*write)(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error);
    /* What `write` makes of an event depends on those before it only by what `pass` keeps of those
     * in a batch: then events may be written by several writers, each some of them, and the texts
     * joined.  NULL: not so. */
    void (*pass)(struct ttr_writer *out, const ttr_batch *batch);
    ttr_status (*finish)(struct ttr_writer *out, ttr_error *error);
    /* Whether all that a reader gives, of which nothing was read yet, is the same to the output
     * where its inputs come one after another.  NULL: no. */
    bool (*takes_scattered)(struct ttr_writer *out, ttr_reader *in);
    void (*drop)(
        struct ttr_writer *out); /* frees state, after finish or without; NULL = nothing to free */

    const ttr_option_info *options;
    size_t options_n;
    /* Keys of options for reading, with blanks between them, that tell how an input is read, or how
     * much of it, and nothing that holds for a copy of it, too ("metadata").  NULL = none. */
    const char *input_options;
};

#endif
