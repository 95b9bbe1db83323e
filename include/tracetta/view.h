/* A trace as a timeline in the browser: libtracetta-view.
 *
 *     ttr_view *view = ttr_view_new(t, store, &error);
 *     if (view && ttr_view_listen(view, NULL, &error) == TTR_OK) {
 *         puts(ttr_view_url(view));
 *         status = ttr_view_serve(view, keep_going, user_data, &error);
 *     }
 *     ttr_view_free(view);
 *
 * A view copies the slices, counters and scheduling of a store into rows that are ordered by time,
 * with an index that answers for any window and width without reading every slice.  A server on
 * the loopback interface sends the page and its windows; SQL of the page runs in libtracetta-query.
 *
 * Conventions as in tracetta.h.  Free a view before its store and its context.  ttr_view_serve runs
 * threads of its own; until it returns, the caller must not use the context. */
#ifndef TRACETTA_VIEW_H
#define TRACETTA_VIEW_H

#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ttr_view ttr_view;

/* Names of the tables that a view reads, for ttr_store_options.names; ends with NULL. */
TTR_API const char *const *ttr_view_tables(void);

/* Builds the view of a store that has been read.  Needs about 13 bytes per slice.  Without context
 * and store (NULL) the view is empty, for ttr_view_read. */
TTR_API ttr_view *ttr_view_new(ttr *t, const ttr_store *store, ttr_error *error);
TTR_API void ttr_view_free(ttr_view *view);

typedef struct ttr_view_options {
    size_t size;
    uint16_t port; /* 0 = any free port */
    bool once;     /* ttr_view_serve returns when the last page has been closed */
} ttr_view_options;

/* Listens on 127.0.0.1 and makes a secret for the address.  Fails with TTR_E_IO if the port is in
 * use. */
TTR_API TTR_MUST ttr_status ttr_view_listen(ttr_view *view, const ttr_view_options *options,
                                            ttr_error *error);

/* Returns the address of the page with its secret, valid as long as the view; "" before
 * ttr_view_listen. */
TTR_API const char *ttr_view_url(const ttr_view *view);

/* Serves until `progress`, which is called several times per second, returns false, or until the
 * last page is closed (`once`).  Returns TTR_OK, or the error of the listening socket.  Returns
 * TTR_AGAIN if a statement of a page still runs, which nothing can stop: then the view, its store
 * and its context must not be freed, and the process should end by _exit. */
TTR_API TTR_MUST ttr_status ttr_view_serve(ttr_view *view, ttr_progress progress, void *user_data,
                                           ttr_error *error);

typedef struct ttr_view_reading {
    size_t size;
    bool is_live;          /* pages follow the end of the trace */
    uint64_t events_max;   /* older events are forgotten: at least half of them stay; 0 = all */
    ttr_progress progress; /* called after each batch; returning false stops with TTR_AGAIN */
    void *user_data;
} ttr_view_reading;

/* Reads a trace into a view, in place of what it has.  If the view listens, pages are served
 * meanwhile and show the events so far.  `t` is the context of the reader; both must not be freed
 * before the view, or before the next reading has ended.  Returns TTR_OK at the end of the trace,
 * TTR_AGAIN if `progress` stopped it, or the error of the reader.  `options` may be NULL. */
TTR_API TTR_MUST ttr_status ttr_view_read(ttr_view *view, ttr *t, ttr_reader *in,
                                          const ttr_view_reading *options, ttr_error *error);

/* --- Saved views ---
 *
 * The rows of a view can be saved with its store (store.h), to be shown by a later process without
 * reading the trace or the tables of the store. */

#define TTR_VIEW_PARTS 11

/* Lists the rows as TTR_VIEW_PARTS parts for ttr_store_save_options, valid until the view changes
 * or is freed.  Returns their number.  Returns 0 if a trace is still being read, or if memory is
 * exhausted. */
TTR_API size_t ttr_view_parts(const ttr_view *view, ttr_store_part *parts);

/* Loads the store of saved rows with the tables of ttr_view_tables, and sets *t to its context.
 * The view frees the store; the context must not be freed before the view, or before the next
 * reading has ended.  Returns NULL if the store cannot be loaded.  Called from a thread of the
 * view. */
typedef ttr_store *(*ttr_view_load_tables)(void *user_data, ttr **t);

/* Shows the rows that are parts of a loaded store in place of what the view has.  `saved` needs no
 * tables, and can be freed afterwards.  `load` is called once, for the first SQL statement of a
 * page; NULL = there are no tables.  The parts are not trusted: fails with TTR_E_MALFORMED, and
 * changes nothing, if they are missing or damaged. */
TTR_API TTR_MUST ttr_status ttr_view_show_saved(ttr_view *view, const ttr_store *saved,
                                                ttr_view_load_tables load, void *user_data,
                                                ttr_error *error);

/* Returns the store of the latest ttr_view_read, valid until the next one; NULL if there is
 * none. */
TTR_API const ttr_store *ttr_view_store(const ttr_view *view);

/* Pages cannot ask for anything while ttr_view_read waits for a pipe or a socket, unless the caller
 * notes it: from its ttr_pull callback, before (true) and after (false) each wait.  Does nothing
 * while the view does not read, and in other threads. */
TTR_API void ttr_view_note_wait(ttr_view *view, bool is_waiting);

/* Pages of `view` show `second` below it, with one ruler.  The first view listens and serves for
 * both; the second must not be freed before it. */
TTR_API void ttr_view_compare(ttr_view *view, ttr_view *second);

/* Writes the page with reduced data as one HTML file to an open file descriptor.  Its boxes are
 * reduced to 4 MB; tables and names of tracks come on top.
 * The page needs no network. */
TTR_API TTR_MUST ttr_status ttr_view_report(ttr_view *view, int fd, ttr_error *error);

#ifdef __cplusplus
}
#endif
#endif
