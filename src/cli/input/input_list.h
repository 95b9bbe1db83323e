/* Inputs: files opened with the options of the call, mapped to one time line, merged and filtered.
 *
 * Ownership: inputs_close closes the readers and the context; everything borrowed from them is then
 * invalid. */
#ifndef TRACETTA_CLI_INPUT_INPUT_LIST_H
#define TRACETTA_CLI_INPUT_INPUT_LIST_H

#include <tracetta/advanced.h>
#include <tracetta/analyse.h>
#include <tracetta/tracetta.h>

#include "cli/commands/command.h"

struct inputs {
    ttr *t;
    ttr_reader *reader;    /* all inputs, merged and filtered */
    int64_t *offset;       /* ns added to the times of each path */
    struct stream *stream; /* state of the paths that are pipes */
    size_t streams_n;
    int64_t from_ns, to_ns; /* the range of --start and --end: from_ns <= time < to_ns */
    /* TTR_READ_* flags in addition to those of the options; without definitions if events are
     * sorted */
    uint32_t flags;
    struct file_stamp *seen;   /* file stamps from before --sort read the inputs, or NULL */
    bool is_in_order;          /* --sort found the inputs to be ordered and does not sort them */
    ttr_order_index *disorder; /* order index made by --sort, or NULL */
    struct symbolizer *symbolizer; /* finds functions for --debug-info, or NULL */
    struct symbolizer *names;      /* finds functions for inputs_prepare_stacks, or NULL */
    const struct call *call;       /* threads that open the inputs a second time use its options */
};

/* Opens all paths of the call; `flags` are added to those of the options. Returns OUTCOME_FINE, or
 * the outcome after reporting an error. */
int inputs_open(struct inputs *inputs, const struct call *call, uint32_t flags);

/* Opens a single path, without filters. */
int inputs_open_single(struct inputs *inputs, const struct call *call, const char *path,
                       uint32_t flags);

/* Opens one path with the given options. Returns NULL with `error` on failure. */
ttr_reader *inputs_open_path(struct inputs *inputs, const char *path,
                             const ttr_read_options *options, ttr_error *error);

/* Fills in reader options from the call. The caller frees options->format_options. Returns
 * OUTCOME_FINE, or the outcome after reporting an error. */
int inputs_fill_read_options(const struct call *call, ttr_read_options *options);

/* Warns of options that do not apply to an opened input. */
void inputs_warn_about_opened(const struct call *call, const char *path, ttr_reader *reader);

/* Lets other threads format output too, as --jobs requests, if the input can be opened again. The
 * writer must be finished before inputs_close. */
void inputs_enable_parallel_writing(struct inputs *inputs, const struct call *call,
                                    ttr_writer *out);

/* Returns true if an input is a pipe that has no bytes to read at the moment. */
bool inputs_are_idle(const struct inputs *inputs);

/* Waits up to `ms` milliseconds for bytes of the only pipe or address. Returns true if reading
 * would not wait, or there are other inputs. */
bool inputs_wait(const struct inputs *inputs, unsigned ms);

/* Returns the TTR_READ_* flags that a writer of a format needs for stacks and their symbols. */
uint32_t inputs_get_symbol_flags(const char *format);

/* Prepares stacks and symbols for a writer of a format: names of functions, and stacks as fields if
 * the format needs them and an input may have stacks. Open the inputs with the flags of
 * inputs_get_symbol_flags. Returns OUTCOME_FINE, or the outcome after reporting an error. */
int inputs_prepare_stacks(struct inputs *inputs, const struct call *call, const char *format);

/* Sets a symbolizer, which names functions that the trace does not name. It loads its library at
 * the first address. `flags` are TTR_SYMBOLS_*. Returns OUTCOME_FINE, or the outcome after
 * reporting that memory ran out. */
int inputs_set_symbolizer(struct inputs *inputs, const struct call *call, uint32_t flags);

void inputs_close(struct inputs *inputs);

/* Warns if inputs that were ordered, and therefore not sorted, have changed since. Returns the
 * outcome. */
int inputs_warn_if_changed(const struct inputs *inputs, const struct call *call, int outcome);

/* Reports an error of a reader and returns the outcome; with --strict, damage is OUTCOME_NO. `path`
 * names the input, or all inputs (inputs_get_name). */
int inputs_report_failure(const struct call *call, const char *path, const ttr_error *error);

/* Returns a name for all inputs: the only path, or "the inputs". */
const char *inputs_get_name(const struct call *call);

/* Returns true if opening the inputs again yields the same bytes: they are files or folders, not
 * live. */
bool inputs_can_read_twice(const struct call *call);

/* Calls `note_wait` before and after each wait for bytes of a pipe or an address, from the thread
 * that reads it. */
void inputs_note_waits(struct inputs *inputs, void (*note_wait)(void *ctx, bool is_waiting),
                       void *ctx);

/* Returns true if a path is a URL: a live trace, for which no pager is used. */
bool inputs_are_live(const struct call *call);

/* Returns the format options for reading (or writing) as the library expects them; the caller frees
 * the list. Returns NULL with *is_fine false after reporting an unknown option. */
const char **inputs_format_options(const struct call *call, bool for_writing, bool *is_fine);

/* Warns of options of formats that are neither read nor written (`target`). The last `ctx` options
 * of the list were not given by the user. */
void inputs_warn_about_idle(const struct call *call, ttr_reader *in, const char *target,
                            size_t ctx);

#endif
