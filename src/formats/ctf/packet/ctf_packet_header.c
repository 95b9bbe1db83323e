/* Computes the field offsets of packet headers and contexts by visiting the types in decoding
 * order. Structures with a field of variable size or a variant do not have fixed offsets; they are
 * decoded by their layout. */
#include "formats/ctf/packet/ctf_packet_header.h"

#include "formats/ctf/description/ctf_description.h"

#define HEAD_BITS_MOST ((uint64_t)1 << 20)
#define UUID_BYTES UINT64_C(16)

static bool is_number_type(const struct type *type)
{
    return type->kind == TYPE_BITS || type->kind == TYPE_BOOL || type->kind == TYPE_UINT ||
           type->kind == TYPE_INT || type->kind == TYPE_FLAGS || type->kind == TYPE_FLOAT;
}

/* Returns true if a number consists of complete bytes, so that one load reads it. */
static bool is_byte_aligned_number(const struct type *type)
{
    return is_number_type(type) && !type->unit && type->bits > 0 && type->bits % 8 == 0;
}

/* Advances head->end to the alignment of the type. Returns false if the result is not a byte
 * boundary or exceeds the limit. */
static bool align_header_end(struct ctf_fixed_root *head, const struct type *type)
{
    const uint64_t mask = (UINT64_C(1) << type->align) - 1;
    head->end = (head->end + mask) & ~mask;
    return head->end % 8 == 0 && head->end < HEAD_BITS_MOST;
}

static bool append_header_field(struct ctf_fixed_root *head, const struct type *type,
                                uint64_t bytes)
{
    if (head->n == CTF_HEAD_PARTS)
        return false;
    head->part[head->n++] =
        (struct ctf_fixed_field){type, (uint32_t)(head->end / 8), (uint8_t)bytes};
    return true;
}

static bool add_header_number(struct ctf_fixed_root *head, const struct type *type)
{
    const bool is_power =
        type->bits == 8 || type->bits == 16 || type->bits == 32 || type->bits == 64;
    if (!is_byte_aligned_number(type) || !align_header_end(head, type))
        return false;
    if (type->role && (type->kind != TYPE_UINT || type->is_reversed || !is_power ||
                       !append_header_field(head, type, type->bits / 8)))
        return false;
    head->end += type->bits;
    return true;
}

static bool is_uuid_type(const struct type *type)
{
    return type->role == CTF_ROLE_UUID && type->count == UUID_BYTES;
}

static bool add_header_array(struct ctf_fixed_root *head, const struct type *type)
{
    const struct type *element = type->element;
    if (!is_byte_aligned_number(element) || element->role ||
        element->bits % (UINT64_C(1) << element->align) || type->count == 0 ||
        type->count > HEAD_BITS_MOST || !align_header_end(head, type))
        return false;
    const bool is_of_bytes =
        element->kind == TYPE_UINT && element->bits == 8 && !element->is_reversed;
    if (type->role &&
        (!is_uuid_type(type) || !is_of_bytes || !append_header_field(head, type, UUID_BYTES)))
        return false;
    head->end += type->count * element->bits;
    return true;
}

static bool add_header_blob(struct ctf_fixed_root *head, const struct type *type)
{
    if (!is_uuid_type(type) || type->reference.names_n || type->has_inline_length ||
        !align_header_end(head, type) || !append_header_field(head, type, UUID_BYTES))
        return false;
    head->end += UUID_BYTES * 8;
    return true;
}

static bool add_header_type(struct ctf_fixed_root *head, const struct type *type)
{
    bool is_fine = type->kind == TYPE_STRUCT && !type->role && align_header_end(head, type);
    switch (type->kind) {
    case TYPE_STRUCT:
        for (uint32_t i = 0; i < type->members_n && is_fine; i++)
            is_fine = add_header_type(head, type->members[i].type);
        return is_fine;
    case TYPE_ARRAY:
        return add_header_array(head, type);
    case TYPE_BLOB:
        return add_header_blob(head, type);
    default:
        return add_header_number(head, type);
    }
}

void ctf_fixed_root_init(struct ctf_fixed_root *head, const struct type *root, uint64_t begin)
{
    *head = (struct ctf_fixed_root){.begin = begin, .end = begin};
    head->is_fixed = root && begin % 8 == 0 && begin < HEAD_BITS_MOST &&
                     add_header_type(head, root) && head->end < HEAD_BITS_MOST;
}
