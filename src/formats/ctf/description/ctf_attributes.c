/* Attributes of CTF inputs.
 *
 * |  of the trace, shared by its inputs   environment entries under their own names;
 * |                                       trace.name, .uuid, .namespace, .uid, .path, .place,
 * |                                       .from, .to, .longer_metadata
 * |  of an input that is not a stream     trace.metadata
 * |  of each stream                       stream.name, stream.class, stream.id
 * |  of the stream's clock                clock.frequency, clock.offset_s, clock.offset (cycles) */
#include "formats/ctf/description/ctf_attributes.h"

#include <stdio.h>
#include <string.h>

#include "base/clock_math.h"

#define UUID_TEXT 36u

static bool add_text_attribute(struct input *in, const char *name, const char *p, size_t n)
{
    return context_add_attribute(in->base.t, in->id, name,
                                 &(ttr_value){.type = TTR_TYPE_TEXT, .text = {p, n}});
}

/* Adds an attribute with a number. Keeps a pointer to `name`, which must be a constant, to save
 * memory if there are thousands of streams. */
static bool add_uint_attribute(struct input *in, const char *name, uint64_t value)
{
    return context_add_interned_attribute(
        in->base.t, in->id,
        &(ttr_attribute){{name, strlen(name)}, {.type = TTR_TYPE_UINT, .v.u = value}});
}

static bool add_int_attribute(struct input *in, const char *name, int64_t value)
{
    return context_add_interned_attribute(
        in->base.t, in->id,
        &(ttr_attribute){{name, strlen(name)}, {.type = TTR_TYPE_INT, .v.s = value}});
}

/* Adds the path of the stream file as "stream.name". Keeps a pointer to the path, which the
 * library context owns. */
static bool add_stream_name_attribute(struct input *in)
{
    static const char name[] = "stream.name";
    const ttr_text path = ttr_text_get(in->base.t, in->base.t->sources[in->id].path);
    return context_add_interned_attribute(
        in->base.t, in->id,
        &(ttr_attribute){{name, sizeof name - 1}, {.type = TTR_TYPE_TEXT, .text = path}});
}

static void format_uuid(const uint8_t uuid[16], char text[UUID_TEXT + 1])
{
    char *to = text;
    for (size_t i = 0; i < 16; i++)
        to += snprintf(to, 4, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

/* Adds an environment entry of the metadata as an attribute. */
static bool add_environment_attribute(struct input *in, const struct ctf_environment *entry)
{
    ttr *t = in->base.t;
    uint32_t name = intern_add(&t->strings, entry->name.p ? entry->name.p : "", entry->name.n);
    ttr_value value = {.type = TTR_TYPE_INT, .v.s = entry->number};
    if (!entry->is_number)
        value = (ttr_value){.type = TTR_TYPE_TEXT,
                            .text = {entry->text.p ? entry->text.p : "", entry->text.n}};
    return name != UINT32_MAX && context_add_attribute(t, in->id, ttr_text_get(t, name).p, &value);
}

ttr_text ctf_trace_host(const struct ctf_description *description)
{
    const struct ctf_environment *host = ctf_find_environment(description, "hostname");
    return host && !host->is_number ? host->text : (ttr_text){"", 0};
}

bool ctf_add_location_attribute(struct input *in, const char *place)
{
    const struct ctf_reader *reader = in->ctx;
    return !place[0] || in->id != reader->trace->thread_source ||
           add_text_attribute(in, "trace.place", place, strlen(place));
}

bool ctf_add_range_attributes(struct input *in, int64_t from, int64_t to)
{
    const struct ctf_reader *reader = in->ctx;
    bool is_clamped;
    return in->id != reader->trace->thread_source ||
           (add_int_attribute(in, "trace.from",
                              add_saturated(from, in->time_offset, &is_clamped)) &&
            add_int_attribute(in, "trace.to", add_saturated(to, in->time_offset, &is_clamped)));
}

/* Adds what the receiver lost that stored the trace, under the names that Heph uses, too. */
static bool add_loss_attributes(struct input *in, const struct packet_losses *losses)
{
    return (!losses->kernel_drops ||
            add_uint_attribute(in, "network.kernel_drops", losses->kernel_drops)) &&
           (!losses->dropped_packets ||
            add_uint_attribute(in, "network.dropped_packets", losses->dropped_packets));
}

static bool add_trace_attributes(struct input *in, const struct ctf_trace *trace)
{
    const struct ctf_description *description = &trace->class->description;
    char uuid[UUID_TEXT + 1];
    bool is_fine = true;
    for (size_t i = 0; i < description->environment_n && is_fine; i++)
        is_fine = add_environment_attribute(in, &description->environment[i]);
    ttr_text name = description->name.n ? description->name : ctf_trace_host(description);
    if (name.n)
        is_fine = is_fine && add_text_attribute(in, "trace.name", name.p, name.n);
    if (description->has_uuid) {
        format_uuid(description->uuid, uuid);
        is_fine = is_fine && add_text_attribute(in, "trace.uuid", uuid, UUID_TEXT);
    }
    if (description->ns.n)
        is_fine = is_fine &&
                  add_text_attribute(in, "trace.namespace", description->ns.p, description->ns.n);
    if (description->version == CTF_2)
        is_fine = is_fine &&
                  add_text_attribute(in, "trace.uid", description->uid.p ? description->uid.p : "",
                                     description->uid.n);
    const char *path = trace->folder ? folder_path(trace->folder) : NULL;
    if (path)
        is_fine = is_fine && add_text_attribute(in, "trace.path", path, strlen(path)) &&
                  context_name_trace(in->base.t, in->id, path);
    return is_fine && add_loss_attributes(in, &trace->losses);
}

/* Adds the clock to the report of the input. */
static bool add_report_clock(struct input *in, const struct ctf_clock *clock)
{
    ttr *t = in->base.t;
    struct ctf_timeline line;
    ttr_text text = clock->name.n ? clock->name : clock->id;
    uint32_t name = intern_add(&t->strings, text.p ? text.p : "", text.n);
    if (name == UINT32_MAX)
        return false;
    ctf_timeline_init(&line, clock);
    ttr_clock report = ctf_get_public_clock(&line, clock, ttr_text_get(t, name).p);
    return input_add_clock(in, &report) != SIZE_MAX;
}

static bool add_clock_attributes(struct input *in, const struct ctf_clock *clock)
{
    return !clock || (add_uint_attribute(in, "clock.frequency", clock->frequency) &&
                      add_int_attribute(in, "clock.offset_s", clock->offset_s) &&
                      add_int_attribute(in, "clock.offset", clock->offset_cycles) &&
                      add_report_clock(in, clock));
}

bool ctf_add_stream_attributes(struct input *in, const struct ctf_trace *trace,
                               const struct ctf_packet_queue *queue, uint64_t number)
{
    ttr *t = in->base.t;
    if (in->id == trace->thread_source && !add_trace_attributes(in, trace))
        return false;
    if (in->id != trace->thread_source)
        context_share_attributes(t, in->id, trace->thread_source);
    if (!add_stream_name_attribute(in) || !add_uint_attribute(in, "stream.id", number))
        return false;
    return !queue->kind || (add_uint_attribute(in, "stream.class", queue->kind->class->id) &&
                            add_clock_attributes(in, queue->kind->class->clock));
}

bool ctf_add_metadata_attributes(struct input *in, const struct ctf_trace *trace)
{
    context_share_attributes(in->base.t, in->id, trace->thread_source);
    return add_uint_attribute(in, "trace.metadata", 1);
}

bool ctf_add_longer_metadata_attribute(const struct ctf_trace *trace, const char *path)
{
    return !path ||
           context_add_attribute(trace->t, trace->thread_source, "trace.longer_metadata",
                                 &(ttr_value){.type = TTR_TYPE_TEXT, .text = {path, strlen(path)}});
}

bool ctf_add_trace_only_attributes(struct input *in, const struct ctf_trace *trace)
{
    const struct ctf_description *description = &trace->class->description;
    bool is_fine = add_trace_attributes(in, trace);
    for (size_t i = 0; i < description->clocks_n && is_fine; i++)
        is_fine = add_report_clock(in, description->clocks[i]);
    return is_fine;
}
