/* Determines from the stream files two properties that v1.1 metadata may omit: the byte order of
 * plain-text metadata, and the alignment of the traced architecture (decision 15).
 *
 * Alignment, by trial decoding:
 * |  1. Decode the first packet with events as packed, natural with 64-bit words, natural with
 * |     32-bit words. An alignment is possible if all ids are known and the last event ends
 * |     exactly at the end of the content.
 * |  2. Prefer alignments with which event times ascend and are within the packet's times, and
 * |     payload sizes equal the stored ones.
 * |  3. If several remain, try further packets (at most PROBE_SAMPLES per file, PROBE_ALL in
 * |     all).
 * |  4. If several still remain, choose the one with the fewest implausible values: text that
 * |     is not UTF-8, enumeration values without a label. If they differ in the decoded values,
 * |     report that the choice is a guess.
 *
 * Cost: at most PROBE_BYTES decoded three times; of a larger packet only its start is tried. */
#include <string.h>

#include "base/hash.h"
#include "base/status.h"
#include "base/utf.h"
#include "formats/ctf/metadata/rfc11/rfc11.h"
#include "formats/ctf/read/rfc11_read.h"

/* maximum bytes decoded per packet; limits its stored and its unpacked size */
#define PROBE_BYTES ((size_t)4 << 20)
#define PROBE_PACKETS 64u /* maximum packets per file that are searched for events */
/* maximum packets with events that are decoded per file */
#define PROBE_SAMPLES 4u
#define ORDER_N 3u
/* maximum packets decoded in all files; PROBE_BYTES limits their total size */
#define PROBE_ALL 64u

/* Opens file i of the folder if it has a name that stream files may have and is not empty;
 * otherwise sets *source to NULL. */
static ttr_status open_probe_file(const struct ctf_trace *trace, size_t i,
                                  const struct folder_file **file, struct source **source,
                                  ttr_error *error)
{
    struct source_options options = {.chunk = 16384};
    uint64_t size;
    *source = NULL;
    *file = folder_get_file(trace->folder, i);
    if (!*file || strchr((*file)->name, '/') || strcmp((*file)->name, "metadata") == 0 ||
        (*file)->name[0] == '.' || !folder_file_size(trace->folder, *file, &size) || size == 0)
        return TTR_OK;
    *source = folder_open_file(trace->folder, *file, &options, error);
    return *source ? TTR_OK : error->status;
}

ttr_status rfc11_find_byte_order(struct ctf_trace *trace, ttr_error *error)
{
    struct ctf_description *description = &trace->class->description;
    const struct folder_file *file = NULL;
    for (size_t i = 0;
         trace->folder && !description->has_byte_order && folder_get_file(trace->folder, i); i++) {
        struct source *source;
        struct window window = {.n = 0};
        struct rfc11_packet packet;
        ttr_status status = open_probe_file(trace, i, &file, &source, error);
        if (status == TTR_OK && source)
            status = source_fill(source, 0, RFC11_HEADER, &window, error);
        if (status == TTR_OK && window.n) {
            enum rfc11_fault fault = rfc11_read_header(window.bytes, window.n, &packet);
            description->has_byte_order = fault != RFC11_SHORT && fault != RFC11_NO_MAGIC;
            description->is_big_endian = description->has_byte_order && packet.is_big_endian;
        }
        source_close(source);
        if (status == TTR_E_NOMEM)
            return status;
    }
    return TTR_OK;
}

/* A packet that is decoded by trial, and the results of all packets so far. */
struct probe_sample {
    struct ctf_trace *trace;
    /* trace with the metadata for the packet: `trace`, or trace->other_order if it has the other
     * byte order */
    struct ctf_trace *read_by;
    const struct ctf_stream_class *section;
    struct source *source;
    struct buffer unpacked;
    const uint8_t *bytes;
    uint64_t n;
    /* true if the sample is a complete packet; false if it is the start of a large packet */
    bool is_whole;
    bool is_found;
    /* bit i is set if all packets so far can be decoded with alignment order[i] */
    unsigned possible;
    unsigned tried; /* number of packets decoded by trial so far */
    uint64_t tried_bytes;
    bool is_known;       /* true if a packet could be decoded */
    uint64_t begin, end; /* begin and end time of the packet in ticks, as declared */
    /* hash of all decoded values, for each alignment in `order` */
    uint64_t values[ORDER_N];
    /* number of implausible values, for each alignment in `order` */
    uint64_t oddities[ORDER_N];
};

static const enum ctf_alignment order[ORDER_N] = {CTF_ALIGN_PACKED, CTF_ALIGN_NATURAL_64,
                                                  CTF_ALIGN_NATURAL_32};

/* Loads the packet at `offset` for trial decoding; sets is_found if it has readable events. Sets
 * *size to the distance in bytes to the next packet; 0 if there is not a valid packet at
 * `offset`. */
static ttr_status load_sample_packet(struct probe_sample *sample, uint64_t offset, uint64_t *size,
                                     ttr_error *error)
{
    struct rfc11_packet packet;
    struct window window;
    *size = 0;
    ttr_status status = source_fill(sample->source, offset, RFC11_HEADER, &window, error);
    if (status != TTR_OK || rfc11_read_header(window.bytes, window.n, &packet) != RFC11_FINE)
        return status;
    *size = packet.packet_size;
    if (packet.content_size == RFC11_HEADER)
        return TTR_OK;
    size_t need = packet.content_size < PROBE_BYTES ? packet.content_size : PROBE_BYTES;
    status = source_fill(sample->source, offset, need, &window, error);
    if (status != TTR_OK || window.n < need)
        return status;
    struct rfc11_unpack_options how = {.key = {sample->trace->has_key ? sample->trace->key : NULL},
                                       .max = PROBE_BYTES};
    sample->is_whole = need == packet.content_size;
    packet.content_size = (uint32_t)need;
    enum rfc11_content result =
        rfc11_unpack_content(&packet, window.bytes, &how, &sample->unpacked);
    if (result == RFC11_NO_MEMORY)
        return fail_memory(error);
    sample->begin = packet.timestamp_begin;
    sample->end = packet.timestamp_end;
    sample->is_found =
        result == RFC11_PLAIN || result == RFC11_UNPACKED || result == RFC11_TOO_LARGE;
    sample->is_whole &= result != RFC11_TOO_LARGE;
    sample->bytes = result == RFC11_PLAIN ? window.bytes : sample->unpacked.bytes;
    sample->n = result == RFC11_PLAIN ? need : sample->unpacked.n;
    sample->is_found &= sample->n > RFC11_HEADER;
    bool is_other = packet.is_big_endian != sample->trace->class->description.is_big_endian;
    sample->read_by = is_other ? rfc11_trace_in_other_order(sample->trace, error) : sample->trace;
    return sample->read_by ? TTR_OK : error->status;
}

/* Layouts and results of decoding one packet with one alignment. */
struct alignment_trial {
    const struct probe_sample *sample;
    struct arena arena;
    /* layouts by index of the event class, compiled at first use; the last element is the layout of
     * the event context alone */
    const struct layout **layouts;
    struct ctf_header_plan plan;
    uint64_t ticks, values, oddities;
    /* number of decoded values; limited, because an array of values without bits would never end */
    uint64_t seen;
    /* is_late: an event is earlier than the one before it, or later than the packet's end;
     * is_missized: the decoded size of a payload differs from the stored size */
    bool is_late, is_missized;
    /* true if the limit of values was reached, so not all values are in the hash */
    bool is_cut;
};

/* Whether a packet can be decoded with an alignment: not at all; only with implausible times or
 * sizes; without fault. */
enum alignment_fit { FITS_NOT, FITS_ODDLY, FITS_WELL };

/* Compiles a layout: of contexts and payload of the event class `event`; if it is NULL, of the
 * event context alone (is_context) or of the event header. */
static const struct layout *compile_trial_layout(struct alignment_trial *trial,
                                                 const struct ctf_event_class *event,
                                                 bool is_context, ttr_error *error)
{
    const struct probe_sample *sample = trial->sample;
    struct layout_spec spec = {.t = sample->trace->t, .arena = &trial->arena, .shows_hidden = true};
    if (event || is_context)
        spec.root[ROOT_COMMON_CONTEXT] = sample->section->event_context;
    else
        spec.root[ROOT_EVENT_HEADER] = sample->section->event_header;
    if (event) {
        spec.root[ROOT_PAYLOAD] = event->payload;
        spec.outer[ROOT_EVENT_HEADER] = sample->section->event_header;
    }
    return layout_compile(&spec, error);
}

/* Adds a value to the hash and counts it if it is implausible. */
static void record_decoded_value(struct alignment_trial *trial, const ttr_value *value,
                                 const struct type *type)
{
    const bool is_text = value->type == TTR_TYPE_TEXT,
               has_bytes = is_text || value->type == TTR_TYPE_BYTES;
    trial->values = hash_pair(trial->values, has_bytes ? hash_bytes(value->text.p, value->text.n)
                                                       : value->v.u ^ value->count);
    trial->oddities += is_text && !utf8_is_valid(value->text.p, value->text.n);
    trial->oddities += type && type->labels && !type_find_label(type->labels, value->v.u, 0);
}

/* Decodes the fields of a layout and records their values, up to the limit of values. After that,
 * only finds the end of the fields. */
static enum layout_status record_decoded_values(struct alignment_trial *trial,
                                                const struct layout *layout, struct bits *bits)
{
    struct layout_iter walk;
    const struct type *type = NULL;
    ttr_field field;
    const uint64_t most = trial->sample->n * 8;
    layout_iter_begin(&walk, layout, bits, NULL);
    while (trial->seen < most && layout_iter_next(&walk, &field, &type)) {
        record_decoded_value(trial, &field.value, type);
        trial->seen++;
    }
    if (trial->seen < most) {
        *bits = walk.run.bits;
        return walk.end;
    }
    struct layout_cursor run = {.bits = *bits};
    enum layout_status end = layout_find_record_end(layout, &run);
    trial->is_cut = true;
    *bits = run.bits;
    return end;
}

/* Compares the stored payload size with the decoded one; sets is_missized if they differ. `from`:
 * start of the event context; `to`: decoded end of the payload as a bit offset. */
static ttr_status check_payload_size(struct alignment_trial *trial, const struct bits *from,
                                     uint64_t to, ttr_error *error)
{
    const struct layout **context = &trial->layouts[trial->sample->section->events_n];
    struct layout_cursor run = {.bits = *from};
    if (!*context)
        *context = compile_trial_layout(trial, NULL, true, error);
    if (!*context)
        return error->status;
    const uint64_t end = rfc11_find_payload_end(*context, &run);
    trial->is_missized |= end != ((to + 7) & ~UINT64_C(7));
    return TTR_OK;
}

/* Decodes the event at bits->at, and advances bits->at to its end. */
static enum layout_status decode_trial_event(struct alignment_trial *trial, struct bits *bits,
                                             ttr_error *error)
{
    const struct ctf_stream_class *section = trial->sample->section;
    struct ctf_event_header header = {.ticks = trial->ticks};
    const uint64_t slots[LAYOUT_SLOTS_MAX] = {0};
    ctf_read_event_header(&trial->plan, bits, slots, &header);
    if (header.end != LAYOUT_OK)
        return header.end;
    const uint32_t *index = pair_map_get(&section->events_by_id, header.id, 0);
    if (!index)
        return LAYOUT_NO_OPTION;
    trial->is_late |= header.ticks < trial->ticks || header.ticks > trial->sample->end;
    trial->ticks = header.ticks;
    trial->values = hash_pair(hash_pair(trial->values, header.id), header.ticks);
    const struct ctf_event_class *event = section->events[*index];
    if (!event->payload && !section->event_context)
        return LAYOUT_OK;
    if (!trial->layouts[*index])
        trial->layouts[*index] = compile_trial_layout(trial, event, false, error);
    if (!trial->layouts[*index])
        return LAYOUT_NO_OPTION;
    const struct bits from = *bits;
    enum layout_status end = record_decoded_values(trial, trial->layouts[*index], bits);
    if (end == LAYOUT_OK && section->rfc_has_event_size &&
        check_payload_size(trial, &from, bits->at, error) != TTR_OK)
        return LAYOUT_NO_OPTION;
    return end;
}

static enum alignment_fit test_alignment_on_sample(struct alignment_trial *trial, ttr_error *error)
{
    const struct probe_sample *sample = trial->sample;
    const bool tells_times = !sample->section->rfc_has_no_time && sample->begin <= sample->end;
    struct bits bits = bits_init(sample->bytes, RFC11_HEADER_BITS, sample->n * 8);
    enum layout_status end = LAYOUT_OK;
    trial->ticks = sample->begin;
    while (end == LAYOUT_OK && bits_left(&bits) >= 8)
        end = decode_trial_event(trial, &bits, error);
    if (end != LAYOUT_OK && (end != LAYOUT_TRUNCATED || sample->is_whole))
        return FITS_NOT;
    return trial->is_missized || (tells_times && trial->is_late) ? FITS_ODDLY : FITS_WELL;
}

/* Decodes the loaded packet with alignment `order[i]`, and rates whether the result is
 * plausible. */
static ttr_status decode_with_alignment(struct probe_sample *sample, size_t i,
                                        enum alignment_fit *fit, ttr_error *error)
{
    struct alignment_trial trial = {.sample = sample};
    const struct alloc *alloc = sample->trace->class->description.alloc;
    size_t n = sample->section->events_n + 1;
    rfc11_set_alignment(&sample->trace->class->description, order[i]);
    if (sample->read_by != sample->trace)
        rfc11_set_alignment(&sample->read_by->class->description, order[i]);
    arena_init(&trial.arena, alloc);
    trial.layouts = alloc_zero(alloc, n, sizeof(const struct layout *));
    error->status = TTR_OK;
    const struct layout *header =
        trial.layouts ? compile_trial_layout(&trial, NULL, false, error) : NULL;
    if (header) {
        ctf_header_plan_init(&trial.plan, sample->section, header);
        *fit = test_alignment_on_sample(&trial, error);
        sample->values[i] = hash_pair(sample->values[i],
                                      /* an incomplete hash does not prove that two results are
                                       * equal, so use a number that differs per alignment */
                                      trial.is_cut ? i : trial.values);
        sample->oddities[i] += trial.oddities;
    }
    ttr_status status = trial.layouts && error->status != TTR_E_NOMEM ? TTR_OK : fail_memory(error);
    alloc_free(alloc, trial.layouts, n, sizeof(const struct layout *));
    arena_free(&trial.arena);
    return status;
}

/* Removes the alignments with which the loaded packet cannot be decoded from sample->possible.
 * Ignores the packet as damaged if it cannot be decoded with any. */
static ttr_status exclude_alignments(struct probe_sample *sample, ttr_error *error)
{
    unsigned allowed[FITS_WELL + 1] = {0};
    ttr_status status = TTR_OK;
    for (size_t i = 0; i < ORDER_N && status == TTR_OK; i++) {
        enum alignment_fit fit = FITS_NOT;
        if (sample->possible >> i & 1)
            status = decode_with_alignment(sample, i, &fit, error);
        allowed[fit] |= 1u << i;
    }
    const unsigned left = allowed[FITS_WELL] ? allowed[FITS_WELL] : allowed[FITS_ODDLY];
    sample->possible = left ? left : sample->possible;
    sample->is_known |= left != 0;
    sample->tried++;
    sample->tried_bytes += sample->n;
    return status;
}

static bool is_alignment_decided(const struct probe_sample *sample)
{
    bool is_one = (sample->possible & (sample->possible - 1)) == 0;
    return (sample->is_known && is_one) || sample->tried >= PROBE_ALL ||
           sample->tried_bytes >= PROBE_BYTES;
}

static ttr_status probe_stream_file(struct probe_sample *sample,
                                    const struct ctf_stream_class *section, ttr_error *error)
{
    uint64_t offset = 0, size = 1;
    ttr_status status = TTR_OK;
    const unsigned most = sample->tried + PROBE_SAMPLES;
    for (unsigned k = 0; k < PROBE_PACKETS && section && size && status == TTR_OK &&
                         !is_alignment_decided(sample) && sample->tried < most;
         k++, offset += size) {
        sample->is_found = false;
        status = load_sample_packet(sample, offset, &size, error);
        if (status != TTR_OK || !sample->is_found)
            continue;
        sample->section = rfc11_find_stream_class_in(sample->read_by, sample->trace, section);
        status = exclude_alignments(sample, error);
    }
    return status;
}

static ttr_status probe_stream_files(struct probe_sample *sample, ttr_error *error)
{
    ttr_status status = TTR_OK;
    const struct folder_file *file = NULL;
    for (size_t i = 0; status == TTR_OK && !is_alignment_decided(sample) &&
                       folder_get_file(sample->trace->folder, i);
         i++) {
        uint32_t cpu;
        bool has_cpu;
        status = open_probe_file(sample->trace, i, &file, &sample->source, error);
        if (!sample->source)
            continue;
        status = probe_stream_file(sample,
                                   rfc11_find_section_of_file(&sample->trace->class->description,
                                                              file->name, &has_cpu, &cpu),
                                   error);
        source_close(sample->source);
    }
    return status;
}

/* Returns the index in `order` of the possible alignment with the fewest implausible values. Sets
 * *is_guess if another possible alignment results in different values. */
static size_t choose_alignment(const struct probe_sample *sample, bool *is_guess)
{
    size_t best = ORDER_N;
    for (size_t i = 0; i < ORDER_N; i++)
        if (sample->possible >> i & 1 &&
            (best == ORDER_N || sample->oddities[i] < sample->oddities[best]))
            best = i;
    *is_guess = false;
    for (size_t i = 0; i < ORDER_N; i++)
        *is_guess |= (sample->possible >> i & 1) && sample->values[i] != sample->values[best];
    return best;
}

static void report_alignment(const struct ctf_description *description, bool is_found,
                             bool is_guess)
{
    static const char *const texts[] = {
        [CTF_ALIGN_UNKNOWN] = "the metadata records no alignment; read as packed",
        [CTF_ALIGN_PACKED] =
            "the metadata records no alignment; by its first events the trace is packed",
        [CTF_ALIGN_NATURAL_64] = "the metadata records no alignment; by its first events it is "
                                 "natural with words of 64 bits",
        [CTF_ALIGN_NATURAL_32] = "the metadata records no alignment; by its first events it is "
                                 "natural with words of 32 bits",
    };
    static const char *const guesses[] = {
        [CTF_ALIGN_PACKED] = "the metadata records no alignment; read as packed, though its events "
                             "can be read as natural too; use " RFC11_ASSUMES,
        [CTF_ALIGN_NATURAL_64] =
            "the metadata records no alignment; read as natural with words of 64 bits, though its "
            "events can be read otherwise too; use " RFC11_ASSUMES,
        [CTF_ALIGN_NATURAL_32] =
            "the metadata records no alignment; read as natural with words of 32 bits, though its "
            "events can be read otherwise too; use " RFC11_ASSUMES,
    };
    const enum ctf_alignment alignment = is_found ? description->alignment : CTF_ALIGN_UNKNOWN;
    if (description->note)
        description->note(description->note_ctx,
                          is_found && !is_guess ? TTR_SEVERITY_REMARK : TTR_SEVERITY_ODD, 0,
                          is_guess ? "ctf.alignment-guess" : "ctf.alignment",
                          is_guess ? guesses[alignment] : texts[alignment]);
}

ttr_status rfc11_find_alignment(struct ctf_trace *trace, ttr_error *error)
{
    struct probe_sample sample = {.trace = trace, .possible = (1u << ORDER_N) - 1};
    ttr_error ctx = {.status = TTR_OK};
    bool is_guess = false;
    if (trace->class->description.alignment == CTF_ALIGN_UNKNOWN &&
        trace->assumed_alignment != CTF_ALIGN_UNKNOWN)
        rfc11_set_alignment(&trace->class->description, trace->assumed_alignment);
    if (trace->class->description.alignment != CTF_ALIGN_UNKNOWN || !trace->folder)
        return TTR_OK;
    buffer_init(&sample.unpacked, trace->class->description.alloc);
    ttr_status status = probe_stream_files(&sample, &ctx);
    const enum ctf_alignment found =
        sample.is_known ? order[choose_alignment(&sample, &is_guess)] : CTF_ALIGN_PACKED;
    rfc11_set_alignment(&trace->class->description, found);
    if (trace->other_order)
        rfc11_set_alignment(&trace->other_order->class->description, found);
    if (sample.tried)
        report_alignment(&trace->class->description, sample.is_known, is_guess);
    buffer_free(&sample.unpacked);
    return status == TTR_E_NOMEM ? fail_memory(error) : TTR_OK;
}
