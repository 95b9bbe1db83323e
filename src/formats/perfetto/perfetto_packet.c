/* Packets of the sequence of events, and interning of strings.
 *
 * Purpose: a string is stored once, and later packets refer to it by its iid. Interned entries are
 * part of a packet, and a reader adds them to its tables before it reads the event of that packet.
 *
 * Order of calls: perfetto_begin_packet or perfetto_begin_packet_at opens a packet. perfetto_intern
 * returns an iid for the event, and appends new strings to p->interned. perfetto_end_packet appends
 * p->interned and the flags after the event:
 *
 *   [0a] length
 *     [50] 01               sequence id
 *     [40] time             boot time in ns
 *     [5a] length event     refers to iids
 *     [62] length interned  entries used for the first time; absent if none
 *     [68] flags            1 clears the state, 2 needs the state; absent if 0
 *
 * Algorithm: string interning by id. p->strings is indexed by ttr_id and holds the iid and a bit
 * per dictionary. An iid is shared by all dictionaries, which number their entries independently.
 *
 * Invariants: an entry is in the same packet as its first use, or in an earlier one. The first
 * packet of the sequence, and the next one after a clearing, has flag 1. Every packet that uses an
 * iid has flag 2, so readers skip it if they missed the clearing. Cost: O(1) per use of a known
 * string. After ENTRIES_MAX entries the state is cleared, so tables of reader and writer stay
 * small; strings in use are then written again. Left out: default values of a sequence, compressed
 * packets, and incremental clocks (event times may decrease). */
#include "base/utf.h"
#include "formats/perfetto/perfetto.h"

/* Numbers of the two packet sequences: events with interned data, and descriptors of tracks. */
#define EVENT_SEQUENCE 1
#define DESCRIPTOR_SEQUENCE 2
/* Maximum number of interned entries; then the dictionaries are cleared. */
#define ENTRIES_MAX 65536

static const uint8_t dictionary_fields[DICTIONARIES] = {
    [IN_CATEGORIES] = INTERNED_CATEGORIES,
    [IN_NAMES] = INTERNED_NAMES,
    [IN_KEYS] = INTERNED_KEYS,
    [IN_VALUES] = INTERNED_VALUES,
    [IN_LOG_BODIES] = INTERNED_LOG_BODIES,
    [IN_MAPPING_PATHS] = INTERNED_MAPPING_PATHS,
    [IN_BUILD_IDS] = INTERNED_BUILD_IDS,
    [IN_FUNCTIONS] = INTERNED_FUNCTIONS,
};

void *perfetto_get_table_item(struct perfetto *p, struct table *table, size_t index, size_t size)
{
    size_t before = table->n;
    if (index >= before) {
        if (!alloc_reserve(&p->out->t->counted, &table->items, &table->n, index + 1, size)) {
            p->to->failed = true;
            return NULL;
        }
        memset((uint8_t *)table->items + before * size, 0, (table->n - before) * size);
    }
    return (uint8_t *)table->items + index * size;
}

/* --- Texts in UTF-8 --- */

/* Appends a text as valid UTF-8: replaces each byte that is not part of a valid character by
 * U+FFFD. */
static void append_repaired_utf8(struct buffer *to, ttr_text text)
{
    const uint8_t *at = (const uint8_t *)text.p;
    for (size_t left = text.n; left;) {
        size_t n = utf8_char_length(at, left);
        if (n)
            buffer_add(to, at, n);
        else
            buffer_add(to, "\xef\xbf\xbd", 3);
        n += n == 0;
        at += n;
        left -= n;
    }
}

static void append_valid_utf8_field(struct perfetto *p, struct buffer *to, uint32_t field,
                                    ttr_text text)
{
    buffer_clear(&p->scratch);
    append_repaired_utf8(&p->scratch, text);
    to->failed |= p->scratch.failed;
    protobuf_write_bytes(to, field, p->scratch.bytes, p->scratch.n);
}

void perfetto_append_text(struct perfetto *p, struct buffer *to, uint32_t field, ttr_text text)
{
    if (utf8_is_valid(text.p, text.n)) {
        protobuf_write_bytes(to, field, text.p, text.n);
        return;
    }
    perfetto_count_loss(p, LOSS_TEXT);
    append_valid_utf8_field(p, to, field, text);
}

/* --- Interning of strings --- */

uint32_t perfetto_assign_iid(struct perfetto *p)
{
    p->flags |= SEQUENCE_NEEDED;
    p->entries++;
    return ++p->next_iid;
}

static void compute_string_properties(struct perfetto *p, struct string_use *use, ttr_id id)
{
    ttr_text text = ttr_text_get(p->out->t, id);
    use->is_known = true;
    use->is_broken = !utf8_is_valid(text.p, text.n);
    use->has_comma = memchr(text.p, ',', text.n) != NULL;
}

struct string_use *perfetto_get_string_properties(struct perfetto *p, ttr_id id)
{
    struct string_use *use = perfetto_get_table_item(p, &p->strings, id, sizeof *use);
    if (use && !use->is_known)
        compute_string_properties(p, use, id);
    return use;
}

static void append_interned_string(struct perfetto *p, const struct string_use *use, ttr_id id,
                                   enum dictionary dictionary)
{
    struct buffer *to = &p->interned;
    ttr_text text = ttr_text_get(p->out->t, id);
    size_t mark = protobuf_begin_message(to, dictionary_fields[dictionary]);
    protobuf_write_u64(to, STRING_IID, use->iid);
    if (use->is_broken && dictionary != IN_BUILD_IDS)
        append_valid_utf8_field(p, to, STRING_TEXT, text);
    else
        protobuf_write_bytes(to, STRING_TEXT, text.p, text.n);
    protobuf_end_message(to, mark);
}

uint32_t perfetto_intern_new(struct perfetto *p, ttr_id id, enum dictionary dictionary)
{
    struct string_use *use = perfetto_get_string_properties(p, id);
    if (!use)
        return 1;
    if (!(use->in & 1u << dictionary)) {
        p->entries++;
        use->iid = use->iid ? use->iid : ++p->next_iid;
        use->in |= (uint16_t)(1u << dictionary);
        append_interned_string(p, use, id, dictionary);
    }
    p->flags |= SEQUENCE_NEEDED;
    if (use->is_broken && dictionary != IN_BUILD_IDS)
        perfetto_count_loss(p, LOSS_TEXT);
    return use->iid;
}

void perfetto_init_interning(struct perfetto *p)
{
    const struct alloc *alloc = &p->out->t->counted;
    pair_map_init(&p->mappings, alloc);
    pair_map_init(&p->frames, alloc);
    pair_map_init(&p->resolved_frames, alloc);
    pair_map_init(&p->stacks, alloc);
    pair_map_init(&p->callstacks, alloc);
}

void perfetto_free_interning(struct perfetto *p)
{
    pair_map_free(&p->mappings);
    pair_map_free(&p->frames);
    pair_map_free(&p->resolved_frames);
    pair_map_free(&p->stacks);
    pair_map_free(&p->callstacks);
}

static void clear_dictionaries(struct perfetto *p)
{
    struct string_use *uses = p->strings.items;
    for (size_t i = 0; i < p->strings.n; i++) {
        uses[i].iid = 0;
        uses[i].in = 0;
    }
    perfetto_free_interning(p);
    perfetto_init_interning(p);
    p->next_iid = p->entries = 0;
    p->flags |= SEQUENCE_CLEARED | SEQUENCE_NEEDED;
}

/* --- Start and end of packets --- */

#define PACKET_HEAD_SIZE_MAX (4 + 1 + PROTOBUF_VARINT_MAX)

/* Stores the start of a packet: tag, one byte for the length, sequence id. Returns the address
 * that follows. */
static uint8_t *store_packet_start(struct perfetto *p, uint8_t *at)
{
    if (p->entries > ENTRIES_MAX)
        clear_dictionaries(p);
    *at++ = TRACE_PACKET << 3 | 2;
    at++;
    *at++ = PACKET_SEQUENCE_ID << 3;
    *at++ = EVENT_SEQUENCE;
    return at;
}

size_t perfetto_begin_packet(struct perfetto *p)
{
    uint8_t *at = buffer_room(p->to, PACKET_HEAD_SIZE_MAX);
    if (!at)
        return 0;
    size_t mark = p->to->n + 1;
    p->to->n = (size_t)(store_packet_start(p, at) - p->to->bytes);
    return mark;
}

/* Returns the number of nanoseconds from the base to `time`. For a time before the base, counts a
 * loss and returns 0. */
static uint64_t compute_time_since_base(struct perfetto *p, int64_t time)
{
    if (time >= p->base)
        return (uint64_t)time - (uint64_t)p->base;
    if (p->has_time)
        perfetto_count_loss(p, LOSS_TIME);
    return 0;
}

static uint8_t *store_packet_time(struct perfetto *p, uint8_t *at, int64_t time)
{
    *at++ = PACKET_TIMESTAMP << 3;
    return protobuf_write_varint(at, compute_time_since_base(p, time));
}

size_t perfetto_begin_packet_at(struct perfetto *p, int64_t time)
{
    uint8_t *at = buffer_room(p->to, PACKET_HEAD_SIZE_MAX);
    if (!at)
        return 0;
    size_t mark = p->to->n + 1;
    p->to->n = (size_t)(store_packet_time(p, store_packet_start(p, at), time) - p->to->bytes);
    return mark;
}

/* Appends the entries that were interned for the open packet, and the packet's flags. */
static void append_interned_state(struct perfetto *p)
{
    p->to->failed |= p->interned.failed;
    if (p->interned.n) {
        protobuf_write_bytes(p->to, PACKET_INTERNED_DATA, p->interned.bytes, p->interned.n);
        buffer_clear(&p->interned);
    }
    uint8_t *at = buffer_room(p->to, 2);
    if (!at)
        return;
    *at++ = PACKET_SEQUENCE_FLAGS << 3;
    *at = p->flags;
    p->to->n += 2;
    p->flags = 0;
}

void perfetto_end_packet(struct perfetto *p, size_t mark)
{
    if (p->flags)
        append_interned_state(p);
    protobuf_end_message(p->to, mark);
}

size_t perfetto_begin_descriptor(struct perfetto *p)
{
    uint8_t *at = buffer_room(p->to, PACKET_HEAD_SIZE_MAX);
    if (!at)
        return 0;
    size_t mark = p->to->n + 1;
    *at++ = TRACE_PACKET << 3 | 2;
    at++;
    *at++ = PACKET_SEQUENCE_ID << 3;
    *at++ = DESCRIPTOR_SEQUENCE;
    p->to->n = (size_t)(at - p->to->bytes);
    return mark;
}

void perfetto_end_descriptor(struct perfetto *p, size_t mark)
{
    protobuf_end_message(p->to, mark);
}

struct open_event perfetto_begin_event(struct perfetto *p, int64_t time, unsigned type,
                                       uint64_t uuid)
{
    uint8_t *at = buffer_room(p->to, PACKET_HEAD_SIZE_MAX + 5 + PROTOBUF_VARINT_MAX);
    if (!at)
        return (struct open_event){0, 0};
    struct open_event open = {.packet = p->to->n + 1};
    at = store_packet_time(p, store_packet_start(p, at), time);
    *at++ = PACKET_TRACK_EVENT << 3 | 2;
    open.event = (size_t)(at++ - p->to->bytes);
    if (type) {
        *at++ = EVENT_TYPE << 3;
        *at++ = (uint8_t)type;
    }
    *at++ = EVENT_TRACK << 3;
    p->to->n = (size_t)(protobuf_write_varint(at, uuid) - p->to->bytes);
    return open;
}

void perfetto_end_event(struct perfetto *p, struct open_event open)
{
    protobuf_end_message(p->to, open.event);
    perfetto_end_packet(p, open.packet);
}
