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
    struct arena scratch;                 /* freed after each fragment */
    const struct type *roots[ROOT_COUNT]; /* roots that locations may start at */
    enum type_root root;                  /* root being printed */
    bool has_clock;                       /* the stream class has a clock */
    /* id of the stream class, or a generated number: sections of RFC v1.1 have names, and their ids
     * may be equal */
    uint64_t stream_id;
    bool is_for_display; /* display only (ctf2_show): RFC v1.1 is approximated */
    /* shows: member that contains the length of the next sequence; "" if there is none */
    ttr_text length;
    struct pair_map aliases; /* defined aliases: (hash of the name, address of the type) */
    struct pair_map names;   /* used alias names: (hash of the name, 0) */
    ttr_status status;
    ttr_error *error;
};

/* Start a fragment (separator and an object with its type), and end it (closing brace and line
 * feed). */
void ctf2_print_begin(struct ctf2_printer *printer, const char *type);
void ctf2_print_end(struct ctf2_printer *printer);

/* Prints a field class as the next JSON value: in full, or as the name of its alias. */
void ctf2_print_class(struct ctf2_printer *printer, const struct type *type);

/* Prints alias fragments for the named types inside a class that are not defined yet. */
void ctf2_print_aliases(struct ctf2_printer *printer, const struct type *type);

/* Stop printing: memory is out, or the description cannot be expressed. */
void ctf2_print_run_out(struct ctf2_printer *printer);
void ctf2_print_refuse(struct ctf2_printer *printer, ttr_text name, const char *why);

#endif
