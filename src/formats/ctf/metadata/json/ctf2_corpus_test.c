/* CTF 2 metadata of other projects: each file of the corpus is parsed and printed again, and the
 * expected error is reported for invalid ones. TTR_CORPUS is the folder of recorded traces; without
 * it the tests pass and print a line. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/corpus.h"
#include "support/ctf2_case.h"
#include "support/describe.h"
#include "support/support.h"

struct recorded {
    const char *path;
    size_t streams, events; /* in all streams */
    const char *problem;    /* part of the error message; NULL if the file is valid */
};

static const struct recorded recorded[] = {
    {"lttng-2.15.1/ctx/ust/uid/0/64-bit", 1, 6, NULL},
    {"lttng-2.15.1/discard/ust/uid/0/64-bit", 1, 6, NULL},
    {"lttng-2.15.1/tfsize/ust/uid/0/64-bit", 1, 6, NULL},
    {"tracecompass/CTF2-7.0-ev-disc-no-ts-begin-end", 1, 1, NULL},
    {"tracecompass/CTF2-7.0-lttng-event-after-packet", 1, 1, NULL},
    {"tracecompass/CTF2-7.0-smalltrace", 1, 1, NULL},
    {"tracecompass/CTF2-7.0-succeed1", 1, 1, NULL},
    {"tracecompass/CTF2-7.0-trace-with-index", 1, 1, NULL},
    {"tracecompass/CTF2-vl-ints", 1, 1, NULL},
    {"actf/dyn_len_arr_fld_loc_nok", 0, 0, "is an array that is over: it has no current element"},
    {"actf/static_len_arr_fld_loc_nok", 0, 0,
     "is an array that is over: it has no current element"},
    {"actf/optional_int_no_sel_rng_nok", 0, 0, "needs the property \"selector-field-ranges\""},
    {"actf/variant_invalid_selector_rng_nok", 0, 0, "an unsigned number cannot have this value"},
    /* Valid metadata: other readers lack 128-bit numbers, or only the streams are invalid. */
    {"actf/fxd_len_int_unsupported_len_nok", 1, 1, NULL},
    {"actf/dyn_str_utf16_invalid_sz_nok", 1, 1, NULL},
    {"actf/CTF2-PMETA-1.0-be", 1, 1, NULL},
    {"actf/CTF2-PMETA-1.0-be_partial_data_nok", 0, 0,
     "expected control characters in a string to be escaped, found the byte 0x0a"},
    {"actf/CTF2-PMETA-1.0_bad_total_sz_nok", 0, 0, "has a content of 352 bits in 344"},
    {"actf/CTF2-PMETA-1.0_bad_major_nok", 0, 0, "expected a value, found the byte 0x00"},
    {"actf/ev_rec_hdr", 1, 2, NULL},
    {"actf/ev_rec_hdr_bad_ev_id_nok", 1, 2, NULL},
};

/* Reads a file. Returns false if it does not exist. */
static bool read_file(const char *path, struct buffer *bytes)
{
    FILE *file = fopen(path, "rb");
    buffer_init(bytes, alloc_default());
    if (!file)
        return false;
    uint8_t part[4096];
    for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;)
        buffer_add(bytes, part, n);
    (void)fclose(file);
    buffer_add_byte(bytes, 0);
    return true;
}

static ttr_status parse_bytes(struct ctf_description *description, const struct buffer *bytes,
                              const char *path, ttr_error *error)
{
    struct ctf_text text = {.file = path};
    ctf_description_init(description, alloc_default());
    ttr_status status =
        ctf_unpack_metadata(description, bytes->bytes, bytes->n - 1, NULL, &text, error);
    /* The byte order is that of the packets around the text; the text does not contain it. */
    description->has_byte_order = false;
    return status == TTR_OK ? ctf2_parse(description, &text, error) : status;
}

static void check_recorded(const struct recorded *expected, const char *path)
{
    struct ctf_description description;
    struct buffer bytes;
    ttr_error error;
    assert_true(read_file(path, &bytes));
    ttr_status status = parse_bytes(&description, &bytes, path, &error);
    if (expected->problem) {
        if (status != TTR_E_MALFORMED || !strstr(error.text, expected->problem))
            fail_msg("%s: %s", path, status == TTR_OK ? "(taken)" : error.text);
    } else {
        if (status != TTR_OK)
            fail_msg("%s", error.text);
        size_t events = 0;
        for (size_t i = 0; i < description.streams_n; i++)
            events += description.streams[i]->events_n;
        assert_int_equal(description.streams_n, expected->streams);
        assert_int_equal(events, expected->events);
        ctf2_check_again(&description);
    }
    ctf_description_free(&description);
    buffer_free(&bytes);
}

static void recorded_metadata_parses_to_known_classes(void **state)
{
    (void)state;
    char folder[900], path[1000];
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++)
        if (corpus_find("ctf", recorded[i].path, folder, sizeof folder)) {
            (void)snprintf(path, sizeof path, "%s/metadata", folder);
            check_recorded(&recorded[i], path);
        }
}

static const struct recorded *known(const char *name)
{
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++)
        if (strncmp(recorded[i].path, "actf/", 5) == 0 && strcmp(recorded[i].path + 5, name) == 0)
            return &recorded[i];
    return NULL;
}

static void valid_actf_metadata_survives_round_trip(void **state)
{
    (void)state;
    char folder[900], path[1200];
    size_t read = 0;
    if (!corpus_find("ctf", "actf", folder, sizeof folder))
        return;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; (entry = readdir(dir));) {
        struct ctf_description description;
        struct buffer bytes;
        ttr_error error;
        const struct recorded *row = known(entry->d_name);
        (void)snprintf(path, sizeof path, "%s/%s/metadata", folder, entry->d_name);
        if (entry->d_name[0] != '.' && !(row && row->problem) && read_file(path, &bytes)) {
            if (parse_bytes(&description, &bytes, path, &error) != TTR_OK)
                fail_msg("%s", error.text);
            ctf2_check_again(&description);
            ctf_description_free(&description);
            buffer_free(&bytes);
            read++;
        }
    }
    (void)closedir(dir);
    assert_int_equal(read, 42);
}

static void lttng_events_have_fields_and_log_levels(void **state)
{
    (void)state;
    char folder[900], path[1000];
    struct ctf_description description;
    struct buffer bytes, got;
    ttr_error error;
    if (!corpus_find("ctf", "lttng-2.15.1/ctx/ust/uid/0/64-bit", folder, sizeof folder))
        return;
    (void)snprintf(path, sizeof path, "%s/metadata", folder);
    assert_true(read_file(path, &bytes));
    assert_int_equal(parse_bytes(&description, &bytes, path, &error), TTR_OK);
    const struct ctf_event_class *event = ctf_find_event(description.streams[0], 0);
    support_assert_text(event->name.p, event->name.n, "ub:simple");
    assert_int_equal(event->log_level, 13);
    buffer_init(&got, alloc_default());
    describe_type(&got, event->payload);
    describe_type(&got, description.streams[0]->event_header);
    support_assert_text(
        got.bytes, got.n,
        "struct(i: i32 le @8 base 10, s: string @8) @8"
        "struct(id: u16 le @8 base 10 role 12 {\"compact\" 0..65534, \"extended\" 65535..65535}, "
        "v: variant[event-header.id](compact 0..65534: struct(timestamp: u32 le @8 base 10 role 13 "
        "clock \"monotonic\") @8, "
        "extended 65535..65535: struct(id: u32 le @8 base 10 role 12, timestamp: u64 le @8 base 10 "
        "role 13 clock "
        "\"monotonic\") @8)) @8");
    const struct ctf_environment *entry = ctf_find_environment(&description, "tracer_minor");
    assert_true(entry && entry->is_number && entry->number == 15);
    buffer_free(&got);
    ctf_description_free(&description);
    buffer_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_metadata_parses_to_known_classes),
        cmocka_unit_test(valid_actf_metadata_survives_round_trip),
        cmocka_unit_test(lttng_events_have_fields_and_log_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
