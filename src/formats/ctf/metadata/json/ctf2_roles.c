/* Roles of fields for a packet reader. A role is allowed only in certain roots and for certain
 * classes; anywhere else it is an error. */
#include "base/status.h"
#include "formats/ctf/metadata/json/ctf2_parser.h"

/* Fails if fields of this class cannot have this role. */
static ttr_status check_role_class(struct ctf2_parser *parser, const struct json_value *json,
                                   const struct ctf2_role *role, const struct type *type)
{
    if (role->is_for_blob != (type->kind == TYPE_BLOB))
        return ctf2_fail(parser, json, "this role is for %s",
                         role->is_for_blob ? "blobs" : "unsigned integers");
    if (role->role == CTF_ROLE_UUID && type->count != 16)
        return ctf2_fail(parser, json, "a blob with this role must have a length of 16");
    if (role->role == CTF_ROLE_MAGIC && (type->kind != TYPE_UINT || type->bits != 32))
        return ctf2_fail(parser, json, "a magic number must be a fixed-length integer of 32 bits");
    return TTR_OK;
}

/* Fails if the role is not allowed in this structure, such as the packet header. */
static ttr_status check_role_root(struct ctf2_build *build, const struct json_value *json,
                                  const struct ctf2_role *role)
{
    struct ctf2_parser *parser = build->parser;
    if (!(role->roots & 1u << build->root))
        return ctf2_fail(parser, json, "this role has no place here");
    if (role->needs_clock && !build->clock)
        return ctf2_fail(parser, json, "this role needs a default clock of the data stream class");
    if (role->role == CTF_ROLE_UUID && !parser->description->has_uuid)
        return ctf2_fail(parser, json, "this role needs a UUID in the preamble");
    if (role->role == CTF_ROLE_MAGIC && (build->depth != 1 || build->frames[0].done_n != 0))
        return ctf2_fail(parser, json,
                         "the magic number must be the first member of the packet header");
    return TTR_OK;
}

/* Sets the role of a field, which can have only one. If a field has the roles of both total and
 * content length, keeps the total length; the content length then equals it unless another field
 * declares it. */
static void set_field_role(struct ctf2_build *build, const struct json_value *json,
                           const struct ctf2_role *role, struct type *type)
{
    uint16_t added = (uint16_t)(build->root == ROOT_PACKET_CONTEXT && role->in_packet_context
                                    ? role->in_packet_context
                                    : role->role);
    if (role->needs_clock)
        type->clock = build->clock;
    bool both_sizes = (type->role == CTF_ROLE_PACKET_SIZE && added == CTF_ROLE_CONTENT_SIZE) ||
                      (type->role == CTF_ROLE_CONTENT_SIZE && added == CTF_ROLE_PACKET_SIZE);
    if (both_sizes)
        type->role = CTF_ROLE_PACKET_SIZE;
    else if (type->role == CTF_ROLE_NONE || type->role == added)
        type->role = added;
    else
        ctf2_add_diagnostic(build->parser, TTR_SEVERITY_ODD, json, "ctf.two-roles",
                            "a field has more than one role: \"%.60s\" is not used",
                            json->token.text);
}

ttr_status ctf2_get_roles(struct ctf2_build *build, const struct json_value *json,
                          struct type *type)
{
    struct ctf2_parser *parser = build->parser;
    if (!json)
        return TTR_OK;
    ttr_status status = ctf2_expect_kind(parser, json, JSON_ARRAY);
    build->is_contextual |= json->count > 0;
    for (const struct json_value *item = json->first; item && status == TTR_OK; item = item->next) {
        status = ctf2_expect_kind(parser, item, JSON_TEXT);
        const struct ctf2_role *role =
            status == TTR_OK ? ctf2_parse_role(item->token.text, item->token.n) : NULL;
        if (!role && status == TTR_OK)
            ctf2_add_diagnostic(parser, TTR_SEVERITY_REMARK, item, "ctf.unknown-role",
                                "the role \"%.60s\" is not known", item->token.text);
        if (!role)
            continue;
        status = check_role_class(parser, item, role, type);
        if (status == TTR_OK && !build->is_definition) {
            status = check_role_root(build, item, role);
            if (status == TTR_OK)
                set_field_role(build, item, role, type);
        }
    }
    return status;
}
