/* A provider on a kernel that has user_events, as root: what the kernel does to the word of a
 * tracepoint, what it keeps of events and of which size, several formats under one name, names that
 * are taken, children.  Prints TAP.
 *
 *     kernel_producer abi               the cases
 *     kernel_producer said FILE         writes the events of tests/provider/said.h to user_events,
 * and what should be recorded to FILE kernel_producer compare A.data FILE   whether a recording of
 * perf has these events, byte for byte kernel_producer find PAGES FILE       whether ftrace's pages
 * have them, in their order */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tracetta/provider.h>
#include <tracetta/tracepoints.h>

#include "kernel/recorded.h"
#include "support/said_both.h"
#include "support/tap.h"

#define TRACEFS "/sys/kernel/tracing"

TTR_PROVIDER_DEFINE_GROUP(shop, "Kernel_Shop", "test");
TTR_PROVIDER_DEFINE(clash, "Kernel_Clash");

/* One case. */
__attribute__((format(printf, 3, 4))) static bool is_well(const char *name, bool truth,
                                                          const char *format, ...)
{
    va_list values;
    if (!truth) {
        (void)printf("# ");
        va_start(values, format);
        (void)vprintf(format, values);
        va_end(values);
        (void)printf("\n");
    }
    return tap_case(truth, "%s", name);
}

/* Writes a text to a file of tracefs. */
static bool tell(const char *file, const char *text)
{
    char path[600];
    (void)snprintf(path, sizeof path, TRACEFS "/%s", file);
    int fd = open(path, O_WRONLY | O_TRUNC);
    bool is_told = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        (void)close(fd);
    return is_told;
}

static bool listen_to(const char *name, bool on)
{
    char file[512];
    (void)snprintf(file, sizeof file, "events/%s/enable", name);
    return tell(file, on ? "1" : "0");
}

/* How many lines of ftrace's buffer hold a text; the buffer is emptied. */
static unsigned count_recorded(const char *text)
{
    static char line[65536];
    unsigned n = 0;
    FILE *trace = fopen(TRACEFS "/trace", "r");
    while (trace && fgets(line, sizeof line, trace))
        n += line[0] != '#' && strstr(line, text) != NULL;
    if (trace)
        (void)fclose(trace);
    (void)tell("trace", "");
    return n;
}

static ttr_status write_sold(unsigned n)
{
    return TTR_WRITE(shop, "Sold", TTR_LEVEL(4), TTR_KEYWORD(0x2), TTR_U32("n", n));
}

static unsigned touched;

static unsigned touch(void)
{
    return ++touched;
}

static void write_touched(void)
{
    TTR_WRITE(shop, "Touched", TTR_LEVEL(4), TTR_KEYWORD(0x2), TTR_U32("n", touch()));
}

static void check_enabling(void)
{
    ttr_error error = {.text = ""};
    ttr_status status = ttr_provider_open(&shop, NULL, &error);
    is_well("a_provider_registers_its_tracepoints",
            status == TTR_OK &&
                access(TRACEFS "/events/user_events/Kernel_Shop_L4K2Gtest/enable", F_OK) == 0,
            "%d %s", status, error.text);
    write_touched();
    is_well("nothing_is_written_while_nobody_listens",
            touched == 0 && count_recorded("Kernel_Shop") == 0, "%u", touched);
    bool is_right = true;
    for (unsigned i = 1; i <= 20; i++) {
        is_right &= listen_to("user_events/Kernel_Shop_L4K2Gtest", true);
        write_touched();
        is_right &= touched == i && write_sold(i) == TTR_OK &&
                    listen_to("user_events/Kernel_Shop_L4K2Gtest", false);
        write_touched();
        is_right &= touched == i;
    }
    unsigned n = count_recorded("Kernel_Shop_L4K2Gtest: ");
    is_well("the_kernel_switches_a_tracepoint_on_and_off", is_right, "touched %u", touched);
    is_well("every_event_written_meanwhile_is_recorded", n == 40, "%u of 40", n);
    is_right = listen_to("user_events", true) && write_sold(1) == TTR_OK &&
               listen_to("user_events", false);
    n = count_recorded("Kernel_Shop_L4K2Gtest: eventheader_flags=");
    is_well("ftrace_shows_the_header", is_right && n == 1, "%u", n);
}

static void check_closing(void)
{
    ttr_provider_close(&shop);
    bool is_gone = access(TRACEFS "/events/user_events/Kernel_Shop_L4K2Gtest", F_OK) != 0;
    for (int i = 0; i < 100 && !is_gone; i++) { /* the kernel takes it away a little later */
        (void)usleep(20000);
        is_gone = access(TRACEFS "/events/user_events/Kernel_Shop_L4K2Gtest", F_OK) != 0;
    }
    is_well("closing_takes_the_tracepoints_away", is_gone, "it is still there");
    ttr_status status = ttr_provider_open(&shop, NULL, NULL);
    bool is_on = listen_to("user_events/Kernel_Shop_L4K2Gtest", true) && write_sold(1) == TTR_OK;
    is_well("and_opening_brings_them_back",
            status == TTR_OK && is_on && count_recorded("Kernel_Shop") == 1, "%d", status);
}

static void check_children(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(write_sold(2) == TTR_OK ? 0 : 1);
    bool is_right = waitpid(child, &status, 0) == child && status == 0;
    unsigned n = count_recorded("Kernel_Shop");
    is_well("a_child_of_fork_writes", is_right && n == 1, "%u", n);
    child = fork();
    if (child == 0) {
        ttr_provider_close(&shop);
        _exit(0);
    }
    is_right = waitpid(child, &status, 0) == child && status == 0 && write_sold(3) == TTR_OK;
    n = count_recorded("Kernel_Shop");
    is_well("a_child_that_closes_leaves_its_parent_alone", is_right && n == 1, "%u", n);
    (void)listen_to("user_events/Kernel_Shop_L4K2Gtest", false);
}

static void check_clash(void)
{
    ttr_error error = {.text = ""};
    ttr_status first = ttr_kernel_events_register(NULL, "Kernel_Clash_L1K0 u32 other", &error);
    is_well("any_user_event_can_be_registered", first == TTR_OK, "%s", error.text);
    ttr_status status = ttr_provider_open(&clash, NULL, &error);
    is_well("a_name_taken_with_other_fields_is_told",
            status == TTR_E_IO && error.sys == EADDRINUSE &&
                strstr(error.text, "Kernel_Clash_L1K0"),
            "%d %s", status, error.text);
    bool is_on = listen_to("user_events/Kernel_Clash_L2K0", true);
    TTR_WRITE(clash, "Taken", TTR_LEVEL(1));
    TTR_WRITE(clash, "Free", TTR_LEVEL(2));
    unsigned n = count_recorded("Kernel_Clash");
    is_well("other_tracepoints_of_the_provider_work", is_on && n == 1, "%u", n);
    ttr_provider_close(&clash);
    const ttr_user_events_options options = {.size = sizeof options, .multi_format = true};
    ttr_backend *backend = ttr_backend_user_events(&options, &error);
    status = backend ? ttr_provider_open(&clash, backend, &error) : error.status;
    is_well("with_several_formats_it_is_no_clash", status == TTR_OK, "%s", error.text);
    (void)listen_to("user_events_multi", true);
    TTR_WRITE(clash, "Free", TTR_LEVEL(2));
    n = count_recorded("Kernel_Clash_L2K0");
    bool is_numbered = access(TRACEFS "/events/user_events_multi/Kernel_Clash_L2K0.0", F_OK) == 0;
    is_well("and_events_are_recorded_under_a_numbered_name", is_numbered && n == 1, "%d %u",
            is_numbered, n);
    (void)listen_to("user_events_multi", false);
    ttr_provider_close(&clash);
    ttr_backend_free(backend);
}

static ttr_status write_sized(size_t n)
{
    static const uint8_t zeros[16384];
    enum { AROUND = 8 + 4 + sizeof "Sized" + sizeof "b" + 2 + 2 };
    return TTR_WRITE(shop, "Sized", TTR_LEVEL(3), TTR_BINARY("b", zeros, n - AROUND));
}

/* Writes bytes to the kernel past the library, which refuses them. */
static void write_raw(size_t n)
{
    static uint8_t block[16384];
    uint32_t enabled = 0;
    struct recorded_registration registration =
        recorded_register("Kernel_Shop_L3K0Gtest", &enabled);
    memcpy(block, &registration.index, sizeof registration.index);
    block[4 + 7] = 3;
    if (registration.fd < 0 || write(registration.fd, block, 4 + n) != (ssize_t)(4 + n))
        (void)printf("# raw write: %s\n", strerror(errno));
    recorded_unregister(&registration, &enabled);
}

static void check_sizes(void)
{
    struct recorded_perf perf;
    bool is_listening = recorded_perf_open(&perf, "user_events/Kernel_Shop_L3K0Gtest");
    ttr_status fits = write_sized(TTR_EVENT_MAX), larger = write_sized(TTR_EVENT_MAX + 1);
    unsigned n = recorded_perf_count(&perf);
    is_well("perf_keeps_the_largest_event_that_is_allowed",
            is_listening && fits == TTR_OK && n == 1, "%d %u", fits, n);
    is_well("a_larger_one_is_refused", larger == TTR_E_LIMIT, "%d", larger);
    write_raw(TTR_EVENT_MAX);
    write_raw(TTR_EVENT_MAX + 1);
    n = recorded_perf_count(&perf);
    is_well("which_the_kernel_would_have_dropped_silently", n == 1, "%u", n);
    recorded_perf_close(&perf);
    ttr_provider_counts before = {.size = sizeof before}, counts = before;
    (void)listen_to("user_events/Kernel_Shop_L3K0Gtest", true);
    size_t most = 0;
    for (size_t size = 3900; size < 4200; size++)
        if (write_sized(size) == TTR_OK && count_recorded("Kernel_Shop_L3K0Gtest") == 1)
            most = size;
    ttr_provider_count(&shop, &before);
    (void)write_sized(most);
    ttr_provider_count(&shop, &counts);
    bool is_counted = counts.above_page == before.above_page;
    (void)write_sized(most + 1);
    ttr_provider_count(&shop, &counts);
    is_counted &= counts.above_page == before.above_page + 1;
    (void)printf("# ftrace keeps %zu bytes\n", most);
    is_well("what_ftrace_drops_is_counted", is_counted,
            "the largest that ftrace kept has %zu bytes", most);
    (void)listen_to("user_events/Kernel_Shop_L3K0Gtest", false);
    (void)count_recorded("");
}

static int check_all(void)
{
    (void)tell("trace", "");
    (void)tell("tracing_on", "1");
    check_enabling();
    check_closing();
    check_children();
    check_sizes();
    ttr_provider_close(&shop);
    check_clash();
    return tap_end();
}

/* What is written beside the kernel, as [u32 size of all][name of the tracepoint, zero][event]. */
struct kept {
    FILE *file;
    char names[128][64];
    uint32_t n;
};

static int keep_add(void *ctx, const ttr_tracepoint_request *wish, uint32_t *index)
{
    struct kept *kept = ctx;
    if (kept->n == 128)
        return ENOSPC;
    *index = kept->n++;
    (void)snprintf(kept->names[*index], sizeof kept->names[*index], "%s", wish->name);
    (void)__atomic_fetch_or(wish->enabled, 1u << wish->bit, __ATOMIC_RELAXED);
    return 0;
}

static int keep_write(void *ctx, uint32_t index, uint8_t *event, size_t n)
{
    struct kept *kept = ctx;
    size_t name_n = strlen(kept->names[index]) + 1;
    uint32_t size = (uint32_t)(4 + name_n + n);
    return fwrite(&size, 1, 4, kept->file) == 4 &&
                   fwrite(kept->names[index], 1, name_n, kept->file) == name_n &&
                   fwrite(event, 1, n, kept->file) == n
               ? 0
               : EIO;
}

static int say(const char *path)
{
    static const ttr_backend_functions functions = {sizeof functions, keep_add, NULL, keep_write};
    static struct kept kept;
    ttr_error error;
    FILE *file = kept.file = fopen(path, "wb");
    ttr_backend *keep = file ? ttr_backend_new(&functions, &kept, &error) : NULL;
    if (!keep || ttr_provider_open(&said_c, NULL, &error) != TTR_OK ||
        ttr_provider_open(&said_c, keep, &error) != TTR_OK) {
        (void)fprintf(stderr, "%s\n", file ? error.text : strerror(errno));
        return 1;
    }
    say_c();
    ttr_provider_close(&said_c);
    ttr_backend_free(keep);
    return fclose(file) != 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "abi") == 0)
        return check_all();
    if (argc == 3 && strcmp(argv[1], "said") == 0)
        return say(argv[2]);
    if (argc == 4 && strcmp(argv[1], "compare") == 0)
        return recorded_compare(argv[2], argv[3]);
    if (argc == 4 && strcmp(argv[1], "find") == 0)
        return recorded_find(argv[2], argv[3]);
    (void)fprintf(
        stderr, "usage: kernel_producer abi | said FILE | compare A.data FILE | find PAGES FILE\n");
    return 2;
}
