/* Feature sections of the machine we are on; see the header. */
#include "perf_events/machine.h"

#include <errno.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "base/status.h"
#include "encodings/perf_data/perf_bytes.h"
#include "encodings/tracepoint/tracing_data_write.h"

#define WORDS_MAX 256u /* of a command line */

static ttr_text text_of(const char *text)
{
    return (ttr_text){text, strlen(text)};
}

static uint64_t now_of(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The pair of times that were read closest to each other of some: so a pause between two readings
 * does no harm. */
static void tell_clock(struct perf_put *put)
{
    uint64_t wall = 0, best_before = 0, best = UINT64_MAX, resolution = 1;
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) {
        uint64_t before = now_of(CLOCK_MONOTONIC), between = now_of(CLOCK_REALTIME),
                 after = now_of(CLOCK_MONOTONIC);
        if (after - before >= best)
            continue;
        best = after - before;
        best_before = before + best / 2;
        wall = between;
    }
    perf_put_feature_clock(put, CLOCK_MONOTONIC, wall, best_before);
    perf_store_u64(bytes, put->spec.is_big_endian, resolution);
    perf_put_feature(put, PERF_FEATURE_CLOCKID, bytes, sizeof bytes);
}

/* The value of the first line "KEY   : VALUE" of a file; "" = none. */
static ttr_text find_line(struct buffer *text, const char *path, const char *key)
{
    if (!tracing_files_read_path(path, text))
        return (ttr_text){"", 0};
    const char *line = strstr((const char *)text->bytes, key),
               *colon = line ? strchr(line, ':') : NULL;
    if (!colon)
        return (ttr_text){"", 0};
    colon += 1 + strspn(colon + 1, " \t");
    return (ttr_text){colon, strcspn(colon, "\n")};
}

static void tell_machine(struct perf_put *put, struct buffer *text)
{
    struct utsname about;
    uint64_t kilobytes;
    uint8_t bytes[8];
    if (uname(&about) == 0) {
        perf_put_feature_text(put, PERF_FEATURE_HOSTNAME, text_of(about.nodename));
        perf_put_feature_text(put, PERF_FEATURE_OSRELEASE, text_of(about.release));
        perf_put_feature_text(put, PERF_FEATURE_ARCH, text_of(about.machine));
    }
    perf_put_feature_text(put, PERF_FEATURE_VERSION, text_of("tracetta " TTR_VERSION_TEXT));
    perf_put_feature_cpus(put, (uint32_t)sysconf(_SC_NPROCESSORS_CONF),
                          (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
    ttr_text model = find_line(text, "/proc/cpuinfo", "model name");
    if (model.n)
        perf_put_feature_text(put, PERF_FEATURE_CPUDESC, model);
    ttr_text memory = find_line(text, "/proc/meminfo", "MemTotal");
    if (number_get_u64(memory.p, strspn(memory.p, "0123456789"), &kilobytes)) {
        perf_store_u64(bytes, put->spec.is_big_endian, kilobytes);
        perf_put_feature(put, PERF_FEATURE_TOTAL_MEM, bytes, sizeof bytes);
    }
}

static void tell_command(struct perf_put *put, const char *const *command)
{
    ttr_text words[WORDS_MAX];
    uint32_t n = 0;
    for (; command && command[n] && n < WORDS_MAX; n++)
        words[n] = text_of(command[n]);
    if (n)
        perf_put_feature_texts(put, PERF_FEATURE_CMDLINE, words, n);
}

/* --- Formats of tracepoints --- */

/* Files of tracefs, read one behind the other into one buffer. */
struct files {
    struct buffer texts, one;
};

static ttr_text text_at(const struct files *files, size_t from, size_t to)
{
    return (ttr_text){(const char *)files->texts.bytes + from, to - from};
}

/* A file that may be missing: then it is empty.  Gives where it ends. */
static size_t append_file(struct files *files, const struct tracing_files *tracefs,
                          const char *name)
{
    if (tracing_files_read(tracefs, name, &files->one))
        buffer_add(&files->texts, files->one.bytes, files->one.n);
    return files->texts.n;
}

static ttr_status add_formats(struct tracing_put *tracing, struct files *files,
                              const ttr_perf_events *events, ttr_error *error)
{
    ttr_perf_event event;
    for (size_t i = 0; ttr_perf_events_at(events, i, &event); i++) {
        char path[2 * TRACING_FILES_PATH];
        if (!event.system[0])
            continue;
        (void)snprintf(path, sizeof path, "events/%s/%s/format", event.system, event.name);
        if (!tracing_files_read(&events->tracefs, path, &files->one))
            return fail_sys(error, errno, NO_OFFSET,
                            "how events of %s:%s are laid out cannot be read", event.system,
                            event.name);
        tracing_put_format(tracing, text_of(event.system),
                           (ttr_text){(const char *)files->one.bytes, files->one.n});
    }
    return TTR_OK;
}

static void put_block(struct perf_put *put, struct tracing_put *tracing, struct files *files,
                      const struct tracing_files *tracefs)
{
    struct buffer block;
    size_t page = append_file(files, tracefs, "events/header_page"),
           event = append_file(files, tracefs, "events/header_event"),
           printk = append_file(files, tracefs, "printk_formats"),
           comms = append_file(files, tracefs, "saved_cmdlines");
    const struct tracing_machine machine = {.is_big_endian = put->spec.is_big_endian,
                                            .long_bytes = sizeof(long),
                                            .page_bytes = (uint32_t)sysconf(_SC_PAGESIZE),
                                            .header_page = text_at(files, 0, page),
                                            .header_event = text_at(files, page, event),
                                            .printk = text_at(files, event, printk),
                                            .comms = text_at(files, printk, comms)};
    buffer_init(&block, put->spec.alloc);
    tracing_put_block(tracing, &machine, &block);
    if (block.failed || files->texts.failed)
        put->is_out_of_memory = true;
    else
        perf_put_tracing(put, block.bytes, block.n);
    buffer_free(&block);
}

static ttr_status tell_formats(struct perf_put *put, struct files *files,
                               const ttr_perf_events *events, ttr_error *error)
{
    struct tracing_put tracing;
    tracing_put_init(&tracing, put->spec.alloc);
    ttr_status status = add_formats(&tracing, files, events, error);
    if (status == TTR_OK && tracing.formats_n)
        put_block(put, &tracing, files, &events->tracefs);
    tracing_put_free(&tracing);
    return status;
}

bool machine_tell(struct perf_put *put, const ttr_perf_wish *wish, ttr_error *error)
{
    struct files files;
    buffer_init(&files.texts, put->spec.alloc);
    buffer_init(&files.one, put->spec.alloc);
    tell_machine(put, &files.one);
    tell_command(put, wish->command);
    tell_clock(put);
    ttr_status status = tell_formats(put, &files, wish->events, error);
    buffer_free(&files.texts);
    buffer_free(&files.one);
    if (status == TTR_OK && perf_put_failed(put))
        status = fail_memory(error);
    return status == TTR_OK;
}
