/* The processed profile of Firefox (profiler.firefox.com opens it), as of its version 48: tables of
 * columns per thread, texts by number.
 *
 * Each thread has all frames of the profile as functions and all its nodes as stacks.  Times are ms
 * since the first sample.  With a time line each change is a sample whose weight is the time until
 * the next; else each distinct stack is one sample of its weight, in no order of time. */
#include "pipeline/profile/profile.h"
#include "profiles/profiles.h"

#define VERSION 24 /* of the format Firefox itself gives, which the page wants to know too */
#define PROCESSED_VERSION 48

static void number(struct json *json, const char *key, uint64_t value)
{
    json_key(json, key);
    json_u64(json, value);
}

static void text(struct json *json, const char *key, const char *value)
{
    json_key(json, key);
    json_string(json, value);
}

static void flag(struct json *json, const char *key, bool value)
{
    json_key(json, key);
    json_bool(json, value);
}

/* A column of n times the same: null, or a number. */
static void column(struct json *json, const char *key, uint32_t n, int64_t value)
{
    json_key(json, key);
    json_array(json);
    for (uint32_t i = 0; i < n; i++) {
        if (value == INT64_MIN)
            json_null(json);
        else
            json_i64(json, value);
    }
    json_array_end(json);
}

/* A column 0, 1, ... */
static void count_up(struct json *json, const char *key, uint32_t n)
{
    json_key(json, key);
    json_array(json);
    for (uint32_t i = 0; i < n; i++)
        json_u64(json, i);
    json_array_end(json);
}

static void put_meta(struct profile_out *out, struct json *json)
{
    static const char *const colors[][2] = {{"Other", "grey"}, {"User", "yellow"}};
    json_key(json, "meta");
    json_object(json);
    number(json, "interval", 1);
    number(json, "startTime", 0);
    number(json, "processType", 0);
    text(json, "product", out->title);
    number(json, "stackwalk", 1);
    number(json, "version", VERSION);
    number(json, "preprocessedProfileVersion", PROCESSED_VERSION);
    flag(json, "symbolicated", true);
    text(json, "importedFrom", "tracetta");
    json_key(json, "categories");
    json_array(json);
    for (size_t i = 0; i < 2; i++) {
        json_object(json);
        text(json, "name", colors[i][0]);
        text(json, "color", colors[i][1]);
        json_key(json, "subcategories");
        json_array(json);
        json_string(json, "Other");
        json_array_end(json);
        json_object_end(json);
    }
    json_array_end(json);
    json_key(json, "markerSchema");
    json_array(json);
    json_array_end(json);
    json_object_end(json);
}

/* Functions, and a frame for each: both have the number of the profile's frame, and so has its
 * text. */
static void put_functions(struct profile_out *out, struct json *json)
{
    uint32_t n = out->frames_n;
    json_key(json, "frameTable");
    json_object(json);
    column(json, "address", n, -1);
    column(json, "inlineDepth", n, 0);
    column(json, "category", n, 1);
    column(json, "subcategory", n, 0);
    count_up(json, "func", n);
    static const char *const unknown[] = {"nativeSymbol", "innerWindowID", "implementation", "line",
                                          "column"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        column(json, unknown[i], n, INT64_MIN);
    number(json, "length", n);
    json_object_end(json);
    json_key(json, "funcTable");
    json_object(json);
    json_key(json, "isJS");
    json_array(json);
    for (uint32_t i = 0; i < n; i++)
        json_bool(json, false);
    json_array_end(json);
    json_key(json, "relevantForJS");
    json_array(json);
    for (uint32_t i = 0; i < n; i++)
        json_bool(json, false);
    json_array_end(json);
    count_up(json, "name", n);
    column(json, "resource", n, -1);
    static const char *const places[] = {"fileName", "lineNumber", "columnNumber"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        column(json, places[i], n, INT64_MIN);
    number(json, "length", n);
    json_object_end(json);
}

static void put_empty_table(struct json *json, const char *key, const char *const *columns)
{
    json_key(json, key);
    json_object(json);
    for (; *columns; columns++)
        column(json, *columns, 0, 0);
    number(json, "length", 0);
    json_object_end(json);
}

/* Which of the lane's nodes each node is, in out->path's place of `index`; stacks of the lane. */
static uint32_t put_stacks(struct profile_out *out, struct json *json, uint32_t lane,
                           uint32_t *index)
{
    uint32_t n = 0;
    json_key(json, "stackTable");
    json_object(json);
    json_key(json, "frame");
    json_array(json);
    for (uint32_t i = 0; i < out->nodes_n; i++)
        if (out->node[i].lane == lane) {
            index[i] = n++;
            json_u64(json, out->node[i].frame);
        }
    json_array_end(json);
    json_key(json, "prefix");
    json_array(json);
    for (uint32_t i = 0; i < out->nodes_n; i++) {
        if (out->node[i].lane != lane)
            continue;
        if (out->node[i].parent == TTR_PROFILE_NONE)
            json_null(json);
        else
            json_u64(json, index[out->node[i].parent]);
    }
    json_array_end(json);
    column(json, "category", n, 1);
    column(json, "subcategory", n, 0);
    number(json, "length", n);
    json_object_end(json);
    return n;
}

/* Samples of a lane, one after the other. */
struct sampling {
    const struct profile_out *out;
    struct profile_line line;
    uint32_t lane, at;
    int64_t origin, end;
    bool has_line;
    /* the sample just given */
    uint32_t node;
    double time_ms, weight;
};

static void begin(struct sampling *s, const struct profile_out *out, uint32_t lane, int64_t origin)
{
    *s = (struct sampling){.out = out,
                           .lane = lane,
                           .origin = origin,
                           .end = out->lane[lane].last_ns,
                           .has_line = out->profile->flags & TTR_PROFILE_TIMELINE &&
                                       out->profile->unit == TTR_PROFILE_NS};
    profile_line_begin(&s->line, out->profile, lane);
    if (s->has_line && !profile_line_next(&s->line))
        s->line.time = s->end;
}

static bool next(struct sampling *s)
{
    const struct profile_out *out = s->out;
    if (s->has_line) {
        int64_t time = s->line.time;
        s->node = s->line.node;
        s->time_ms = (double)((uint64_t)time - (uint64_t)s->origin) / 1e6;
        if (time >= s->end)
            return false;
        if (!profile_line_next(&s->line))
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

static ttr_status put_samples(struct profile_out *out, struct json *json, struct sampling *first,
                              const uint32_t *index, ttr_error *error)
{
    static const char *const names[SAMPLE_COLUMNS] = {"stack", "time", "weight"};
    uint64_t n = 0;
    ttr_status status = TTR_OK;
    json_key(json, "samples");
    json_object(json);
    for (unsigned which = 0; which < SAMPLE_COLUMNS; which++) {
        struct sampling s = *first;
        json_key(json, names[which]);
        json_array(json);
        for (n = 0; status == TTR_OK && next(&s); n++) {
            if (which != SAMPLE_STACK)
                json_double(json, which == SAMPLE_TIME ? s.time_ms : s.weight);
            else if (s.node == TTR_PROFILE_NONE)
                json_null(json);
            else
                json_u64(json, index[s.node]);
            status = profile_drain(out, error);
        }
        json_array_end(json);
    }
    text(json, "weightType", out->profile->unit == TTR_PROFILE_NS ? "tracing-ms" : "samples");
    number(json, "length", n);
    json_object_end(json);
    return status;
}

static void put_who(struct profile_out *out, struct json *json, uint32_t lane)
{
    ttr_thread thread = {0};
    (void)ttr_thread_get(out->t, out->lane[lane].thread, &thread);
    text(json, "processType", "default");
    json_key(json, "processName");
    profile_json_process(out, &out->lane[lane], json);
    number(json, "processStartupTime", 0);
    json_key(json, "processShutdownTime");
    json_null(json);
    number(json, "registerTime", 0);
    json_key(json, "unregisterTime");
    json_null(json);
    column(json, "pausedRanges", 0, 0);
    json_key(json, "name");
    profile_json_thread(out, &out->lane[lane], json);
    flag(json, "isMainThread", thread.tid_known && thread.tid == thread.pid);
    number(json, "pid", thread.pid);
    number(json, "tid", thread.tid);
    flag(json, "showMarkersInTimeline", false);
}

static ttr_status put_thread(struct profile_out *out, struct json *json, uint32_t lane,
                             int64_t origin, uint32_t *index, ttr_error *error)
{
    static const char *const no_resources[] = {"lib", "name", "host", "type", NULL};
    static const char *const no_symbols[] = {"libIndex", "address", "name", "functionSize", NULL};
    static const char *const no_markers[] = {"data",  "name",     "startTime", "endTime",
                                             "phase", "category", NULL};
    struct sampling sampling;
    json_object(json);
    put_who(out, json, lane);
    put_functions(out, json);
    put_empty_table(json, "resourceTable", no_resources);
    put_empty_table(json, "nativeSymbols", no_symbols);
    put_empty_table(json, "markers", no_markers);
    (void)put_stacks(out, json, lane, index);
    begin(&sampling, out, lane, origin);
    ttr_status status = put_samples(out, json, &sampling, index, error);
    json_key(json, "stringArray");
    json_array(json);
    for (uint32_t i = 0; i < out->frames_n; i++) {
        ttr_text name = profile_frame_text(out, i);
        json_text(json, name.p, name.n);
    }
    json_array_end(json);
    json_object_end(json);
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
    json_object(&json);
    put_meta(out, &json);
    column(&json, "libs", 0, 0);
    json_key(&json, "threads");
    json_array(&json);
    for (uint32_t i = 0; i < out->lanes_n && status == TTR_OK && index; i++)
        status = put_thread(out, &json, i, origin, index, error);
    json_array_end(&json);
    json_object_end(&json);
    buffer_add_byte(&out->to, '\n');
    alloc_free(out->alloc, index, out->nodes_n, sizeof *index);
    return status;
}

const struct profile_writer profile_firefox = {
    .about = {"firefox", "profile for profiler.firefox.com", "json", TTR_PROFILE_TIMELINE},
    .write = write_firefox,
};
