/* Names of struct members, for ctf_shape_types.c: unique in their struct, and valid in the target's
 * language.
 *
 * Order of calls per struct: ctf_type_reserve_names once, then for each member
 * ctf_type_choose_member_number and ctf_type_set_member_name. `structure` is the number of the
 * struct (types->structs). Names are copied to the arena of the description. Failures set
 * types->failed. */
#ifndef TRACETTA_FORMATS_CTF_WRITE_CTF_TYPE_NAMES_H
#define TRACETTA_FORMATS_CTF_WRITE_CTF_TYPE_NAMES_H

#include "formats/ctf/write/ctf_write.h"

/* Adds the names of the items [from, to) and of the standard members of packet contexts to the map
 * of names. Called before the first member of the struct is named. */
void ctf_type_reserve_names(struct ctf_types *types, uint64_t structure, size_t from, size_t to);

/* Returns the number that ctf_type_set_member_name appends to distinguish members of the same
 * name; 1 if it appends none. With the CTF conventions, it is the count of members with this name;
 * for transcoded fields, the lowest unused number. */
unsigned ctf_type_choose_member_number(struct ctf_types *types, uint64_t structure, ttr_text name,
                                       ttr_id id, bool is_fixed);

/* Returns "_" + name, with _NUMBER appended if `number` is above 1. Valid until the next call. */
ttr_text ctf_type_prefixed_name(struct ctf_types *types, ttr_text name, unsigned number);

/* Returns true if another member has the name `written`, which starts with an underscore. is_made:
 * the writer chose the name, so it must not equal the name of a later field either. In TSDL, names
 * with and without the underscore count as equal: babeltrace removes it and rejects duplicates. */
bool ctf_type_is_name_collision(const struct ctf_types *types, uint64_t structure, ttr_text written,
                                bool is_made);

/* Sets the member's name. TSDL names get an underscore as prefix, as LTTng does, so that they
 * cannot be keywords; readers remove it. cpu_id gets no prefix, because readers search for that
 * name. */
void ctf_type_set_member_name(struct ctf_types *types, struct type_member *member, ttr_text name,
                              unsigned times, bool is_fixed);

/* Copies bytes to the description's arena. If memory runs out, returns "" and sets types->failed.
 */
ttr_text ctf_type_copy_text(struct ctf_types *types, const void *bytes, size_t n);

#endif
