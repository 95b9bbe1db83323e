/* Names of struct members, for ctf_shape_types.c: unique in their struct, and valid in the target's
 * language.
 *
 * Order of calls per struct: ctf_type_reserve_names once, then for each member
 * ctf_type_choose_member_number and ctf_type_set_member_name.  Names are copied to the arena of the
 * description.  Failures set types->failed. */
#ifndef TRACETTA_FORMATS_CTF_WRITE_CTF_TYPE_NAMES_H
#define TRACETTA_FORMATS_CTF_WRITE_CTF_TYPE_NAMES_H

#include "formats/ctf/write/ctf_write.h"

/* Records the names of items [from, to) and of the standard packet members, before any item becomes
 * a member of the struct. */
void ctf_type_reserve_names(struct ctf_types *types, uint64_t structure, size_t from, size_t to);

/* Returns the number that distinguishes a member from others of its name: a count in the dialect,
 * otherwise from choose_name_number. */
unsigned ctf_type_choose_member_number(struct ctf_types *types, uint64_t structure, ttr_text name,
                                       ttr_id id, bool is_fixed);

/* Returns the name with an underscore as prefix. Valid until the next call. */
ttr_text ctf_type_prefixed_name(struct ctf_types *types, ttr_text name, unsigned number);

/* Returns true if the name, passed with an underscore as prefix, collides with another. Made-up
 * names must not collide with later fields, either. Babeltrace shows TSDL names without one
 * underscore, and rejects a name that is written as an earlier one is shown. */
bool ctf_type_is_name_collision(const struct ctf_types *types, uint64_t structure, ttr_text written,
                                bool is_made);

/* Names a member. TSDL names get an underscore as prefix, like LTTng's, so that they cannot be
 * keywords; readers show them without it. cpu_id stays, because readers search for it by name. */
void ctf_type_set_member_name(struct ctf_types *types, struct type_member *member, ttr_text name,
                              unsigned times, bool is_fixed);

/* Copies bytes to the description's arena. Returns "", and sets types->failed, if memory runs out.
 */
ttr_text ctf_type_copy_text(struct ctf_types *types, const void *bytes, size_t n);

#endif
