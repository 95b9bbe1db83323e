/* The printer of CTF 2 metadata, as its two parts see it: fragments (ctf2_print.c) and field
 * classes (ctf2_print_class.c). A description that CTF 2 cannot say stops it: `status` is then
 * TTR_E_UNSUPPORTED and the error says what. */
#ifndef TRACETTA_FORMATS_CTF_METADATA_JSON_CTF2_PRINT_H
#define TRACETTA_FORMATS_CTF_METADATA_JSON_CTF2_PRINT_H

#include "base/jsontext.h"
#include "base/pairmap.h"
#include "formats/ctf/description/ctf_description.h"

struct ctf2_printer {
    const struct ctf_description *description;
    struct json json;
    struct arena scratch;                 /* for one fragment */
    const struct type *roots[ROOT_COUNT]; /* those that locations may begin in */
    enum type_root root;                  /* the one being printed */
    bool has_clock;                       /* its stream has */
    uint64_t stream_id; /* its own, or a number: sections of v1.1 have names only, and may be of one
                           id */
    bool shows;         /* for people: what CTF 2 cannot say of v1.1 is said otherwise */
    ttr_text
        length; /* then: the member in which the length of what is printed next stands; "" = none */
    struct pairmap aliases; /* (hash of the name, address of the type) of those defined */
    struct pairmap names;   /* (hash of the name, 0) */
    ttr_status status;
    ttr_error *error;
};

/* Begins and ends a fragment: the separator, an object with its type; the end of the object and of
 * the line. */
void ctf2_print_begin(struct ctf2_printer *printer, const char *type);
void ctf2_print_end(struct ctf2_printer *printer);

/* A field class as the next value: in full, or the name of its alias. */
void ctf2_print_class(struct ctf2_printer *printer, const struct type *type);

/* The aliases that a class and all inside it use and that are not defined yet, as fragments. */
void ctf2_print_aliases(struct ctf2_printer *printer, const struct type *type);

/* Stops, for want of memory or for a reason. */
void ctf2_print_run_out(struct ctf2_printer *printer);
void ctf2_print_refuse(struct ctf2_printer *printer, ttr_text name, const char *why);

#endif
