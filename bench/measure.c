/* Measures one path of the library on a file, in CPU time of the process.
 *
 *   usage: measure MODE FILE
 *     scan      read all events, without their fields
 *     fields    read all events and fields
 *     kstacks   read all events, and the outermost and innermost address of their stacks
 *     encode    read all events, encode them as FXT and discard the output
 *     write     write the first 8192 events, kept in memory, again and again to a discarded FXT
 *               trace
 *     plain     like write, with spans without fields only: the minimum cost of an event
 *
 * Prints one line of JSON: events, CPU seconds, peak resident memory in KiB, and a checksum, so
 * that the compiler cannot remove the work. */
#include <stdio.h>
#include <string.h>

#include <sys/resource.h>

#include <tracetta/read.h>
#include <tracetta/write.h>

#include "model/event_copy.h"

#define HELD 8192u
#define BATCH 256u
#define FRAMES 128u
#define WRITTEN 4000000u

struct measure {
    ttr *t;
    ttr_reader *in;
    ttr_writer *out;
    ttr_field_buffer *buffer;
    ttr_error error;
    uint64_t events, sum;
    double seconds;
};

static double cpu_seconds(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static int64_t swallow(void *ctx, const void *bytes, size_t n)
{
    struct measure *m = ctx;
    m->sum += *(const uint8_t *)bytes;
    return (int64_t)n;
}

static void visit(struct measure *m, const ttr_batch *batch)
{
    for (uint32_t i = 0; i < batch->n; i++) {
        const ttr_event *event = ttr_batch_at(batch, i);
        m->sum += (uint64_t)event->time + event->name + event->thread + event->kind;
    }
}

static void visit_fields(struct measure *m, const ttr_batch *batch)
{
    const ttr_field *field;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < batch->n; i++)
        for (uint32_t n = ttr_event_fields(m->buffer, ttr_batch_at(batch, i), &field); n > 0;
             n = ttr_event_fields_next(m->buffer, &field))
            for (uint32_t j = 0; j < n; j++)
                sum += field[j].value.v.u + field[j].value.text.n + field[j].name.n +
                       field[j].value.type;
    m->sum += sum;
}

static void visit_stacks(struct measure *m, const ttr_batch *batch)
{
    uint64_t frames[FRAMES];
    for (uint32_t i = 0; i < batch->n; i++) {
        const ttr_event *event = ttr_batch_at(batch, i);
        uint32_t n;
        const uint64_t *at = ttr_event_stack(m->t, event, &n);
        if (!at) {
            n = ttr_event_frames(m->t, event, frames, FRAMES);
            n = n < FRAMES ? n : FRAMES;
            at = frames;
        }
        m->sum += n ? n + at[0] + at[n - 1] : 0;
    }
}

static ttr_status read_all(struct measure *m, const char *mode)
{
    ttr_batch batch;
    ttr_status status;
    while ((status = ttr_read(m->in, &batch, &m->error)) == TTR_OK) {
        m->events += batch.n;
        visit(m, &batch);
        if (mode[0] == 'f')
            visit_fields(m, &batch);
        if (mode[0] == 'k')
            visit_stacks(m, &batch);
        if (mode[0] == 'e' && (status = ttr_write(m->out, &batch, &m->error)) != TTR_OK)
            return status;
    }
    return status;
}

/* Copies events into memory as the sorter does. With `is_plain`, keeps only spans without fields.
 * Returns the number of events. */
static uint32_t hold(struct measure *m, ttr_event *events, struct buffer *bytes, bool is_plain)
{
    static size_t at[HELD];
    ttr_batch batch;
    uint32_t n = 0;
    while (n < HELD && ttr_read(m->in, &batch, &m->error) == TTR_OK)
        for (uint32_t i = 0; i < batch.n && n < HELD; i++) {
            at[n] = event_copy_add(m->t, bytes, ttr_batch_at(&batch, i), &events[n]);
            n += !is_plain || (events[n].kind == TTR_KIND_SPAN && events[n].payload_size == 0);
        }
    for (uint32_t i = 0; i < n; i++)
        events[i].payload = bytes->bytes + at[i];
    return n;
}

static ttr_status write_held(struct measure *m, bool is_plain)
{
    static ttr_event events[HELD];
    struct buffer bytes;
    ttr_status status = TTR_OK;
    buffer_init(&bytes, alloc_default());
    uint32_t n = hold(m, events, &bytes, is_plain);
    m->seconds = cpu_seconds();
    for (m->events = 0; m->events < WRITTEN && status == TTR_OK && n >= BATCH; m->events += BATCH) {
        ttr_batch batch = {.event = events + m->events % (n - n % BATCH), .n = BATCH};
        status = ttr_write(m->out, &batch, &m->error);
    }
    m->seconds = cpu_seconds() - m->seconds;
    buffer_free(&bytes);
    return status == TTR_OK ? TTR_END : status;
}

int main(int argc, char **argv)
{
    struct measure m = {.t = ttr_new(NULL)};
    struct rusage usage;
    if (argc != 3 || !strchr("sfkewp", argv[1][0])) {
        fputs("usage: measure scan|fields|kstacks|encode|write|plain FILE\n", stderr);
        return 2;
    }
    m.buffer = ttr_field_buffer_new(m.t);
    m.in = ttr_open(m.t, argv[2], NULL, &m.error);
    m.out = ttr_create_push(m.t, swallow, &m, "fxt", NULL, &m.error);
    double begin = cpu_seconds();
    ttr_status status =
        m.in && m.out && m.buffer
            ? (strchr("wp", argv[1][0]) ? write_held(&m, argv[1][0] == 'p') : read_all(&m, argv[1]))
            : TTR_E_IO;
    if (m.out && status == TTR_END && ttr_finish(m.out, &m.error) != TTR_OK)
        status = TTR_E_IO;
    double end = cpu_seconds();
    (void)getrusage(RUSAGE_SELF, &usage);
    ttr_close(m.in);
    ttr_field_buffer_free(m.buffer);
    ttr_free(m.t);
    if (status != TTR_END) {
        fprintf(stderr, "measure: %s: %s\n", argv[2], m.error.text);
        return 1;
    }
    printf("{\"events\": %llu, \"cpu_s\": %.6f, \"rss_kib\": %ld, \"sum\": %llu}\n",
           (unsigned long long)m.events, m.seconds > 0 ? m.seconds : end - begin, usage.ru_maxrss,
           (unsigned long long)m.sum);
    return 0;
}
