/* Compares the entries of an index file with the headers of the packets, number by number. Reports
 * the first wrong number with both values; further reports are only counted.
 *
 * Not compared: the size of a packet that declares none; stream and packet numbers that the header
 * or the index lacks. */
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
            "index/%.80s.idx is not an index: expected the magic number 0x%x, version 1 and "
            "complete entries of 56 bytes or more; \"convert --to=ctf\" writes a correct one",
            reader->file, CTF_INDEX_MAGIC);
}

/* Sets check->entry to the next entry that was not compared yet. Returns false if there is none. */
static bool peek_index_entry(struct ctf_index_check *check)
{
    if (check->is_there && !check->is_taken)
        check->is_taken = ctf_index_next(&check->index, &check->entry);
    return check->is_taken;
}

bool ctf_index_check_peek(struct ctf_index_check *check, struct ctf_index_entry *entry)
{
    bool is_there = peek_index_entry(check);
    *entry = check->entry;
    return is_there;
}

/* Returns the byte offset in the index file of the entry that was read last. */
static uint64_t get_last_entry_offset(const struct ctf_index *index)
{
    return CTF_INDEX_HEADER + (index->at - 1) * index->entry_bytes;
}

static void report_index_difference(const struct ctf_index_check *check, unsigned i, uint64_t found,
                                    uint64_t expected, uint64_t offset)
{
    const struct ctf_reader *reader = check->reader;
    input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, offset, "ctf.bad-index",
                         "index/%.40s.idx, entry at byte %" PRIu64 ": %s %" PRIu64
                         ", expected %" PRIu64 " as the packet at byte %" PRIu64
                         " declares; index not used, \"convert --to=ctf\" writes a correct one",
                         reader->file, get_last_entry_offset(&check->index), number_names[i], found,
                         expected, offset);
}

/* The numbers stored in an index entry, and those of the packet header that it describes. */
struct entry_numbers {
    uint64_t found[NUMBERS], expected[NUMBERS];
};

/* Compares an entry with a packet header. Fills `both`, and returns the index of the first wrong
 * number, or NUMBERS if all are equal. */
static unsigned compare_index_entry(const struct ctf_index *index,
                                    const struct ctf_index_entry *entry, uint64_t offset,
                                    const struct ctf_frame *frame, struct entry_numbers *both)
{
    const struct ctf_packet *packet = &frame->packet;
    const bool has_size = packet->size != UINT64_MAX, has_instance = index->has_instance;
    *both = (struct entry_numbers){
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
    struct entry_numbers both;
    return compare_index_entry(index, entry, offset, frame, &both) == NUMBERS;
}

void ctf_index_check_packet(struct ctf_index_check *check, uint64_t offset,
                            const struct ctf_frame *frame)
{
    struct entry_numbers both;
    check->packets++;
    if (!peek_index_entry(check))
        return;
    check->is_taken = false;
    const unsigned i = compare_index_entry(&check->index, &check->entry, offset, frame, &both);
    if (i < NUMBERS)
        report_index_difference(check, i, both.found[i], both.expected[i], offset);
}

void ctf_index_check_missing_packet(struct ctf_index_check *check)
{
    const struct ctf_reader *reader = check->reader;
    check->is_taken = false;
    input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, check->entry.offset, "ctf.bad-index",
                         "index/%.60s.idx, entry at byte %" PRIu64
                         ": no packet begins at byte %" PRIu64
                         "; index not used, \"convert --to=ctf\" writes a correct one",
                         reader->file, get_last_entry_offset(&check->index), check->entry.offset);
}

void ctf_index_check_finish(struct ctf_index_check *check, bool is_whole)
{
    const struct ctf_reader *reader = check->reader;
    if (check->is_there && is_whole && check->packets != check->index.n)
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_ODD, NO_OFFSET, "ctf.bad-index",
            "index/%.60s.idx has %" PRIu64 " entries, expected %" PRIu64
            ", one per packet; index not used, \"convert --to=ctf\" writes a correct one",
            reader->file, check->index.n, check->packets);
}
