/* view and report --html: timelines in the browser, by libtracetta-view, which is loaded when it is
 * needed. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tracetta/view.h>

#include "cli/commands/command.h"
#include "cli/commands/query_session.h"
#include "cli/commands/report.h"
#include "cli/commands/saved_findings.h"
#include "cli/commands/view_cache.h"
#include "cli/commands/view.h"
#include "cli/input/file_stamp.h"
#include "cli/input/input_list.h"
#include "cli/input/optional_library.h"
#include "cli/input/output_check.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/messages.h"
#include "cli/ui/progress.h"

#define PORT_MAX 65535u
#define LIVE_EVENTS_MAX 4000000u /* events of a live trace; older ones are forgotten */
#define LOOK_NS 1000000000u      /* ns between two checks of the files for changes */

/* Functions of the library. */
struct view_library {
    __typeof__(ttr_view_tables) *tables;
    __typeof__(ttr_view_new) *create;
    __typeof__(ttr_view_free) *free;
    __typeof__(ttr_view_listen) *listen;
    __typeof__(ttr_view_url) *url;
    __typeof__(ttr_view_serve) *serve;
    __typeof__(ttr_view_read) *read;
    __typeof__(ttr_view_show_saved) *show_saved;
    __typeof__(ttr_view_parts) *parts;
    __typeof__(ttr_view_store) *store;
    __typeof__(ttr_view_note_wait) *note_wait;
    __typeof__(ttr_view_compare) *compare;
    __typeof__(ttr_view_report) *report;
};

/* Finds the functions of the library. Returns OUTCOME_FINE, or OUTCOME_INPUT after a message. */
static int load_view_library(struct view_library *library)
{
    char reason[LIBRARY_REASON];
    const struct library_function functions[] = {
        {"ttr_view_tables", &library->tables},
        {"ttr_view_new", &library->create},
        {"ttr_view_free", &library->free},
        {"ttr_view_listen", &library->listen},
        {"ttr_view_url", &library->url},
        {"ttr_view_serve", &library->serve},
        {"ttr_view_read", &library->read},
        {"ttr_view_note_wait", &library->note_wait},
        {"ttr_view_report", &library->report},
        {"ttr_view_compare", &library->compare},
        {"ttr_view_parts", &library->parts},
        {"ttr_view_store", &library->store},
        {"ttr_view_show_saved", &library->show_saved},
    };
    if (load_optional_library(LIBRARY_VIEW, functions, sizeof functions / sizeof *functions,
                              reason))
        return OUTCOME_FINE;
    report_failure_text("view", "%s", reason);
    return OUTCOME_INPUT;
}

/* --- view --- */

/* A view that is served, and the trace that it shows. */
struct viewing {
    struct call *call;
    struct view_library library;
    ttr_view *view;
    struct inputs inputs;
    struct file_stamp *stamp; /* stamp of the files when they were opened; NULL = live */
    uint64_t look_ns;         /* time of the next check for changes (progress_now) */
    struct view_cache cache;
    bool is_saved;          /* the first view is that of the saved store */
    atomic_bool is_damaged; /* the tables of the saved store are damaged: read the trace */
    struct viewing *second; /* trace that is shown below; NULL = none */
};

/* Opens the address in the user's browser; without one, nothing happens. */
static void open_browser(const char *url)
{
    extern char **environ;
    pid_t process;
    const char *arguments[] = {"xdg-open", url, NULL};
    posix_spawn_file_actions_t actions;
    if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY"))
        return;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return;
    (void)posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", 1, 0);
    (void)posix_spawn_file_actions_adddup2(&actions, 1, 2);
    char *words[3];
    for (size_t i = 0; i < 3; i++)
        words[i] = (char *)(uintptr_t)arguments[i];
    if (posix_spawnp(&process, words[0], &actions, NULL, words, environ) == 0)
        (void)waitpid(process, NULL, WNOHANG);
    (void)posix_spawn_file_actions_destroy(&actions);
}

static void note_wait(void *ctx, bool is_waiting)
{
    const struct viewing *viewing = ctx;
    viewing->library.note_wait(viewing->view, is_waiting);
}

/* Reads opened inputs into the view. Returns the status of reading. */
static ttr_status read_trace(struct viewing *viewing, struct inputs *inputs, ttr_error *error)
{
    struct progress progress;
    const bool live = !viewing->stamp;
    const ttr_view_reading options = {.size = sizeof options,
                                      .is_live = live,
                                      .events_max = live ? LIVE_EVENTS_MAX : 0,
                                      .progress = progress_step,
                                      .user_data = &progress};
    inputs_note_waits(inputs, note_wait, viewing);
    progress_begin(&progress, viewing->call, inputs->t, inputs->reader, "view");
    const ttr_status status =
        viewing->library.read(viewing->view, inputs->t, inputs->reader, &options, error);
    progress_end(&progress);
    inputs_note_waits(inputs, NULL, NULL);
    return status;
}

/* Saves the view of a trace that was read completely. */
static void save_view(const struct viewing *viewing)
{
    ttr_store_part parts[TTR_VIEW_PARTS];
    const size_t n = viewing->library.parts(viewing->view, parts);
    view_cache_save(&viewing->cache, viewing->call, viewing->inputs.reader,
                    viewing->library.store(viewing->view), parts, n);
}

/* Reads files that have changed again; while they cannot be read, the view shows the old events. */
static void read_again(struct viewing *viewing)
{
    struct inputs inputs = {0};
    struct call quiet = *viewing->call;
    ttr_error error = {0};
    struct file_stamp *stamp = file_stamp_record(quiet.path, quiet.paths_n);
    quiet.set.quiet = true;
    if (!stamp)
        return;
    file_stamp_free(viewing->stamp);
    viewing->stamp = stamp;
    const bool is_damaged = atomic_exchange(&viewing->is_damaged, false);
    if (inputs_open(&inputs, &quiet, TTR_READ_SYMBOLS) != OUTCOME_FINE)
        return;
    const bool is_read = read_trace(viewing, &inputs, &error) == TTR_OK;
    inputs_close(is_read ? &viewing->inputs : &inputs);
    if (is_read)
        viewing->inputs = inputs;
    if (is_read && is_damaged)
        save_view(viewing);
}

/* Reads files again that have changed, or if their saved store is damaged. Returns false after a
 * signal. */
static bool should_continue(void *user_data)
{
    struct viewing *viewing = user_data;
    const uint64_t now = progress_now();
    if (viewing->second)
        (void)should_continue(viewing->second);
    const bool is_damaged = atomic_load(&viewing->is_damaged);
    if (!interrupt_was_received() && viewing->stamp && (is_damaged || now >= viewing->look_ns)) {
        if (is_damaged || !file_stamp_equals(viewing->stamp, true))
            read_again(viewing);
        /* Large traces are read less often. */
        viewing->look_ns = progress_now() + LOOK_NS + 4 * (progress_now() - now);
    }
    return !interrupt_was_received();
}

static int listen_for_pages(const struct viewing *viewing)
{
    ttr_error error = {0};
    const struct call *call = viewing->call;
    const char *(*url)(const ttr_view *view) = viewing->library.url;
    const ttr_view_options options = {
        .size = sizeof options, .port = (uint16_t)call->set.view_port, .once = call->set.once};
    if (viewing->library.listen(viewing->view, &options, &error) != TTR_OK) {
        report_failure_text("view", "%s", error.text);
        return OUTCOME_OUTPUT;
    }
    if (printf("%s\n", url(viewing->view)) < 0 || fflush(stdout) != 0)
        return report_output_error(errno); /* the address is not visible */
    print_note(call, "press Ctrl-C to stop; on another machine: ssh -L PORT:127.0.0.1:PORT HOST");
    if (!call->set.no_open)
        open_browser(url(viewing->view));
    return OUTCOME_FINE;
}

/* Loads the tables of the saved store when a page asks for them; see ttr_view_load_tables. */
static ttr_store *load_tables(void *user_data, ttr **t)
{
    struct viewing *viewing = user_data;
    ttr_store *store =
        view_cache_load(&viewing->cache, viewing->call, viewing->library.tables(), t);
    if (store)
        viewing->inputs.t = *t;
    else
        atomic_store(&viewing->is_damaged, true);
    return store;
}

/* Shows the saved view of the trace. Returns false if there is none, or it is damaged. */
static bool show_saved(struct viewing *viewing)
{
    ttr *t = NULL;
    ttr_store *saved = view_cache_open(&viewing->cache, viewing->call, &t);
    const bool is_shown = saved && viewing->library.show_saved(viewing->view, saved, load_tables,
                                                               viewing, NULL) == TTR_OK;
    ttr_store_free(saved);
    ttr_free(t);
    return is_shown;
}

/* Reads a trace while pages are served. Sets *is_over if it failed and there is nothing to show. */
static int read_first(struct viewing *viewing, bool *is_over)
{
    ttr_error error = {0};
    if (viewing->is_saved)
        return saved_findings_print(viewing->call, viewing->cache.findings, OUTCOME_FINE);
    const ttr_status status = read_trace(viewing, &viewing->inputs, &error);
    if (status == TTR_OK && !interrupt_was_received())
        save_view(viewing);
    if (status == TTR_OK || status == TTR_AGAIN)
        return warn_about_findings(viewing->call, viewing->inputs.reader, OUTCOME_FINE);
    *is_over = viewing->stamp != NULL;
    return inputs_report_failure(viewing->call, inputs_get_name(viewing->call), &error);
}

/* Reads the traces, while pages are served, and serves until a signal. */
static int show_traces(struct viewing *viewing)
{
    ttr_error error = {0};
    bool is_over = false;
    int outcome = listen_for_pages(viewing);
    for (struct viewing *each = viewing; outcome == OUTCOME_FINE && each; each = each->second)
        outcome = read_first(each, &is_over);
    if (outcome != OUTCOME_FINE && (is_over || outcome == OUTCOME_OUTPUT))
        return outcome;
    const ttr_status status =
        viewing->library.serve(viewing->view, should_continue, viewing, &error);
    if (status == TTR_AGAIN) /* a thread of the view still reads: the view cannot be freed */
        _exit(interrupt_was_received() ? 128 + interrupt_was_received() : outcome);
    if (status == TTR_OK)
        return outcome;
    report_failure_text("view", "%s", error.text);
    return OUTCOME_OUTPUT;
}

/* Opens the traces and makes an empty view of them. */
static int open_viewing(struct viewing *viewing, struct call *call)
{
    ttr_error error = {0};
    viewing->call = call;
    if (inputs_can_read_twice(call))
        viewing->stamp = file_stamp_record(call->path, call->paths_n);
    viewing->view = viewing->library.create(NULL, NULL, &error);
    if (!viewing->view) {
        report_failure_text("view", "%s", error.text);
        return OUTCOME_INPUT;
    }
    viewing->is_saved = show_saved(viewing);
    return viewing->is_saved ? OUTCOME_FINE : inputs_open(&viewing->inputs, call, TTR_READ_SYMBOLS);
}

static void close_viewing(struct viewing *viewing)
{
    if (viewing->view) {
        viewing->library.free(viewing->view);
        inputs_close(&viewing->inputs);
    }
    view_cache_free(&viewing->cache);
    file_stamp_free(viewing->stamp);
}

int run_view(struct call *call)
{
    struct viewing viewings[2] = {{.call = call, .cache.file = -1},
                                  {.call = call, .cache.file = -1}};
    struct call calls[2] = {*call, *call};
    const bool has_two = call->set.compare;
    if (call->set.view_port > PORT_MAX)
        return report_misuse("view", "--port: expected a number up to 65535");
    if (has_two && call->paths_n != 2)
        return report_misuse("view", "--compare expects two traces: OLD NEW");
    int outcome = load_view_library(&viewings[0].library);
    viewings[1].library = viewings[0].library;
    for (size_t i = 0; i < 2 && has_two; i++) {
        calls[i].path = call->path + i;
        calls[i].paths_n = 1;
    }
    for (size_t i = 0; i < (has_two ? 2u : 1u) && outcome == OUTCOME_FINE; i++)
        outcome = open_viewing(&viewings[i], &calls[i]);
    if (outcome == OUTCOME_FINE && has_two) {
        viewings[0].second = &viewings[1];
        viewings[0].library.compare(viewings[0].view, viewings[1].view);
    }
    if (outcome == OUTCOME_FINE)
        outcome = show_traces(&viewings[0]);
    close_viewing(&viewings[0]);
    close_viewing(&viewings[1]);
    return outcome;
}

/* --- report --html --- */

/* Writes to a FIFO or device, which is never replaced. */
static int write_special_file(const struct view_library *library, ttr_view *view, const char *path)
{
    ttr_error error = {0};
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return report_unwritable_output(path, errno);
    const ttr_status status = library->report(view, fd, &error);
    const int reason = status == TTR_E_NOMEM ? ENOMEM : errno;
    return close(fd) == 0 && status == TTR_OK ? OUTCOME_FINE
                                              : report_unwritable_output(path, reason);
}

/* Writes the page to a temporary file and renames it, so that no partial file remains. A symbolic
 * link is kept: the file that it refers to is replaced. */
static int write_file(const struct view_library *library, ttr_view *view, const char *name)
{
    char temporary[PATH_MAX + 32], path[PATH_MAX];
    struct stat about;
    ttr_error error = {0};
    const bool exists = stat(name, &about) == 0;
    if (exists && !S_ISREG(about.st_mode))
        return S_ISDIR(about.st_mode) ? report_unwritable_output(name, EISDIR)
                                      : write_special_file(library, view, name);
    if (!exists || !realpath(name, path)) {
        if (strlen(name) >= sizeof path)
            return report_unwritable_output(name, ENAMETOOLONG);
        memcpy(path, name, strlen(name) + 1);
    }
    (void)snprintf(temporary, sizeof temporary, "%s.%d.tmp", path, (int)getpid());
    const int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return report_unwritable_output(name, errno);
    const ttr_status status = library->report(view, fd, &error);
    int reason = status == TTR_E_NOMEM ? ENOMEM : errno;
    if (close(fd) != 0 || (status == TTR_OK && rename(temporary, path) != 0))
        reason = errno;
    else if (status == TTR_OK)
        return OUTCOME_FINE;
    (void)unlink(temporary);
    return report_unwritable_output(name, reason);
}

static int write_report(struct call *call, const struct view_library *library, ttr_view *view)
{
    ttr_error error = {0};
    const char *path = call->set.output;
    if (strcmp(path, "-") != 0)
        return write_file(library, view, path);
    if (library->report(view, STDOUT_FILENO, &error) == TTR_OK)
        return OUTCOME_FINE;
    report_failure_text("standard output", "%s", error.text);
    return OUTCOME_OUTPUT;
}

/* Reads the input into a store and makes its view. */
static int open_view(struct call *call, const struct view_library *library, struct inputs *inputs,
                     ttr_store **store, ttr_view **view)
{
    struct progress progress;
    ttr_error error = {0};
    const ttr_store_options options = {
        .size = sizeof options, .names = library->tables(), .memory = call->set.memory_max};
    *store = ttr_store_new(inputs->t, &options, &error);
    ttr_status status = *store ? TTR_OK : error.status;
    if (status == TTR_OK) {
        progress_begin(&progress, call, inputs->t, inputs->reader, "view");
        status = ttr_store_read(*store, inputs->reader, progress_step, &progress, &error);
        progress_end(&progress);
    }
    if (status == TTR_OK && (*view = library->create(inputs->t, *store, &error)))
        return OUTCOME_FINE;
    if (status == TTR_AGAIN)
        return OUTCOME_FINE; /* interrupted */
    return inputs_report_failure(call, inputs_get_name(call), &error);
}

/* Opens the inputs of the call, writes the report of their view, and closes everything. Returns the
 * worse outcome of reading and of writing. */
static int report_view(struct call *call)
{
    struct view_library library;
    struct inputs inputs = {0};
    ttr_store *store = NULL;
    ttr_view *view = NULL;
    int outcome = load_view_library(&library);
    if (outcome != OUTCOME_FINE ||
        (outcome = inputs_open(&inputs, call, TTR_READ_SYMBOLS)) != OUTCOME_FINE)
        return outcome;
    outcome = open_view(call, &library, &inputs, &store, &view);
    if (outcome == OUTCOME_FINE)
        outcome = warn_about_findings(call, inputs.reader, outcome);
    outcome = query_session_check_matches(call, store, outcome);
    if (view) {
        const int used = write_report(call, &library, view);
        outcome = used == OUTCOME_FINE ? outcome : used;
    } else if (interrupt_was_received()) {
        print_note(call, "interrupted");
        outcome = 128 + interrupt_was_received();
    }
    library.free(view);
    ttr_store_free(store);
    inputs_close(&inputs);
    return outcome;
}

int report_html(struct call *call)
{
    const char *path = call->set.output;
    if (!path)
        return report_misuse("report", "--html needs a file to write: -o report.html");
    const int outcome = check_output_path(call, path, "html");
    if (outcome != OUTCOME_FINE)
        return outcome;
    if (strcmp(path, "-") != 0 && !call->set.overwrite && access(path, F_OK) == 0) {
        report_failure_text(path, "exists already; --overwrite (-f) replaces it");
        return OUTCOME_OUTPUT;
    }
    return report_view(call);
}
