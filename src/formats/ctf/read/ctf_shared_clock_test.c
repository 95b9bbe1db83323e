/* Chunks of a CTF 2 trace without a UUID, which namespace, name and uid identify. */
#include <stdio.h>
#include <string.h>

#include <tracetta/tracetta.h>

#include "formats/ctf/read/ctf_reader.h"
#include "support/support.h"

enum { EVENTS_MAX = 16, TEXT_MAX = 8000 };

/* A chunk: metadata, and a stream with one packet of one event. */
struct chunk {
    const char *uid;  /* unique id of the trace */
    int offset;       /* offset of its clock in seconds */
    bool is_complete; /* the metadata declare the second event class, too */
    uint8_t begin;    /* ticks; the event is 2 ticks later, the packet ends 10 ticks later */
    uint8_t sequence, lost;
};

/* Appends a text with ' for " and ^ for the record separator. */
static void append(char *to, const char *quoted)
{
    size_t n = strlen(to);
    assert_in_range(n + strlen(quoted), 0, TEXT_MAX - 1);
    for (const char *from = quoted; *from; from++)
        to[n++] = (char)(*from == '\'' ? '"' : *from == '^' ? 0x1e : *from);
    to[n] = '\0';
}

/* Appends a struct of 8-bit numbers with the given roles, as the value of a member. */
static void append_struct(char *to, const char *member, const char *const *roles)
{
    char text[300];
    (void)snprintf(text, sizeof text, "'%s':{'type':'structure','member-classes':[", member);
    append(to, text);
    for (size_t i = 0; roles[i]; i++) {
        (void)snprintf(text, sizeof text,
                       "%s{'name':'f%zu','field-class':{'type':'fixed-length-unsigned-integer',"
                       "'length':8,'byte-order':'little-endian','roles':['%s']}}",
                       i ? "," : "", i, roles[i]);
        append(to, text);
    }
    append(to, "]}");
}

/* The files of a chunk in memory. */
struct chunk_files {
    char metadata[TEXT_MAX];
    uint8_t packet[9];
    ttr_file file[2];
};

static struct folder *open_chunk(ttr *t, const struct chunk *chunk, struct chunk_files *files)
{
    static const char *const header[] = {"data-stream-id", NULL},
                             *const event[] = {"event-record-class-id", "default-clock-timestamp",
                                               NULL},
                             *const context[] = {"default-clock-timestamp",
                                                 "packet-end-default-clock-timestamp",
                                                 "packet-content-length",
                                                 "packet-total-length",
                                                 "packet-sequence-number",
                                                 "discarded-event-record-counter-snapshot",
                                                 NULL};
    const uint8_t packet[] = {0,
                              chunk->begin,
                              (uint8_t)(chunk->begin + 10),
                              9 * 8,
                              9 * 8,
                              chunk->sequence,
                              chunk->lost,
                              0,
                              (uint8_t)(chunk->begin + 2)};
    char *text = files->metadata, part[300];
    text[0] = '\0';
    (void)snprintf(part, sizeof part,
                   "^{'type':'preamble','version':2}\n"
                   "^{'type':'trace-class','namespace':'n','name':'m','uid':'%s',",
                   chunk->uid);
    append(text, part);
    append_struct(text, "packet-header-field-class", header);
    (void)snprintf(part, sizeof part,
                   "}\n^{'type':'clock-class','id':'c','frequency':1000000000,"
                   "'offset-from-origin':{'seconds':%d}}\n"
                   "^{'type':'data-stream-class','default-clock-class-id':'c',",
                   chunk->offset);
    append(text, part);
    append_struct(text, "packet-context-field-class", context);
    append(text, ",");
    append_struct(text, "event-record-header-field-class", event);
    append(text, "}\n^{'type':'event-record-class','id':0,'name':'one'}\n");
    if (chunk->is_complete)
        append(text, "^{'type':'event-record-class','id':1,'name':'two'}\n");
    memcpy(files->packet, packet, sizeof packet);
    files->file[0] = (ttr_file){"metadata", text, strlen(text)};
    files->file[1] = (ttr_file){"s", files->packet, sizeof packet};
    struct folder *folder = folder_open_memory(&t->counted, "chunk", files->file, 2, NULL);
    assert_non_null(folder);
    return folder;
}

/* Reads two chunks as one trace. Returns the events without gaps, and in `lost` the counts of
 * gaps. */
static size_t read_chunks(const struct chunk *first, const struct chunk *second, ttr_event *events,
                          uint64_t *lost)
{
    static struct chunk_files files[2];
    ttr_error error = {0};
    ttr_batch batch;
    size_t n = 0;
    ttr *t = ttr_new(NULL);
    const ttr_read_options options = {.size = sizeof options};
    const struct found_folder folders[] = {{open_chunk(t, first, &files[0]), NULL},
                                           {open_chunk(t, second, &files[1]), NULL}};
    ttr_reader *reader =
        ctf_open_folders(t, &(struct found_folders){folders, 2, false}, &options, &error);
    assert_non_null(reader);
    *lost = 0;
    while (ttr_read(reader, &batch, &error) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            if (event->kind == TTR_KIND_GAP)
                *lost += event->link;
            else if (n < EVENTS_MAX)
                events[n++] = *event;
        }
    ttr_close(reader);
    ttr_free(t);
    return n;
}

#define SECOND INT64_C(1000000000)

/* The numbers are those of the test clock-offset-goes-back-in-time of babeltrace 2.2. */
static void clock_offset_of_most_complete_metadata_is_used(void **state)
{
    ttr_event events[EVENTS_MAX];
    uint64_t lost;
    (void)state;
    assert_int_equal(read_chunks(&(struct chunk){"u", 100, true, 10, 0, 0},
                                 &(struct chunk){"u", 50, false, 30, 1, 0}, events, &lost),
                     2);
    assert_int_equal(events[0].time, 100 * SECOND + 12);
    assert_int_equal(events[1].time, 100 * SECOND + 32);
    assert_int_equal(lost, 0);
    assert_int_equal(read_chunks(&(struct chunk){"u", 50, false, 10, 0, 0},
                                 &(struct chunk){"u", 100, true, 30, 1, 0}, events, &lost),
                     2);
    assert_int_equal(events[0].time, 100 * SECOND + 12);
    assert_int_equal(events[1].time, 100 * SECOND + 32);
}

static void losses_between_chunks_are_reported(void **state)
{
    ttr_event events[EVENTS_MAX];
    uint64_t lost;
    (void)state;
    assert_int_equal(read_chunks(&(struct chunk){"u", 0, true, 10, 0, 3},
                                 &(struct chunk){"u", 0, true, 30, 1, 8}, events, &lost),
                     2);
    assert_int_equal(lost, 3 + 5);
}

static void packet_in_two_snapshots_is_read_once(void **state)
{
    ttr_event events[EVENTS_MAX];
    uint64_t lost;
    (void)state;
    assert_int_equal(read_chunks(&(struct chunk){"u", 0, true, 10, 0, 0},
                                 &(struct chunk){"u", 0, true, 10, 0, 0}, events, &lost),
                     1);
}

static void traces_with_different_uids_stay_apart(void **state)
{
    ttr_event events[EVENTS_MAX];
    uint64_t lost;
    (void)state;
    assert_int_equal(read_chunks(&(struct chunk){"u", 100, true, 10, 0, 0},
                                 &(struct chunk){"v", 50, false, 10, 0, 7}, events, &lost),
                     2);
    assert_int_equal(events[0].time, 50 * SECOND + 12);
    assert_int_equal(events[1].time, 100 * SECOND + 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clock_offset_of_most_complete_metadata_is_used),
        cmocka_unit_test(losses_between_chunks_are_reported),
        cmocka_unit_test(packet_in_two_snapshots_is_read_once),
        cmocka_unit_test(traces_with_different_uids_stay_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
