/* Streams that come one after another, in place of all by time: with the memory of one, and without
 * what it costs to put their events in order.
 *
 * Files that are copied may come so.  So may those that are encoded anew where nothing of the
 * result hangs on the order of events of different streams: each input becomes one stream file,
 * whatever its events are, and readers of the result put events of one time in the order that they
 * had in the source.  Else these would be counted as put in another order (ctf_watch_order), which
 * is only seen where events come by time.  Traces without a uuid are given one either way, and with
 * it another place among those of the same time. To v1.1, whose readers go by the names of files,
 * they come so where these are in the order of the streams. Left out: v1.1 to other versions, whose
 * readers order names in another way, and v1.1 of packets that tell a cpu, which is put into the
 * name. */
#include "base/hash.h"
#include "base/keymap.h"
#include "formats/ctf/write/ctf_copy.h"
#include "formats/ctf/read/ctf_name_order.h"
#include "formats/ctf/read/ctf_build_index.h"
#include "formats/ctf/metadata/tsdl/tsdl_types.h"

#define MANY_INPUTS ((size_t)256)
#define WINDOW_ANEW ((size_t)6 << 10)
#define NAME_KEPT 128u /* bytes of a file's name that the copy's has as they are */

/* Whether all values of a type are written as values of one type: nothing of it comes or stays
 * away, and no width hangs on the number. */
static bool is_steady(const struct type *type, unsigned depth)
{
    if (!type || type->role)
        return true;
    if (depth > TYPE_DEPTH_MAX)
        return false;
    if (type->kind == TYPE_ARRAY)
        return type->element->role != 0;
    for (uint32_t i = 0; type->kind == TYPE_STRUCT && i < type->members_n; i++)
        if (!is_steady(type->members[i].type, depth + 1))
            return false;
    return type->kind == TYPE_STRUCT || (type->kind < TYPE_VAR_UINT && type->bits <= 64) ||
           (type->kind == TYPE_TEXT && type->count && !type->has_inline_length);
}

/* Whether the stream class becomes one stream class. */
static bool is_one_class(const struct ctf_description *from, const struct ctf_stream_class *class)
{
    return class->id <= UINT32_MAX && is_steady(from->packet_header, 0) &&
           is_steady(class->packet_context, 0) && is_steady(class->event_context, 0);
}

/* Whether all traces of one uuid have one description: what is free in one of them is in all.  They
 * are one to readers. */
static bool is_one_description(struct keymap *seen, const struct ctf_trace *trace)
{
    const uint64_t key =
        hash_bytes(trace->class->description.uuid, sizeof trace->class->description.uuid);
    const uint32_t own = (uint32_t)hash_pair((uintptr_t)trace->class, 0),
                   *other = keymap_get(seen, key);
    if (other || !trace->class->description.has_uuid)
        return !other || *other == own;
    return keymap_put(seen, key, own);
}

static const struct ctf_stream_class *class_of(const struct ctf_reader *reader)
{
    return reader->lanes && reader->lanes->lane[0].kind ? reader->lanes->lane[0].kind->class : NULL;
}

/* Whether readers of v1.1 find the input's events behind those of the input before it (NULL = there
 * is none) where times are equal. */
static bool is_read_behind(const struct ctf_reader *reader, const struct ctf_reader *before,
                           const struct keymap *seen)
{
    const struct ctf_description *from = &reader->trace->class->description;
    const struct ctf_stream_class *own = class_of(reader),
                                  *other = before ? class_of(before) : NULL;
    if (reader->has_cpu || tsdl_has_role(own->packet_context, CTF_ROLE_CPU) ||
        tsdl_has_role(from->packet_header, CTF_ROLE_CPU))
        return false;
    if (!before ||
        before->trace !=
            reader->trace) /* another folder of the same trace would go on with its sections */
        return !from->has_uuid || !keymap_get(seen, hash_bytes(from->uuid, sizeof from->uuid));
    return other && (other->id < own->id ||
                     (other->id == own->id && ctf_compare_names(before->file, reader->file) < 0));
}

/* Whether the input's events can be encoded anew before or behind those of others.  `before`: the
 * input before it, or NULL. */
static bool stands_alone(const struct ctf_writer *w, const struct ctf_reader *reader,
                         const struct ctf_reader *before, struct keymap *seen)
{
    const struct ctf_description *from = &reader->trace->class->description;
    const enum ctf_version to = w->options.version ? w->options.version : from->version;
    const struct ctf_lane *lane =
        reader->lanes && reader->lanes->is_whole ? &reader->lanes->lane[0] : NULL;
    const bool is_rfc = to == CTF_RFC_1_1;
    if ((from->version == CTF_RFC_1_1 && !is_rfc) || from->version == CTF_UNKNOWN ||
        reader->trace->class->is_dialect || !lane || !lane->kind)
        return false;
    return reader->is_in_order && lane->kind->plan.has_time &&
           lane->has_number == ctf_tells_streams(from) && strlen(reader->file) < NAME_KEPT &&
           is_one_class(from, lane->kind->class) &&
           (!is_rfc || is_read_behind(reader, before, seen)) &&
           is_one_description(seen, reader->trace);
}

/* Whether the packets of a trace go to the output as they are. */
static bool is_copied(const struct ctf_writer *w, const struct ctf_trace *trace)
{
    const enum ctf_version from = trace->class->description.version;
    const bool is_same = !w->options.version || w->options.version == from;
    return from != CTF_UNKNOWN && ctf_may_copy(trace, &w->options) &&
           (is_same || ctf_can_describe(trace, &w->options));
}

/* Where hundreds of streams are encoded anew in order of time, packets under way take as much as
 * windows: these are a few pages.  More reads are a fiftieth of what encoding takes. */
static void narrow_windows(ttr_reader *in)
{
    const struct input *input;
    for (size_t i = 0; (input = reader_input(in, i)); i++)
        if (input->format == &format_ctf && ((const struct ctf_reader *)input->own)->is_encoded)
            source_narrow(input->source, WINDOW_ANEW);
}

/* Streams that are copied are files of their own.  Those that share one are in it in the order in
 * which they come.  Without definitions, all is encoded anew; readers are told of packets that are,
 * so that they do not hold them. */
bool ctf_takes_scattered(struct ttr_writer *out, ttr_reader *in)
{
    const struct ctf_writer *w = out->own;
    const struct input *input;
    const struct ctf_trace *last = NULL;
    const struct ctf_reader *before = NULL;
    struct keymap seen;
    bool takes = true, may_copy = false;
    size_t i = 0;
    keymap_init(&seen, &out->t->counted);
    for (; (input = reader_input(in, i)); i++) {
        if (input->format !=
            &format_ctf) /* what stands for a trace that cannot be read gives nothing */
            continue;
        struct ctf_reader *reader = input->own;
        if (reader->trace && reader->trace != last)
            may_copy = is_copied(w, reader->trace);
        last = reader->trace;
        reader->is_encoded = last && !may_copy;
        const bool is_alone = !(reader->lanes && reader->lanes->n > 1),
                   is_copy = may_copy && input->flags & TTR_READ_DEFINITIONS;
        takes = takes && last && is_alone && (is_copy || stands_alone(w, reader, before, &seen));
        before = reader;
    }
    keymap_free(&seen);
    if (!takes && i >= MANY_INPUTS)
        narrow_windows(in);
    return takes && i > 1;
}

/* An input's events are all there when those of another come: what its last packet takes is given
 * back. */
ttr_status ctf_end_turn(struct ttr_writer *out, uint16_t source, ttr_error *error)
{
    struct ctf_writer *w = out->own;
    const uint16_t before = w->turn;
    if (!out->is_scattered || before == source)
        return TTR_OK;
    w->turn = source;
    struct ctf_stream_out *stream =
        before && before < w->missing_n ? w->missing[before].stream : NULL;
    ttr_status status = stream ? ctf_missing_end(out, before, error) : TTR_OK;
    return stream && status == TTR_OK ? ctf_stream_rest(stream, out, error) : status;
}
