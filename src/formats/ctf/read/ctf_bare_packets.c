/* Packets of CTF 1.8 and CTF 2 without a file: the header contains the numbers of the stream, and
 * the metadata declare the layout of the header.
 *
 * Packets must start with the magic number, so that they can be recognised, and must declare their
 * size, since a stream file has many of them. Left out: RFC v1.1, of which a packet does not name
 * its section. */
#include "formats/ctf/read/ctf_bare_packets.h"

#include <string.h>

#include "base/status.h"
#include "formats/ctf/read/ctf_reader.h"
#include "model/context.h"

#define PACKET_MAGIC 0xC1FC1FC1u
#define METADATA_PACKET_MAGIC 0x75D11D57u

struct bare_trace {
    ttr *t;
    struct ctf_trace *trace;
};

static bool has_magic(const uint8_t *bytes, size_t n, uint32_t magic)
{
    return n >= 4 && (load_u32le(bytes) == magic || load_u32be(bytes) == magic);
}

static bool is_packet(const uint8_t *bytes, size_t n)
{
    return has_magic(bytes, n, PACKET_MAGIC);
}

/* Texts are recognised by their first line or record; a packet may be one of several. */
static bool is_main(const uint8_t *bytes, size_t n, bool *is_whole)
{
    static const char tsdl[] = "/* CTF 1.", json[] = "\x1e{";
    *is_whole = (n >= sizeof tsdl && memcmp(bytes, tsdl, sizeof tsdl - 1) == 0) ||
                (n >= sizeof json && memcmp(bytes, json, sizeof json - 1) == 0);
    return *is_whole || has_magic(bytes, n, METADATA_PACKET_MAGIC);
}

static void close_trace(void *state)
{
    struct bare_trace *bare = state;
    if (!bare)
        return;
    if (bare->trace)
        ctf_trace_unref(bare->trace);
    ttr_free(bare->t);
    alloc_free(alloc_default(), bare, 1, sizeof *bare);
}

static ttr_status parse_metadata(struct ctf_trace *trace, const uint8_t *bytes, size_t n,
                                 ttr_error *error)
{
    struct ctf_text text = {.file = CTF_METADATA};
    const struct ctf_key key = {NULL};
    bool is_packetised;
    const enum ctf_version version = ctf_detect_metadata_language(bytes, n, &is_packetised);
    if (version != CTF_1_8 && version != CTF_2)
        return fail(error, TTR_E_UNSUPPORTED, 0, "expected metadata of CTF 1.8 or CTF 2");
    ttr_status status =
        ctf_unpack_metadata(&trace->class->description, bytes, n, &key, &text, error);
    if (status == TTR_OK)
        status = ctf_trace_parse(trace, version, &text, error);
    return status == TTR_OK ? ctf_trace_compile(trace, error) : status;
}

static void *open_trace(const uint8_t *bytes, size_t n, ttr_error *error)
{
    ttr_error ctx = {0};
    struct bare_trace *bare = alloc_zero(alloc_default(), 1, sizeof *bare);
    if (bare)
        bare->t = ttr_new(NULL);
    if (bare && bare->t)
        bare->trace = ctf_trace_new(bare->t, NULL, &ctx);
    if (!bare || !bare->trace)
        (void)fail_memory(&ctx);
    else if (parse_metadata(bare->trace, bytes, n, &ctx) == TTR_OK)
        return bare;
    if (error)
        *error = ctx;
    close_trace(bare);
    return NULL;
}

static bool examine_packet(void *state, const uint8_t *bytes, size_t n, struct bare_facts *facts)
{
    struct bare_trace *bare = state;
    struct bits bits = bits_init(bytes, 0, (uint64_t)n * 8);
    struct ctf_frame frame;
    ttr_error error = {0};
    memset(&frame, 0, sizeof frame);
    const enum ctf_framing framing =
        ctf_parse_header_and_context(bare->trace, NULL, &bits, &frame, &error);
    arena_reset(&bare->trace->scratch);
    if (framing != CTF_FRAME_OK || frame.is_whole_file || frame.packet.size / 8 > n ||
        frame.packet.size % 8 || frame.packet.size == 0 || !frame.kind)
        return false;
    *facts = (struct bare_facts){.size = frame.packet.size / 8,
                                 .class_id = frame.kind->class->id,
                                 .number = frame.has_number ? frame.number : 0,
                                 .has_sequence = frame.packet.has_sequence,
                                 .sequence = frame.packet.sequence};
    return true;
}

const struct format_bare ctf_bare_packets = {
    .is_packet = is_packet,
    .is_main = is_main,
    .open = open_trace,
    .examine = examine_packet,
    .close = close_trace,
};
