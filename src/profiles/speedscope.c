/* speedscope (https://www.speedscope.app/file-format-schema.json), one profile per thread, as
 * written by `dotnet-trace convert`.
 *
 * Weights in ns become "evented" profiles: each change of the stack closes the frames that ended
 * and opens new ones. A function that spans many samples is then one box. Counts and merged threads
 * become "sampled" profiles: each distinct stack with its weight. */
#include "base/number.h"
#include "pipeline/profile/profile.h"
#include "profiles/profiles.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

/* Returns the frame index of a thread's process. After the frames of the profile, each thread has
 * two frames: process and thread. */
static uint32_t process_frame_index(const struct profile_out *out, uint32_t lane)
{
    return out->frames_n + 2 * lane;
}

static ttr_status write_shared_frames(struct profile_out *out, struct json *json, ttr_error *error)
{
    json_write_key(json, "shared");
    json_begin_object(json);
    json_write_key(json, "frames");
    json_begin_array(json);
    for (uint32_t i = 0; i < out->frames_n; i++) {
        ttr_text name = profile_frame_text(out, i);
        json_begin_object(json);
        json_write_key(json, "name");
        json_write_text(json, name.p, name.n);
        json_end_object(json);
        ttr_status status = profile_flush_if_full(out, error);
        if (status != TTR_OK)
            return status;
    }
    for (uint32_t i = 0; i < out->lanes_n; i++) {
        json_begin_object(json);
        json_write_key(json, "name");
        profile_json_process(out, &out->lane[i], json);
        json_end_object(json);
        json_begin_object(json);
        json_write_key(json, "name");
        profile_json_thread(out, &out->lane[i], json);
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
    return TTR_OK;
}

/* Writes {"type":"O","frame":12,"at":345} without the JSON writer, because most of the file
 * consists of these. */
static void write_frame_event(struct profile_out *out, struct json *json, bool is_open,
                              uint32_t frame, uint64_t at)
{
    char *text = (char *)buffer_room(&out->to, 128);
    if (!text)
        return;
    char *end = text;
    if (json->has_item)
        *end++ = ',';
    json->has_item = true;
    memcpy(end, is_open ? "{\"type\":\"O\",\"frame\":" : "{\"type\":\"C\",\"frame\":", 20);
    end += 20;
    end += number_format_u64(end, frame);
    memcpy(end, ",\"at\":", 6);
    end += 6;
    end += number_format_u64(end, at);
    *end++ = '}';
    buffer_commit(&out->to, (size_t)(end - text));
}

/* Writes the events that change the stack of nodes[0] to that of nodes[1]: closes frames up to the
 * common ancestor, then opens frames. */
static void write_stack_change(struct profile_out *out, struct json *json, const uint32_t nodes[2],
                               uint64_t at)
{
    uint32_t before = nodes[0], after = nodes[1], n = 0;
    while (before != after) {
        uint32_t depth_before = before == TTR_PROFILE_NONE ? 0 : out->node[before].depth + 1;
        uint32_t depth_after = after == TTR_PROFILE_NONE ? 0 : out->node[after].depth + 1;
        if (depth_before >= depth_after) {
            write_frame_event(out, json, false, out->node[before].frame, at);
            before = out->node[before].parent;
        }
        if (depth_after >= depth_before) {
            out->path[n++] = out->node[after].frame;
            after = out->node[after].parent;
        }
    }
    while (n-- > 0)
        write_frame_event(out, json, true, out->path[n], at);
}

static ttr_status write_evented_profile(struct profile_out *out, struct json *json, uint32_t lane,
                                        ttr_error *error)
{
    const ttr_profile_thread *about = &out->lane[lane];
    struct profile_timeline line;
    uint32_t frame = process_frame_index(out, lane),
             nodes[2] = {TTR_PROFILE_NONE, TTR_PROFILE_NONE};
    uint64_t last = 0, origin = (uint64_t)out->lane[0].first_ns;
    for (uint32_t i = 0; i < out->lanes_n; i++)
        origin = out->lane[i].first_ns < (int64_t)origin ? (uint64_t)out->lane[i].first_ns : origin;
    uint64_t first = (uint64_t)about->first_ns - origin, end = (uint64_t)about->last_ns - origin;
    json_write_key(json, "startValue");
    json_write_u64(json, first);
    json_write_key(json, "endValue");
    json_write_u64(json, end);
    json_write_key(json, "events");
    json_begin_array(json);
    write_frame_event(out, json, true, frame, first);
    write_frame_event(out, json, true, frame + 1, first);
    ttr_status status = TTR_OK;
    last = first;
    profile_timeline_begin(&line, out->profile, lane);
    while (status == TTR_OK && !out->is_stopped && profile_timeline_next(&line)) {
        last = (uint64_t)line.time - origin;
        nodes[1] = profile_shallow_node(out, line.node);
        write_stack_change(out, json, nodes, last < end ? last : end);
        nodes[0] = nodes[1];
        status = profile_flush_if_full(out, error);
    }
    nodes[1] = TTR_PROFILE_NONE;
    write_stack_change(out, json, nodes, end);
    write_frame_event(out, json, false, frame + 1, end);
    write_frame_event(out, json, false, frame, end);
    json_end_array(json);
    return status;
}

static ttr_status write_sampled_profile(struct profile_out *out, struct json *json, uint32_t lane,
                                        ttr_error *error)
{
    ttr_status status = TTR_OK;
    uint32_t written_n = 0; /* nodes for which samples were written */
    json_write_key(json, "samples");
    json_begin_array(json);
    for (uint32_t i = 0; i < out->nodes_n && status == TTR_OK && !out->is_stopped; i++) {
        written_n = i + 1;
        if (out->node[i].lane != lane || out->node[i].self == 0)
            continue;
        uint32_t n = profile_stack_frames(out, i);
        json_begin_array(json);
        for (uint32_t frame = 0; frame < n; frame++)
            json_write_u64(json, out->path[frame]);
        json_end_array(json);
        status = profile_flush_if_full(out, error);
    }
    json_end_array(json);
    json_write_key(json, "weights");
    json_begin_array(json);
    for (uint32_t i = 0; i < written_n && status == TTR_OK; i++) {
        if (out->node[i].lane == lane && out->node[i].self)
            json_write_u64(json, out->node[i].self);
        status = profile_flush_if_full(out, error);
    }
    json_end_array(json);
    return status;
}

static ttr_status write_thread_profile(struct profile_out *out, struct json *json, uint32_t lane,
                                       ttr_error *error)
{
    bool has_line =
        out->profile->flags & TTR_PROFILE_TIMELINE && out->profile->unit == TTR_PROFILE_NS;
    json_begin_object(json);
    json_write_key(json, "type");
    json_write_string(json, has_line ? "evented" : "sampled");
    json_write_key(json, "name");
    profile_json_thread(out, &out->lane[lane], json);
    json_write_key(json, "unit");
    json_write_string(json, out->profile->unit == TTR_PROFILE_NS ? "nanoseconds" : "none");
    if (!has_line) {
        json_write_key(json, "startValue");
        json_write_u64(json, 0);
        json_write_key(json, "endValue");
        json_write_u64(json, out->lane[lane].weight);
    }
    ttr_status status = has_line ? write_evented_profile(out, json, lane, error)
                                 : write_sampled_profile(out, json, lane, error);
    json_end_object(json);
    return status;
}

static ttr_status write_speedscope(struct profile_out *out, ttr_error *error)
{
    struct json json;
    json_init(&json, &out->to);
    json_begin_object(&json);
    json_write_key(&json, "$schema");
    json_write_string(&json, SCHEMA);
    json_write_key(&json, "exporter");
    json_write_string(&json, "tracetta@" TTR_VERSION_TEXT);
    json_write_key(&json, "name");
    json_write_string(&json, out->title);
    json_write_key(&json, "activeProfileIndex");
    json_write_u64(&json, 0);
    ttr_status status = write_shared_frames(out, &json, error);
    json_write_key(&json, "profiles");
    json_begin_array(&json);
    for (uint32_t i = 0; i < out->lanes_n && status == TTR_OK; i++)
        status = write_thread_profile(out, &json, i, error);
    json_end_array(&json);
    json_end_object(&json);
    buffer_add_byte(&out->to, '\n');
    return status;
}

const struct profile_writer profile_speedscope = {
    .about = {"speedscope", "speedscope JSON, a profile per thread", "speedscope.json",
              TTR_PROFILE_TIMELINE | TTR_PROFILE_STATES, PROFILE_STACK_MAX},
    .can_stop = true,
    .write = write_speedscope,
};
