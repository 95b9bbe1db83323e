/* Names of struct members. With the CTF conventions, names are escaped so that our reader can
 * restore them; the second member of a name gets the number 2, and so on. Names of transcoded
 * fields stay as similar as the language allows; duplicates get the lowest number that makes them
 * unique. ctf_shape_types.c names types. */
#include "formats/ctf/write/ctf_type_names.h"

#include "base/hash.h"
#include "base/number.h"

ttr_text ctf_type_copy_text(struct ctf_types *types, const void *bytes, size_t n)
{
    const char *copy = arena_copy(&types->description->arena, bytes, n);
    types->failed |= !copy;
    return copy ? (ttr_text){copy, n} : (ttr_text){"", 0};
}

/* Returns true if the current struct may contain event attributes besides fields: it is a context
 * or, in v1.1, the payload. */
static bool has_attribute_members(const struct ctf_types *types)
{
    return types->root != ROOT_PAYLOAD || types->description->version == CTF_RFC_1_1;
}

/* Appends the name of a transcoded field to types->name. Replaces characters that TSDL does not
 * allow by underscores, because readers would not decode escapes. Appends _NUMBER if `number` is
 * above 1. */
static void append_plain_name(struct ctf_types *types, ttr_text name, unsigned number)
{
    char digits[NUMBER_MAX];
    bool is_identifier = types->description->version == CTF_1_8;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool is_word =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        buffer_add_byte(&types->name, is_identifier && !is_word ? '_' : (uint8_t)c);
    }
    if (number < 2)
        return;
    buffer_add_byte(&types->name, '_');
    buffer_add(&types->name, digits, number_format_u64(digits, number));
}

void ctf_type_set_member_name(struct ctf_types *types, struct type_member *member, ttr_text name,
                              unsigned times, bool is_fixed)
{
    bool is_cpu = !types->has_conventions && types->root == ROOT_PACKET_CONTEXT && name.n == 6 &&
                  memcmp(name.p, "cpu_id", 6) == 0;
    bool is_tsdl = types->description->version == CTF_1_8 && !is_cpu;
    buffer_clear(&types->name);
    if (is_tsdl)
        buffer_add_byte(&types->name, '_');
    if (!types->has_conventions)
        append_plain_name(types, name, times);
    else if (is_fixed)
        buffer_add(&types->name, name.p, name.n);
    else
        ctf_name_escape(&types->name, name, types->description->version != CTF_2,
                        has_attribute_members(types), times);
    types->failed |= types->name.failed;
    member->name = ctf_type_copy_text(types, types->name.bytes, types->name.n);
    member->shown = is_tsdl && member->name.n ? (ttr_text){member->name.p + 1, member->name.n - 1}
                                              : member->name;
}

static ttr_text strip_leading_underscores(ttr_text name)
{
    while (name.n && name.p[0] == '_')
        name = (ttr_text){name.p + 1, name.n - 1};
    return name;
}

/* Returns a hash of a member's name. In TSDL it is equal for names that differ only in leading
 * underscores, because some readers treat them as equal. */
static uint64_t hash_convention_name(struct ctf_types *types, ttr_text name, ttr_id id,
                                     bool is_fixed)
{
    if (types->description->version != CTF_1_8)
        return is_fixed ? UINT64_C(1) << 32 | types->at : id;
    buffer_clear(&types->name);
    if (is_fixed)
        buffer_add(&types->name, name.p, name.n);
    else
        ctf_name_escape(&types->name, name, true, has_attribute_members(types), 1);
    ttr_text plain =
        strip_leading_underscores((ttr_text){(const char *)types->name.bytes, types->name.n});
    types->failed |= types->name.failed;
    return hash_bytes(plain.p, plain.n);
}

/* Counts the members of struct `structure` with the name hash `key`. Returns their number,
 * including this one. */
static unsigned count_convention_name(struct ctf_types *types, uint64_t structure, uint64_t key)
{
    uint32_t *times = pair_map_get(&types->times, structure, key);
    if (times)
        return ++*times;
    types->failed |= !pair_map_put(&types->times, structure, key, 1);
    return 1;
}

/* Format of the values in types->times for transcoded fields, with the key (struct, name):
 * NAME_TAKEN if a member has the name, plus NAME_NUMBER times the last number that was appended to
 * the name. The names of all fields of a struct are added before its members are named, so that a
 * name with an appended number never equals the name of a later field. */
#define NAME_TAKEN 1u
/* value = NAME_TAKEN (or 0) + NAME_NUMBER * last appended number */
#define NAME_NUMBER 2u

ttr_text ctf_type_prefixed_name(struct ctf_types *types, ttr_text name, unsigned number)
{
    buffer_clear(&types->name);
    buffer_add_byte(&types->name, '_');
    append_plain_name(types, name, number);
    types->failed |= types->name.failed;
    return types->failed ? (ttr_text){"_", 1}
                         : (ttr_text){(const char *)types->name.bytes, types->name.n};
}

static ttr_text skip_underscore(ttr_text name)
{
    return (ttr_text){name.p + 1, name.n - 1};
}

static void store_name_state(struct ctf_types *types, uint64_t structure, ttr_text name,
                             uint32_t what)
{
    types->failed |= !pair_map_put(&types->times, structure, hash_bytes(name.p, name.n), what);
}

/* Returns true if an earlier member of the struct has the name, or, with also_later, a later one.
 */
static bool has_member_named(const struct ctf_types *types, uint64_t structure, ttr_text name,
                             bool also_later)
{
    const uint32_t *known = pair_map_get(&types->times, structure, hash_bytes(name.p, name.n));
    return known && (also_later || *known & NAME_TAKEN);
}

bool ctf_type_is_name_collision(const struct ctf_types *types, uint64_t structure, ttr_text written,
                                bool is_made)
{
    ttr_text name = skip_underscore(written);
    if (has_member_named(types, structure, name, is_made))
        return true;
    if (types->description->version != CTF_1_8)
        return false;
    bool shows_another = is_made && name.n && name.p[0] == '_' &&
                         has_member_named(types, structure, skip_underscore(name), true);
    return shows_another || has_member_named(types, structure, written, false);
}

/* Returns the lowest number that makes the name unique in its struct if appended; 1 if it is
 * unique without a number. */
static unsigned choose_name_number(struct ctf_types *types, uint64_t structure, ttr_text name)
{
    ttr_text written = ctf_type_prefixed_name(types, name, 1);
    const uint64_t ctx = hash_bytes(written.p + 1, written.n - 1);
    const uint32_t *known = pair_map_get(&types->times, structure, ctx);
    uint32_t before = known ? *known : 0, number = before >= NAME_NUMBER ? before / NAME_NUMBER : 1;
    if (!ctf_type_is_name_collision(types, structure, written, false)) {
        store_name_state(types, structure, skip_underscore(written), NAME_TAKEN);
        return 1;
    }
    do
        written = ctf_type_prefixed_name(types, name, ++number);
    while (!types->failed && ctf_type_is_name_collision(types, structure, written, true));
    store_name_state(types, structure, skip_underscore(written), NAME_TAKEN);
    types->failed |=
        !pair_map_put(&types->times, structure, ctx, number * NAME_NUMBER | (before & NAME_TAKEN));
    return number;
}

void ctf_type_reserve_names(struct ctf_types *types, uint64_t structure, size_t from, size_t to)
{
    static const char *const usual[] = {"timestamp_begin", "timestamp_end",  "content_size",
                                        "packet_size",     "packet_seq_num", "events_discarded"};
    bool is_packet = types->root == ROOT_PACKET_CONTEXT && types->members_n == 0;
    for (size_t i = from; i < to && !types->has_conventions && !types->failed;
         i += ctf_items_count_nested(types->items, i)) {
        const ttr_field *field = &types->items->field[i];
        store_name_state(types, structure,
                         skip_underscore(ctf_type_prefixed_name(
                             types, ttr_text_get(types->t, field->name_id), 1)),
                         0);
    }
    for (size_t i = 0; i < sizeof usual / sizeof *usual && is_packet && !types->has_conventions;
         i++)
        store_name_state(types, structure, (ttr_text){usual[i], strlen(usual[i])}, NAME_TAKEN);
}

unsigned ctf_type_choose_member_number(struct ctf_types *types, uint64_t structure, ttr_text name,
                                       ttr_id id, bool is_fixed)
{
    if (!types->has_conventions)
        return choose_name_number(types, structure, name);
    unsigned times =
        count_convention_name(types, structure, hash_convention_name(types, name, id, is_fixed));
    return is_fixed ? 1 : times;
}
