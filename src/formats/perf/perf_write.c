/* The perf.data writer: options, choice between copying and encoding, losses (see perf_write.h). */
#include "formats/perf/perf_write.h"

#include "base/number.h"
#include "base/status.h"

/* --- Table of losses --- */

const ttr_loss perf_losses[PERF_LOSSES] = {
    EVENT_HEADER_LOSS_ROWS,
    [PERF_LOSS_CATEGORY] = {.code = "event.category",
                            .what = "categories",
                            .rule = "are left out",
                            .kind = TTR_LOSS_DROPPED},
    [PERF_LOSS_NUMBER] = {.code = "event.number",
                          .what = "event numbers of providers",
                          .rule = "are left out",
                          .kind = TTR_LOSS_DROPPED},
    [PERF_LOSS_TIME] = {.code = "time.range",
                        .what = "times up to zero, or an hour and more before the first event",
                        .rule = "become the earliest possible time"},
    [PERF_LOSS_MARK] = {.code = "time.mark",
                        .what = "events without a time, or with a clamped time",
                        .rule = "keep that time without the mark"},
    [PERF_LOSS_THREAD] = {.code = "thread.number",
                          .what = "unknown threads, or numbers over 32 bits",
                          .rule = "get 0, the number of the process, or the low 32 bits"},
    [PERF_LOSS_NAME] = {.code = "thread.name",
                        .what = "names of threads and processes",
                        .rule = "become COMM records, cut at 15 bytes"},
    [PERF_LOSS_CONTENT] = {.code = "event.partial",
                           .what = "events with damaged content",
                           .rule = "keep the decoded part without the mark"},
    [PERF_LOSS_STACK] = {.code = "stack.long",
                         .what = "stacks of more than 4096 addresses",
                         .rule = "are cut",
                         .kind = TTR_LOSS_DROPPED},
    [PERF_LOSS_MAPPING] = {.code = "object.mapping",
                           .what = "mappings of modules",
                           .rule = "become MMAP2 records without other fields",
                           .kind = TTR_LOSS_DROPPED},
    [PERF_LOSS_GAP] = {.code = "event.gap",
                       .what = "gaps",
                       .rule = "become LOST records that only have the count"},
    [PERF_LOSS_TRACEPOINTS] =
        {.code = "event.kinds",
         .what = "events beyond 60,000 combinations of provider, level and keyword",
         .rule = "are left out",
         .kind = TTR_LOSS_DROPPED},
    [PERF_LOSS_FOREIGN] = {.code = "event.foreign",
                           .what = "events of other sources in a copy",
                           .rule = "are left out",
                           .kind = TTR_LOSS_DROPPED},
};

#define LEVEL_MAX 19u

static ttr_status read_write_options(struct ttr_writer *out, ttr_error *error)
{
    struct perf_writer *writer = out->ctx;
    const char *order = output_option(out, "byte-order"), *level = output_option(out, "zstd");
    uint64_t number = 0;
    if (order && strcmp(order, "big") != 0 && strcmp(order, "little") != 0)
        return fail(error, TTR_E_MISUSE, NO_OFFSET, "byte-order=%s: expected little or big", order);
    if (level &&
        (!number_parse_u64(level, strlen(level), &number) || number < 1 || number > LEVEL_MAX))
        return fail(error, TTR_E_MISUSE, NO_OFFSET, "zstd=%s: expected a level from 1 to %u", level,
                    LEVEL_MAX);
    writer->is_big = order && strcmp(order, "big") == 0;
    writer->zstd_level = (int)number;
    return TTR_OK;
}

ttr_status perf_write_create(struct ttr_writer *out, ttr_error *error)
{
    struct perf_writer *writer = out->ctx;
    const struct alloc *alloc = &out->t->counted;
    buffer_init(&writer->copy.head, alloc);
    buffer_init(&writer->copy.tail, alloc);
    buffer_init(&writer->event, alloc);
    tracing_writer_init(&writer->tracing, alloc);
    event_header_writer_init(&writer->header, out->t, alloc);
    key_map_init(&writer->kinds, alloc);
    key_map_init(&writer->names, alloc);
    key_map_init(&writer->tracepoints, alloc);
    pair_map_init(&writer->written_names, alloc);
    return read_write_options(out, error);
}

void perf_write_drop(struct ttr_writer *out)
{
    struct perf_writer *writer = out->ctx;
    const struct alloc *alloc = &out->t->counted;
    buffer_free(&writer->copy.head);
    buffer_free(&writer->copy.tail);
    buffer_free(&writer->event);
    perf_data_writer_free(&writer->put);
    tracing_writer_free(&writer->tracing);
    event_header_writer_free(&writer->header);
    key_map_free(&writer->kinds);
    key_map_free(&writer->names);
    key_map_free(&writer->tracepoints);
    pair_map_free(&writer->written_names);
    alloc_free(alloc, writer->kind, writer->kinds_capacity, sizeof *writer->kind);
    alloc_free(alloc, writer->chain, writer->chain_capacity, sizeof *writer->chain);
}

static bool is_out_of_memory(const struct ttr_writer *out)
{
    const struct perf_writer *writer = out->ctx;
    return writer->is_out_of_memory || out->buffer.failed || writer->event.failed ||
           (writer->is_encoding && perf_data_writer_failed(&writer->put));
}

static ttr_status write_perf_event(struct ttr_writer *out, const ttr_event *event, ttr_error *error)
{
    struct perf_writer *writer = out->ctx;
    if (!writer->is_copying && !writer->is_encoding) {
        if (perf_begin_copy_if_possible(out, event))
            return perf_copy_event(out, event, error);
        if (event->kind == TTR_KIND_DEFINITION)
            return TTR_OK;
        ttr_status status = perf_encode_begin(out, event, error);
        if (status != TTR_OK)
            return status;
    }
    if (writer->is_copying)
        return perf_copy_event(out, event, error);
    if (event->kind != TTR_KIND_DEFINITION)
        perf_encode_event(out, event);
    return TTR_OK;
}

ttr_status perf_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error)
{
    for (uint32_t i = 0; i < batch->n; i++) {
        ttr_status status = write_perf_event(out, ttr_batch_at(batch, i), error);
        if (status == TTR_OK)
            status = output_drain(out, error);
        if (status != TTR_OK)
            return status;
    }
    return is_out_of_memory(out) ? fail_memory(error) : TTR_OK;
}

ttr_status perf_write_finish(struct ttr_writer *out, ttr_error *error)
{
    static const ttr_event nothing = {.kind = TTR_KIND_NONE};
    struct perf_writer *writer = out->ctx;
    if (writer->is_copying)
        return perf_copy_end(out, error);
    ttr_status status = writer->is_encoding ? TTR_OK : perf_encode_begin(out, &nothing, error);
    if (status == TTR_OK)
        status = perf_encode_end(out, error);
    return status == TTR_OK && is_out_of_memory(out) ? fail_memory(error) : status;
}
