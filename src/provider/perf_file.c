/* Backend that writes a perf.data file from inside the program, without kernel support, permissions
 * or another process.
 *
 * Each tracepoint becomes a perf event with its own id and the format text that user_events would
 * have, so perf reads the file like a recording of user_events. Samples are serialized by a mutex,
 * so times in the file ascend. They are buffered and written in pieces: after 256 KiB, after 100
 * ms, and with the first sample after a new tracepoint. Each piece ends with an updated file
 * header, so the file of a killed program is readable up to its last piece. Features are added at
 * the end.
 *
 * Left out: signal handlers, because of the mutex, and fork children; their events are refused with
 * ECHILD. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/key_map.h"
#include "base/status.h"
#include "encodings/event_header/event_header.h"
#include "encodings/perf_data/perf_data_write.h"
#include "encodings/tracepoint/tracing_data_write.h"
#include "provider/state.h"

#define PIECE_BYTES (256u << 10)
#define PIECE_NS UINT64_C(100000000)
#define POINTS_MAX 60000u /* limit of tracepoints: the type field of a sample has 16 bits */
#define FIRST_TYPE 1000u  /* above the type numbers that ftrace reserves for itself */
#define COMMON_BYTES 8u   /* common fields: u16 type, u8 flags, u8 preempt count, s32 pid */
#define SAMPLE_TYPE                                                            \
    (PERF_SAMPLE_HAS_IDENTIFIER | PERF_SAMPLE_HAS_TID | PERF_SAMPLE_HAS_TIME | \
     PERF_SAMPLE_HAS_CPU | PERF_SAMPLE_HAS_RAW)

struct perf_file {
    pthread_mutex_t lock;
    struct perf_data_writer put;
    struct buffer out; /* data that is not yet written to the file */
    struct tracing_writer tracing;
    struct key_map points; /* hash of a tracepoint name -> index of the tracepoint */
    uint32_t points_n;
    uint64_t written_ns; /* CLOCK_MONOTONIC time in ns when buffered data were last written */
    bool has_new_points; /* a tracepoint was added since buffered data were last written */
    /* the format files exceed one record, so they are written only at the end */
    bool formats_exceed_record;
    int fd;  /* descriptor of the file, -1 after perf_file_finish */
    int sys; /* errno of the first failed write, 0 = none; after it nothing is written */
    pid_t pid;
    unsigned max_level;
    uint64_t keywords;
};

/* Writes the buffer to the file and empties it. Ends at the first error, which is stored in
 * file->sys. */
static void flush_output(struct perf_file *file)
{
    size_t at = 0;
    while (at < file->out.n && !file->sys) {
        ssize_t n = write(file->fd, file->out.bytes + at, file->out.n - at);
        if (n > 0)
            at += (size_t)n;
        else if (n == 0 || errno != EINTR)
            file->sys = n == 0 ? ENOSPC : errno;
    }
    buffer_clear(&file->out);
}

static uint64_t read_clock_ns(clockid_t clock)
{
    struct timespec now = {0};
    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Returns the index of the tracepoint with a name, or points_n if it is new. */
static uint32_t find_point_index(const struct perf_file *file, const char *name)
{
    const uint32_t *index = key_map_get(&file->points, hash_bytes(name, strlen(name)));
    return index ? *index : file->points_n;
}

/* Adds a tracepoint as a perf event with attribute, id and format. Returns false if memory is
 * exhausted. */
static bool declare_tracepoint(struct perf_file *file, const char *name)
{
    char full[PROVIDER_NAME_MAX + 16];
    uint8_t bytes[PERF_ATTR_VER7];
    uint32_t type = FIRST_TYPE + file->points_n;
    uint64_t id = (uint64_t)file->points_n + 1;
    const struct perf_attr attr = {.type = PERF_TYPE_TRACEPOINT_EVENT,
                                   .config = type,
                                   .period = 1,
                                   .sample_type = SAMPLE_TYPE,
                                   .flags = UINT64_C(1) << PERF_FLAG_SAMPLE_ID_ALL |
                                            UINT64_C(1) << PERF_FLAG_USE_CLOCKID,
                                   .clockid = CLOCK_MONOTONIC};
    (void)snprintf(full, sizeof full, "user_events:%s", name);
    perf_attr_serialize(&attr, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, bytes);
    perf_data_writer_add_event(&file->put, bytes, (ttr_text){full, strlen(full)}, &id, 1);
    tracing_writer_add_event_header(&file->tracing, (ttr_text){name, strlen(name)}, type);
    bool is_kept = key_map_put(&file->points, hash_bytes(name, strlen(name)), file->points_n);
    file->points_n++;
    file->has_new_points = !file->formats_exceed_record;
    return is_kept;
}

/* Sets the format files of all tracepoints (feature TRACING_DATA). */
static void append_formats(struct perf_file *file)
{
    struct buffer block;
    const struct tracing_machine machine = {.is_big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
                                            .long_bytes = sizeof(long),
                                            .page_bytes = (uint32_t)sysconf(_SC_PAGESIZE)};
    buffer_init(&block, alloc_default());
    tracing_writer_append_block(&file->tracing, &machine, &block);
    if (block.failed || file->tracing.is_out_of_memory)
        file->sys = file->sys ? file->sys : ENOMEM;
    file->formats_exceed_record = block.n > PERF_CARRIED_BYTES_MAX;
    perf_data_writer_set_tracing_data(&file->put, block.bytes, block.n);
    buffer_free(&block);
}

/* Writes buffered data: format files that are pending, the samples, and a file header that includes
 * both. */
static void write_buffered_piece(struct perf_file *file, uint64_t now_ns)
{
    uint8_t header[PERF_HEADER_BYTES];
    if (file->has_new_points)
        append_formats(file);
    file->has_new_points = false;
    file->written_ns = now_ns;
    perf_data_writer_finish_round(&file->put);
    perf_data_writer_mark_readable(&file->put);
    flush_output(file);
    perf_data_writer_store_header(&file->put, header);
    if (!file->sys && pwrite(file->fd, header, sizeof header, 0) != (ssize_t)sizeof header)
        file->sys = errno ? errno : ENOSPC;
}

/* Returns true if level and keyword in a tracepoint name satisfy the options. */
static bool matches_options(const struct perf_file *file, const char *name)
{
    struct event_header_name parts;
    if (!event_header_parse_name((ttr_text){name, strlen(name)}, &parts))
        return false;
    return (!file->max_level || parts.level <= file->max_level) &&
           (!file->keywords || !parts.keyword || (parts.keyword & file->keywords));
}

static int perf_file_register(void *ctx, const ttr_tracepoint_request *wish, uint32_t *index)
{
    struct perf_file *file = ctx;
    int sys = 0;
    (void)pthread_mutex_lock(&file->lock);
    *index = find_point_index(file, wish->name);
    if (*index == file->points_n && file->points_n == POINTS_MAX)
        sys = EMFILE;
    else if (*index == file->points_n && !declare_tracepoint(file, wish->name))
        sys = ENOMEM;
    if (sys == 0 && perf_data_writer_failed(&file->put))
        sys = ENOMEM;
    if (sys == 0 && matches_options(file, wish->name))
        (void)__atomic_fetch_or(wish->enabled, 1u << wish->bit, __ATOMIC_RELAXED);
    (void)pthread_mutex_unlock(&file->lock);
    return sys;
}

/* Appends a sample. The caller holds the lock: the clock is read under it, so that times never
 * decrease. Returns 0 or an errno. */
static int append_sample(struct perf_file *file, uint32_t index, const uint8_t *event, size_t n)
{
    uint8_t common[COMMON_BYTES] = {0};
    uint16_t type = (uint16_t)(FIRST_TYPE + index);
    int32_t tid = (int32_t)syscall(SYS_gettid);
    int cpu = sched_getcpu();
    memcpy(common, &type, sizeof type);
    memcpy(common + 4, &tid, sizeof tid);
    const struct perf_sample sample = {.id = (uint64_t)index + 1,
                                       .pid = (uint32_t)file->pid,
                                       .tid = (uint32_t)tid,
                                       .time = read_clock_ns(CLOCK_MONOTONIC),
                                       .cpu = cpu < 0 ? 0 : (uint32_t)cpu,
                                       .raw = {{common, sizeof common}, {event, n}}};
    bool is_added = perf_data_writer_add_sample(&file->put, SAMPLE_TYPE, PERF_MISC_USER, &sample);
    if (file->has_new_points || file->out.n >= PIECE_BYTES ||
        sample.time - file->written_ns > PIECE_NS)
        write_buffered_piece(file, sample.time);
    if (perf_data_writer_failed(&file->put) || !is_added)
        return is_added ? ENOMEM : EMSGSIZE;
    return file->sys;
}

static int perf_file_write(void *ctx, uint32_t index, uint8_t *event, size_t n)
{
    struct perf_file *file = ctx;
    if (file->pid != getpid())
        return ECHILD;
    (void)pthread_mutex_lock(&file->lock);
    int sys = file->fd < 0 ? EBADF : append_sample(file, index, event, n);
    (void)pthread_mutex_unlock(&file->lock);
    return sys;
}

static void append_features(struct perf_file *file)
{
    struct utsname name;
    char command[16] = "";
    FILE *comm = fopen("/proc/self/comm", "re");
    if (comm && !fgets(command, sizeof command, comm))
        command[0] = '\0';
    if (comm)
        (void)fclose(comm);
    command[strcspn(command, "\n")] = '\0';
    long online = sysconf(_SC_NPROCESSORS_ONLN), there = sysconf(_SC_NPROCESSORS_CONF);
    if (uname(&name) == 0) {
        perf_data_writer_set_feature_text(&file->put, PERF_FEATURE_HOSTNAME,
                                          (ttr_text){name.nodename, strlen(name.nodename)});
        perf_data_writer_set_feature_text(&file->put, PERF_FEATURE_OSRELEASE,
                                          (ttr_text){name.release, strlen(name.release)});
        perf_data_writer_set_feature_text(&file->put, PERF_FEATURE_ARCH,
                                          (ttr_text){name.machine, strlen(name.machine)});
    }
    perf_data_writer_set_feature_cpus(&file->put, there > 0 ? (uint32_t)there : 1,
                                      online > 0 ? (uint32_t)online : 1);
    perf_data_writer_set_feature_clock(&file->put, CLOCK_MONOTONIC, read_clock_ns(CLOCK_REALTIME),
                                       read_clock_ns(CLOCK_MONOTONIC));
    perf_data_writer_begin(&file->put);
    const struct perf_sample about = {.pid = (uint32_t)file->pid,
                                      .tid = (uint32_t)file->pid,
                                      .time = read_clock_ns(CLOCK_MONOTONIC)};
    perf_data_writer_add_comm(&file->put, SAMPLE_TYPE, &about, (ttr_text){command, strlen(command)},
                              false);
}

/* Writes the sections after the data section, then the final file header. */
static void write_file_end(struct perf_file *file)
{
    uint8_t header[PERF_HEADER_BYTES];
    append_formats(file);
    perf_data_writer_write_end(&file->put);
    if (perf_data_writer_failed(&file->put))
        file->sys = file->sys ? file->sys : ENOMEM;
    flush_output(file);
    perf_data_writer_store_header(&file->put, header);
    if (!file->sys && pwrite(file->fd, header, sizeof header, 0) != (ssize_t)sizeof header)
        file->sys = errno ? errno : ENOSPC;
}

/* Completes the file, at the first call. Returns the first errno of all writes. A forked child only
 * closes its descriptor, because the file belongs to its parent. */
static int perf_file_finish(void *ctx)
{
    struct perf_file *file = ctx;
    (void)pthread_mutex_lock(&file->lock);
    if (file->fd >= 0) {
        if (file->pid == getpid())
            write_file_end(file);
        if (close(file->fd) != 0 && !file->sys)
            file->sys = errno;
        file->fd = -1;
    }
    int sys = file->sys;
    (void)pthread_mutex_unlock(&file->lock);
    return sys;
}

static void perf_file_free(void *ctx)
{
    struct perf_file *file = ctx;
    perf_data_writer_free(&file->put);
    tracing_writer_free(&file->tracing);
    key_map_free(&file->points);
    buffer_free(&file->out);
    (void)pthread_mutex_destroy(&file->lock);
    alloc_free(alloc_default(), file, 1, sizeof *file);
}

static struct perf_file *perf_file_new(void)
{
    const struct alloc *alloc = alloc_default();
    struct perf_file *file = alloc_zero(alloc, 1, sizeof *file);
    if (!file)
        return NULL;
    file->fd = -1;
    file->pid = getpid();
    buffer_init(&file->out, alloc);
    key_map_init(&file->points, alloc);
    tracing_writer_init(&file->tracing, alloc);
    const struct perf_data_writer_spec spec = {.alloc = alloc,
                                               .to = &file->out,
                                               .is_big_endian =
                                                   __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
                                               .is_live = true};
    if (pthread_mutex_init(&file->lock, NULL) == 0 && perf_data_writer_new(&file->put, &spec))
        return file;
    perf_file_free(file);
    return NULL;
}

ttr_backend *ttr_backend_perf_file(const char *path, const ttr_perf_file_options *options,
                                   ttr_error *error)
{
    static const ttr_backend_functions functions = {sizeof functions, perf_file_register, NULL,
                                                    perf_file_write};
    struct perf_file *file = perf_file_new();
    if (!file) {
        (void)fail_memory(error);
        return NULL;
    }
    file->max_level = options ? options->max_level : 0;
    file->keywords = options ? options->keywords : 0;
    file->fd = open(
        path, O_WRONLY | O_CREAT | O_CLOEXEC | (options && options->overwrite ? O_TRUNC : O_EXCL),
        0666);
    if (file->fd < 0) {
        (void)fail_sys(error, errno, NO_OFFSET, "cannot create %.256s", path);
        perf_file_free(file);
        return NULL;
    }
    append_features(file);
    ttr_backend *backend = backend_new(&functions, file, perf_file_free, error);
    if (backend)
        backend->finish = perf_file_finish;
    else
        (void)close(file->fd);
    if (!backend)
        perf_file_free(file);
    return backend;
}
