/* Printer of CTF 2 metadata: declarations shared by fragments (ctf2_print.c) and field classes
 * (ctf2_print_class.c). If CTF 2 cannot express the description, `status` becomes TTR_E_UNSUPPORTED
 * and the error has the reason. */
#ifndef TRACETTA_FORMATS_CTF_METADATA_JSON_CTF2_PRINT_H
#define TRACETTA_FORMATS_CTF_METADATA_JSON_CTF2_PRINT_H

#include "base/json_writer.h"
#include "base/pair_map.h"
#include "formats/ctf/description/ctf_description.h"

struct ctf2_printer {
    const struct ctf_description *description;
    struct json json;
    struct arena scratch; /* memory of the current fragment; freed after it */
    /* types of the structures in which a location may start, such as the packet header */
    const struct type *roots[ROOT_COUNT];
    enum type_root root; /* structure that is being printed, such as the payload */
    bool has_clock;      /* true if the stream class has a clock */
    /* id of the stream class, or a generated number for RFC v1.1, in which several stream classes
     * (sections) may have the same id */
    uint64_t stream_id;
    /* true if the text is for display only (ctf2_print_indented), so RFC v1.1 may be approximated
     */
    bool is_for_display;
    /* if is_for_display: name of the member that holds the length of the next sequence; "" if no
     * member does */
    ttr_text length;
    struct pair_map
        aliases; /* set of aliases that were printed: (hash of the name, address of the type) */
    struct pair_map names; /* set of the alias names in use: (hash of the name, 0) */
    ttr_status status;
    ttr_error *error;
};

/* Start a fragment (separator, opening brace and type), and end it (closing brace and line feed).
 */
void ctf2_begin_printed_object(struct ctf2_printer *printer, const char *type);
void ctf2_print_end(struct ctf2_printer *printer);

/* Prints a field class as the next JSON value: in full, or as the name of its alias. */
void ctf2_print_class(struct ctf2_printer *printer, const struct type *type);

/* Prints alias fragments for the named types inside a class that have no alias fragment yet. */
void ctf2_print_aliases(struct ctf2_printer *printer, const struct type *type);

/* Stop printing with an error: memory runs out, or CTF 2 cannot express the object called `name`,
 * for the reason `why`. */
void ctf2_print_fail_memory(struct ctf2_printer *printer);
void ctf2_print_fail_unsupported(struct ctf2_printer *printer, ttr_text name, const char *why);

#endif
