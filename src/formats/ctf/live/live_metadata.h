/* Metadata of a live trace, which comes in pieces cut anywhere: packets may be cut, and texts
 * inside of a declaration.
 *
 * What has come is unpacked packet by packet, and the text is parsed up to the end of its last
 * whole declaration; the rest waits. Ownership: the raw bytes are the caller's.  Thread rule: one
 * thread at a time. */
#ifndef TRACETTA_FORMATS_CTF_LIVE_LIVE_METADATA_H
#define TRACETTA_FORMATS_CTF_LIVE_LIVE_METADATA_H

#include "formats/ctf/read/ctf_reader.h"

/* Where a look for the end of declarations stands. */
struct live_scan {
    enum {
        LIVE_SCAN_CODE = 0,
        LIVE_SCAN_STRING,
        LIVE_SCAN_CHARACTER,
        LIVE_SCAN_COMMENT,
        LIVE_SCAN_LINE
    } mode;
    bool is_escaped;
    char before;    /* the character before, in code and comments */
    uint64_t depth; /* open braces, brackets and parentheses */
    size_t at;      /* looked at so far */
    size_t whole;   /* up to here declarations are whole */
};

/* Looks on through a text that has grown to n bytes: scan->whole is where its last whole
 * declaration ends (TSDL: a semicolon outside of everything; CTF 2: the end of an object, with
 * blanks behind it). */
void live_scan_text(struct live_scan *scan, enum ctf_version version, const char *text, size_t n);

struct live_metadata {
    enum ctf_version version;
    bool is_packetised;
    size_t unpacked;       /* raw bytes taken so far */
    struct buffer text;    /* not parsed yet */
    struct live_scan scan; /* over `text` */
    bool has_text;         /* something was parsed */
};

void live_metadata_init(struct live_metadata *metadata, const struct alloc *alloc);
void live_metadata_free(struct live_metadata *metadata);

/* Reads what n raw bytes hold beyond what was read before into the trace's description.  `name` is
 * for messages. */
TTR_MUST ttr_status live_metadata_read(struct live_metadata *metadata, struct ctf_trace *trace,
                                       const uint8_t *bytes, size_t n, const char *name,
                                       ttr_error *error);

#endif
