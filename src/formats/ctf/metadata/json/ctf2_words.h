/* Vocabulary shared by parser and printer of CTF 2 metadata: roles, log levels, origins, and checks
 * for repeated names and overlapping options. */
#ifndef TRACETTA_FORMATS_CTF_METADATA_JSON_CTF2_WORDS_H
#define TRACETTA_FORMATS_CTF_METADATA_JSON_CTF2_WORDS_H

#include "formats/ctf/description/ctf_description.h"

/* Words for the structures in which field locations start, such as "event-record-payload". */
extern const char *const ctf2_origins[ROOT_COUNT];

/* A role: its name, the structures in which it is allowed, and the class of field that it
 * requires. */
struct ctf2_role {
    const char *name;
    /* structures in which the role is allowed, as bits 1 << enum type_root */
    unsigned roots;
    enum ctf_role role;
    /* meaning of the role in the packet context, if it is different there; else CTF_ROLE_NONE */
    enum ctf_role in_packet_context;
    /* true if the role requires a blob; otherwise an unsigned integer */
    bool is_for_blob;
    bool needs_clock;
};

/* Find a role by its name of n bytes, or by its meaning in a structure. Return NULL if there is
 * none. */
const struct ctf2_role *ctf2_parse_role(const char *name, size_t n);
const struct ctf2_role *ctf2_find_role(enum ctf_role role, enum type_root root);

/* Convert a log level from its name to its number (-1 if unknown), and back (NULL if unknown). */
int ctf2_parse_log_level(const char *name, size_t n);
const char *ctf2_get_log_level_text(int64_t level);

/* Set of names, to detect repetitions. ctf2_names_init allocates room for n names in an arena and
 * returns false if memory runs out. ctf2_names_add returns false if the name is in the set already.
 * The names are borrowed. */
struct ctf2_names {
    const ttr_text **slots;
    size_t slots_n;
};
TTR_MUST bool ctf2_names_init(struct ctf2_names *names, struct arena *arena, size_t n);
bool ctf2_names_add(struct ctf2_names *names, const ttr_text *name);

/* Searches for a selector value that selects two options of a variant. Sets *overlaps if there is
 * one, and stores it in *value. Fails with TTR_E_NOMEM if the arena is full. */
TTR_MUST ttr_status ctf2_find_option_overlap(const struct type *variant, struct arena *arena,
                                             bool *overlaps, uint64_t *value);

#endif
