/* Incremental parsing of the metadata of a live trace. The bytes arrive in blocks: a block may end
 * inside a metadata packet, and the text inside a declaration.
 *
 * Complete packets are unpacked; the text is parsed up to the end of its last complete declaration,
 * and the remaining text is kept for the next call. Ownership: the received bytes are the caller's.
 * Thread rule: one thread at a time. */
#ifndef TRACETTA_FORMATS_CTF_LIVE_LIVE_METADATA_H
#define TRACETTA_FORMATS_CTF_LIVE_LIVE_METADATA_H

#include "formats/ctf/read/ctf_reader.h"

/* State of the scan for the ends of declarations. */
struct live_scan {
    enum {
        LIVE_SCAN_CODE = 0,
        LIVE_SCAN_STRING,
        LIVE_SCAN_CHARACTER,
        LIVE_SCAN_COMMENT,
        LIVE_SCAN_LINE
    } mode;
    bool is_escaped;
    char before;    /* previous character, to detect comment delimiters */
    uint64_t depth; /* number of open braces, brackets and parentheses */
    size_t at;      /* number of bytes scanned so far */
    size_t whole;   /* offset of the end of the last complete declaration */
};

/* Continues the scan of a text that now has n bytes. Sets scan->whole to the end of the last
 * complete declaration: in TSDL a semicolon outside of braces, in CTF 2 the end of an object and
 * the blanks after it. */
void live_scan_declarations(struct live_scan *scan, enum ctf_version version, const char *text,
                            size_t n);

struct live_metadata {
    enum ctf_version version;
    bool is_packetised;
    size_t unpacked;       /* number of received bytes that were unpacked so far */
    struct buffer text;    /* unpacked text that was not parsed yet */
    struct live_scan scan; /* scan state of `text` */
    bool has_text;         /* true after the first declaration was parsed */
};

void live_metadata_init(struct live_metadata *metadata, const struct alloc *alloc);
void live_metadata_free(struct live_metadata *metadata);

/* Parses the bytes that were added since the last call into the trace's description. `bytes`: all n
 * bytes received so far. `name`: used in messages. */
TTR_MUST ttr_status live_metadata_read(struct live_metadata *metadata, struct ctf_trace *trace,
                                       const uint8_t *bytes, size_t n, const char *name,
                                       ttr_error *error);

#endif
