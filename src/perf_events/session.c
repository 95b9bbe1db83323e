/* Recording sessions: moves records from the rings into a perf.data stream.
 *
 * |  perf_event_open  -> rings, one or two per CPU -> read_rings_once -> perf.data bytes -> caller
 *
 * Order of calls: ttr_perf_open (events, file header, initial processes), ttr_perf_start,
 * ttr_perf_read until TTR_END, with ttr_perf_stop at any time, ttr_perf_header, ttr_perf_close.
 * ttr_perf_read returns a buffer that is valid until the next call.
 *
 * Rounds: each pass over all rings ends with a FINISHED_ROUND record. A record of one round is
 * never older than all records of the round before the previous one, so a reader sorts with a
 * buffer of two rounds (perf's ordered_events does the same). In snapshot mode the overwritten
 * rings are only read at a snapshot or at the end; the events are then older than the process
 * records read meanwhile, so rounds end only with a snapshot.
 *
 * Marks: once per second a mark makes everything written so far readable: the caller can rewrite
 * the file header from ttr_perf_header. A killed recorder loses at most that second.
 *
 * Losses: LOST records are counted as they pass. Losses after the last record of a ring have no
 * such record; since Linux 6.0 the event's own counter shows them, and a LOST record is added at
 * the end.
 *
 * Cost: one poll() per wake-up, which the kernel delays until a ring is a quarter full; records are
 * copied once. Left out: AUX data, cgroups, and reading rings with several threads. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "base/status.h"
#include "perf_events/build_id.h"
#include "perf_events/machine_features.h"
#include "perf_events/opened_events.h"
#include "perf_events/tasks.h"

#define MARK_MS 1000u

struct ttr_perf {
    const struct alloc *alloc;
    struct opened_events opened_events;
    struct perf_data_writer put;
    struct buffer out;
    struct ring_stats stats;
    struct build_ids build_ids;
    struct pollfd *polls; /* descriptors to poll: one per ring, then the wake descriptor */
    /* lost records that no LOST record reports; known when the recording was stopped */
    uint64_t late_lost;
    uint64_t marked_ms, marked_bytes; /* time in ms and output offset of the last mark */
    bool at_exec, is_snapshot, was_user_only;
    /* `out` was returned by the last ttr_perf_read, so the caller still reads it; the next call
     * empties it */
    bool is_returned;
    bool is_snapshot_due, is_stopping, has_ended;
};

/* --- Build ids --- */

/* Implements ring_stats.mapped: if an MMAP2 record lacks the build id of its file, adds it to the
 * BUILD_ID feature section. */
static void add_missing_build_id(void *ctx, const void *bytes, size_t n)
{
    struct ttr_perf *perf = ctx;
    ttr_text path;
    const struct build_id id = build_ids_get_from_record(&perf->build_ids, bytes, n, &path);
    if (id.n)
        perf_data_writer_add_build_id(&perf->put, UINT32_MAX, PERF_MISC_USER, id.bytes, id.n, path);
}

/* --- Opening --- */

static void declare_event(struct perf_data_writer *put, const struct opened_event *event,
                          uint64_t *ids)
{
    uint8_t attr[PERF_ATTR_VER7];
    char name[512];
    size_t system_n = strlen(event->system), name_n = strlen(event->name);
    _Static_assert(sizeof event->attr >= PERF_ATTR_VER7,
                   "the attribute is of a kernel of 5.15 or later");
    memcpy(attr, &event->attr, sizeof attr);
    if (system_n + name_n + 1 > sizeof name)
        system_n = 0, name_n = 0;
    memcpy(name, event->system, system_n);
    name[system_n] = ':';
    size_t at = system_n + (system_n > 0);
    memcpy(name + at, event->name, name_n);
    for (size_t i = 0; i < event->n; i++)
        ids[i] = event->list[i].id;
    perf_data_writer_add_event(put, attr, (ttr_text){name, at + name_n}, ids, event->n);
}

static ttr_status declare_events(struct ttr_perf *perf, ttr_error *error)
{
    size_t ids_max = 0;
    for (size_t i = 0; i < perf->opened_events.events_n; i++)
        ids_max =
            perf->opened_events.events[i].n > ids_max ? perf->opened_events.events[i].n : ids_max;
    uint64_t *ids = alloc_zero(perf->alloc, ids_max, sizeof *ids);
    for (size_t i = 0; ids && i < perf->opened_events.events_n; i++)
        declare_event(&perf->put, &perf->opened_events.events[i], ids);
    bool is_good = ids && !perf_data_writer_failed(&perf->put);
    alloc_free(perf->alloc, ids, ids_max, sizeof *ids);
    return is_good ? TTR_OK : fail_memory(error);
}

static void write_initial_tasks(struct ttr_perf *perf, const ttr_perf_config *wish)
{
    const struct opened_event *dummy = &perf->opened_events.events[0];
    struct tasks tasks = {.put = &perf->put,
                          .sample_type = dummy->attr.sample_type,
                          .id = dummy->list[0].id,
                          .build_ids = &perf->build_ids};
    buffer_init(&tasks.text, perf->alloc);
    tasks_write_kernel_mappings(&tasks);
    tasks_write_processes(&tasks, wish->pid);
    buffer_free(&tasks.text);
}

static ttr_status open_output(struct ttr_perf *perf, const ttr_perf_config *wish, ttr_error *error)
{
    const struct perf_data_writer_spec spec = {.alloc = perf->alloc,
                                               .to = &perf->out,
                                               .is_big_endian =
                                                   __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__,
                                               .is_pipe = wish->flags & TTR_PERF_PIPE,
                                               .is_live = true,
                                               .zstd_level = wish->zstd_level};
    if (!perf_data_writer_new(&perf->put, &spec))
        return fail_memory(error);
    ttr_status status = declare_events(perf, error);
    if (status == TTR_OK && !machine_add_features(&perf->put, wish, error))
        return error ? error->status : TTR_E_IO;
    if (status != TTR_OK)
        return status;
    perf_data_writer_begin(&perf->put);
    write_initial_tasks(perf, wish);
    return perf_data_writer_failed(&perf->put) ? fail_memory(error) : TTR_OK;
}

static ttr_status open_recording(struct ttr_perf *perf, const ttr_perf_config *wish,
                                 ttr_error *error)
{
    if (!opened_events_open(&perf->opened_events, wish, error))
        return error ? error->status : TTR_E_IO;
    perf->polls = alloc_zero(perf->alloc, perf->opened_events.rings_n + 1, sizeof *perf->polls);
    if (!perf->polls)
        return fail_memory(error);
    for (size_t i = 0; i < perf->opened_events.rings_n; i++) {
        const struct ring *ring = &perf->opened_events.rings[i];
        perf->polls[i] = (struct pollfd){.fd = ring->is_backward ? -1 : ring->fd, .events = POLLIN};
    }
    perf->polls[perf->opened_events.rings_n] = (struct pollfd){.fd = -1, .events = POLLIN};
    return open_output(perf, wish, error);
}

ttr_perf *ttr_perf_open(const ttr_perf_config *wish, ttr_error *error)
{
    ttr_perf_event event;
    if (wish->size != sizeof *wish || !ttr_perf_events_at(wish->events, 0, &event)) {
        (void)fail(error, TTR_E_MISUSE, NO_OFFSET,
                   "size must be sizeof(ttr_perf_config), and at least one event is required");
        return NULL;
    }
    struct ttr_perf *perf = alloc_zero(alloc_default(), 1, sizeof *perf);
    if (!perf) {
        (void)fail_memory(error);
        return NULL;
    }
    perf->alloc = alloc_default();
    perf->at_exec = wish->flags & TTR_PERF_AT_EXEC;
    perf->is_snapshot = wish->flags & TTR_PERF_SNAPSHOT;
    perf->was_user_only = wish->flags & TTR_PERF_USER_ONLY;
    buffer_init(&perf->out, perf->alloc);
    build_ids_init(&perf->build_ids);
    perf->stats.mapped = add_missing_build_id;
    perf->stats.ctx = perf;
    if (open_recording(perf, wish, error) == TTR_OK)
        return perf;
    ttr_perf_close(perf);
    return NULL;
}

void ttr_perf_close(ttr_perf *perf)
{
    if (!perf)
        return;
    alloc_free(perf->alloc, perf->polls, perf->opened_events.rings_n + 1, sizeof *perf->polls);
    opened_events_free(&perf->opened_events);
    perf_data_writer_free(&perf->put);
    build_ids_free(&perf->build_ids);
    buffer_free(&perf->out);
    alloc_free(perf->alloc, perf, 1, sizeof *perf);
}

/* --- Running --- */

ttr_status ttr_perf_start(ttr_perf *perf, ttr_error *error)
{
    if (perf->is_stopping)
        return fail(error, TTR_E_MISUSE, NO_OFFSET, "a stopped recording cannot be started again");
    if (!perf->at_exec)
        opened_events_enable(&perf->opened_events, true);
    return TTR_OK;
}

void ttr_perf_set_wake_fd(ttr_perf *perf, int fd)
{
    perf->polls[perf->opened_events.rings_n].fd = fd;
}

void ttr_perf_stop(ttr_perf *perf)
{
    if (!perf->is_stopping)
        opened_events_enable(&perf->opened_events, false);
    perf->is_stopping = perf->is_snapshot_due = true;
}

void ttr_perf_snapshot(ttr_perf *perf)
{
    perf->is_snapshot_due = true;
}

/* Implements ring_receive_fn: appends record bytes to the output. */
static void append_records(void *ctx, const void *bytes, size_t n)
{
    perf_data_writer_copy_records(ctx, bytes, n);
}

static uint64_t read_ring(struct ttr_perf *perf, struct ring *ring)
{
    if (!ring->is_backward)
        return ring_read_records(ring, perf->alloc, &perf->stats, append_records, &perf->put);
    if (!perf->is_snapshot_due)
        return 0;
    (void)ioctl(ring->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
    uint64_t bytes = ring_read_records(ring, perf->alloc, &perf->stats, append_records, &perf->put);
    (void)ioctl(ring->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
    return bytes;
}

/* Reads the records of all rings once. Ends the round with FINISHED_ROUND, but in snapshot mode
 * only if a snapshot is due (see the top of this file). */
static void read_rings_once(struct ttr_perf *perf)
{
    uint64_t bytes = 0;
    bool is_round = perf->is_snapshot_due || !perf->is_snapshot;
    for (size_t i = 0; i < perf->opened_events.rings_n; i++)
        bytes += read_ring(perf, &perf->opened_events.rings[i]);
    perf->is_snapshot_due = false;
    if (bytes && is_round)
        perf_data_writer_finish_round(&perf->put);
}

/* Writes a LOST record for records lost after the last one of a full ring: the kernel reports
 * losses only before the next record. */
static void write_late_losses(struct ttr_perf *perf)
{
    const struct opened_event *dummy = &perf->opened_events.events[0];
    struct timespec now;
    uint64_t lost = opened_events_lost_count(&perf->opened_events);
    if (lost <= perf->stats.lost)
        return;
    perf->late_lost = lost - perf->stats.lost;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    const struct perf_sample about = {.id = dummy->list[0].id,
                                      .time = (uint64_t)now.tv_sec * 1000000000u +
                                              (uint64_t)now.tv_nsec};
    perf_data_writer_add_lost(&perf->put, dummy->attr.sample_type, &about, perf->late_lost);
}

static void write_output_end(struct ttr_perf *perf)
{
    write_late_losses(perf);
    perf_data_writer_write_end(&perf->put);
    perf->has_ended = true;
}

static uint64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

/* Polls the rings and stops polling those of ended processes (POLLHUP). Returns true if the wake
 * descriptor is readable. */
static bool wait_for_rings(struct ttr_perf *perf, uint64_t left_ms)
{
    size_t n = perf->opened_events.rings_n;
    (void)poll(perf->polls, (nfds_t)(n + 1), (int)(left_ms < INT32_MAX ? left_ms : INT32_MAX));
    for (size_t i = 0; i < n; i++)
        if (perf->polls[i].revents & (POLLHUP | POLLERR))
            perf->polls[i].fd = -1;
    return perf->polls[n].fd >= 0 && perf->polls[n].revents;
}

static void write_due_mark(struct ttr_perf *perf, uint64_t now)
{
    if (now - perf->marked_ms < MARK_MS || perf->put.plain_bytes == perf->marked_bytes)
        return;
    perf_data_writer_mark_readable(&perf->put);
    perf->marked_ms = now;
    perf->marked_bytes = perf->put.plain_bytes;
}

ttr_status ttr_perf_read(ttr_perf *perf, const void **bytes, size_t *n, unsigned limit_ms,
                         ttr_error *error)
{
    uint64_t deadline = now_ms() + limit_ms;
    bool is_woken = false;
    *n = 0;
    if (perf->is_returned)
        buffer_clear(&perf->out);
    perf->is_returned = true;
    for (;;) {
        if (perf->has_ended && perf->out.n == 0)
            return TTR_END;
        if (!perf->has_ended)
            read_rings_once(perf);
        uint64_t now = now_ms();
        if (perf->is_stopping && !perf->has_ended)
            write_output_end(perf);
        else if (!perf->has_ended)
            write_due_mark(perf, now);
        if (perf_data_writer_failed(&perf->put))
            return fail_memory(error);
        if (perf->out.n)
            break;
        if (is_woken || now >= deadline)
            return TTR_AGAIN;
        is_woken = wait_for_rings(perf, deadline - now);
    }
    *bytes = perf->out.bytes;
    *n = perf->out.n;
    return TTR_OK;
}

bool ttr_perf_header(const ttr_perf *perf, uint8_t header[TTR_PERF_HEADER])
{
    _Static_assert(TTR_PERF_HEADER == PERF_HEADER_BYTES, "the public number is that of the format");
    if (perf->put.spec.is_pipe)
        return false;
    perf_data_writer_store_header(&perf->put, header);
    return true;
}

/* Returns true if the recorded processes have ended: all rings have reported POLLHUP. */
static bool has_target_ended(const struct ttr_perf *perf)
{
    if (!perf->opened_events.events[0].attr.inherit)
        return false;
    for (size_t i = 0; i < perf->opened_events.rings_n; i++)
        if (perf->polls[i].fd >= 0)
            return false;
    return true;
}

void ttr_perf_stats(const ttr_perf *perf, ttr_perf_report *report)
{
    *report = (ttr_perf_report){
        .size = report->size,
        .samples = perf->stats.samples,
        .lost = perf->stats.lost + perf->late_lost,
        .broken = perf->stats.broken,
        .bytes = perf->put.at,
        .limited =
            perf->opened_events.is_user_only && !perf->was_user_only ? TTR_PERF_USER_ONLY : 0,
        .is_over = has_target_ended(perf),
    };
}
