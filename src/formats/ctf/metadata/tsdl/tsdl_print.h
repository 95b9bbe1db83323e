/* Printer of TSDL: declarations shared by its files.
 *
 * Types are written where they are used. Enumerations with long labels are the exception: thousands
 * of events may share one, so they become named types. A length or tag is written as a path:
 * relative to an enclosing structure if that finds the same field, else from a root. Ownership: the
 * printer borrows the description; its data are freed with the printer. Thread rule: one thread per
 * printer.
 */
#ifndef TRACETTA_FORMATS_CTF_METADATA_TSDL_TSDL_PRINT_H
#define TRACETTA_FORMATS_CTF_METADATA_TSDL_TSDL_PRINT_H

#include "base/pair_map.h"
#include "formats/ctf/metadata/tsdl/tsdl_types.h"

#define PRINT_DEPTH (TYPE_DEPTH_MAX + 4u)

/* A structure or variant that contains the type being printed, on the path from the root. */
struct tsdl_print_frame {
    const struct type *type;
    uint32_t member;
    uint32_t names_n; /* number of names that lead from the root to this frame */
    /* key of the frame's members in printer.members; 0 if there are few, which are searched
     * linearly */
    uint32_t scope;
    uint32_t arrays; /* number of arrays that contain the frame */
};

/* An integer without labels that selects the options of a variant. It must be printed as an
 * enumeration, since options refer to labels. */
struct tsdl_need {
    const struct tsdl_need *next;
    const struct type_reference
        *reference; /* reference by which the variant or optional finds the selector */
    /* stream class that contains the selector; NULL if it is in the packet header */
    const struct ctf_stream_class *stream;
    const struct ctf_event_class *event;
    const struct type *user; /* variant or optional that requires the enumeration */
};

/* An enumeration with long labels that several fields use. */
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
    /* stream class that is being printed; NULL at the level of the trace */
    const struct ctf_stream_class *stream;
    const struct ctf_event_class *event;
    enum type_root root;
    struct tsdl_print_frame frames[PRINT_DEPTH];
    uint32_t frames_n;
    ttr_text names[PRINT_DEPTH];
    uint32_t names_n;
    uint32_t arrays; /* number of arrays that contain the current type */
    /* list of all selectors that must become enumerations */
    const struct tsdl_need *need;
    /* names of clocks in the text; the key is the address of the clock */
    struct tsdl_names clocks;
    /* identifiers of options that are equal to their labels; the key is the address of the option
     */
    struct tsdl_names options;
    struct tsdl_names members; /* indexes of the members of large structures */
    uint32_t scopes_n;
    /* maps the address of a type with many labels to 1, or to 1 + the number of its alias */
    struct pair_map labelled;
    /* enumerations that are printed once and referred to by name */
    struct tsdl_alias *aliases, **aliases_end;
    uint32_t aliases_n;
    /* first pass: collect required enumerations and aliases, print nothing */
    bool gathers;
    uint32_t types_n; /* number of types printed so far; limited */
};

/* Position of a member: the type that contains it, and the root. */
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

/* Set the error that TSDL cannot express the description, or that memory runs out. `what` completes
 * the sentence "CTF 1.8 has no ". Both return false. */
bool tsdl_print_fail_unsupported(struct tsdl_printer *p, const char *what);
bool tsdl_print_fail_memory(struct tsdl_printer *p);

/* Append formatted text, a quoted string, or a new line with its indentation. */
void tsdl_print_format(struct tsdl_printer *p, const char *format, ...) TTR_PRINTF(2, 3);
void tsdl_print_text(struct tsdl_printer *p, ttr_text text);
void tsdl_print_line_break(struct tsdl_printer *p);
void tsdl_print_string(struct tsdl_printer *p, ttr_text text);

/* Returns true if a name is a valid identifier of TSDL. */
bool tsdl_is_identifier(ttr_text name);

/* Chooses the identifier of a member or option, from which readers derive the name that they show.
 * Returns false if no identifier results in the name. */
TTR_MUST bool tsdl_choose_member_word(struct tsdl_printer *p, const struct type *outer,
                                      const struct type_member *member, ttr_text *word);

/* Chooses the identifier of a member in a root such as the packet header. If the member has a
 * role, the identifier is the name that implies this role. */
TTR_MUST bool tsdl_choose_root_word(struct tsdl_printer *p, const struct tsdl_spot *spot,
                                    const struct type_member *member, ttr_text *word);

/* Returns the name of a clock in the printed text. */
ttr_text tsdl_clock_name(const struct tsdl_printer *p, const struct ctf_clock *clock);

/* Builds the index of a large structure's members. */
TTR_MUST bool tsdl_index_members(struct tsdl_printer *p, struct tsdl_print_frame *frame);

/* Prints the type of a root, as in "packet.header := struct { ... };". */
TTR_MUST bool tsdl_print_root(struct tsdl_printer *p, const char *name, enum type_root root,
                              const struct type *type);

/* Declares named types: enumerations with many labels that are used more than once. */
TTR_MUST bool tsdl_print_aliases(struct tsdl_printer *p);

/* Prints the path to a length or selector, seen from the current position. */
TTR_MUST bool tsdl_print_reference(struct tsdl_printer *p, const struct type_reference *reference);

/* Stores that a variant or optional requires its selector to be an enumeration. Returns false if
 * the selector has labels that contradict this. */
TTR_MUST bool tsdl_require_enumeration(struct tsdl_printer *p, const struct type *user);

/* Prints the labels of an integer: those that a variant or optional requires (`need`), or the
 * declared ones. */
TTR_MUST bool tsdl_print_labels(struct tsdl_printer *p, const struct type *type,
                                const struct tsdl_need *need);

/* Returns the enumeration as which the current field must be printed; NULL if no variant or
 * optional requires one. */
const struct tsdl_need *tsdl_find_required_enumeration(const struct tsdl_printer *p);

#endif
