/* Copies of CTF traces: keeps the events of a packet while they arrive, and writes the packet when
 * its definition arrives. ctf_copy.h describes the interface, the order of calls and the cost. */
#include "formats/ctf/write/ctf_copy.h"

#include "base/number.h"
#include "base/status.h"

/* event_bytes_at is a multiple of this number of bytes, which every alignment divides. So a field
 * has the same alignment in event_bytes as in the packet. */
#define EVENT_BYTES_ALIGN UINT64_C(4096)
/* A packet without definition is split when event_bytes has more bytes than this. */
#define EVENT_BYTES_MAX ((size_t)32 << 20)

static void free_packet_buffers(struct ctf_packet_buffers *room, const struct alloc *alloc)
{
    buffer_free(&room->event_bytes);
    alloc_free(alloc, room->kept, room->kept_capacity, sizeof *room->kept);
    room->kept = NULL;
}

/* --- Traces --- */

/* Returns true if a field sets the clock that is neither in an event header nor the packet's start
 * time. Only CTF 1.8 can express such fields. */
static bool has_clock_outside_headers(const struct ctf_description *description)
{
    bool moves = ctf_type_updates_clock(description->packet_header);
    for (size_t i = 0; i < description->streams_n && !moves; i++)
        moves = ctf_type_updates_clock(description->streams[i]->packet_context) ||
                ctf_body_updates_clock(description->streams[i]);
    return moves;
}

bool ctf_can_copy(const struct ctf_trace *trace, const struct ctf_options *options)
{
    const struct ctf_description *description = &trace->class->description;
    enum ctf_version from = description->version, to = options->version ? options->version : from;
    bool is_rfc = from == CTF_RFC_1_1;
    /* an output trace has one session and one byte order; the source has several if has_foreign is
     * set */
    if (is_rfc && trace->has_foreign)
        return false;
    if ((options->has_order && options->is_big_endian != description->is_big_endian) ||
        options->has_packet_size)
        return false;
    return from == to ? !is_rfc || !options->changes_rfc
                      : !is_rfc && to != CTF_RFC_1_1 && !has_clock_outside_headers(description);
}

bool ctf_can_express_description(const struct ctf_trace *trace, const struct ctf_options *options)
{
    struct buffer text;
    ttr_error ignored;
    const struct ctf_description *description = &trace->class->description;
    buffer_init(&text, description->alloc);
    const ttr_status status = ctf_print_metadata(
        description, options->version ? options->version : description->version, &text, &ignored);
    buffer_free(&text);
    return status != TTR_E_UNSUPPORTED;
}

/* Returns true if the options require metadata in packets and the metadata of the source are plain
 * text, or the other way round. */
static bool options_change_metadata_packets(const struct ctf_trace *trace,
                                            const struct ctf_options *options)
{
    bool is_packetised = false;
    (void)ctf_detect_metadata_language(trace->class->metadata, trace->class->metadata_n,
                                       &is_packetised);
    return options->has_packetised && is_packetised != options->is_packetised;
}

ttr_status ctf_copy_trace_begin(struct ctf_trace_copy *copy, struct ctf_trace *trace,
                                const struct ctf_options *options, struct ttr_writer *out,
                                ttr_error *error)
{
    const struct alloc *alloc = &out->t->counted;
    struct buffer text;
    enum ctf_version version =
        options->version ? options->version : trace->class->description.version;
    const char *path = trace->folder ? folder_path(trace->folder) : "";
    *copy = (struct ctf_trace_copy){.source = trace, .options = options};
    trace->users++;
    pair_map_init(&copy->aligns, alloc);
    pair_map_init(&copy->stream_of, alloc);
    bit_offsets_init(&copy->places, alloc);
    buffer_init(&copy->spare.event_bytes, alloc);
    copy->is_refused = !ctf_can_copy(trace, options);
    ttr_status status = ctf_options_check_version(options, version, error);
    if (status != TTR_OK || copy->is_refused)
        return status;
    status = ctf_choose_written_uuid(out, trace, copy->uuid, error);
    if (status != TTR_OK)
        return status;
    /* copy of the description's members, to print the metadata with the UUID of the written trace
     */
    struct ctf_description description = trace->class->description;
    struct ctf_options ctx = *options;
    ctf_options_inherit(&ctx, trace, version);
    bool has_other_uuid = memcmp(description.uuid, copy->uuid, sizeof copy->uuid) != 0;
    memcpy(description.uuid, copy->uuid, sizeof copy->uuid);
    buffer_init(&text, alloc);
    bool is_same = version == trace->class->description.version &&
                   !options_change_metadata_packets(trace, options) && !has_other_uuid &&
                   !trace->class->has_bad_metadata && !description.has_unescaped;
    if (is_same)
        buffer_add(&text, trace->class->metadata, trace->class->metadata_n);
    else
        status = ctf_print_metadata(&description, version, &text, error);
    copy->is_refused = status == TTR_E_UNSUPPORTED;
    if (status == TTR_OK && !is_same)
        ctf_count_translation_losses(out, &trace->class->description, version);
    if (status == TTR_OK &&
        !ctf_output_dir_init(&copy->home, out->ctx, alloc, (ttr_text){path, strlen(path)}))
        status = fail_memory(error);
    if (status == TTR_OK)
        status =
            is_same
                ? ctf_write_file(ctf_create_file(copy->home.folder, out, "", "metadata", "", error),
                                 &text, error)
                : ctf_write_metadata(
                      &(struct ctf_metadata){&description, version, &ctx, copy->home.folder}, &text,
                      out, error);
    buffer_free(&text);
    return status == TTR_E_UNSUPPORTED ? TTR_OK : status;
}

void ctf_copy_trace_free(struct ctf_trace_copy *copy, const struct alloc *alloc)
{
    if (!copy->source)
        return;
    pair_map_free(&copy->aligns);
    pair_map_free(&copy->stream_of);
    bit_offsets_free(&copy->places);
    alloc_free(alloc, copy->streams, copy->streams_capacity, sizeof *copy->streams);
    ctf_output_dir_free(&copy->home, alloc);
    free_packet_buffers(&copy->spare, alloc);
    ctf_trace_unref(copy->source);
    copy->source = NULL;
}

/* --- Files --- */

ttr_status ctf_copy_begin(struct ctf_file_copy *file, struct ctf_trace_copy *trace,
                          struct ttr_writer *out, const struct ctf_stream *stream, ttr_error *error)
{
    const struct alloc *alloc = &out->t->counted;
    *file = (struct ctf_file_copy){.trace = trace, .name_size = strlen(stream->file) + 1};
    ctf_index_out_init(&file->index, alloc);
    buffer_init(&file->packet.head, alloc);
    buffer_init(&file->packet.room.event_bytes, alloc);
    if (trace->is_refused)
        return TTR_OK;
    file->name = alloc_zero(alloc, file->name_size, 1);
    if (!file->name)
        return fail_memory(error);
    memcpy(file->name, stream->file, file->name_size);
    if (strcmp(file->name, "metadata") == 0)
        /* a trace without streams has no file to copy; the reader reports it as a stream named
         * "metadata" */
        return TTR_OK;
    file->sink = ctf_create_file(trace->home.folder, out, "", file->name, "", error);
    if (!file->sink)
        return error ? error->status : TTR_E_IO;
    if (!trace->source->folder || trace->options->has_no_index)
        return TTR_OK;
    return ctf_source_index_open(&file->old_index, trace->source->folder, file->name, alloc, error);
}

void ctf_copy_free(struct ctf_file_copy *file, const struct alloc *alloc)
{
    sink_abandon(file->sink);
    ctf_index_out_free(&file->index);
    buffer_free(&file->packet.head);
    free_packet_buffers(&file->packet.room, alloc);
    alloc_free(alloc, file->name, file->name_size, 1);
}

/* --- Packets --- */

ttr_status ctf_copy_save_borrowed_bytes(struct ctf_file_copy *file, ttr_error *error)
{
    struct ctf_open_packet *packet = &file->packet;
    uint64_t n = (uint64_t)(packet->to - packet->from), at = packet->from_at;
    if (!packet->from)
        return TTR_OK;
    if (packet->room.event_bytes.n == 0)
        packet->event_bytes_at = at & ~(EVENT_BYTES_ALIGN - 1);
    uint64_t end = packet->event_bytes_at + packet->room.event_bytes.n,
             skip = end > at ? end - at : 0;
    if (at > end)
        buffer_add_zeros(&packet->room.event_bytes, (size_t)(at - end));
    if (skip < n)
        buffer_add(&packet->room.event_bytes, packet->from + skip, (size_t)(n - skip));
    packet->from = packet->to = NULL;
    return packet->room.event_bytes.failed ? fail_memory(error) : TTR_OK;
}

static void swap_spare_buffers(struct ctf_file_copy *file)
{
    struct ctf_packet_buffers ctx = file->packet.room;
    file->packet.room = file->trace->spare;
    file->trace->spare = ctx;
}

/* Keeps the buffers of a written packet in the trace's `spare`, so that the next packet of any
 * file can use them. */
static void release_packet_buffers(struct ctf_file_copy *file)
{
    file->packet.from = file->packet.to = NULL;
    if (!file->trace->spare.kept)
        swap_spare_buffers(file);
}

static void start_copied_packet(struct ctf_file_copy *file, const struct ctf_stream *stream,
                                const struct ctf_reader *reader, const struct ctf_packet *about)
{
    struct ctf_open_packet *packet = &file->packet;
    packet->is_open = true;
    packet->about = *about;
    packet->kind = stream->kind;
    packet->number = stream->number;
    packet->kept_n = packet->uncounted_n = 0;
    if (!packet->room.kept)
        swap_spare_buffers(file);
    packet->from = packet->to = NULL;
    buffer_clear(&packet->room.event_bytes);
    buffer_clear(&packet->head);
    buffer_add(&packet->head, reader->heads.bytes + about->head_at, about->head_n);
    ctf_set_packet_uuid(file);
}

/* Adds the gap that the open packet reports to the number of missing events and packets of its
 * stream. Returns false if memory runs out. */
static bool add_gap_to_stream(struct ctf_file_copy *file)
{
    struct ctf_open_packet *packet = &file->packet;
    struct ctf_stream_copy *stream = ctf_get_stream_copy(file);
    if (stream && packet->gap_at == packet->about.offset) {
        stream->events += packet->gap_events;
        stream->packets += packet->gap_packets;
    }
    packet->gap_events = packet->gap_packets = 0;
    return stream != NULL;
}

/* Rebuilds the open packet from its kept events if its definition never arrived. */
static ttr_status filter_packet_without_definition(struct ctf_file_copy *file,
                                                   struct ttr_writer *out, ttr_error *error)
{
    if (!file->packet.is_open)
        return TTR_OK;
    ttr_status status =
        add_gap_to_stream(file) ? ctf_copy_save_borrowed_bytes(file, error) : fail_memory(error);
    if (status == TTR_OK)
        status = ctf_filter_packet(file, out, error);
    file->packet.is_open = false;
    release_packet_buffers(file);
    return status;
}

static ttr_status append_kept_event(struct ctf_file_copy *file, struct ttr_writer *out,
                                    const ttr_event *event, const struct ctf_schema *schema,
                                    ttr_error *error)
{
    struct ctf_open_packet *packet = &file->packet;
    const struct ctf_packet *about = &schema->reader->packets[event->part];
    uint64_t at = about->base_bit / 8 +
                  /* the payload points into the reader's packet, because the reader was opened
                   * with TTR_READ_DEFINITIONS */
                  (uint64_t)(event->payload - about->base);
    bool is_next = packet->from && event->payload >= packet->to - 1 &&
                   at - packet->from_at == (uint64_t)(event->payload - packet->from);
    if (packet->from && !is_next) {
        ttr_status status = ctf_copy_save_borrowed_bytes(file, error);
        if (status != TTR_OK)
            return status;
    }
    if (!packet->from) {
        packet->from = event->payload;
        packet->from_at = at;
    }
    packet->to = event->payload + event->payload_size;
    if (!alloc_reserve(&out->t->counted, (void **)&packet->room.kept, &packet->room.kept_capacity,
                       packet->kept_n + 1, sizeof *packet->room.kept))
        return fail_memory(error);
    struct ctf_kept *kept = &packet->room.kept[packet->kept_n++];
    kept->is_uncounted = event->kind == TTR_KIND_DEFINITION || event->kind == TTR_KIND_GAP;
    packet->uncounted_n += kept->is_uncounted;
    kept->ticks = event->ticks;
    kept->event = schema->event;
    ctf_compute_event_bit_range(schema, event, &kept->at, &kept->end);
    return TTR_OK;
}

static void add_index_entry(struct ctf_file_copy *file, const struct ctf_stream *stream,
                            const ttr_event *event)
{
    const struct ctf_packet *about = &file->packet.about;
    if (!ctf_copy_keeps_index(file))
        return;
    const bool has_size =
        /* UINT64_MAX: the packet declares no size, so it ends at the end of the file */
        about->size != UINT64_MAX;
    const uint64_t size = has_size ? about->size : (uint64_t)event->payload_size * 8,
                   content = has_size ? about->content : size;
    const uint64_t begin = about->has_begin ? about->begin : 0,
                   end = about->has_end ? about->end : 0,
                   discarded = about->has_discarded ? about->discarded : 0;
    const uint64_t numbers[CTF_INDEX_NUMBERS] = {
        file->offset,
        size,
        content,
        begin,
        end,
        discarded,
        stream->kind->class->id,
        stream->number,
        ctf_shift_sequence(about, ctf_get_stream_copy(file)->shift)};
    file->unnumbered |= (stream->has_number ? 0 : 1u << 7) | (about->has_sequence ? 0 : 1u << 8);
    ctf_index_out_add(&file->index, numbers);
}

static void record_gap(struct ctf_open_packet *packet, const ttr_event *event)
{
    if (packet->gap_at != event->offset)
        packet->gap_events = packet->gap_packets = 0;
    packet->gap_at = event->offset;
    if (event->tag == TTR_GAP_PACKETS)
        packet->gap_packets += event->sequence ? event->sequence : 1;
    else
        packet->gap_events += event->link;
}

static ttr_status write_defined_packet(struct ctf_file_copy *file, struct ttr_writer *out,
                                       const ttr_event *event, const struct ctf_schema *schema,
                                       ttr_error *error)
{
    struct ctf_open_packet *packet = &file->packet;
    const struct ctf_packet *about = &schema->reader->packets[event->part];
    ttr_status status = TTR_OK;
    if (packet->is_open && packet->about.offset != about->offset)
        status = filter_packet_without_definition(file, out, error);
    if (status != TTR_OK)
        return status;
    if (!packet->is_open)
        start_copied_packet(file, schema->stream, schema->reader, about);
    packet->is_open = false;
    packet->about = *about;
    if (packet->head.failed || !add_gap_to_stream(file))
        return fail_memory(error);
    if (packet->kept_n != event->link) {
        status = ctf_copy_save_borrowed_bytes(file, error);
        status = status == TTR_OK ? ctf_filter_packet(file, out, error) : status;
    } else if ((status = ctf_copy_next_file(file, out, error)) == TTR_OK) {
        add_index_entry(file, schema->stream, event);
        status = ctf_copy_flush_index(file, out, error);
        status = status == TTR_OK
                     ? ctf_write_packet(file, out, event->payload, event->payload_size, error)
                     : status;
    }
    release_packet_buffers(file);
    return status;
}

ttr_status ctf_copy_event(struct ctf_file_copy *file, struct ttr_writer *out,
                          const ttr_event *event, ttr_error *error)
{
    const struct ctf_schema *schema = context_schema(out->t, event->schema)->ctx;
    struct ctf_open_packet *packet = &file->packet;
    ttr_status status = TTR_OK;
    const bool is_said = event->kind == TTR_KIND_GAP &&
                         /* a gap of the CTF conventions is an event of the source file, so it is
                          * copied like an event */
                         !output_is_own_raw(out, event);
    if (is_said)
        record_gap(packet, event);
    if (is_said && event->flags & TTR_EVENT_NO_TIME) /* a gap that a receiver reported: packet
                                                        counters do not contain it */
        output_count_losses(out, CTF_LOST_GAP, 1, event->offset);
    if (is_said || (event->kind == TTR_KIND_DEFINITION && event->tag == CTF_DEFINITION_STREAM))
        /* a gap needs no event in the copy, because the counters of the packets report it */
        return TTR_OK;
    if (event->kind == TTR_KIND_DEFINITION && event->tag == CTF_DEFINITION_PACKET)
        return write_defined_packet(file, out, event, schema, error);
    const struct ctf_packet *about = &schema->reader->packets[event->part];
    bool is_large = packet->is_open && about->size > CTF_COPY_MAX * 8 &&
                    packet->room.event_bytes.n > EVENT_BYTES_MAX;
    if (packet->is_open && (packet->about.offset != about->offset || is_large))
        status = filter_packet_without_definition(file, out, error);
    if (status == TTR_OK && !packet->is_open)
        start_copied_packet(file, schema->stream, schema->reader, about);
    if (packet->head.failed)
        return fail_memory(error);
    return status == TTR_OK ? append_kept_event(file, out, event, schema, error) : status;
}

void ctf_copy_trace_finish(const struct ctf_trace_copy *copy, struct ttr_writer *out)
{
    for (size_t i = 0; i < copy->streams_n; i++) {
        output_count_losses(out, CTF_LOST_EVENTS, copy->streams[i].events, 0);
        output_count_losses(out, CTF_LOST_PACKETS, copy->streams[i].packets, 0);
    }
}

ttr_status ctf_copy_finish(struct ctf_file_copy *file, struct ttr_writer *out, ttr_error *error)
{
    if (file->trace->is_refused)
        return TTR_OK;
    ttr_status status = filter_packet_without_definition(file, out, error);
    if (status != TTR_OK)
        return status;
    return file->sink ? ctf_copy_finish_file(file, out, error) : TTR_OK;
}
