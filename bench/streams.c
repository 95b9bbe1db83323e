/* Writes a CTF 1.8 trace with events spread over many streams, to measure merging.
 *
 *   usage: streams EVENTS STREAMS FOLDER
 *
 * One clock of 1 GHz advances by 64 to 1087 ticks per event. Each event goes to a random stream, so
 * events that are adjacent in time are rarely adjacent in a file. There is one event class, and all
 * fields are whole bytes, little-endian, so that decoding costs little:
 *
 *   packet  magic u32, stream class u32 | begin u64, end u64, content bits u64, packet bits u64,
 *           sequence number u64 | events
 *   event   id u16, timestamp u64 | number i32, word (zero-terminated text)
 *
 * Packets of 32 KiB are appended to "stream_N". A file is open only while a packet is appended,
 * because there may be more streams than descriptors. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>

#define PACKET 32768u
#define HEADER 48u
#define EVENT_MAX 32u
#define STREAMS_MAX 4096u
#define MAGIC 0xC1FC1FC1u
#define PATH 4096

struct stream {
    uint8_t *bytes; /* the current packet */
    size_t n;       /* bytes in it; 0 = no packet started */
    uint64_t begin, end, packets;
};

static const char metadata[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 16; align = 8; } := u16;\n"
    "typealias integer { size = 32; align = 8; } := u32;\n"
    "typealias integer { size = 64; align = 8; } := u64;\n"
    "trace {\n\tmajor = 1; minor = 8; byte_order = le;\n\tpacket.header := struct { u32 magic; u32 "
    "stream_id; };\n};\n"
    "clock { name = wall; freq = 1000000000; offset_s = 1700000000; };\n"
    "typealias integer { size = 64; align = 8; map = clock.wall.value; } := instant;\n"
    "stream {\n\tid = 0;\n"
    "\tpacket.context := struct {\n\t\tinstant timestamp_begin; instant timestamp_end; u64 "
    "content_size; u64 packet_size;\n"
    "\t\tu64 packet_seq_num;\n\t};\n"
    "\tevent.header := struct { u16 id; instant timestamp; };\n};\n"
    "event {\n\tid = 0; stream_id = 0; name = \"step\";\n"
    "\tfields := struct { integer { size = 32; align = 8; signed = true; } number; string word; "
    "};\n};\n";

static uint8_t *put_le(uint8_t *at, uint64_t x, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        *at++ = (uint8_t)(x >> 8 * i);
    return at;
}

static FILE *open_in(const char *folder, const char *name, unsigned number, const char *mode)
{
    char path[PATH];
    int n = number == STREAMS_MAX ? snprintf(path, sizeof path, "%s/%s", folder, name)
                                  : snprintf(path, sizeof path, "%s/%s_%u", folder, name, number);
    FILE *file = n > 0 && n < PATH ? fopen(path, mode) : NULL;
    if (!file)
        perror(folder);
    return file;
}

static int flush_packet(struct stream *stream, const char *folder, unsigned number)
{
    uint8_t *at = put_le(put_le(stream->bytes, MAGIC, 4), 0, 4);
    at = put_le(put_le(at, stream->begin, 8), stream->end, 8);
    at = put_le(put_le(put_le(at, stream->n * 8, 8), PACKET * 8, 8), stream->packets, 8);
    memset(stream->bytes + stream->n, 0, PACKET - stream->n);
    FILE *file = open_in(folder, "stream", number, stream->packets++ ? "ab" : "wb");
    if (!file)
        return 0;
    size_t written = fwrite(stream->bytes, 1, PACKET, file);
    stream->n = 0;
    return (fclose(file) == 0) & (written == PACKET);
}

static void add_event(struct stream *stream, uint64_t ticks, uint32_t number)
{
    static const char *const words[] = {"open", "read ahead", "seek", "write behind"};
    const char *word = words[number % 4];
    if (stream->n == 0) {
        stream->n = HEADER;
        stream->begin = ticks;
    }
    uint8_t *at = put_le(put_le(put_le(stream->bytes + stream->n, 0, 2), ticks, 8), number, 4);
    memcpy(at, word, strlen(word) + 1);
    stream->n = (size_t)(at - stream->bytes) + strlen(word) + 1;
    stream->end = ticks;
}

static int fill(struct stream *streams, unsigned streams_n, uint32_t events, const char *folder)
{
    uint64_t seed = UINT64_C(0x9E3779B97F4A7C15), ticks = 0;
    for (uint32_t i = 0; i < events; i++) {
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        ticks += 64 + seed % 1024;
        unsigned number = (unsigned)((seed >> 32) % streams_n);
        struct stream *stream = &streams[number];
        if (stream->n + EVENT_MAX > PACKET && !flush_packet(stream, folder, number))
            return 0;
        add_event(stream, ticks, i);
    }
    for (unsigned i = 0; i < streams_n; i++)
        if (streams[i].n && !flush_packet(&streams[i], folder, i))
            return 0;
    return 1;
}

int main(int argc, char **argv)
{
    static struct stream streams[STREAMS_MAX];
    uint32_t events = argc == 4 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
    unsigned n = argc == 4 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    if (events == 0 || n == 0 || n > STREAMS_MAX) {
        fputs("usage: streams EVENTS STREAMS FOLDER\n", stderr);
        return 2;
    }
    (void)mkdir(argv[3], 0777);
    uint8_t *packets = calloc(n, PACKET);
    FILE *file = packets ? open_in(argv[3], "metadata", STREAMS_MAX, "wb") : NULL;
    if (!file)
        return 1;
    int is_done = fputs(metadata, file) >= 0;
    is_done &= fclose(file) == 0;
    for (unsigned i = 0; i < n; i++)
        streams[i].bytes = packets + (size_t)i * PACKET;
    is_done = is_done && fill(streams, n, events, argv[3]);
    free(packets);
    return !is_done;
}
