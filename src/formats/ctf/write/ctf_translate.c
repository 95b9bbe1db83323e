/* Counts the losses of a description: if it is printed in another metadata language for copied
 * packets, or if its events are transcoded.
 *
 * Copied packets lose something only if the source is CTF 2, because CTF 2 can express all of CTF
 * 1.8 that this project reads. The rules match those of tsdl_print.c. Each element of the
 * description is counted once, however many events use it. */
#include "formats/ctf/write/ctf_write.h"
#include "formats/ctf/metadata/tsdl/tsdl_types.h"

struct counting {
    struct ttr_writer *out;
    const struct type *const *roots;
    /* set of keys (struct type, 0): structs that are counted already */
    struct pair_map seen;
};

static void count_description_loss(const struct counting *c, enum ctf_loss loss)
{
    output_count_loss(c->out, loss, 0);
}

static bool is_identifier_text(ttr_text name)
{
    for (size_t i = 0; i < name.n; i++) {
        char letter = name.p[i], lower = (char)(letter | 0x20);
        if (!(lower >= 'a' && lower <= 'z') && !(letter >= '0' && letter <= '9') && letter != '_')
            return false;
    }
    return true;
}

/* Returns the type of a variant's selector; NULL if the path to it leads through anything but
 * structs. */
static const struct type *find_variant_selector(const struct counting *c, const struct type *type)
{
    const struct type *found =
        type->reference.root < ROOT_COUNT ? c->roots[type->reference.root] : NULL;
    for (uint32_t i = 0; found && i < type->reference.names_n; i++) {
        const struct type_member *member =
            found->kind == TYPE_STRUCT ? type_find_member(found, type->reference.names[i]) : NULL;
        found = member ? member->type : NULL;
    }
    return found;
}

static void count_type_losses(struct counting *c, const struct type *type, unsigned depth);

static void count_member_losses(struct counting *c, const struct type *type, unsigned depth)
{
    for (uint32_t i = 0; i < type->members_n; i++) {
        if (!is_identifier_text(type->members[i].shown.p ? type->members[i].shown
                                                         : type->members[i].name))
            count_description_loss(c, CTF_LOST_NAME);
        count_type_losses(c, type->members[i].type, depth + 1);
    }
}

static void count_type_losses(struct counting *c, const struct type *type, unsigned depth)
{
    if (!type || depth > TYPE_DEPTH_MAX)
        return;
    switch (type->kind) {
    case TYPE_BOOL:
    case TYPE_BITS:
    case TYPE_OPTIONAL:
        if (!type->role)
            count_description_loss(c, CTF_LOST_TYPE);
        break;
    case TYPE_BLOB:
        if (!type->role)
            count_description_loss(c, CTF_LOST_TYPE);
        if (type->media_type.n)
            count_description_loss(c, CTF_LOST_PROPERTY);
        break;
    case TYPE_FLAGS:
        count_description_loss(c, CTF_LOST_LABEL);
        break;
    case TYPE_VARIANT: {
        const struct type *selector = find_variant_selector(c, type);
        if (!selector || !selector->labels)
            count_description_loss(c, CTF_LOST_TYPE);
        break;
    }
    default:
        break;
    }
    if (type->members_n && !pair_map_get(&c->seen, (uintptr_t)type, 0)) {
        if (!pair_map_put(&c->seen, (uintptr_t)type, 0, 1))
            return;
        count_member_losses(c, type, depth);
    }
    count_type_losses(c, type->element, depth + 1);
}

static void count_text_loss(const struct counting *c, ttr_text text)
{
    if (text.n)
        count_description_loss(c, CTF_LOST_PROPERTY);
}

void ctf_count_property_losses(struct ttr_writer *out, const struct ctf_description *from,
                               enum ctf_version to)
{
    const struct counting c = {.out = out};
    bool is_same = to == CTF_2;
    if (from->version != CTF_2)
        return;
    count_text_loss(&c, from->attributes);
    count_text_loss(&c, is_same ? (ttr_text){"", 0} : from->name);
    count_text_loss(&c, is_same ? (ttr_text){"", 0} : from->ns);
    count_text_loss(&c, is_same || from->has_uuid ? (ttr_text){"", 0} : from->uid);
    for (size_t i = 0; i < from->clocks_n && !is_same; i++) {
        const struct ctf_clock *clock = from->clocks[i];
        uint8_t uuid[16];
        count_text_loss(&c, clock->ns);
        if (to == CTF_RFC_1_1 || clock->ns.n || !tsdl_parse_uuid(clock->uid, uuid))
            count_text_loss(&c, clock->uid);
        count_text_loss(&c, clock->origin_name);
        if (clock->has_accuracy)
            count_description_loss(&c, CTF_LOST_PROPERTY);
    }
    for (size_t i = 0; i < from->streams_n; i++) {
        const struct ctf_stream_class *stream = from->streams[i];
        count_text_loss(&c, stream->attributes);
        count_text_loss(&c, is_same ? (ttr_text){"", 0} : stream->ns);
        for (size_t k = 0; k < stream->events_n; k++) {
            const struct ctf_event_class *event = stream->events[k];
            bool is_understood = event->has_log_level ||
                                 /* log level and EMF URI are not lost: other versions store them
                                  * as properties of event classes */
                                 event->emf_uri.n;
            count_text_loss(&c, is_understood ? (ttr_text){"", 0} : event->attributes);
            count_text_loss(&c, is_same ? (ttr_text){"", 0} : event->ns);
        }
    }
}

void ctf_count_translation_losses(struct ttr_writer *out, const struct ctf_description *from,
                                  enum ctf_version to)
{
    const struct type *roots[ROOT_COUNT] = {from->packet_header};
    struct counting c = {.out = out, .roots = roots};
    if (from->version != CTF_2 || to == CTF_2)
        return;
    pair_map_init(&c.seen, &out->t->counted);
    ctf_count_property_losses(out, from, to);
    count_type_losses(&c, roots[ROOT_PACKET_HEADER], 0);
    for (size_t i = 0; i < from->streams_n; i++) {
        const struct ctf_stream_class *stream = from->streams[i];
        roots[ROOT_PACKET_CONTEXT] = stream->packet_context;
        roots[ROOT_EVENT_HEADER] = stream->event_header;
        roots[ROOT_COMMON_CONTEXT] = stream->event_context;
        for (size_t k = ROOT_PACKET_CONTEXT; k <= ROOT_COMMON_CONTEXT; k++)
            count_type_losses(&c, roots[k], 0);
        for (size_t k = 0; k < stream->events_n; k++) {
            roots[ROOT_SPECIFIC_CONTEXT] = stream->events[k]->context;
            roots[ROOT_PAYLOAD] = stream->events[k]->payload;
            count_type_losses(&c, roots[ROOT_SPECIFIC_CONTEXT], 0);
            count_type_losses(&c, roots[ROOT_PAYLOAD], 0);
        }
        roots[ROOT_SPECIFIC_CONTEXT] = roots[ROOT_PAYLOAD] = NULL;
    }
    pair_map_free(&c.seen);
}
