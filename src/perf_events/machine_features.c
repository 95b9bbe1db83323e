/* Collects the feature sections from uname, /proc and tracefs. */
#include "perf_events/machine_features.h"

#include <errno.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "base/status.h"
#include "encodings/perf_data/perf_bytes.h"
#include "encodings/tracepoint/tracing_data_write.h"

#define COMMAND_WORDS_MAX 256u /* longest stored command line in words */

static ttr_text text_from_string(const char *text)
{
    return (ttr_text){text, strlen(text)};
}

static uint64_t read_clock_ns(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Stores a pair of CLOCK_REALTIME and CLOCK_MONOTONIC times. Of 8 readings the fastest is stored,
 * so that a preemption between the two clocks does not shift the pair. */
static void add_clock_feature(struct perf_data_writer *put)
{
    uint64_t wall = 0, best_before = 0, best = UINT64_MAX, resolution = 1;
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) {
        uint64_t before = read_clock_ns(CLOCK_MONOTONIC), between = read_clock_ns(CLOCK_REALTIME),
                 after = read_clock_ns(CLOCK_MONOTONIC);
        if (after - before >= best)
            continue;
        best = after - before;
        best_before = before + best / 2;
        wall = between;
    }
    perf_data_writer_set_feature_clock(put, CLOCK_MONOTONIC, wall, best_before);
    perf_store_u64(bytes, put->spec.is_big_endian, resolution);
    perf_data_writer_set_feature(put, PERF_FEATURE_CLOCKID, bytes, sizeof bytes);
}

/* Returns the value of the first line "KEY   : VALUE" in a file, or an empty text. */
static ttr_text read_file_value(struct buffer *text, const char *path, const char *key)
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

static void add_host_features(struct perf_data_writer *put, struct buffer *text)
{
    struct utsname about;
    uint64_t kilobytes;
    uint8_t bytes[8];
    if (uname(&about) == 0) {
        perf_data_writer_set_feature_text(put, PERF_FEATURE_HOSTNAME,
                                          text_from_string(about.nodename));
        perf_data_writer_set_feature_text(put, PERF_FEATURE_OSRELEASE,
                                          text_from_string(about.release));
        perf_data_writer_set_feature_text(put, PERF_FEATURE_ARCH, text_from_string(about.machine));
    }
    perf_data_writer_set_feature_text(put, PERF_FEATURE_VERSION,
                                      text_from_string("tracetta " TTR_VERSION_TEXT));
    perf_data_writer_set_feature_cpus(put, (uint32_t)sysconf(_SC_NPROCESSORS_CONF),
                                      (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
    ttr_text model = read_file_value(text, "/proc/cpuinfo", "model name");
    if (model.n)
        perf_data_writer_set_feature_text(put, PERF_FEATURE_CPUDESC, model);
    ttr_text memory = read_file_value(text, "/proc/meminfo", "MemTotal");
    if (number_parse_u64(memory.p, strspn(memory.p, "0123456789"), &kilobytes)) {
        perf_store_u64(bytes, put->spec.is_big_endian, kilobytes);
        perf_data_writer_set_feature(put, PERF_FEATURE_TOTAL_MEM, bytes, sizeof bytes);
    }
}

static void add_command_feature(struct perf_data_writer *put, const char *const *command)
{
    ttr_text words[COMMAND_WORDS_MAX];
    uint32_t n = 0;
    for (; command && command[n] && n < COMMAND_WORDS_MAX; n++)
        words[n] = text_from_string(command[n]);
    if (n)
        perf_data_writer_set_feature_texts(put, PERF_FEATURE_CMDLINE, words, n);
}

/* --- Tracepoint formats --- */

/* Contents of several tracefs files, one after another in `texts`; `one` is the buffer for reading
 * a file. */
struct tracefs_texts {
    struct buffer texts, one;
};

static ttr_text make_text_slice(const struct tracefs_texts *tracefs_texts, size_t from, size_t to)
{
    return (ttr_text){(const char *)tracefs_texts->texts.bytes + from, to - from};
}

/* Appends the content of a file to `texts`; a missing file counts as empty. Returns the new size of
 * `texts`. */
static size_t append_file(struct tracefs_texts *tracefs_texts, const struct tracing_files *tracefs,
                          const char *name)
{
    if (tracing_files_read(tracefs, name, &tracefs_texts->one))
        buffer_add(&tracefs_texts->texts, tracefs_texts->one.bytes, tracefs_texts->one.n);
    return tracefs_texts->texts.n;
}

static ttr_status add_tracepoint_formats(struct tracing_writer *tracing,
                                         struct tracefs_texts *tracefs_texts,
                                         const ttr_perf_events *events, ttr_error *error)
{
    ttr_perf_event event;
    for (size_t i = 0; ttr_perf_events_at(events, i, &event); i++) {
        char path[2 * TRACING_FILES_PATH_MAX];
        if (!event.system[0])
            continue;
        (void)snprintf(path, sizeof path, "events/%s/%s/format", event.system, event.name);
        if (!tracing_files_read(&events->tracefs, path, &tracefs_texts->one))
            return fail_sys(error, errno, NO_OFFSET, "cannot read the format of tracepoint %s:%s",
                            event.system, event.name);
        tracing_writer_add_format(
            tracing, text_from_string(event.system),
            (ttr_text){(const char *)tracefs_texts->one.bytes, tracefs_texts->one.n});
    }
    return TTR_OK;
}

static void add_tracing_block(struct perf_data_writer *put, struct tracing_writer *tracing,
                              struct tracefs_texts *tracefs_texts,
                              const struct tracing_files *tracefs)
{
    struct buffer block;
    size_t page = append_file(tracefs_texts, tracefs, "events/header_page"),
           event = append_file(tracefs_texts, tracefs, "events/header_event"),
           printk = append_file(tracefs_texts, tracefs, "printk_formats"),
           comms = append_file(tracefs_texts, tracefs, "saved_cmdlines");
    const struct tracing_machine machine = {.is_big_endian = put->spec.is_big_endian,
                                            .long_bytes = sizeof(long),
                                            .page_bytes = (uint32_t)sysconf(_SC_PAGESIZE),
                                            .header_page = make_text_slice(tracefs_texts, 0, page),
                                            .header_event =
                                                make_text_slice(tracefs_texts, page, event),
                                            .printk = make_text_slice(tracefs_texts, event, printk),
                                            .comms = make_text_slice(tracefs_texts, printk, comms)};
    buffer_init(&block, put->spec.alloc);
    tracing_writer_append_block(tracing, &machine, &block);
    if (block.failed || tracefs_texts->texts.failed)
        put->is_out_of_memory = true;
    else
        perf_data_writer_set_tracing_data(put, block.bytes, block.n);
    buffer_free(&block);
}

static ttr_status add_tracing_data(struct perf_data_writer *put,
                                   struct tracefs_texts *tracefs_texts,
                                   const ttr_perf_events *events, ttr_error *error)
{
    struct tracing_writer tracing;
    tracing_writer_init(&tracing, put->spec.alloc);
    ttr_status status = add_tracepoint_formats(&tracing, tracefs_texts, events, error);
    if (status == TTR_OK && tracing.formats_n)
        add_tracing_block(put, &tracing, tracefs_texts, &events->tracefs);
    tracing_writer_free(&tracing);
    return status;
}

bool machine_add_features(struct perf_data_writer *put, const ttr_perf_config *wish,
                          ttr_error *error)
{
    struct tracefs_texts tracefs_texts;
    buffer_init(&tracefs_texts.texts, put->spec.alloc);
    buffer_init(&tracefs_texts.one, put->spec.alloc);
    add_host_features(put, &tracefs_texts.one);
    add_command_feature(put, wish->command);
    add_clock_feature(put);
    ttr_status status = add_tracing_data(put, &tracefs_texts, wish->events, error);
    buffer_free(&tracefs_texts.texts);
    buffer_free(&tracefs_texts.one);
    if (status == TTR_OK && perf_data_writer_failed(put))
        status = fail_memory(error);
    return status == TTR_OK;
}
