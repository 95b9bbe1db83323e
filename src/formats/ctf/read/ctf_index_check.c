/* Indexes held against the packets' own headers, number by number.  The first that is wrong is told
 * with both words, the others are counted.
 *
 * What is not compared: sizes of a packet that does not tell them, and the stream's number and the
 * packet's, where headers or the index lack them. */
#include <inttypes.h>

#include "base/status.h"
#include "formats/ctf/packet/ctf_index.h"

#define NUMBERS 9u

static const char *const number_names[NUMBERS] = {
    "offset",           "packet_size", "content_size",       "timestamp_begin", "timestamp_end",
    "events_discarded", "stream_id",   "stream_instance_id", "packet_seq_num"};

void ctf_index_check_init(struct ctf_index_check *check, struct ctf_reader *reader)
{
    bool is_odd;
    *check = (struct ctf_index_check){.reader = reader};
    check->is_there = ctf_index_open(&check->index, reader->trace, reader->file, &is_odd);
    if (is_odd)
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_ODD, NO_OFFSET, "ctf.bad-index",
            "index/%.80s.idx is no index: expected the magic number 0x%x, version 1 and "
            "whole entries of 56 bytes or more; \"convert --to=ctf\" makes a right one",
            reader->file, CTF_INDEX_MAGIC);
}

/* The entry for the present packet, read once. */
static bool take_entry(struct ctf_index_check *check)
{
    if (check->is_there && !check->is_taken)
        check->is_taken = ctf_index_next(&check->index, &check->entry);
    return check->is_taken;
}

bool ctf_index_check_peek(struct ctf_index_check *check, struct ctf_index_entry *entry)
{
    bool is_there = take_entry(check);
    *entry = check->entry;
    return is_there;
}

/* Where the entry that was taken last lies in the index. */
static uint64_t place_of(const struct ctf_index *index)
{
    return CTF_INDEX_HEADER + (index->at - 1) * index->entry_bytes;
}

static void tell(const struct ctf_index_check *check, unsigned i, uint64_t found, uint64_t expected,
                 uint64_t offset)
{
    const struct ctf_reader *reader = check->reader;
    input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, offset, "ctf.bad-index",
                         "index/%.40s.idx, entry at byte %" PRIu64 ": %s %" PRIu64
                         ", expected %" PRIu64 " as the packet at byte %" PRIu64
                         " says; it is not used, \"convert --to=ctf\" makes a right one",
                         reader->file, place_of(&check->index), number_names[i], found, expected,
                         offset);
}

/* The numbers of an entry, and of the packet that it is held against. */
struct both {
    uint64_t found[NUMBERS], expected[NUMBERS];
};

/* The first number that is wrong; NUMBERS where none is. */
static unsigned compare(const struct ctf_index *index, const struct ctf_index_entry *entry,
                        uint64_t offset, const struct ctf_frame *frame, struct both *both)
{
    const struct ctf_packet *packet = &frame->packet;
    const bool has_size = packet->size != UINT64_MAX, has_instance = index->has_instance;
    *both = (struct both){
        .found = {entry->offset, entry->size, entry->content, entry->begin, entry->end,
                  entry->discarded, entry->stream_id, entry->instance, entry->sequence},
        .expected = {offset, packet->size, packet->content, packet->has_begin ? packet->begin : 0,
                     packet->has_end ? packet->end : 0,
                     packet->has_discarded ? packet->discarded : 0, frame->kind->class->id,
                     frame->number, packet->sequence}};
    const bool is_known[NUMBERS] = {true,
                                    has_size,
                                    has_size,
                                    true,
                                    true,
                                    true,
                                    true,
                                    has_instance && frame->has_number,
                                    has_instance && packet->has_sequence};
    unsigned i = 0;
    while (i < NUMBERS && (!is_known[i] || both->found[i] == both->expected[i]))
        i++;
    return i;
}

bool ctf_index_entry_matches(const struct ctf_index *index, const struct ctf_index_entry *entry,
                             uint64_t offset, const struct ctf_frame *frame)
{
    struct both both;
    return compare(index, entry, offset, frame, &both) == NUMBERS;
}

void ctf_index_check_packet(struct ctf_index_check *check, uint64_t offset,
                            const struct ctf_frame *frame)
{
    struct both both;
    check->packets++;
    if (!take_entry(check))
        return;
    check->is_taken = false;
    const unsigned i = compare(&check->index, &check->entry, offset, frame, &both);
    if (i < NUMBERS)
        tell(check, i, both.found[i], both.expected[i], offset);
}

void ctf_index_check_missing_packet(struct ctf_index_check *check)
{
    const struct ctf_reader *reader = check->reader;
    check->is_taken = false;
    input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, check->entry.offset, "ctf.bad-index",
                         "index/%.60s.idx, entry at byte %" PRIu64
                         ": no packet begins at byte %" PRIu64
                         "; it is not used, \"convert --to=ctf\" makes a right one",
                         reader->file, place_of(&check->index), check->entry.offset);
}

void ctf_index_check_finish(struct ctf_index_check *check, bool is_whole)
{
    const struct ctf_reader *reader = check->reader;
    if (check->is_there && is_whole && check->packets != check->index.n)
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_ODD, NO_OFFSET, "ctf.bad-index",
            "index/%.60s.idx has %" PRIu64 " entries, expected %" PRIu64
            ", one a packet; it is not used, \"convert --to=ctf\" makes a right one",
            reader->file, check->index.n, check->packets);
}
