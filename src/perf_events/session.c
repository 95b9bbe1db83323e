/* A recording: opened events, their rings, and the perf.data that is made of them.
 *
 * Rings are emptied in rounds, each ended by a mark: no record of a later round is older than all
 * of the round before the last, so that readers may put them in order with what two rounds hold.
 * Rings of a snapshot are read at a dump and at the end only.  A file gets a mark each second, so
 * that it can be read with all names when nobody ends it. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "base/status.h"
#include "perf_events/build_id.h"
#include "perf_events/machine.h"
#include "perf_events/opened.h"
#include "perf_events/tasks.h"

#define MARK_MS 1000u

struct ttr_perf {
    const struct alloc *alloc;
    struct opened opened;
    struct perf_put put;
    struct buffer out;
    struct ring_sums sums;
    struct build_ids build_ids;
    struct pollfd *polls;             /* one a ring, one to be woken */
    uint64_t late_lost;               /* that no record told of, known in the end */
    uint64_t marked_ms, marked_bytes; /* when and where the last mark was */
    bool at_exec, is_snapshot, was_user_only;
    bool is_given; /* what is in `out` */
    bool is_dump_due, is_stopping, has_ended;
};

/* --- Build ids --- */

/* A ring_give: what the kernel mapped without telling a build id has it in a section at the end. */
static void identify_mapping(void *own, const void *bytes, size_t n)
{
    struct ttr_perf *perf = own;
    ttr_text path;
    const struct build_id id = build_ids_of_record(&perf->build_ids, bytes, n, &path);
    if (id.n)
        perf_put_build_id(&perf->put, UINT32_MAX, PERF_MISC_USER, id.bytes, id.n, path);
}

/* --- Opening --- */

static void declare_event(struct perf_put *put, const struct opened_event *event, uint64_t *ids)
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
    perf_put_event(put, attr, (ttr_text){name, at + name_n}, ids, event->n);
}

static ttr_status declare_events(struct ttr_perf *perf, ttr_error *error)
{
    size_t most = 0;
    for (size_t i = 0; i < perf->opened.events_n; i++)
        most = perf->opened.events[i].n > most ? perf->opened.events[i].n : most;
    uint64_t *ids = alloc_zero(perf->alloc, most, sizeof *ids);
    for (size_t i = 0; ids && i < perf->opened.events_n; i++)
        declare_event(&perf->put, &perf->opened.events[i], ids);
    bool is_good = ids && !perf_put_failed(&perf->put);
    alloc_free(perf->alloc, ids, most, sizeof *ids);
    return is_good ? TTR_OK : fail_memory(error);
}

static void tell_tasks(struct ttr_perf *perf, const ttr_perf_wish *wish)
{
    const struct opened_event *dummy = &perf->opened.events[0];
    struct tasks tasks = {.put = &perf->put,
                          .sample_type = dummy->attr.sample_type,
                          .id = dummy->list[0].id,
                          .build_ids = &perf->build_ids};
    buffer_init(&tasks.text, perf->alloc);
    tasks_tell_kernel(&tasks);
    tasks_tell(&tasks, wish->pid);
    buffer_free(&tasks.text);
}

static ttr_status open_output(struct ttr_perf *perf, const ttr_perf_wish *wish, ttr_error *error)
{
    const struct perf_put_spec spec = {.alloc = perf->alloc,
                                       .to = &perf->out,
                                       .is_big_endian = __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__,
                                       .is_pipe = wish->flags & TTR_PERF_PIPE,
                                       .is_live = true,
                                       .zstd_level = wish->zstd_level};
    if (!perf_put_new(&perf->put, &spec))
        return fail_memory(error);
    ttr_status status = declare_events(perf, error);
    if (status == TTR_OK && !machine_tell(&perf->put, wish, error))
        return error ? error->status : TTR_E_IO;
    if (status != TTR_OK)
        return status;
    perf_put_begin(&perf->put);
    tell_tasks(perf, wish);
    return perf_put_failed(&perf->put) ? fail_memory(error) : TTR_OK;
}

static ttr_status open_recording(struct ttr_perf *perf, const ttr_perf_wish *wish, ttr_error *error)
{
    if (!opened_open(&perf->opened, wish, error))
        return error ? error->status : TTR_E_IO;
    perf->polls = alloc_zero(perf->alloc, perf->opened.rings_n + 1, sizeof *perf->polls);
    if (!perf->polls)
        return fail_memory(error);
    for (size_t i = 0; i < perf->opened.rings_n; i++) {
        const struct ring *ring = &perf->opened.rings[i];
        perf->polls[i] = (struct pollfd){.fd = ring->is_backward ? -1 : ring->fd, .events = POLLIN};
    }
    perf->polls[perf->opened.rings_n] = (struct pollfd){.fd = -1, .events = POLLIN};
    return open_output(perf, wish, error);
}

ttr_perf *ttr_perf_open(const ttr_perf_wish *wish, ttr_error *error)
{
    ttr_perf_event event;
    if (wish->size != sizeof *wish || !ttr_perf_events_at(wish->events, 0, &event)) {
        (void)fail(
            error, TTR_E_MISUSE, NO_OFFSET,
            "a recording wants wish->size to be sizeof(ttr_perf_wish), and one event at least");
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
    perf->sums.mapped = identify_mapping;
    perf->sums.own = perf;
    if (open_recording(perf, wish, error) == TTR_OK)
        return perf;
    ttr_perf_close(perf);
    return NULL;
}

void ttr_perf_close(ttr_perf *perf)
{
    if (!perf)
        return;
    alloc_free(perf->alloc, perf->polls, perf->opened.rings_n + 1, sizeof *perf->polls);
    opened_free(&perf->opened);
    perf_put_free(&perf->put);
    build_ids_free(&perf->build_ids);
    buffer_free(&perf->out);
    alloc_free(perf->alloc, perf, 1, sizeof *perf);
}

/* --- Running --- */

ttr_status ttr_perf_begin(ttr_perf *perf, ttr_error *error)
{
    if (perf->is_stopping)
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "a recording that was stopped cannot begin again");
    if (!perf->at_exec)
        opened_enable(&perf->opened, true);
    return TTR_OK;
}

void ttr_perf_wake(ttr_perf *perf, int fd)
{
    perf->polls[perf->opened.rings_n].fd = fd;
}

void ttr_perf_stop(ttr_perf *perf)
{
    if (!perf->is_stopping)
        opened_enable(&perf->opened, false);
    perf->is_stopping = perf->is_dump_due = true;
}

void ttr_perf_dump(ttr_perf *perf)
{
    perf->is_dump_due = true;
}

/* A ring_give. */
static void keep_records(void *own, const void *bytes, size_t n)
{
    perf_put_records(own, bytes, n);
}

static uint64_t take_ring(struct ttr_perf *perf, struct ring *ring)
{
    if (!ring->is_backward)
        return ring_take(ring, perf->alloc, &perf->sums, keep_records, &perf->put);
    if (!perf->is_dump_due)
        return 0;
    (void)ioctl(ring->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
    uint64_t bytes = ring_take(ring, perf->alloc, &perf->sums, keep_records, &perf->put);
    (void)ioctl(ring->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
    return bytes;
}

/* One round over all rings.  A snapshot's events are older than what was told of processes since
 * the last dump: there rounds end with dumps. */
static void take_round(struct ttr_perf *perf)
{
    uint64_t bytes = 0;
    bool is_round = perf->is_dump_due || !perf->is_snapshot;
    for (size_t i = 0; i < perf->opened.rings_n; i++)
        bytes += take_ring(perf, &perf->opened.rings[i]);
    perf->is_dump_due = false;
    if (bytes && is_round)
        perf_put_round(&perf->put);
}

/* What a full ring swallowed behind its last record: the kernel would have told it with the next
 * one. */
static void tell_late_losses(struct ttr_perf *perf)
{
    const struct opened_event *dummy = &perf->opened.events[0];
    struct timespec now;
    uint64_t lost = opened_lost(&perf->opened);
    if (lost <= perf->sums.lost)
        return;
    perf->late_lost = lost - perf->sums.lost;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    const struct perf_sample about = {.id = dummy->list[0].id,
                                      .time = (uint64_t)now.tv_sec * 1000000000u +
                                              (uint64_t)now.tv_nsec};
    perf_put_lost(&perf->put, dummy->attr.sample_type, &about, perf->late_lost);
}

static void end_output(struct ttr_perf *perf)
{
    tell_late_losses(perf);
    perf_put_end(&perf->put);
    perf->has_ended = true;
}

static uint64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

/* Waits for a ring to fill.  One whose events can never happen again is not waited for any more.
 * True when something woke us. */
static bool wait_for_rings(struct ttr_perf *perf, uint64_t left_ms)
{
    size_t n = perf->opened.rings_n;
    (void)poll(perf->polls, (nfds_t)(n + 1), (int)(left_ms < INT32_MAX ? left_ms : INT32_MAX));
    for (size_t i = 0; i < n; i++)
        if (perf->polls[i].revents & (POLLHUP | POLLERR))
            perf->polls[i].fd = -1;
    return perf->polls[n].fd >= 0 && perf->polls[n].revents;
}

static void mark(struct ttr_perf *perf, uint64_t now)
{
    if (now - perf->marked_ms < MARK_MS || perf->put.plain_bytes == perf->marked_bytes)
        return;
    perf_put_mark(&perf->put);
    perf->marked_ms = now;
    perf->marked_bytes = perf->put.plain_bytes;
}

ttr_status ttr_perf_read(ttr_perf *perf, const void **bytes, size_t *n, unsigned limit_ms,
                         ttr_error *error)
{
    uint64_t deadline = now_ms() + limit_ms;
    bool is_woken = false;
    *n = 0;
    if (perf->is_given)
        buffer_clear(&perf->out);
    perf->is_given = true;
    for (;;) {
        if (perf->has_ended && perf->out.n == 0)
            return TTR_END;
        if (!perf->has_ended)
            take_round(perf);
        uint64_t now = now_ms();
        if (perf->is_stopping && !perf->has_ended)
            end_output(perf);
        else if (!perf->has_ended)
            mark(perf, now);
        if (perf_put_failed(&perf->put))
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
    perf_put_header(&perf->put, header);
    return true;
}

/* A recording of processes is over when each of its rings has lost all who could write to it. */
static bool is_over(const struct ttr_perf *perf)
{
    if (!perf->opened.events[0].attr.inherit)
        return false;
    for (size_t i = 0; i < perf->opened.rings_n; i++)
        if (perf->polls[i].fd >= 0)
            return false;
    return true;
}

void ttr_perf_about(const ttr_perf *perf, ttr_perf_report *report)
{
    *report = (ttr_perf_report){
        .size = report->size,
        .samples = perf->sums.samples,
        .lost = perf->sums.lost + perf->late_lost,
        .broken = perf->sums.broken,
        .bytes = perf->put.at,
        .limited = perf->opened.is_user_only && !perf->was_user_only ? TTR_PERF_USER_ONLY : 0,
        .is_over = is_over(perf),
    };
}
