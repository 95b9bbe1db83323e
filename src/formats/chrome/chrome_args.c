/* Lines and their args. An empty args object is removed, so most events of most traces have none.
 */
#include "base/json_writer.h"
#include "encodings/json/timeline.h"
#include "formats/chrome/chrome.h"

#define LINE_TEXT (256 + CHROME_IDS_MAX)
#define LINE_NUMBERS (3 * NUMBER_MAX)

static const char args_text[] = ",\"args\":{";

/* Returns the fraction of a nanosecond that is appended to the time of a line, so that viewers sort
 * lines of equal time by rank. Before the base time the sign is negative, so it falls with the
 * rank. */
static uint32_t compute_line_rank(const struct chrome *ctx, const struct chrome_line *line)
{
    const bool is_ranked = line->phase == 'B' || line->phase == 'E';
    return is_ranked && line->time_ns < ctx->base_ns ? CHROME_RANK_MAX - line->rank : line->rank;
}

void chrome_begin_line(struct ttr_writer *out, const struct chrome_line *line)
{
    struct chrome *ctx = out->ctx;
    size_t room = LINE_TEXT + LINE_NUMBERS + line->category.n + line->name.n;
    char *begin = (char *)buffer_room(&out->buffer, room), *at = begin;
    if (!begin)
        return;
    at = emit_constant(at, ctx->has_line ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    *at++ = line->phase;
    at = emit_constant(at, "\",\"ts\":");
    *at = '-';
    at += line->time_ns < ctx->base_ns;
    at = emit_microseconds(at, time_distance(line->time_ns, ctx->base_ns));
    const uint32_t rank = compute_line_rank(ctx, line);
    if (rank > 0) {
        number_format_digits(at, rank, 3);
        at += 3;
    }
    memcpy(at, line->ids,
           /* copies a constant size, which is faster; the bytes after ids_n are overwritten next */
           CHROME_IDS_MAX);
    at += line->ids_n;
    at = emit_piece(emit_constant(at, ",\"cat\":\""), line->category);
    at = emit_piece(emit_constant(at, "\",\"name\":\""), line->name);
    *at++ = '"';
    at = emit_piece(at, (ttr_text){line->extra, line->extra_n});
    at = emit_constant(at, args_text);
    buffer_commit(&out->buffer, (size_t)(at - begin));
    ctx->has_line = true;
    field_json_begin(&ctx->fields);
}

void chrome_end_line(struct ttr_writer *out)
{
    struct buffer *to = &out->buffer;
    if (to->failed)
        return;
    if (to->bytes[to->n - 1] == '{')
        to->n -= sizeof args_text - 1;
    else
        buffer_add_byte(to, '}');
    buffer_add_byte(to, '}');
}

void chrome_add_number(struct chrome *ctx, const char *name, uint64_t value)
{
    field_json_append_constant_name(&ctx->fields, name);
    field_json_append_value(&ctx->fields, &(ttr_value){.type = TTR_TYPE_UINT, .v.u = value});
}

void chrome_add_text(struct chrome *ctx, const char *name, const char *value)
{
    field_json_append_constant_name(&ctx->fields, name);
    field_json_append_value(&ctx->fields,
                            &(ttr_value){.type = TTR_TYPE_TEXT, .text = {value, strlen(value)}});
}

void chrome_add_string(struct chrome *ctx, const char *name, const ttr *t, ttr_id value)
{
    field_json_append_constant_name(&ctx->fields, name);
    field_json_append_value(
        &ctx->fields,
        &(ttr_value){.type = TTR_TYPE_TEXT, .text_id = value, .text = ttr_text_get(t, value)});
}

static void add_flags(struct chrome *ctx, unsigned flags)
{
    static const struct {
        unsigned flag;
        const char *name;
    } all[] = {{TTR_EVENT_CLAMPED, "clamped"},
               {TTR_EVENT_BACKWARD, "backward"},
               {TTR_EVENT_PARTIAL, "partial"},
               {TTR_EVENT_NO_TIME, "no_time"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!(flags & all[i].flag))
            continue;
        field_json_append_constant_name(&ctx->fields, all[i].name);
        field_json_append_value(&ctx->fields, &(ttr_value){.type = TTR_TYPE_BOOL, .v.u = 1});
    }
}

void chrome_add_attributes(struct chrome *ctx, const ttr_event *event)
{
    static const char *const levels[] = {"none",    "trace", "debug", "info",
                                         "warning", "error", "fatal"};
    if (event->flags & TTR_EVENT_HAS_CPU)
        chrome_add_number(ctx, "cpu", event->cpu);
    if (event->level && event->level < sizeof levels / sizeof *levels)
        chrome_add_text(ctx, "level", levels[event->level]);
    if (event->flags & ~(TTR_EVENT_RAW | TTR_EVENT_HAS_CPU))
        add_flags(ctx, event->flags);
}

bool chrome_has_series(const ttr *t, const ttr_event *event)
{
    ttr_fields fields;
    ttr_field field;
    bool has = false;
    ttr_fields_begin(t, event, &fields);
    while (!has && ttr_fields_next(&fields, &field))
        has = field.depth == 0 && field.value.type >= TTR_TYPE_BOOL &&
              field.value.type <= TTR_TYPE_FLOAT;
    return has;
}

void chrome_add_series(struct ttr_writer *out, const ttr_event *event)
{
    struct chrome *ctx = out->ctx;
    ttr_fields fields;
    ttr_field field;
    ttr_fields_begin(out->t, event, &fields);
    while (ttr_fields_next(&fields, &field)) {
        if (field.depth > 0)
            continue;
        ttr_value value = field.value;
        if (value.type == TTR_TYPE_BOOL)
            value.type = TTR_TYPE_UINT;
        if (value.type < TTR_TYPE_UINT || value.type > TTR_TYPE_FLOAT) {
            output_count_loss(out, CHROME_COUNTER_VALUE, event->offset);
            continue;
        }
        field_json_append_field_name(&ctx->fields, &field);
        field_json_append_value(&ctx->fields, &value);
    }
    if (event->level || (event->flags & ~TTR_EVENT_RAW))
        output_count_loss(out, CHROME_COUNTER_ATTRIBUTE, event->offset);
}
