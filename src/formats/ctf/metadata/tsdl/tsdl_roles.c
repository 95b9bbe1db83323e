/* Roles implied by field names in packet headers, packet contexts and event headers (CTF 1.8.3
 * sections 5.1, 5.2, 6.1 and 8). */
#include <string.h>

#include "formats/ctf/metadata/tsdl/tsdl_types.h"

static const struct {
    char name[20];
    uint8_t root, role;
} meanings[] = {
    {"magic", ROOT_PACKET_HEADER, CTF_ROLE_MAGIC},
    {"uuid", ROOT_PACKET_HEADER, CTF_ROLE_UUID},
    {"stream_id", ROOT_PACKET_HEADER, CTF_ROLE_STREAM_CLASS_ID},
    {"stream_instance_id", ROOT_PACKET_HEADER, CTF_ROLE_STREAM_ID},
    {"packet_size", ROOT_PACKET_CONTEXT, CTF_ROLE_PACKET_SIZE},
    {"content_size", ROOT_PACKET_CONTEXT, CTF_ROLE_CONTENT_SIZE},
    {"timestamp_begin", ROOT_PACKET_CONTEXT, CTF_ROLE_TIME_BEGIN},
    {"timestamp_end", ROOT_PACKET_CONTEXT, CTF_ROLE_TIME_END},
    {"events_discarded", ROOT_PACKET_CONTEXT, CTF_ROLE_DISCARDED},
    {"packet_seq_num", ROOT_PACKET_CONTEXT, CTF_ROLE_SEQUENCE},
    {"cpu_id", ROOT_PACKET_CONTEXT, CTF_ROLE_CPU},
    {"id", ROOT_EVENT_HEADER, CTF_ROLE_EVENT_ID},
    {"timestamp", ROOT_EVENT_HEADER, CTF_ROLE_TIME},
};

static bool ends_with(ttr_text text, const char *suffix)
{
    size_t n = strlen(suffix);
    return text.n >= n && memcmp(text.p + text.n - n, suffix, n) == 0;
}

enum ctf_role tsdl_find_role(enum type_root root, bool is_top, const struct type_member *member)
{
    ttr_text name = member->shown;
    if (root > ROOT_EVENT_HEADER || (root != ROOT_EVENT_HEADER && !is_top))
        return CTF_ROLE_NONE;
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (meanings[i].root == root && name.n == strlen(meanings[i].name) &&
            memcmp(name.p, meanings[i].name, name.n) == 0)
            return meanings[i].role;
    if (root == ROOT_PACKET_CONTEXT && member->type->clock)
        return ends_with(name, "_begin") ? CTF_ROLE_TIME_BEGIN
               : ends_with(name, "_end") ? CTF_ROLE_TIME_END
                                         : CTF_ROLE_NONE;
    return CTF_ROLE_NONE;
}

const char *tsdl_get_role_name(enum type_root root, enum ctf_role role)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (meanings[i].root == root && meanings[i].role == role)
            return meanings[i].name;
    return NULL;
}

bool tsdl_has_role(const struct type *type, enum ctf_role role)
{
    if (!type || type->role == role)
        return type != NULL;
    for (uint32_t i = 0; i < type->members_n; i++)
        if (tsdl_has_role(type->members[i].type, role))
            return true;
    return false;
}
