/* Descriptions as TSDL: what the parts of the printer share.
 *
 * Types are written out where they are used, but for enumerations with long labels: thousands of
 * events may have the same.  A length or tag is named by a path: relative to a structure around it
 * where that finds the same field, else from a root. Ownership: the printer borrows the
 * description; what it makes dies with it.  Thread rule: one printer, one thread. */
#ifndef TRACETTA_FORMATS_CTF_METADATA_TSDL_TSDL_PRINT_H
#define TRACETTA_FORMATS_CTF_METADATA_TSDL_TSDL_PRINT_H

#include "base/pairmap.h"
#include "formats/ctf/metadata/tsdl/tsdl_types.h"

#define PRINT_DEPTH (TYPE_DEPTH_MAX + 4u)

/* A structure or variant on the way from the root to what is printed. */
struct tsdl_print_frame {
    const struct type *type;
    uint32_t member;
    uint32_t names_n; /* of the path to it */
    uint32_t scope;   /* of its members in printer.members; 0: few, found without */
    uint32_t arrays;  /* it is inside of */
};

/* An enumeration that a selector without labels must become, so that options can be chosen by
 * label. */
struct tsdl_need {
    const struct tsdl_need *next;
    const struct type_reference *reference; /* to the selector */
    const struct ctf_stream_class *stream;  /* of the root; NULL for the packet header */
    const struct ctf_event_class *event;
    const struct type *user; /* the variant or optional */
};

/* An enumeration with long labels that several fields have. */
struct tsdl_alias {
    struct tsdl_alias *next;
    const struct type *type;
};

struct tsdl_printer {
    const struct ctf_description *description;
    struct buffer *to;
    struct arena arena;
    ttr_error *error;
    ttr_status status;
    unsigned indent;
    const struct ctf_stream_class *stream; /* where we are; NULL: in the trace */
    const struct ctf_event_class *event;
    enum type_root root;
    struct tsdl_print_frame frames[PRINT_DEPTH];
    uint32_t frames_n;
    ttr_text names[PRINT_DEPTH];
    uint32_t names_n;
    uint32_t arrays;              /* we are inside of */
    const struct tsdl_need *need; /* all of them */
    struct tsdl_names clocks;     /* names of clocks (texts), by the bytes of their addresses */
    struct tsdl_names options;    /* words of options that are those of their labels (texts), by the
                                     bytes of their addresses */
    struct tsdl_names members;    /* of large structures */
    uint32_t scopes_n;
    struct pairmap
        labelled; /* address of a type with long labels to 1, or to 1 and the number of its alias */
    struct tsdl_alias *aliases, **aliases_end; /* those that come again */
    uint32_t aliases_n;
    bool gathers;     /* look for needs and aliases, print nothing */
    uint32_t types_n; /* printed */
};

/* Where a member stands. */
struct tsdl_spot {
    const struct type *outer;
    enum type_root root;
    bool is_top, is_in_array;
};

static inline bool tsdl_is_list(const struct type *type)
{
    return type->kind == TYPE_ARRAY || type->kind == TYPE_SEQUENCE;
}

static inline bool tsdl_has_length(const struct type *type)
{
    return tsdl_is_list(type) || type->kind == TYPE_TEXT || type->kind == TYPE_BLOB;
}

static inline bool tsdl_is_word_character(char c)
{
    char lower = (char)(c | 0x20);
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* Refuses what TSDL cannot say: `what` reads on behind "CTF 1.8 has no ".  Both give false. */
bool tsdl_refuse(struct tsdl_printer *p, const char *what);
bool tsdl_refuse_memory(struct tsdl_printer *p);

/* Appends text, a new line with its indentation, a string with quotes. */
void tsdl_put(struct tsdl_printer *p, const char *format, ...) TTR_PRINTF(2, 3);
void tsdl_put_text(struct tsdl_printer *p, ttr_text text);
void tsdl_put_line(struct tsdl_printer *p);
void tsdl_put_string(struct tsdl_printer *p, ttr_text text);

/* Can a name stand as it is? */
bool tsdl_is_identifier(ttr_text name);

/* The word that a member or option is written as, so that readers show it by its name; false where
 * no word does that. */
TTR_MUST bool tsdl_word_of(struct tsdl_printer *p, const struct type *outer,
                           const struct type_member *member, ttr_text *word);

/* The same for a member of a root, which may have a role: then the word that gives it. */
TTR_MUST bool tsdl_choose_word(struct tsdl_printer *p, const struct tsdl_spot *spot,
                               const struct type_member *member, ttr_text *word);

/* The name of a clock in this text. */
ttr_text tsdl_clock_name(const struct tsdl_printer *p, const struct ctf_clock *clock);

/* Makes the members of a large structure quick to find. */
TTR_MUST bool tsdl_index_members(struct tsdl_printer *p, struct tsdl_print_frame *frame);

/* A root: "packet.header := struct { ... };". */
TTR_MUST bool tsdl_put_root(struct tsdl_printer *p, const char *name, enum type_root root,
                            const struct type *type);

/* Types with names: enumerations that are long and come again. */
TTR_MUST bool tsdl_put_aliases(struct tsdl_printer *p);

/* The path to a length or selector, as seen from where we are. */
TTR_MUST bool tsdl_put_reference(struct tsdl_printer *p, const struct type_reference *reference);

/* Notes what selector a variant or optional needs as an enumeration; false where its own labels say
 * something else. */
TTR_MUST bool tsdl_add_need(struct tsdl_printer *p, const struct type *user);

/* Puts the labels of an integer: those that selections need, or its own. */
TTR_MUST bool tsdl_put_labels(struct tsdl_printer *p, const struct type *type,
                              const struct tsdl_need *need);

/* What the field at hand is needed as, or NULL. */
const struct tsdl_need *tsdl_find_need(const struct tsdl_printer *p);

#endif
