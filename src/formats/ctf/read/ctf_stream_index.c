/* Finds a data stream of a stream file by packet or by event. Up to CTF_LINEAR_SEARCH_MAX streams
 * are searched linearly, more by a hash table. */
#include "formats/ctf/read/ctf_event_class.h"

/* Numbers that are added to an address to form the first key of the hash table. The structures at
 * these addresses are larger than the numbers, so different keys are never equal. */
enum stream_key {
    /* (stream decoder, stream number) -> stream of a packet. If packets have no stream number, the
     * second key is 0, otherwise 1 is added to the first. */
    KEY_PACKET = 0,
    /* (decoder for the byte order of the metadata, stream number) -> first stream that was added */
    KEY_FIRST = 2,
    KEY_TRACK = 4, /* (stream class, track of the events) -> stream */
    KEY_CLASS = 5  /* (stream class, 0) -> first stream of the class that was added */
};

static struct ctf_stream *lookup_stream(const struct ctf_reader *reader, const void *of,
                                        unsigned key, uint64_t number)
{
    const uint32_t *found = pair_map_get(&reader->stream_of, (uintptr_t)of + key, number);
    return found ? reader->streams[*found] : NULL;
}

static bool insert_if_absent(struct pair_map *map, uint64_t a, uint64_t b, uint32_t value)
{
    return pair_map_get(map, a, b) || pair_map_put(map, a, b, value);
}

/* Adds element i of reader->streams to the hash table. Returns false if memory runs out. */
static bool add_stream_to_index(struct ctf_reader *reader, uint32_t i)
{
    const struct ctf_stream *stream = reader->streams[i];
    const uintptr_t kind = (uintptr_t)stream->kind, class = (uintptr_t)stream->class,
                    first = stream->kind ? (uintptr_t)stream->kind->first : 0;
    struct pair_map *map = &reader->stream_of;
    return pair_map_put(map, kind + KEY_PACKET + stream->has_number,
                        stream->has_number ? stream->number : 0, i) &&
           insert_if_absent(map, first + KEY_FIRST + stream->has_number, stream->number, i) &&
           pair_map_put(map, class + KEY_TRACK, stream->track, i) &&
           insert_if_absent(map, class + KEY_CLASS, 0, i);
}

bool ctf_add_last_stream_to_index(struct ctf_reader *reader)
{
    bool is_fine = true;
    const size_t n = reader->streams_n;
    for (size_t i = n == CTF_LINEAR_SEARCH_MAX + 1 ? 0 : n - 1;
         n > CTF_LINEAR_SEARCH_MAX && i < n && is_fine; i++)
        is_fine = add_stream_to_index(reader, (uint32_t)i);
    return is_fine;
}

struct ctf_stream *ctf_find_stream_of_event(const struct ctf_reader *reader,
                                            const struct ctf_stream_class *class, ttr_id track)
{
    struct ctf_stream *found = reader->stream;
    if (found && found->class == class && found->track == track)
        return found;
    if (reader->streams_n > CTF_LINEAR_SEARCH_MAX) {
        found = lookup_stream(reader, class, KEY_TRACK, track);
        return found ? found : lookup_stream(reader, class, KEY_CLASS, 0);
    }
    found = NULL;
    for (size_t i = 0; i < reader->streams_n; i++) {
        struct ctf_stream *stream = reader->streams[i];
        if (stream->class == class && (!found || stream->track == track))
            found = stream;
    }
    return found;
}

struct ctf_stream *ctf_find_stream_of_other_order(const struct ctf_reader *reader,
                                                  struct ctf_stream *stream)
{
    if (reader->streams_n > CTF_LINEAR_SEARCH_MAX && stream->kind) {
        const struct ctf_stream *other = lookup_stream(
            reader, stream->kind->first, KEY_FIRST + stream->has_number, stream->number);
        return other ? other->first : stream;
    }
    for (size_t i = 0; i < reader->streams_n && stream->kind; i++) {
        struct ctf_stream *other = reader->streams[i];
        if (other->kind && other->kind->first == stream->kind->first &&
            other->has_number == stream->has_number && other->number == stream->number)
            return other->first;
    }
    return stream;
}

struct ctf_stream *ctf_find_known_stream(const struct ctf_reader *reader,
                                         const struct ctf_frame *frame)
{
    const uint64_t number = frame->has_number ? frame->number : 0;
    if (reader->streams_n > CTF_LINEAR_SEARCH_MAX)
        return lookup_stream(reader, frame->kind, KEY_PACKET + frame->has_number, number);
    for (size_t i = 0; i < reader->streams_n; i++) {
        struct ctf_stream *stream = reader->streams[i];
        if (stream->kind == frame->kind && stream->has_number == frame->has_number &&
            (!frame->has_number || stream->number == number))
            return stream;
    }
    return NULL;
}
