/* view and report --html: timelines in the browser, by libtracetta-view, which is loaded when it is
 * needed. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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
#include "cli/commands/view.h"
#include "cli/input/input_list.h"
#include "cli/input/optional_library.h"
#include "cli/input/output_check.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/messages.h"
#include "cli/ui/progress.h"

#define PORT_MAX 65535u

/* Functions of the library. */
struct view_library {
    __typeof__(ttr_view_tables) *tables;
    __typeof__(ttr_view_new) *create;
    __typeof__(ttr_view_free) *free;
    __typeof__(ttr_view_listen) *listen;
    __typeof__(ttr_view_url) *url;
    __typeof__(ttr_view_serve) *serve;
    __typeof__(ttr_view_report) *report;
};

/* Finds the functions of the library. Returns OUTCOME_FINE, or OUTCOME_INPUT after a message. */
static int load_view_library(struct view_library *library)
{
    char reason[LIBRARY_REASON];
    const struct library_function functions[] = {
        {"ttr_view_tables", &library->tables}, {"ttr_view_new", &library->create},
        {"ttr_view_free", &library->free},     {"ttr_view_listen", &library->listen},
        {"ttr_view_url", &library->url},       {"ttr_view_serve", &library->serve},
        {"ttr_view_report", &library->report},
    };
    if (load_optional_library(LIBRARY_VIEW, functions, sizeof functions / sizeof *functions,
                              reason))
        return OUTCOME_FINE;
    report_failure_text("view", "%s", reason);
    return OUTCOME_INPUT;
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

/* Opens the inputs of the call, lets `use` work with their view, and closes everything. Returns the
 * worse outcome of reading and of `use`. */
static int use_view(struct call *call,
                    int (*use)(struct call *call, const struct view_library *library,
                               ttr_view *view))
{
    struct view_library library;
    struct inputs inputs = {0};
    ttr_store *store = NULL;
    ttr_view *view = NULL;
    int outcome = load_view_library(&library);
    if (outcome != OUTCOME_FINE || (outcome = inputs_open(&inputs, call, 0)) != OUTCOME_FINE)
        return outcome;
    outcome = open_view(call, &library, &inputs, &store, &view);
    if (outcome == OUTCOME_FINE)
        outcome = warn_about_findings(call, inputs.reader, outcome);
    outcome = query_session_check_matches(call, store, outcome);
    if (view) {
        const int used = use(call, &library, view);
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

static bool should_continue(void *user_data)
{
    (void)user_data;
    return !interrupt_was_received();
}

static int serve_view(struct call *call, const struct view_library *library, ttr_view *view)
{
    ttr_error error = {0};
    const ttr_view_options options = {
        .size = sizeof options, .port = (uint16_t)call->set.view_port, .once = call->set.once};
    if (library->listen(view, &options, &error) != TTR_OK) {
        report_failure_text("view", "%s", error.text);
        return OUTCOME_OUTPUT;
    }
    if (printf("%s\n", library->url(view)) < 0 || fflush(stdout) != 0)
        return report_output_error(errno); /* the address is not visible */
    print_note(call, "press Ctrl-C to stop; on another machine: ssh -L PORT:127.0.0.1:PORT HOST");
    if (!call->set.no_open)
        open_browser(library->url(view));
    const ttr_status status = library->serve(view, should_continue, NULL, &error);
    if (status == TTR_AGAIN) /* a thread of the view still uses it */
        _exit(interrupt_was_received() ? 128 + interrupt_was_received() : OUTCOME_FINE);
    if (status == TTR_OK)
        return OUTCOME_FINE;
    report_failure_text("view", "%s", error.text);
    return OUTCOME_OUTPUT;
}

int run_view(struct call *call)
{
    if (call->set.view_port > PORT_MAX)
        return report_misuse("view", "--port: expected a number up to 65535");
    return use_view(call, serve_view);
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

/* Writes the page to a file of a temporary name, which then gets its own: a partial file is never
 * left. A link to a file stays one. */
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
    return use_view(call, write_report);
}
