/* What reading and printing CTF 2 metadata share: the words of roles and log levels, tables of
 * names, options that overlap. */
#ifndef TRACETTA_FORMATS_CTF_METADATA_JSON_CTF2_WORDS_H
#define TRACETTA_FORMATS_CTF_METADATA_JSON_CTF2_WORDS_H

#include "formats/ctf/description/ctf_description.h"

/* The words for roots, as origins of field locations: "event-record-payload". */
extern const char *const ctf2_origins[ROOT_COUNT];

/* A role: its word, where it may stand, and what it asks for. */
struct ctf2_role {
    const char *name;
    unsigned roots; /* a set of 1 << enum type_root */
    enum ctf_role role;
    enum ctf_role in_packet_context; /* where that is another one, else CTF_ROLE_NONE */
    bool is_for_blob;                /* else for unsigned integers */
    bool needs_clock;
};

/* By word (n bytes), and by what it means in a root; NULL when there is none. */
const struct ctf2_role *ctf2_role_named(const char *name, size_t n);
const struct ctf2_role *ctf2_role_of(enum ctf_role role, enum type_root root);

/* The number of a log level by its word, or -1; the word, or NULL. */
int ctf2_log_level(const char *name, size_t n);
const char *ctf2_log_level_text(int64_t level);

/* The names given to it one by one are told apart: ctf2_names_add gives false when one comes again.
 * Room for n of them in an arena; false when memory is out.  The names must stay where they are. */
struct ctf2_names {
    const ttr_text **slots;
    size_t slots_n;
};
TTR_MUST bool ctf2_names_begin(struct ctf2_names *names, struct arena *arena, size_t n);
bool ctf2_names_add(struct ctf2_names *names, const ttr_text *name);

/* Looks for a value that selects two options of a variant.  TTR_E_NOMEM when the arena has no room.
 */
TTR_MUST ttr_status ctf2_find_overlap(const struct type *variant, struct arena *arena,
                                      bool *overlaps, uint64_t *value);

#endif
