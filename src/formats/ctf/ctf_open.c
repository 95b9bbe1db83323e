/* Opening a trace: its metadata, an input for each stream file, and the order in which they are merged.
 *
 * Every regular file of the folder but `metadata` is a stream file; hidden files and those of subfolders (index/) are none.  Streams of
 * equal time are given in the order of stream class, number of the data stream, begin of the file, name of the file, as
 * babeltrace2 does.  What is not in order within a file is dealt into lanes that are (ctf_scan.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "formats/ctf/ctf_attributes.h"
#include "formats/ctf/ctf_scan.h"
#include "formats/ctf/rfc11.h"
#include "formats/ctf/rfc11_read.h"
#include "model/notes.h"
#include "model/options.h"

#define METADATA_MAX (UINT64_C(256) << 20)
#define METADATA "metadata"

/* A lane of a stream file that was opened. */
struct opened {
    struct input *in;
    struct ctf_lane lane;
    uint64_t number;   /* of its data stream: as packets say, or counted in the order of names */
    size_t place;      /* of the file in the order of names */
};

struct opening {
    ttr *t;
    struct ctf_trace *trace;
    const char *only;
    const ttr_read_options *options;
    char **copies;     /* of the options that are ours */
    size_t copies_n;
    struct notes notes; /* of parsers: there is no input yet */
    struct source_options how;
    struct opened *file;
    size_t n, capacity, files;
};

/* --- Metadata --- */

/* Remarks of parsers wait for the first input. */
static void keep_note(void *own, ttr_severity severity, uint64_t offset, const char *code, const char *format, ...) TTR_PRINTF(5, 6);

static void keep_note(void *own, ttr_severity severity, uint64_t offset, const char *code, const char *format, ...)
{
    struct opening *opening = own;
    va_list values;
    va_start(values, format);
    notes_add(&opening->notes, severity, &(ttr_region){.offset = offset, .code = code}, format, values);
    va_end(values);
}

static void take_note(void *own, ttr_severity severity, uint64_t offset, const char *code, const char *text)
{
    keep_note(own, severity, offset, code, "%s", text);
}

/* Reads a file that need not be in the folder. */
static ttr_status read_file(ttr *t, const char *path, struct ctf_trace *trace, ttr_error *error)
{
    struct window window;
    struct source *source = source_open(&t->counted, path, NULL, error);
    if (!source)
        return error->status;
    ttr_status status = source_fill(source, 0, (size_t)METADATA_MAX, &window, error);
    if (status == TTR_OK && window.n == METADATA_MAX)
        status = fail(error, TTR_E_LIMIT, METADATA_MAX, "%s is larger than %llu MiB, too large for metadata", path,
                      (unsigned long long)(METADATA_MAX >> 20));
    trace->metadata = status == TTR_OK ? alloc_zero(&t->counted, window.n + 1, 1) : NULL;
    if (status == TTR_OK && !trace->metadata)
        status = fail_memory(error);
    if (status == TTR_OK) {
        memcpy(trace->metadata, window.bytes, window.n);
        trace->metadata_n = window.n;
    }
    source_close(source);
    return status;
}

static ttr_status read_metadata(struct opening *opening, char *path, size_t size, ttr_error *error)
{
    struct ctf_trace *trace = opening->trace;
    const char *other = options_get(opening->copies, opening->copies_n, "metadata");
    if (other) {
        (void)snprintf(path, size, "%s", other);
        return read_file(opening->t, other, trace, error);
    }
    const struct folder_file *file = folder_find(trace->folder, METADATA);
    if (!file)
        return fail(error, TTR_E_UNSUPPORTED, NO_OFFSET, "%s holds no file \"%s\", which tells how the others are read",
                    folder_path(trace->folder), METADATA);
    folder_file_path(trace->folder, file, path, size);
    return folder_read(trace->folder, file, METADATA_MAX, &trace->metadata, &trace->metadata_n, error);
}

static ttr_status parse_metadata(struct opening *opening, const char *path, ttr_error *error)
{
    struct ctf_trace *trace = opening->trace;
    struct ctf_description *description = &trace->description;
    struct ctf_key key = {trace->has_key ? trace->key : NULL};
    struct ctf_text text = {.file = path};
    bool is_packetised;
    description->note = take_note;
    description->note_own = opening;
    enum ctf_version version = ctf_sniff(trace->metadata, trace->metadata_n, &is_packetised);
    ttr_status status = ctf_unpack_metadata(description, trace->metadata, trace->metadata_n, &key, &text, error);
    if (status == TTR_OK && version == CTF_RFC_1_1)
        status = rfc11_find_byte_order(trace, error);
    if (status == TTR_OK)
        status = ctf_trace_parse(trace, version, &text, error);
    if (status == TTR_OK && version == CTF_RFC_1_1)
        status = rfc11_find_alignment(trace, error);
    description->note = NULL;
    description->note_own = NULL;
    return status;
}

/* --- Stream files --- */

static bool is_stream_file(const struct opening *opening, const struct folder_file *file)
{
    if (strchr(file->name, '/') || strcmp(file->name, METADATA) == 0 || file->name[0] == '.')
        return false;
    if (opening->only && strcmp(opening->only, file->name) != 0)
        return false;
    bool is_copy = opening->options && opening->options->flags & TTR_READ_DEFINITIONS;
    return file->size > 0 || is_copy;
}

/* RFC: a file of no section is told and passed over. */
static bool has_section(struct opening *opening, const struct folder_file *file)
{
    const struct ctf_description *description = &opening->trace->description;
    bool has_cpu;
    uint32_t cpu;
    if (description->version != CTF_RFC_1_1 || rfc11_section_of_file(description, file->name, &has_cpu, &cpu))
        return true;
    keep_note(opening, TTR_NOTE_ODD, 0, "ctf.no-section", "the file %s has the name of no section: it was passed over", file->name);
    return false;
}

static size_t count_stream_files(const struct opening *opening)
{
    size_t n = 0;
    const struct folder_file *file;
    for (size_t i = 0; (file = folder_at(opening->trace->folder, i)); i++)
        n += is_stream_file(opening, file);
    return n;
}

static struct input *make_input(struct opening *opening, const struct folder_file *file, ttr_error *error)
{
    char path[1024];
    struct ctf_trace *trace = opening->trace;
    struct source *source = folder_source(trace->folder, file, &opening->how, error);
    if (!source)
        return NULL;
    folder_file_path(trace->folder, file, path, sizeof path);
    struct input *in = input_new(opening->t, source, &format_ctf, path, opening->options, error);
    if (!in)
        return NULL;
    ctf_trace_join(trace, in, file->name, opening->files);
    if (trace->description.version == CTF_RFC_1_1)
        rfc11_join_section(in->own);
    return in;
}

/* An input takes its lane. */
static ttr_status take_lane(struct opening *opening, struct input *in, struct ctf_lanes *lanes, uint32_t i, ttr_error *error)
{
    struct ctf_reader *reader = in->own;
    bool is_copy = in->flags & TTR_READ_DEFINITIONS;
    if (!alloc_reserve(&opening->t->counted, (void **)&opening->file, &opening->capacity, opening->n + 1, sizeof *opening->file)) {
        ttr_close(&in->base);
        return fail_memory(error);
    }
    struct opened *opened = &opening->file[opening->n++];
    *opened = (struct opened){.in = in, .lane = lanes->lane[i], .place = opening->files};
    opened->number = opened->lane.has_number ? opened->lane.number : opened->place;
    lanes->users++;
    reader->lanes = lanes;
    reader->lane = i;
    reader->takes_all = is_copy;
    in->shares_file = i > 0;
    reader->is_in_order = opened->lane.is_in_order && !is_copy;
    in->base.order = reader->is_in_order || is_copy ? TTR_ORDER_TIME : TTR_ORDER_NONE;
    return ctf_add_attributes(in, opening->trace, &opened->lane, opened->number) ? TTR_OK : fail_memory(error);
}

/* Opens a file: an input for each of its lanes, but for copies, which want packets in the order of the file. */
static ttr_status open_file(struct opening *opening, const struct folder_file *file, ttr_error *error)
{
    struct input *in = make_input(opening, file, error);
    if (!in)
        return error->status;
    struct ctf_lanes *lanes = ctf_scan(in->own, error);
    if (!lanes) {
        ttr_close(&in->base);
        return error->status;
    }
    uint32_t n = in->flags & TTR_READ_DEFINITIONS ? 1 : lanes->n;
    ttr_status status = take_lane(opening, in, lanes, 0, error);
    for (uint32_t i = 1; i < n && status == TTR_OK; i++) {
        in = make_input(opening, file, error);
        status = in ? take_lane(opening, in, lanes, i, error) : error->status;
    }
    ctf_lanes_release(lanes);
    opening->files++;
    return status;
}

static ttr_status open_files(struct opening *opening, ttr_error *error)
{
    const struct ctf_trace *trace = opening->trace;
    const struct folder_file *file;
    ttr_status status = TTR_OK;
    opening->how.no_mmap = opening->options && opening->options->flags & TTR_READ_NO_MMAP;
    opening->how.chunk = source_chunk(count_stream_files(opening));
    for (size_t i = 0; status == TTR_OK && (file = folder_at(trace->folder, i)); i++)
        if (is_stream_file(opening, file) && has_section(opening, file))
            status = open_file(opening, file, error);
    return status;
}

/* A trace without stream files has one input all the same, without events, which knows what its metadata says. */
static ttr_status open_nothing(struct opening *opening, const char *path, ttr_error *error)
{
    struct source *source = source_open_memory(&opening->t->counted, "", 0, NULL, error);
    if (!source)
        return error->status;
    struct input *in = input_new(opening->t, source, &format_ctf, path, opening->options, error);
    if (!in)
        return error->status;
    ctf_trace_join(opening->trace, in, METADATA, 0);
    if (!alloc_reserve(&opening->t->counted, (void **)&opening->file, &opening->capacity, 1, sizeof *opening->file)) {
        ttr_close(&in->base);
        return fail_memory(error);
    }
    opening->file[opening->n++] = (struct opened){.in = in};
    ((struct ctf_reader *)in->own)->is_nothing = true;
    return ctf_add_attributes_alone(in, opening->trace) ? TTR_OK : fail_memory(error);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_files(const void *a, const void *b)
{
    const struct opened *x = a, *y = b;
    uint64_t class_x = x->lane.kind ? x->lane.kind->class->id : UINT64_MAX;
    uint64_t class_y = y->lane.kind ? y->lane.kind->class->id : UINT64_MAX;
    if (class_x != class_y)
        return compare_numbers(class_x, class_y);
    if (x->number != y->number)
        return compare_numbers(x->number, y->number);
    if (x->lane.begin != y->lane.begin)
        return x->lane.begin < y->lane.begin ? -1 : 1;
    return compare_numbers(x->place, y->place);
}

/* --- All together --- */

static void tell_notes(struct opening *opening)
{
    for (size_t i = 0; i < opening->notes.n && opening->n; i++) {
        const ttr_note *note = &opening->notes.note[i];
        for (uint64_t k = 0; k < note->count; k++)
            input_note(opening->file[0].in, note->severity, note->first_offset, note->code, "%s", note->text);
    }
}

/* A data stream that goes on in another file: its counters do. */
static void link_files(struct opening *opening)
{
    for (size_t i = 1; i < opening->n; i++) {
        const struct opened *before = &opening->file[i - 1];
        const struct opened *here = &opening->file[i];
        struct ctf_reader *reader = here->in->own;
        if (before->lane.kind == here->lane.kind && before->lane.has_number && here->lane.has_number &&
            before->lane.number == here->lane.number && before->place != here->place && before->lane.end <= here->lane.begin)
            reader->initial = before->lane.last;
    }
}

static ttr_reader *merge(struct opening *opening, ttr_error *error)
{
    ttr *t = opening->t;
    ttr_reader **list = alloc_zero(&t->counted, opening->n, sizeof(ttr_reader *));
    if (!list) {
        (void)fail_memory(error);
        return NULL;
    }
    size_t n = opening->n;
    tell_notes(opening);
    if (n)
        qsort(opening->file, n, sizeof *opening->file, compare_files);
    link_files(opening);
    for (size_t i = 0; i < n; i++)
        list[i] = &opening->file[i].in->base;
    opening->n = 0; /* taken over */
    ttr_reader *reader = ttr_merge(t, list, n, error);
    alloc_free(&t->counted, list, n, sizeof(ttr_reader *));
    return reader;
}

static ttr_status read_time_option(struct opening *opening, ttr_error *error)
{
    const char *value = options_get(opening->copies, opening->copies_n, "time");
    opening->trace->rounds_times = value && strcmp(value, "double") == 0;
    if (!value || opening->trace->rounds_times || strcmp(value, "exact") == 0)
        return TTR_OK;
    return fail(error, TTR_E_MISUSE, NO_OFFSET, "time=%s: expected exact or double", value);
}

static ttr_status prepare(struct opening *opening, ttr_error *error)
{
    char path[1024];
    const char *const *given = opening->options ? opening->options->format_options : NULL;
    struct options_list list = {&opening->t->counted, given, &format_ctf, false};
    ttr_status status = options_copy(&list, &opening->copies, &opening->copies_n, error);
    if (status == TTR_OK)
        status = read_time_option(opening, error);
    if (status == TTR_OK)
        status = rfc11_read_options(opening->trace, opening->copies, opening->copies_n, error);
    if (status == TTR_OK)
        status = read_metadata(opening, path, sizeof path, error);
    if (status == TTR_OK)
        status = parse_metadata(opening, path, error);
    if (status == TTR_OK)
        status = ctf_trace_ready(opening->trace, error);
    if (status != TTR_OK)
        return status;
    ctf_find_quirks(opening->trace);
    status = open_files(opening, error);
    return status == TTR_OK && opening->n == 0 ? open_nothing(opening, path, error) : status;
}

ttr_reader *ctf_open_folder(ttr *t, struct folder *folder, const char *only, const ttr_read_options *options, ttr_error *error)
{
    ttr_error own = {0};
    struct ctf_trace *trace = ctf_trace_new(t, folder, error); /* held by this function, until the inputs are there */
    struct opening opening = {.t = t, .only = only, .options = options, .trace = trace};
    ttr_reader *reader = NULL;
    if (!trace)
        return NULL;
    notes_init(&opening.notes, &t->counted);
    if (prepare(&opening, &own) == TTR_OK)
        reader = merge(&opening, &own);
    for (size_t i = 0; i < opening.n; i++)
        ttr_close(&opening.file[i].in->base);
    alloc_free(&t->counted, opening.file, opening.capacity, sizeof *opening.file);
    options_free(&t->counted, opening.copies, opening.copies_n);
    notes_free(&opening.notes);
    ctf_trace_release(trace);
    if (!reader && error) {
        *error = own;
        (void)snprintf(error->format, sizeof error->format, "%s", format_ctf.name);
    }
    return reader;
}
