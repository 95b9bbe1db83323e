/* Encodes events of other formats as EventHeader samples, as if programs had written them through
 * user_events.
 *
 *   event           provider + level + keyword -> tracepoint "Provider_L5K1", with its format text
 *   thread name     COMM       mapping  MMAP2       gap  LOST
 *
 * Records without a sample belong to a software event that never counts ("dummy"), as in
 * recordings. Samples have a CPU or a stack only if the event has one; such samples need another
 * attribute (sample_type) for the same tracepoint. Wall-clock times become times of a monotonic
 * clock that started an hour before the first event; other times are kept. */
#include "base/hash.h"
#include "base/status.h"
#include "formats/perf/perf_write.h"

/* Greater times, in ns since boot, must be Unix times (this one is in 1973): no machine runs for
 * three years. */
#define UNIX_TIMES INT64_C(100000000000000000)
#define UPTIME_NS INT64_C(3600000000000)
#define CLOCK_ID 1u /* number of CLOCK_MONOTONIC, stored as clockid */
#define TRACEPOINTS_FIRST 2000u
#define TRACEPOINTS_MAX 60000u
#define ENCODED_FRAMES_MAX 4096u
/* maximum size in bytes of a sample without its stack and EventHeader */
#define SAMPLE_ROOM 256u
#define ROUND_BYTES ((uint64_t)1 << 20)
#define DUMMY_ID 1u
#define DUMMY_TYPE \
    (PERF_SAMPLE_HAS_IDENTIFIER | PERF_SAMPLE_HAS_TID | PERF_SAMPLE_HAS_TIME | PERF_SAMPLE_HAS_CPU)
#define SAMPLE_TYPE \
    (PERF_SAMPLE_HAS_IDENTIFIER | PERF_SAMPLE_HAS_TID | PERF_SAMPLE_HAS_TIME | PERF_SAMPLE_HAS_RAW)
#define KERNEL_HALF (UINT64_C(1) << 63)
#define NO_THREAD UINT32_MAX
/* maximum length of a thread name in the kernel (TASK_COMM_LEN - 1) */
#define COMM_BYTES_MAX 15u

/* --- Start of the output --- */

static void declare_dummy_event(struct perf_data_writer *put)
{
    uint8_t bytes[PERF_ATTR_VER7];
    const uint64_t id = DUMMY_ID;
    const struct perf_attr attr = {
        .type = PERF_TYPE_SOFTWARE_EVENT,
        .config = 9,
        .period = 1,
        .sample_type = DUMMY_TYPE,
        .clockid = CLOCK_ID,
        .flags = UINT64_C(1) << PERF_FLAG_SAMPLE_ID_ALL | UINT64_C(1) << PERF_FLAG_MMAP |
                 UINT64_C(1) << PERF_FLAG_MMAP2 | UINT64_C(1) << PERF_FLAG_COMM |
                 UINT64_C(1) << PERF_FLAG_TASK | UINT64_C(1) << PERF_FLAG_USE_CLOCKID,
    };
    perf_attr_serialize(&attr, put->spec.is_big_endian, bytes);
    perf_data_writer_add_event(put, bytes, (ttr_text){"dummy", 5}, &id, 1);
}

/* Returns the text of the first attribute that has one of these names, since source formats name
 * it differently. */
static ttr_text find_text_attribute(const ttr *t, uint16_t source, const char *const *names)
{
    ttr_attribute attribute;
    for (size_t i = 0; ttr_source_attribute(t, source, i, &attribute); i++)
        for (const char *const *name = names; *name; name++)
            if (attribute.value.type == TTR_TYPE_TEXT && attribute.name.n == strlen(*name) &&
                memcmp(attribute.name.p, *name, attribute.name.n) == 0)
                return attribute.value.text;
    return (ttr_text){"", 0};
}

static void set_machine_features(struct ttr_writer *out, const ttr_event *first)
{
    static const char *const hosts[] = {"hostname", NULL},
                             *const kernels[] = {"os_release", "kernel_release", NULL},
                             *const machines[] = {"arch", "architecture", NULL};
    struct perf_writer *writer = out->ctx;
    struct perf_data_writer *put = &writer->put;
    ttr_text kernel = find_text_attribute(out->t, first->source, kernels),
             machine = find_text_attribute(out->t, first->source, machines);
    perf_data_writer_set_feature_text(put, PERF_FEATURE_HOSTNAME,
                                      find_text_attribute(out->t, first->source, hosts));
    if (kernel.n)
        perf_data_writer_set_feature_text(put, PERF_FEATURE_OSRELEASE, kernel);
    perf_data_writer_set_feature_text(
        put, PERF_FEATURE_VERSION,
        (ttr_text){"tracetta " TTR_VERSION_TEXT, strlen("tracetta " TTR_VERSION_TEXT)});
    if (machine.n)
        perf_data_writer_set_feature_text(put, PERF_FEATURE_ARCH, machine);
    if (writer->base)
        perf_data_writer_set_feature_clock(put, CLOCK_ID, (uint64_t)writer->base, 0);
}

ttr_status perf_encode_begin(struct ttr_writer *out, const ttr_event *first, ttr_error *error)
{
    struct perf_writer *writer = out->ctx;
    const struct perf_data_writer_spec spec = {.alloc = &out->t->counted,
                                               .to = &out->buffer,
                                               .is_big_endian = writer->is_big,
                                               .is_pipe = !output_can_overwrite(out),
                                               .zstd_level = writer->zstd_level};
    if (!perf_data_writer_new(&writer->put, &spec))
        return fail_memory(error);
    ttr_status status = output_delay(out, error);
    if (status != TTR_OK)
        return status;
    writer->is_encoding = true;
    writer->base = first->time > UNIX_TIMES ? first->time - UPTIME_NS : 0;
    writer->machine = (struct tracing_machine){
        .is_big_endian = writer->is_big, .long_bytes = 8, .page_bytes = 4096};
    writer->header.is_big_endian = writer->is_big;
    declare_dummy_event(&writer->put);
    set_machine_features(out, first);
    if (!spec.is_pipe)
        perf_data_writer_begin(&writer->put);
    return perf_data_writer_failed(&writer->put) ? fail_memory(error) : TTR_OK;
}

/* --- Thread and time --- */

static uint64_t compute_stored_time(struct ttr_writer *out, const ttr_event *event)
{
    const struct perf_writer *writer = out->ctx;
    if (event->flags & (TTR_EVENT_NO_TIME | TTR_EVENT_CLAMPED))
        output_count_loss(out, PERF_LOSS_MARK, event->offset);
    if (event->time > writer->base)
        return (uint64_t)event->time - (uint64_t)writer->base;
    output_count_loss(out, PERF_LOSS_TIME, event->offset);
    return 1;
}

static struct perf_sample make_sample(struct ttr_writer *out, const ttr_event *event)
{
    struct perf_sample about = {.time = compute_stored_time(out, event),
                                .id = DUMMY_ID,
                                .cpu = event->cpu,
                                .pid = NO_THREAD,
                                .tid = NO_THREAD};
    ttr_thread thread;
    if (!(event->flags & TTR_EVENT_HAS_CPU))
        about.cpu = NO_THREAD;
    if (!ttr_thread_get(out->t, event->thread, &thread))
        return about;
    about.pid = (uint32_t)thread.pid;
    about.tid = (uint32_t)(thread.tid_known ? thread.tid : thread.pid);
    if (!thread.pid_known || !thread.tid_known || thread.pid > UINT32_MAX ||
        thread.tid > UINT32_MAX)
        output_count_loss(out, PERF_LOSS_THREAD, event->offset);
    return about;
}

/* Writes a COMM record with the name of a thread or process. Writes nothing if the previous record
 * had the same name. */
static void encode_thread_name(struct ttr_writer *out, struct perf_sample about, uint64_t key,
                               uint64_t of, ttr_id name)
{
    struct perf_writer *writer = out->ctx;
    const uint32_t *told = pair_map_get(&writer->written_names, key, of);
    if (!name || (told && *told == name))
        return;
    writer->is_out_of_memory |= !pair_map_put(&writer->written_names, key, of, name);
    perf_data_writer_add_comm(&writer->put, DUMMY_TYPE, &about, ttr_text_get(out->t, name), false);
}

static void encode_thread_names(struct ttr_writer *out, const ttr_event *event,
                                const struct perf_sample *about)
{
    ttr_thread thread;
    if (!ttr_thread_get(out->t, event->thread, &thread) ||
        (!thread.process_name && !thread.thread_name))
        return;
    struct perf_sample first = *about;
    bool is_first = about->tid == about->pid;
    first.tid = about->pid;
    size_t before = out->buffer.n + ((struct perf_writer *)out->ctx)->put.plain.n;
    if (thread.process_name && !(is_first && thread.thread_name))
        encode_thread_name(out, first, (uint64_t)event->source << 32 | about->pid, 1,
                           thread.process_name);
    encode_thread_name(out, *about, event->thread, 0, thread.thread_name);
    if (out->buffer.n + ((struct perf_writer *)out->ctx)->put.plain.n != before)
        output_count_loss(out, PERF_LOSS_NAME, event->offset);
}

/* --- Attributes and tracepoints of event kinds --- */

/* Returns the number of a tracepoint. Declares the tracepoint on first use. Returns 0 if there are
 * too many tracepoints. */
static uint32_t find_tracepoint(struct perf_writer *writer, const char *name, size_t n)
{
    uint64_t key = hash_bytes(name, n);
    const uint32_t *known = key_map_get(&writer->tracepoints, key);
    if (known)
        return *known;
    if (writer->tracepoints_n >= TRACEPOINTS_MAX)
        return 0;
    uint32_t number = TRACEPOINTS_FIRST + writer->tracepoints_n++;
    tracing_writer_add_event_header(&writer->tracing, (ttr_text){name, n}, number);
    writer->is_out_of_memory |= !key_map_put(&writer->tracepoints, key, number);
    return number;
}

static bool add_kind(struct perf_writer *writer, const char *name, size_t n, uint64_t sample_type,
                     uint32_t number)
{
    uint8_t bytes[PERF_ATTR_VER7];
    char whole[EVENT_HEADER_NAME_MAX + 16];
    static const char system[] = "user_events:";
    const uint64_t id = DUMMY_ID + 1 + writer->kinds_n;
    const struct perf_attr attr = {.type = PERF_TYPE_TRACEPOINT_EVENT,
                                   .config = number,
                                   .period = 1,
                                   .sample_type = sample_type,
                                   .clockid = CLOCK_ID,
                                   .flags = UINT64_C(1) << PERF_FLAG_SAMPLE_ID_ALL |
                                            UINT64_C(1) << PERF_FLAG_USE_CLOCKID};
    void *kinds = writer->kind;
    if (!alloc_reserve(writer->put.spec.alloc, &kinds, &writer->kinds_capacity, writer->kinds_n + 1,
                       sizeof *writer->kind))
        return false;
    writer->kind = kinds;
    writer->kind[writer->kinds_n++] = sample_type | (uint64_t)number << 32;
    memcpy(whole, system, sizeof system - 1);
    memcpy(whole + sizeof system - 1, name, n);
    perf_attr_serialize(&attr, writer->is_big, bytes);
    perf_data_writer_add_event(&writer->put, bytes, (ttr_text){whole, sizeof system - 1 + n}, &id,
                               1);
    return true;
}

/* Returns the index in `kind` for the tracepoint of an event; UINT32_MAX if there are too many
 * tracepoints. */
static uint32_t find_kind_by_name(struct perf_writer *writer, const ttr_event *event,
                                  uint64_t sample_type)
{
    char name[EVENT_HEADER_NAME_MAX];
    size_t n = event_header_write_tracepoint_name(&writer->header, event, name);
    uint64_t key = hash_pair(hash_bytes(name, n), sample_type);
    const uint32_t *known = key_map_get(&writer->names, key);
    if (known)
        return *known;
    uint32_t number = find_tracepoint(writer, name, n), index = (uint32_t)writer->kinds_n;
    if (!number)
        return UINT32_MAX;
    if (!add_kind(writer, name, n, sample_type, number) || !key_map_put(&writer->names, key, index))
        writer->is_out_of_memory = true;
    return index;
}

static uint32_t find_kind(struct perf_writer *writer, const ttr_event *event, uint64_t sample_type)
{
    uint64_t key =
        hash_pair(hash_pair((uint64_t)event->schema << 32 | event->provider, event->keyword),
                  sample_type << 8 | event->level);
    const uint32_t *known = key_map_get(&writer->kinds, key);
    if (known)
        return *known;
    uint32_t index = find_kind_by_name(writer, event, sample_type);
    writer->is_out_of_memory |= !key_map_put(&writer->kinds, key, index);
    return index;
}

/* --- Callchains --- */

/* Stores the callchain in writer->chain. A mark (PERF_CONTEXT_KERNEL or PERF_CONTEXT_USER)
 * precedes the frames of each mode. Returns the number of words. */
static size_t build_callchain(struct ttr_writer *out, const ttr_event *event)
{
    struct perf_writer *writer = out->ctx;
    uint64_t frames[ENCODED_FRAMES_MAX];
    void *chain = writer->chain;
    uint32_t n = event->stack ? ttr_event_frames(out->t, event, frames, ENCODED_FRAMES_MAX) : 0;
    if (n > ENCODED_FRAMES_MAX)
        output_count_loss(out, PERF_LOSS_STACK, event->offset);
    n = n < ENCODED_FRAMES_MAX ? n : ENCODED_FRAMES_MAX;
    if (n && !alloc_reserve(writer->put.spec.alloc, &chain, &writer->chain_capacity, 2 * (size_t)n,
                            sizeof *writer->chain)) {
        writer->is_out_of_memory = true;
        return 0;
    }
    writer->chain = chain;
    size_t words = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool is_kernel = frames[i] >= KERNEL_HALF;
        if (i == 0 || is_kernel != (frames[i - 1] >= KERNEL_HALF))
            writer->chain[words++] = is_kernel ? PERF_CONTEXT_KERNEL_MARK : PERF_CONTEXT_USER_MARK;
        writer->chain[words++] = frames[i];
    }
    return words;
}

/* --- Encoding of one event --- */

static void count_event_losses(struct ttr_writer *out, const ttr_event *event)
{
    struct event_header_writer *header = &((struct perf_writer *)out->ctx)->header;
    if (event->category)
        output_count_loss(out, PERF_LOSS_CATEGORY, event->offset);
    uint32_t number, version;
    if (ttr_event_number(out->t, event, &number, &version))
        output_count_loss(out, PERF_LOSS_NUMBER, event->offset);
    if (event->flags & TTR_EVENT_PARTIAL)
        output_count_loss(out, PERF_LOSS_CONTENT, event->offset);
    for (size_t i = 0; i < EVENT_HEADER_LOSSES && header->losses_total; i++)
        for (; header->losses[i]; header->losses[i]--)
            output_count_loss(out, i, event->offset);
    header->losses_total = 0;
}

/* the common fields at the start of each tracepoint record: u16 type | u8 flags | u8 preempt_count
 * | s32 pid */
static void store_common_fields(const struct perf_writer *writer, uint32_t number, uint32_t tid,
                                uint8_t common[8])
{
    memset(common, 0, 8);
    if (writer->is_big) {
        store_u16be(common, (uint16_t)number);
        store_u32be(common + 4, tid);
    } else {
        store_u16le(common, (uint16_t)number);
        store_u32le(common + 4, tid);
    }
}

static void encode_sample(struct ttr_writer *out, const ttr_event *event,
                          struct perf_sample *sample)
{
    struct perf_writer *writer = out->ctx;
    uint8_t common[8];
    size_t words = build_callchain(out, event);
    uint64_t sample_type = SAMPLE_TYPE |
                           (event->flags & TTR_EVENT_HAS_CPU ? PERF_SAMPLE_HAS_CPU : 0u) |
                           (words ? PERF_SAMPLE_HAS_IP | PERF_SAMPLE_HAS_CALLCHAIN : 0u);
    uint32_t kind = find_kind(writer, event, sample_type);
    if (kind == UINT32_MAX || writer->is_out_of_memory) {
        output_count_loss(out, PERF_LOSS_TRACEPOINTS, event->offset);
        return;
    }
    buffer_clear(&writer->event);
    writer->header.most = PERF_RECORD_BYTES_MAX - SAMPLE_ROOM - 8 * words;
    event_header_write_event(&writer->header, event, NULL, &writer->event);
    count_event_losses(out, event);
    store_common_fields(writer, (uint32_t)(writer->kind[kind] >> 32), sample->tid, common);
    sample->id = DUMMY_ID + 1 + kind;
    sample->ip = words ? writer->chain[1] : 0;
    sample->chain = writer->chain;
    sample->chain_n = words;
    sample->raw[0] = (struct perf_bytes){common, sizeof common};
    sample->raw[1] = (struct perf_bytes){writer->event.bytes, writer->event.n};
    uint16_t misc = sample->ip >= KERNEL_HALF ? PERF_MISC_KERNEL : PERF_MISC_USER;
    if (!perf_data_writer_add_sample(&writer->put, sample_type, misc, sample))
        output_count_loss(out, EVENT_HEADER_LOSS_CUT, event->offset);
}

static bool find_number_field(const ttr *t, const ttr_event *event, const char *name,
                              uint64_t *number)
{
    ttr_field field;
    if (!ttr_field_find(t, event, name, &field) ||
        (field.value.type != TTR_TYPE_UINT && field.value.type != TTR_TYPE_INT))
        return false;
    *number = field.value.v.u;
    return true;
}

/* Reads the fields that an MMAP2 record needs besides start and size into *mapping. */
static void read_mapping_fields(const ttr *t, const ttr_event *event, struct perf_mapping *mapping)
{
    const struct {
        const char *name;
        uint32_t *narrow;
        uint64_t *wide;
    } fields[] = {{"offset", NULL, &mapping->offset},        {"prot", &mapping->prot, NULL},
                  {"flags", &mapping->flags, NULL},          {"major", &mapping->major, NULL},
                  {"minor", &mapping->minor, NULL},          {"inode", NULL, &mapping->inode},
                  {"generation", NULL, &mapping->generation}};
    ttr_field field;
    uint64_t number;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (!find_number_field(t, event, fields[i].name, &number))
            continue;
        if (fields[i].wide)
            *fields[i].wide = number;
        else
            *fields[i].narrow = (uint32_t)number;
    }
    if (!ttr_field_find(t, event, "build_id", &field) || field.value.type != TTR_TYPE_BYTES ||
        field.value.text.n == 0 || field.value.text.n > 20)
        return;
    mapping->build_id = (const uint8_t *)field.value.text.p;
    mapping->build_id_n = (uint8_t)field.value.text.n;
}

/* Writes an MMAP2 record. Returns false if the event is not a mapping with start and size. */
static bool encode_mapping(struct ttr_writer *out, const ttr_event *event,
                           const struct perf_sample *about)
{
    struct perf_writer *writer = out->ctx;
    struct perf_mapping mapping = {.pid = about->pid, .tid = about->tid, .prot = 5, .flags = 2};
    if (event->kind != TTR_KIND_OBJECT || event->tag != TTR_OBJECT_MAPPING ||
        !find_number_field(out->t, event, "start", &mapping.start) ||
        !find_number_field(out->t, event, "size", &mapping.size))
        return false;
    read_mapping_fields(out->t, event, &mapping);
    mapping.path = ttr_text_get(out->t, event->name);
    mapping.is_kernel = mapping.start >= KERNEL_HALF;
    output_count_loss(out, PERF_LOSS_MAPPING, event->offset);
    perf_data_writer_add_mapping(&writer->put, DUMMY_TYPE, about, &mapping);
    return true;
}

/* Writes a COMM record if the fields of a thread event are exactly those of COMM. Returns false
 * otherwise. */
static bool encode_comm(struct ttr_writer *out, const ttr_event *event,
                        const struct perf_sample *about)
{
    struct perf_writer *writer = out->ctx;
    const ttr_text name = ttr_text_get(out->t, event->name);
    ttr_field comm, is_exec;
    if (event->kind != TTR_KIND_OBJECT || event->tag != TTR_OBJECT_THREAD ||
        about->pid == NO_THREAD || event->provider || !name.n ||
        !ttr_field_find(out->t, event, "comm", &comm) || comm.value.type != TTR_TYPE_TEXT ||
        comm.value.text.n != name.n || memcmp(comm.value.text.p, name.p, name.n) != 0)
        return false;
    bool is_exec_told = ttr_field_find(out->t, event, "is_exec", &is_exec) &&
                        is_exec.value.type == TTR_TYPE_BOOL && is_exec.value.v.u;
    perf_data_writer_add_comm(&writer->put, DUMMY_TYPE, about, name, is_exec_told);
    writer->is_out_of_memory |=
        !pair_map_put(&writer->written_names, event->thread, 0, event->name);
    if (about->pid == about->tid)
        writer->is_out_of_memory |= !pair_map_put(
            &writer->written_names, (uint64_t)event->source << 32 | about->pid, 1, event->name);
    if (name.n > COMM_BYTES_MAX)
        output_count_loss(out, PERF_LOSS_NAME, event->offset);
    count_event_losses(out, event);
    return true;
}

static void encode_gap(struct ttr_writer *out, const ttr_event *event,
                       const struct perf_sample *about)
{
    struct perf_writer *writer = out->ctx;
    output_count_loss(out, PERF_LOSS_GAP, event->offset);
    perf_data_writer_add_lost(&writer->put, DUMMY_TYPE, about, event->link);
}

/* Writes a FINISHED_ROUND record after each MiB of ordered events, so that readers need little
 * memory. */
static void finish_large_round(struct perf_writer *writer, uint64_t time)
{
    writer->is_disordered |= time < writer->newest;
    writer->newest = time > writer->newest ? time : writer->newest;
    if (writer->is_disordered || writer->put.plain_bytes - writer->round_bytes < ROUND_BYTES)
        return;
    perf_data_writer_finish_round(&writer->put);
    writer->round_bytes = writer->put.plain_bytes;
}

void perf_encode_event(struct ttr_writer *out, const ttr_event *event)
{
    struct perf_writer *writer = out->ctx;
    struct perf_sample about = make_sample(out, event);
    if (!encode_comm(out, event, &about)) {
        encode_thread_names(out, event, &about);
        if (event->kind == TTR_KIND_GAP)
            encode_gap(out, event, &about);
        else if (!encode_mapping(out, event, &about))
            encode_sample(out, event, &about);
    }
    output_count_event(out, event);
    finish_large_round(writer, about.time);
}

static void set_tracing_data_feature(struct perf_writer *writer)
{
    struct buffer block;
    buffer_init(&block, writer->put.spec.alloc);
    tracing_writer_append_block(&writer->tracing, &writer->machine, &block);
    writer->is_out_of_memory |= block.failed;
    if (!block.failed)
        perf_data_writer_set_tracing_data(&writer->put, block.bytes, block.n);
    buffer_free(&block);
}

/* Writes the header of a pipe and its first records. The records were kept until the formats of
 * all tracepoints were known. */
static ttr_status write_pipe_start(struct ttr_writer *out, ttr_error *error)
{
    struct perf_writer *writer = out->ctx;
    struct buffer head;
    buffer_init(&head, writer->put.spec.alloc);
    perf_data_writer_flush(&writer->put);
    writer->put.spec.to = &head;
    perf_data_writer_begin(&writer->put);
    ttr_status status = perf_data_writer_failed(&writer->put)
                            ? fail_memory(error)
                            : output_insert_prefix(out, head.bytes, head.n, error);
    writer->put.spec.to = &out->buffer;
    buffer_free(&head);
    return status;
}

ttr_status perf_encode_end(struct ttr_writer *out, ttr_error *error)
{
    struct perf_writer *writer = out->ctx;
    uint8_t header[PERF_HEADER_BYTES];
    if (writer->tracing.formats_n)
        set_tracing_data_feature(writer);
    if (writer->put.spec.is_pipe)
        return write_pipe_start(out, error);
    /* write a record if none was written: a size of 0 would mean that the recorder was killed */
    if (writer->put.plain_bytes == 0)
        perf_data_writer_finish_round(&writer->put);
    perf_data_writer_write_end(&writer->put);
    if (perf_data_writer_failed(&writer->put))
        return fail_memory(error);
    perf_data_writer_store_header(&writer->put, header);
    return output_overwrite(out, 0, header, sizeof header, error);
}
