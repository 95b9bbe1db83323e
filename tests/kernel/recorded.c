/* See recorded.h. */
#include "kernel/recorded.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRACEFS "/sys/kernel/tracing"
#define RING_PAGES 64u

/* The registration argument, as in include/uapi/linux/user_events.h. */
struct __attribute__((packed)) reg {
    uint32_t size;
    uint8_t bit, bytes;
    uint16_t flags;
    uint64_t word, command;
    uint32_t index;
};

struct __attribute__((packed)) unreg {
    uint32_t size;
    uint8_t bit, zero;
    uint16_t zeros;
    uint64_t word;
};

struct recorded_registration recorded_register(const char *name, uint32_t *enabled)
{
    char command[512];
    struct recorded_registration registration = {.fd = open(TRACEFS "/user_events_data", O_WRONLY)};
    (void)snprintf(command, sizeof command,
                   "%s u8 eventheader_flags; u8 version; u16 id; u16 tag; u8 opcode; u8 level",
                   name);
    struct reg reg = {.size = sizeof reg,
                      .bytes = 4,
                      .word = (uint64_t)(uintptr_t)enabled,
                      .command = (uint64_t)(uintptr_t)command};
    if (registration.fd >= 0 && ioctl(registration.fd, _IOWR('*', 0, struct reg *), &reg) != 0) {
        (void)close(registration.fd);
        registration.fd = -1;
    }
    registration.index = reg.index;
    return registration;
}

void recorded_unregister(struct recorded_registration *registration, uint32_t *enabled)
{
    struct unreg unreg = {.size = sizeof unreg, .word = (uint64_t)(uintptr_t)enabled};
    if (registration->fd < 0)
        return;
    (void)ioctl(registration->fd, _IOW('*', 2, struct unreg *), &unreg);
    (void)close(registration->fd);
}

bool recorded_perf_open(struct recorded_perf *perf, const char *event)
{
    char path[512];
    unsigned long long id = 0;
    *perf = (struct recorded_perf){.fd = -1, .n = (RING_PAGES + 1) * 4096};
    (void)snprintf(path, sizeof path, TRACEFS "/events/%s/id", event);
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%llu", &id) != 1)
        id = 0;
    if (file)
        (void)fclose(file);
    struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT,
                                   .size = sizeof attr,
                                   .config = id,
                                   .sample_period = 1,
                                   .sample_type = PERF_SAMPLE_RAW};
    perf->fd = id ? (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) : -1;
    if (perf->fd < 0)
        return false;
    void *pages = mmap(NULL, perf->n, PROT_READ | PROT_WRITE, MAP_SHARED, perf->fd, 0);
    perf->pages = pages == MAP_FAILED ? NULL : pages;
    return perf->pages != NULL;
}

unsigned recorded_perf_count(struct recorded_perf *perf)
{
    unsigned n = 0;
    if (!perf->pages)
        return 0;
    struct perf_event_mmap_page *control = (struct perf_event_mmap_page *)perf->pages;
    uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
    while (control->data_tail < head) {
        struct perf_event_header header;
        memcpy(&header, perf->pages + 4096 + control->data_tail % (RING_PAGES * 4096),
               sizeof header); /* records are multiples of 8 */
        n += header.type == PERF_RECORD_SAMPLE;
        control->data_tail += header.size ? header.size : head - control->data_tail;
    }
    return n;
}

void recorded_perf_close(struct recorded_perf *perf)
{
    if (perf->pages)
        (void)munmap(perf->pages, perf->n);
    if (perf->fd >= 0)
        (void)close(perf->fd);
}

/* --- Files --- */

struct bytes {
    uint8_t *p;
    size_t n;
};

static struct bytes read_all(const char *path)
{
    struct bytes all = {NULL, 0};
    FILE *file = fopen(path, "rb");
    size_t room = 64u << 20;
    all.p = malloc(room);
    if (file && all.p)
        all.n = fread(all.p, 1, room, file);
    if (file)
        (void)fclose(file);
    return all;
}

static uint64_t u64_at(struct bytes all, size_t at)
{
    uint64_t x = 0;
    if (at + 8 <= all.n)
        memcpy(&x, all.p + at, 8);
    return x;
}

static uint32_t u32_at(struct bytes all, size_t at)
{
    uint32_t x = 0;
    if (at + 4 <= all.n)
        memcpy(&x, all.p + at, 4);
    return x;
}

/* Returns the n bytes of the event at `*at`, and advances; NULL after the last one. */
static const uint8_t *next_event(struct bytes events, size_t *at, size_t *n)
{
    size_t size = u32_at(events, *at), begin = *at + 4;
    if (size < 5 || size > events.n - *at)
        return NULL;
    *at += size;
    const uint8_t *zero = memchr(events.p + begin, 0, *at - begin);
    if (!zero)
        return NULL;
    *n = (size_t)(events.p + *at - zero - 1);
    return zero + 1;
}

/* All samples have the layout that the first attribute declares: each part up to RAW has 8 bytes.
 */
struct sample {
    uint64_t time;
    size_t raw_at, raw_n;
};

static struct sample sample_of(struct bytes file, size_t at, uint64_t type)
{
    struct sample sample = {0};
    static const uint64_t order[] = {PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP,   PERF_SAMPLE_TID,
                                     PERF_SAMPLE_TIME,       PERF_SAMPLE_ADDR, PERF_SAMPLE_ID,
                                     PERF_SAMPLE_STREAM_ID,  PERF_SAMPLE_CPU,  PERF_SAMPLE_PERIOD};
    at += 8;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (type & order[i] && order[i] == PERF_SAMPLE_TIME)
            sample.time = u64_at(file, at);
        at += type & order[i] ? 8 : 0;
    }
    sample.raw_n = u32_at(file, at);
    sample.raw_at = at + 4;
    return sample;
}

static int by_time(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

static size_t find_samples(struct bytes file, struct sample *samples, size_t room)
{
    uint64_t type = u64_at(file, u64_at(file, 24) + 24), at = u64_at(file, 40),
             end = at + u64_at(file, 48);
    size_t n = 0;
    for (; at + 8 <= end && end <= file.n; at += u32_at(file, at + 4) >> 16) {
        if (u32_at(file, at) == PERF_RECORD_SAMPLE && n < room)
            samples[n++] = sample_of(file, at, type);
        if (u32_at(file, at + 4) >> 16 == 0)
            break;
    }
    qsort(samples, n, sizeof *samples, by_time);
    return n;
}

static bool is_same(struct bytes file, struct sample sample, const uint8_t *event, size_t n)
{
    if (sample.raw_n < 8 + n || sample.raw_n >= 8 + n + 12 ||
        sample.raw_at + sample.raw_n > file.n || memcmp(file.p + sample.raw_at + 8, event, n) != 0)
        return false;
    for (size_t i = 8 + n; i < sample.raw_n; i++)
        if (file.p[sample.raw_at + i] != 0)
            return false;
    return true;
}

int recorded_compare(const char *perf_data, const char *events_path)
{
    static struct sample samples[100000];
    struct bytes file = read_all(perf_data), events = read_all(events_path);
    size_t n = find_samples(file, samples, 100000), at = 0, event_n = 0, i = 0;
    for (const uint8_t *event; (event = next_event(events, &at, &event_n)); i++)
        if (i >= n || !is_same(file, samples[i], event, event_n)) {
            (void)printf("# event %zu of %zu samples differs\n", i, n);
            return 1;
        }
    (void)printf("# %zu events, %zu samples\n", i, n);
    free(file.p);
    free(events.p);
    return i != n || n == 0;
}

int recorded_find(const char *pages_path, const char *events_path)
{
    struct bytes pages = read_all(pages_path), events = read_all(events_path);
    size_t at = 0, place = 0, n = 0, i = 0;
    for (const uint8_t *event; (event = next_event(events, &at, &n)); i++) {
        const uint8_t *found = memmem(pages.p + place, pages.n - place, event, n);
        if (!found) {
            (void)printf("# event %zu is not in %zu bytes\n", i, pages.n);
            return 1;
        }
        place = (size_t)(found - pages.p) + n;
    }
    (void)printf("# %zu events in %zu bytes\n", i, pages.n);
    free(pages.p);
    free(events.p);
    return i == 0;
}
