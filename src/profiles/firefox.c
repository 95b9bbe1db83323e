/* Firefox Profiler, processed profile format version 48 (profiler.firefox.com): tables of columns
 * per thread, with strings referenced by index.
 *
 * Each thread repeats all frames of the profile as functions, but has only its own nodes as stacks.
 * Times are milliseconds since the first sample. With a timeline, each change of stack is a sample
 * weighted by the time until the next one. Otherwise each distinct stack is one sample with its
 * weight, at an artificial time. */
#include "pipeline/profile/profile.h"
#include "profiles/profiles.h"

#define VERSION 24 /* version of the Gecko profile format that the viewer requires */
#define PROCESSED_VERSION 48

static void write_number_member(struct json *json, const char *key, uint64_t value)
{
    json_write_key(json, key);
    json_write_u64(json, value);
}

static void write_text_member(struct json *json, const char *key, const char *value)
{
    json_write_key(json, key);
    json_write_string(json, value);
}

static void write_bool_member(struct json *json, const char *key, bool value)
{
    json_write_key(json, key);
    json_write_bool(json, value);
}

/* Writes a column of n equal values; INT64_MIN means null. */
static void write_constant_column(struct json *json, const char *key, uint32_t n, int64_t value)
{
    json_write_key(json, key);
    json_begin_array(json);
    for (uint32_t i = 0; i < n; i++) {
        if (value == INT64_MIN)
            json_write_null(json);
        else
            json_write_i64(json, value);
    }
    json_end_array(json);
}

/* Writes a column 0, 1, ... n-1. */
static void write_index_column(struct json *json, const char *key, uint32_t n)
{
    json_write_key(json, key);
    json_begin_array(json);
    for (uint32_t i = 0; i < n; i++)
        json_write_u64(json, i);
    json_end_array(json);
}

static void write_meta(struct profile_out *out, struct json *json)
{
    static const char *const colors[][2] = {{"Other", "grey"}, {"User", "yellow"}};
    json_write_key(json, "meta");
    json_begin_object(json);
    write_number_member(json, "interval", 1);
    write_number_member(json, "startTime", 0);
    write_number_member(json, "processType", 0);
    write_text_member(json, "product", out->title);
    write_number_member(json, "stackwalk", 1);
    write_number_member(json, "version", VERSION);
    write_number_member(json, "preprocessedProfileVersion", PROCESSED_VERSION);
    write_bool_member(json, "symbolicated", true);
    write_text_member(json, "importedFrom", "tracetta");
    json_write_key(json, "categories");
    json_begin_array(json);
    for (size_t i = 0; i < 2; i++) {
        json_begin_object(json);
        write_text_member(json, "name", colors[i][0]);
        write_text_member(json, "color", colors[i][1]);
        json_write_key(json, "subcategories");
        json_begin_array(json);
        json_write_string(json, "Other");
        json_end_array(json);
        json_end_object(json);
    }
    json_end_array(json);
    json_write_key(json, "markerSchema");
    json_begin_array(json);
    json_end_array(json);
    json_end_object(json);
}

/* Writes the frame table and the function table. Both have an entry per frame of the profile;
 * frame, function and name have the same index. */
static void write_frame_and_function_tables(struct profile_out *out, struct json *json)
{
    uint32_t n = out->frames_n;
    json_write_key(json, "frameTable");
    json_begin_object(json);
    write_constant_column(json, "address", n, -1);
    write_constant_column(json, "inlineDepth", n, 0);
    write_constant_column(json, "category", n, 1);
    write_constant_column(json, "subcategory", n, 0);
    write_index_column(json, "func", n);
    static const char *const unknown[] = {"nativeSymbol", "innerWindowID", "implementation", "line",
                                          "column"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        write_constant_column(json, unknown[i], n, INT64_MIN);
    write_number_member(json, "length", n);
    json_end_object(json);
    json_write_key(json, "funcTable");
    json_begin_object(json);
    json_write_key(json, "isJS");
    json_begin_array(json);
    for (uint32_t i = 0; i < n; i++)
        json_write_bool(json, false);
    json_end_array(json);
    json_write_key(json, "relevantForJS");
    json_begin_array(json);
    for (uint32_t i = 0; i < n; i++)
        json_write_bool(json, false);
    json_end_array(json);
    write_index_column(json, "name", n);
    write_constant_column(json, "resource", n, -1);
    static const char *const places[] = {"fileName", "lineNumber", "columnNumber"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        write_constant_column(json, places[i], n, INT64_MIN);
    write_number_member(json, "length", n);
    json_end_object(json);
}

static void write_empty_table(struct json *json, const char *key, const char *const *columns)
{
    json_write_key(json, key);
    json_begin_object(json);
    for (; *columns; columns++)
        write_constant_column(json, *columns, 0, 0);
    write_number_member(json, "length", 0);
    json_end_object(json);
}

/* Writes the stacks of a thread. Sets `index` to the stack index of each node of the thread, and
 * returns their number. */
static uint32_t write_stack_table(struct profile_out *out, struct json *json, uint32_t lane,
                                  uint32_t *index)
{
    uint32_t n = 0;
    json_write_key(json, "stackTable");
    json_begin_object(json);
    json_write_key(json, "frame");
    json_begin_array(json);
    for (uint32_t i = 0; i < out->nodes_n; i++)
        if (out->node[i].lane == lane) {
            index[i] = n++;
            json_write_u64(json, out->node[i].frame);
        }
    json_end_array(json);
    json_write_key(json, "prefix");
    json_begin_array(json);
    for (uint32_t i = 0; i < out->nodes_n; i++) {
        if (out->node[i].lane != lane)
            continue;
        if (out->node[i].parent == TTR_PROFILE_NONE)
            json_write_null(json);
        else
            json_write_u64(json, index[out->node[i].parent]);
    }
    json_end_array(json);
    write_constant_column(json, "category", n, 1);
    write_constant_column(json, "subcategory", n, 0);
    write_number_member(json, "length", n);
    json_end_object(json);
    return n;
}

/* Iterator over the samples of a thread. */
struct sample_iter {
    const struct profile_out *out;
    struct profile_timeline line;
    uint32_t lane, at;
    int64_t origin, end;
    bool has_line;
    /* node and time of the current sample */
    uint32_t node;
    double time_ms, weight;
};

static void sample_iter_init(struct sample_iter *s, const struct profile_out *out, uint32_t lane,
                             int64_t origin)
{
    *s = (struct sample_iter){.out = out,
                              .lane = lane,
                              .origin = origin,
                              .end = out->lane[lane].last_ns,
                              .has_line = out->profile->flags & TTR_PROFILE_TIMELINE &&
                                          out->profile->unit == TTR_PROFILE_NS};
    profile_timeline_begin(&s->line, out->profile, lane);
    if (s->has_line && !profile_timeline_next(&s->line))
        s->line.time = s->end;
}

static bool sample_iter_next(struct sample_iter *s)
{
    const struct profile_out *out = s->out;
    if (s->has_line) {
        int64_t time = s->line.time;
        s->node = s->line.node;
        s->time_ms = (double)((uint64_t)time - (uint64_t)s->origin) / 1e6;
        if (time >= s->end)
            return false;
        if (!profile_timeline_next(&s->line))
            s->line.time = s->end;
        s->weight = (double)((uint64_t)s->line.time - (uint64_t)time) / 1e6;
        return true;
    }
    while (s->at < out->nodes_n && (out->node[s->at].lane != s->lane || out->node[s->at].self == 0))
        s->at++;
    s->node = s->at;
    if (s->at >= out->nodes_n)
        return false;
    s->weight = (double)out->node[s->at].self / (out->profile->unit == TTR_PROFILE_NS ? 1e6 : 1);
    s->time_ms = (double)s->at++ / 1e6;
    return true;
}

enum sample_column { SAMPLE_STACK, SAMPLE_TIME, SAMPLE_WEIGHT, SAMPLE_COLUMNS };

static ttr_status write_sample_table(struct profile_out *out, struct json *json,
                                     struct sample_iter *first, const uint32_t *index,
                                     ttr_error *error)
{
    static const char *const names[SAMPLE_COLUMNS] = {"stack", "time", "weight"};
    uint64_t n = 0;
    ttr_status status = TTR_OK;
    json_write_key(json, "samples");
    json_begin_object(json);
    for (unsigned which = 0; which < SAMPLE_COLUMNS; which++) {
        struct sample_iter s = *first;
        json_write_key(json, names[which]);
        json_begin_array(json);
        for (n = 0; status == TTR_OK && sample_iter_next(&s); n++) {
            if (which != SAMPLE_STACK)
                json_write_double(json, which == SAMPLE_TIME ? s.time_ms : s.weight);
            else if (s.node == TTR_PROFILE_NONE)
                json_write_null(json);
            else
                json_write_u64(json, index[s.node]);
            status = profile_flush_if_full(out, error);
        }
        json_end_array(json);
    }
    write_text_member(json, "weightType",
                      out->profile->unit == TTR_PROFILE_NS ? "tracing-ms" : "samples");
    write_number_member(json, "length", n);
    json_end_object(json);
    return status;
}

static void write_thread_identity(struct profile_out *out, struct json *json, uint32_t lane)
{
    ttr_thread thread = {0};
    (void)ttr_thread_get(out->t, out->lane[lane].thread, &thread);
    write_text_member(json, "processType", "default");
    json_write_key(json, "processName");
    profile_json_process(out, &out->lane[lane], json);
    write_number_member(json, "processStartupTime", 0);
    json_write_key(json, "processShutdownTime");
    json_write_null(json);
    write_number_member(json, "registerTime", 0);
    json_write_key(json, "unregisterTime");
    json_write_null(json);
    write_constant_column(json, "pausedRanges", 0, 0);
    json_write_key(json, "name");
    profile_json_thread(out, &out->lane[lane], json);
    write_bool_member(json, "isMainThread", thread.tid_known && thread.tid == thread.pid);
    write_number_member(json, "pid", thread.pid);
    write_number_member(json, "tid", thread.tid);
    write_bool_member(json, "showMarkersInTimeline", false);
}

static ttr_status write_firefox_thread(struct profile_out *out, struct json *json, uint32_t lane,
                                       int64_t origin, uint32_t *index, ttr_error *error)
{
    static const char *const no_resources[] = {"lib", "name", "host", "type", NULL};
    static const char *const no_symbols[] = {"libIndex", "address", "name", "functionSize", NULL};
    static const char *const no_markers[] = {"data",  "name",     "startTime", "endTime",
                                             "phase", "category", NULL};
    struct sample_iter sample_iter;
    json_begin_object(json);
    write_thread_identity(out, json, lane);
    write_frame_and_function_tables(out, json);
    write_empty_table(json, "resourceTable", no_resources);
    write_empty_table(json, "nativeSymbols", no_symbols);
    write_empty_table(json, "markers", no_markers);
    (void)write_stack_table(out, json, lane, index);
    sample_iter_init(&sample_iter, out, lane, origin);
    ttr_status status = write_sample_table(out, json, &sample_iter, index, error);
    json_write_key(json, "stringArray");
    json_begin_array(json);
    for (uint32_t i = 0; i < out->frames_n; i++) {
        ttr_text name = profile_frame_text(out, i);
        json_write_text(json, name.p, name.n);
    }
    json_end_array(json);
    json_end_object(json);
    return status;
}

static ttr_status write_firefox(struct profile_out *out, ttr_error *error)
{
    struct json json;
    int64_t origin = INT64_MAX;
    ttr_status status = TTR_OK;
    uint32_t *index = alloc_zero(out->alloc, out->nodes_n, sizeof *index);
    out->to.failed |= !index;
    for (uint32_t i = 0; i < out->lanes_n; i++)
        origin = out->lane[i].first_ns < origin ? out->lane[i].first_ns : origin;
    json_init(&json, &out->to);
    json_begin_object(&json);
    write_meta(out, &json);
    write_constant_column(&json, "libs", 0, 0);
    json_write_key(&json, "threads");
    json_begin_array(&json);
    for (uint32_t i = 0; i < out->lanes_n && status == TTR_OK && index; i++)
        status = write_firefox_thread(out, &json, i, origin, index, error);
    json_end_array(&json);
    json_end_object(&json);
    buffer_add_byte(&out->to, '\n');
    alloc_free(out->alloc, index, out->nodes_n, sizeof *index);
    return status;
}

const struct profile_writer profile_firefox = {
    .about = {"firefox", "profile for profiler.firefox.com", "json", TTR_PROFILE_TIMELINE, 0},
    .write = write_firefox,
};
