/* Implements live_metadata.h: incremental unpacking and parsing of metadata. */
#include "formats/ctf/live/live_metadata.h"

#include <string.h>

#include "base/status.h"

#define HEADER_BYTES 37u
#define PACKET_BITS_AT 28u /* byte offset of the packet size in a metadata packet */
#define PACKET_MAGIC 0x75d11d57u

/* --- Search for ends of declarations --- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Updates the scan for one character outside of strings and comments. */
static void scan_code_character(struct live_scan *scan, enum ctf_version version, char c)
{
    bool is_tsdl = version != CTF_2;
    switch (c) {
    case '"':
        scan->mode = LIVE_SCAN_STRING;
        break;
    case '\'':
        scan->mode = is_tsdl ? LIVE_SCAN_CHARACTER : LIVE_SCAN_CODE;
        break;
    case '/':
        scan->mode = is_tsdl && scan->before == '/' ? LIVE_SCAN_LINE : LIVE_SCAN_CODE;
        break;
    case '*':
        scan->mode = is_tsdl && scan->before == '/' ? LIVE_SCAN_COMMENT : LIVE_SCAN_CODE;
        break;
    case '{':
    case '[':
    case '(':
        scan->depth++;
        break;
    case '}':
    case ']':
    case ')':
        scan->depth -= scan->depth > 0;
        break;
    default:
        break;
    }
    scan->before = scan->mode == LIVE_SCAN_CODE ? c : 0;
    bool is_end =
        is_tsdl ? c == ';' : c == '}' || (is_blank(c) && scan->whole && scan->whole == scan->at);
    if (is_end && scan->depth == 0)
        scan->whole = scan->at + 1;
}

static void scan_string_or_comment(struct live_scan *scan, char c)
{
    char end = scan->mode == LIVE_SCAN_STRING      ? '"'
               : scan->mode == LIVE_SCAN_CHARACTER ? '\''
               : scan->mode == LIVE_SCAN_LINE      ? '\n'
                                                   : '/';
    bool is_comment = scan->mode == LIVE_SCAN_COMMENT;
    bool is_end = c == end && !scan->is_escaped && (!is_comment || scan->before == '*');
    bool is_text = scan->mode == LIVE_SCAN_STRING || scan->mode == LIVE_SCAN_CHARACTER;
    scan->is_escaped = is_text && c == '\\' && !scan->is_escaped;
    scan->before = is_end ? 0 : c;
    if (is_end)
        scan->mode = LIVE_SCAN_CODE;
}

void live_scan_declarations(struct live_scan *scan, enum ctf_version version, const char *text,
                            size_t n)
{
    for (; scan->at < n; scan->at++) {
        if (scan->mode == LIVE_SCAN_CODE)
            scan_code_character(scan, version, text[scan->at]);
        else
            scan_string_or_comment(scan, text[scan->at]);
    }
}

/* --- Metadata packets --- */

void live_metadata_init(struct live_metadata *metadata, const struct alloc *alloc)
{
    *metadata = (struct live_metadata){.version = CTF_UNKNOWN};
    buffer_init(&metadata->text, alloc);
}

void live_metadata_free(struct live_metadata *metadata)
{
    buffer_free(&metadata->text);
}

/* Returns the total size of the complete packets at the start of n bytes. If the first is not a
 * packet, returns n, so that the parser reports the error. */
static size_t measure_complete_packets(const uint8_t *bytes, size_t n)
{
    size_t whole = 0;
    while (n - whole >= HEADER_BYTES) {
        const uint8_t *packet = bytes + whole;
        bool is_little = load_u32le(packet) == PACKET_MAGIC;
        uint32_t bits =
            is_little ? load_u32le(packet + PACKET_BITS_AT) : load_u32be(packet + PACKET_BITS_AT);
        if (bits / 8 < HEADER_BYTES)
            return whole ? whole : n;
        if (bits / 8 > n - whole)
            break;
        whole += bits / 8;
    }
    return whole;
}

/* Appends the text of the next complete packets to metadata->text; the bytes themselves if the
 * metadata are not packetized. */
static ttr_status append_complete_packets(struct live_metadata *metadata, struct ctf_trace *trace,
                                          const uint8_t *bytes, size_t n, struct ctf_text *text,
                                          ttr_error *error)
{
    const struct ctf_key key = {NULL};
    if (!metadata->is_packetised) {
        metadata->unpacked += n;
        buffer_add(&metadata->text, bytes, n);
        return TTR_OK;
    }
    size_t whole = measure_complete_packets(bytes, n);
    if (whole == 0)
        return TTR_OK;
    metadata->unpacked += whole;
    ttr_status status =
        ctf_unpack_metadata(&trace->class->description, bytes, whole, &key, text, error);
    if (status == TTR_OK)
        buffer_add(&metadata->text, text->p, text->n);
    return status;
}

/* Parses the complete declarations at the start of metadata->text, and removes them from it. */
static ttr_status parse_complete_declarations(struct live_metadata *metadata,
                                              struct ctf_trace *trace, const char *name,
                                              ttr_error *error)
{
    struct live_scan *scan = &metadata->scan;
    size_t n = scan->whole, left = metadata->text.n - n;
    char *copy = arena_copy(&trace->class->description.arena, metadata->text.bytes, n);
    if (!copy)
        return fail_memory(error);
    memmove(metadata->text.bytes, metadata->text.bytes + n, left);
    metadata->text.n = left;
    scan->at -= n;
    scan->whole = 0;
    metadata->has_text = true;
    /* skip the blanks that separate the previous declaration from the next one */
    size_t blanks = 0;
    while (blanks < n && is_blank(copy[blanks]))
        blanks++;
    struct ctf_text text = {.p = copy + blanks, .n = n - blanks, .file = name};
    return ctf_trace_parse(trace, metadata->version, &text, error);
}

ttr_status live_metadata_read(struct live_metadata *metadata, struct ctf_trace *trace,
                              const uint8_t *bytes, size_t n, const char *name, ttr_error *error)
{
    struct ctf_text text = {.file = name};
    if (n == metadata->unpacked || (metadata->version == CTF_UNKNOWN && n < HEADER_BYTES))
        return TTR_OK;
    if (metadata->version == CTF_UNKNOWN)
        metadata->version = ctf_detect_metadata_language(bytes, n, &metadata->is_packetised);
    if (metadata->version != CTF_1_8 && metadata->version != CTF_2)
        return fail(error, TTR_E_UNSUPPORTED, 0, "%s: expected metadata of CTF 1.8 or CTF 2", name);
    ttr_status status = append_complete_packets(metadata, trace, bytes + metadata->unpacked,
                                                n - metadata->unpacked, &text, error);
    if (status == TTR_OK && metadata->text.failed)
        status = fail_memory(error);
    if (status != TTR_OK || metadata->text.n == 0)
        return status;
    live_scan_declarations(&metadata->scan, metadata->version, (const char *)metadata->text.bytes,
                           metadata->text.n);
    return metadata->scan.whole ? parse_complete_declarations(metadata, trace, name, error)
                                : TTR_OK;
}
