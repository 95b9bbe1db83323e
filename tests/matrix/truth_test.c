/* Reads what generate_fxt wrote and finds the same counts and sums again: the generator shares no
 * code with the reader. usage: truth_test GENERATOR; speaks TAP. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tracetta/read.h>

#include "support/tap.h"

struct truth {
    uint64_t bytes, kinds[TTR_KIND_COUNT], fibers, duration_ns, arguments, text_hash, field_hash;
};

static uint64_t hash_text(ttr_text text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < text.n; i++)
        hash = (hash ^ (uint8_t)text.p[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static void add_fields(ttr *t, const ttr_event *event, struct truth *truth)
{
    ttr_fields fields;
    ttr_field field;
    ttr_fields_begin(t, event, &fields);
    while (ttr_fields_next(&fields, &field)) {
        bool is_stream = field.value.type == TTR_TYPE_TEXT || field.value.type == TTR_TYPE_BYTES;
        /* The scope word of an instant is a field for readers, but no argument. */
        if (event->kind == TTR_KIND_INSTANT && field.name.n == 5 &&
            memcmp(field.name.p, "scope", 5) == 0)
            continue;
        truth->arguments++;
        truth->field_hash += 5 * hash_text(field.name) +
                             7 * (is_stream ? hash_text(field.value.text) : field.value.v.u);
    }
}

static void add_event(ttr *t, const ttr_event *event, struct truth *truth)
{
    if (event->kind == TTR_KIND_SWITCH && event->opcode == 3)
        truth->fibers++;
    else
        truth->kinds[event->kind]++;
    truth->duration_ns += event->duration;
    if (event->kind > TTR_KIND_FLOW_END)
        return;
    truth->text_hash +=
        hash_text(ttr_text_get(t, event->category)) + 3 * hash_text(ttr_text_get(t, event->name));
    add_fields(t, event, truth);
}

static bool read_truth(const char *path, struct truth *truth)
{
    ttr *t = ttr_new(NULL);
    ttr_read_options options = {.size = sizeof options,
                                .flags = TTR_READ_DEFINITIONS | TTR_READ_STRICT};
    ttr_report report = {.size = sizeof report};
    ttr_error error;
    ttr_batch batch;
    ttr_status status = TTR_E_IO;
    ttr_reader *in = ttr_open(t, path, &options, &error);
    while (in && (status = ttr_read(in, &batch, &error)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++)
            add_event(t, ttr_batch_at(&batch, i), truth);
    if (in && ttr_reader_report(in, 0, &report))
        truth->bytes = report.bytes;
    if (status != TTR_END)
        printf("# %s: %s\n", path, error.text);
    ttr_close(in);
    ttr_free(t);
    return status == TTR_END;
}

/* The same text as the generator's. */
static void print_truth(const struct truth *truth, char *to, size_t size)
{
    size_t n = (size_t)snprintf(to, size, "{\"bytes\": %llu, \"kinds\": {",
                                (unsigned long long)truth->bytes);
    for (unsigned i = 1; i < TTR_KIND_DEFINITION; i++)
        n += (size_t)snprintf(to + n, size - n, "\"%s\": %llu, ", ttr_kind_text(i),
                              (unsigned long long)truth->kinds[i]);
    (void)snprintf(to + n, size - n,
                   "\"fiber\": %llu}, \"definitions\": %llu, \"duration_ns\": %llu, \"arguments\": "
                   "%llu, \"text_hash\": %llu, "
                   "\"field_hash\": %llu}\n",
                   (unsigned long long)truth->fibers,
                   (unsigned long long)truth->kinds[TTR_KIND_DEFINITION],
                   (unsigned long long)truth->duration_ns, (unsigned long long)truth->arguments,
                   (unsigned long long)truth->text_hash, (unsigned long long)truth->field_hash);
}

static bool check(const char *generator, const char *options)
{
    char command[512], path[64], truth_path[80], expected[4096] = "", found[4096];
    struct truth truth = {0};
    (void)snprintf(path, sizeof path, "/tmp/tracetta-truth-XXXXXX");
    int file = mkstemp(path);
    (void)snprintf(truth_path, sizeof truth_path, "%s.json", path);
    (void)snprintf(command, sizeof command, "'%s' %s --truth %s %s", generator, options, truth_path,
                   path);
    bool ok = file >= 0 && system(command) == 0 && read_truth(path, &truth);
    FILE *json = fopen(truth_path, "r");
    ok = json && fgets(expected, sizeof expected, json) && ok;
    print_truth(&truth, found, sizeof found);
    if (strcmp(expected, found) != 0) {
        printf("# generated: %s# read:      %s", expected, found);
        ok = false;
    }
    if (json)
        (void)fclose(json);
    (void)remove(path);
    (void)remove(truth_path);
    return ok;
}

int main(void)
{
    const char *generator = getenv("TTR_GENERATE_FXT");
    static const char *const options[] = {
        "--events 50000 --seed 1", "--events 50000 --seed 2 --big-endian",
        "--events 50000 --seed 3 --mix everything",
        "--events 50000 --seed 4 --mix everything --big-endian", "--events 0 --seed 5"};
    if (!generator)
        return 2;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        (void)tap_case(check(generator, options[i]), "the reader finds what generate_fxt %s wrote",
                       options[i]);
    return tap_end();
}
