/* Types that RFC v1.1 fixes: packet header (section 5) and event headers (6.1). Also finds the
 * section of a stream file.
 *
 * Bits of type 1 (little-endian; in big-endian files, the id is in the highest 5 bits):
 *   [0..4] id | [5..31] timestamp
 *   id = 31: [0..31] id | [32..95] timestamp follow directly, then alignment of 64-bit integers
 *
 * Bits of type 2:
 *   [0..31] timestamp | [32..47] id
 *   id = 65535: alignment of 64-bit integers, then [0..63] timestamp | [64..95] id
 *
 * Fields in a header are not aligned individually. */
#include <string.h>

#include "formats/ctf/metadata/rfc11/rfc11_types.h"

static ttr_text static_text(const char *text)
{
    return (ttr_text){text, strlen(text)};
}

struct fixed_field {
    const char *name;
    uint8_t bits;
    uint8_t role;
};

/* Makes a struct of consecutive unsigned integers. Reserves memory for `more` members that are
 * added later. */
static struct rfc11_type *make_fixed_struct(struct ctf_description *description,
                                            const struct fixed_field *fields, uint32_t n,
                                            uint32_t more)
{
    struct type_member *members = arena_alloc(&description->arena, (n + more) * sizeof *members);
    if (!members)
        return NULL;
    memset(members, 0, (n + more) * sizeof *members);
    for (uint32_t i = 0; i < n; i++) {
        struct rfc11_type *made = rfc11_add_type(description, TYPE_UINT, RULE_FIXED);
        if (!made)
            return NULL;
        made->type.bits = fields[i].bits;
        made->type.align = fields[i].bits % 8 ? 0 : 3;
        made->type.role = fields[i].role;
        made->type.is_big_endian = description->is_big_endian;
        bool is_time = fields[i].role == CTF_ROLE_TIME || fields[i].role == CTF_ROLE_TIME_BEGIN ||
                       fields[i].role == CTF_ROLE_TIME_END;
        made->type.clock = is_time ? rfc11_get_state(description)->clock : NULL;
        members[i] = (struct type_member){.name = static_text(fields[i].name),
                                          .shown = static_text(fields[i].name),
                                          .type = &made->type};
    }
    struct rfc11_type *made = rfc11_add_type(description, TYPE_STRUCT, RULE_FIXED);
    if (made) {
        made->type.align = 3;
        made->members = members;
        made->type.members = members;
        made->type.members_n = n + more;
    }
    return made;
}

bool rfc11_make_packet_header(struct ctf_description *description)
{
    static const struct fixed_field fields[] = {
        {"magic", 32, CTF_ROLE_MAGIC},
        {"session_id", 32, CTF_ROLE_NONE},
        {"content_size", 32, CTF_ROLE_CONTENT_SIZE},
        {"packet_size", 32, CTF_ROLE_PACKET_SIZE},
        {"checksum", 32, CTF_ROLE_NONE},
        {"section_packet_count", 32, CTF_ROLE_SEQUENCE},
        {"timestamp_begin", 64, CTF_ROLE_TIME_BEGIN},
        {"timestamp_end", 64, CTF_ROLE_TIME_END},
        {"events_discarded", 32, CTF_ROLE_DISCARDED},
        {"section_packet_count_bits", 8, CTF_ROLE_NONE},
        {"compression_scheme", 8, CTF_ROLE_NONE},
        {"encryption_scheme", 8, CTF_ROLE_NONE},
        {"checksum_scheme", 8, CTF_ROLE_NONE},
    };
    struct rfc11_type *made =
        make_fixed_struct(description, fields, sizeof fields / sizeof *fields, 0);
    description->packet_header = made ? &made->type : NULL;
    return made != NULL;
}

/* Makes an optional type for the extended id and time. It is present if the id in the header
 * equals `escape`. */
static struct rfc11_type *make_header_extension(struct ctf_description *description,
                                                const struct rfc11_type *extension, uint64_t escape)
{
    struct rfc11_type *made = rfc11_add_type(description, TYPE_OPTIONAL, RULE_FIXED);
    struct type_range *range = arena_alloc(&description->arena, sizeof *range);
    ttr_text *name = arena_alloc(&description->arena, sizeof *name);
    if (!made || !range || !name)
        return NULL;
    *range = (struct type_range){.low = escape, .high = escape};
    *name = static_text("id");
    made->type.element = &extension->type;
    made->type.ranges = range;
    made->type.ranges_n = 1;
    made->type.reference =
        (struct type_reference){.names = name, .names_n = 1, .root = ROOT_EVENT_HEADER};
    return made;
}

/* Sets the last member of a struct; make_fixed_struct reserved memory for it. */
static void set_last_member(struct rfc11_type *made, const char *name,
                            const struct rfc11_type *type)
{
    made->members[made->type.members_n - 1] = (struct type_member){
        .name = static_text(name), .shown = static_text(name), .type = &type->type};
}

static struct rfc11_type *make_event_header_type_1(struct ctf_description *description,
                                                   uint8_t time)
{
    const struct fixed_field compact[] = {{"id", 5, CTF_ROLE_EVENT_ID}, {"timestamp", 27, time}};
    const struct fixed_field extended[] = {{"id", 32, CTF_ROLE_EVENT_ID}, {"timestamp", 64, time}};
    struct rfc11_type *end = rfc11_add_type(description, TYPE_STRUCT, RULE_HEADER);
    struct rfc11_type *extension = make_fixed_struct(description, extended, 2, 1);
    struct rfc11_type *header = make_fixed_struct(description, compact, 2, 1);
    struct rfc11_type *optional =
        extension ? make_header_extension(description, extension, RFC11_ID_EXTENDED_1) : NULL;
    if (!end || !header || !optional)
        return NULL;
    end->natural = 64;
    set_last_member(extension, "end", end);
    header->rule = RULE_HEADER;
    header->natural = 32;
    set_last_member(header, "extended", optional);
    return header;
}

static struct rfc11_type *make_event_header_type_2(struct ctf_description *description,
                                                   uint8_t time)
{
    const struct fixed_field compact[] = {{"timestamp", 32, time}, {"id", 16, CTF_ROLE_EVENT_ID}};
    const struct fixed_field extended[] = {{"timestamp", 64, time}, {"id", 32, CTF_ROLE_EVENT_ID}};
    struct rfc11_type *extension = make_fixed_struct(description, extended, 2, 0);
    struct rfc11_type *header = make_fixed_struct(description, compact, 2, 1);
    struct rfc11_type *optional =
        extension ? make_header_extension(description, extension, RFC11_ID_EXTENDED_2) : NULL;
    if (!header || !optional)
        return NULL;
    extension->rule = header->rule = RULE_HEADER;
    extension->natural = 64;
    header->natural = 32;
    set_last_member(header, "extended", optional);
    return header;
}

/* Makes the event context that event_size = true requires: one field of 16 bits. */
static struct rfc11_type *make_size_context(struct ctf_description *description)
{
    struct rfc11_type *number = rfc11_add_type(description, TYPE_UINT, RULE_BASIC);
    struct rfc11_type *context = make_fixed_struct(description, NULL, 0, 1);
    if (!number || !context)
        return NULL;
    number->type.bits = number->natural = 16;
    number->type.is_big_endian = description->is_big_endian;
    context->rule = RULE_COMPOUND;
    set_last_member(context, "payload_size", number);
    return context;
}

/* Returns the event header of a section. Consecutive sections share one header if all their
 * relevant properties are equal. */
static struct rfc11_header *find_or_make_header(struct ctf_description *description,
                                                const struct ctf_stream_class *stream)
{
    struct rfc11_state *state = rfc11_get_state(description);
    struct rfc11_header *made = state ? &state->made : NULL;
    if (!made)
        return NULL;
    const uint8_t time = stream->rfc_has_no_time ? CTF_ROLE_NONE : CTF_ROLE_TIME;
    if (made->header && made->type == stream->rfc_header &&
        made->has_no_time == stream->rfc_has_no_time && made->clock == state->clock &&
        made->word_size == state->word_size && made->alignment == description->alignment &&
        made->is_big_endian == description->is_big_endian)
        return made;
    *made = (struct rfc11_header){.header = stream->rfc_header == 1
                                                ? make_event_header_type_1(description, time)
                                                : make_event_header_type_2(description, time),
                                  .clock = state->clock,
                                  .word_size = state->word_size,
                                  .type = stream->rfc_header,
                                  .alignment = (uint8_t)description->alignment,
                                  .is_big_endian = description->is_big_endian,
                                  .has_no_time = stream->rfc_has_no_time};
    return made->header ? made : NULL;
}

bool rfc11_make_event_header(struct ctf_description *description, struct ctf_stream_class *stream)
{
    struct rfc11_header *made = find_or_make_header(description, stream);
    if (!made)
        return false;
    stream->event_header = &made->header->type;
    stream->clock = stream->rfc_has_no_time ? NULL : rfc11_get_state(description)->clock;
    if (stream->rfc_has_event_size && !stream->event_context) {
        made->size = made->size ? made->size : make_size_context(description);
        if (!made->size)
            return false;
        stream->event_context = &made->size->type;
    }
    rfc11_align_new_types(description);
    return true;
}

/* Parses the CPU of a file called SECTION_N or SECTION-N. Returns false for other names. */
static bool parse_cpu_of_file(const char *file, size_t n, uint32_t *cpu)
{
    uint64_t number = 0;
    if (n < 2 || (file[0] != '_' && file[0] != '-'))
        return false;
    for (size_t i = 1; i < n; i++) {
        if (file[i] < '0' || file[i] > '9' || number > UINT32_MAX / 10)
            return false;
        number = number * 10 + (uint64_t)(file[i] - '0');
    }
    *cpu = (uint32_t)number;
    return number <= UINT32_MAX;
}

bool rfc11_is_file_of_section(ttr_text section, const char *file, bool *has_cpu, uint32_t *cpu)
{
    size_t n = strlen(file);
    *cpu = 0;
    *has_cpu = n > section.n;
    if (n < section.n || memcmp(file, section.p, section.n) != 0)
        return false;
    return !*has_cpu || parse_cpu_of_file(file + section.n, n - section.n, cpu);
}

const struct ctf_stream_class *rfc11_find_section_of_file(const struct ctf_description *description,
                                                          const char *file, bool *has_cpu,
                                                          uint32_t *cpu)
{
    const struct ctf_stream_class *best = NULL;
    *has_cpu = false;
    *cpu = 0;
    for (size_t i = 0; i < description->streams_n; i++) {
        const struct ctf_stream_class *stream = description->streams[i];
        bool is_of_cpu;
        uint32_t number;
        if ((best && stream->name.n <= best->name.n) ||
            !rfc11_is_file_of_section(stream->name, file, &is_of_cpu, &number))
            continue;
        best = stream;
        *has_cpu = is_of_cpu;
        *cpu = number;
    }
    return best;
}

/* Skips blanks and comments. Returns false if a comment is not closed. */
static bool skip_blanks_and_comments(const char *p, size_t n, size_t *at)
{
    while (*at < n) {
        size_t left = n - *at;
        const char *here = p + *at, *end;
        if (*here == ' ' || (*here >= '\t' && *here <= '\r'))
            (*at)++;
        else if (left > 1 && here[0] == '/' && here[1] == '*' &&
                 (end = memmem(here + 2, left - 2, "*/", 2)) != NULL)
            *at = (size_t)(end - p) + 2;
        else if (left > 1 && here[0] == '/' && here[1] == '/' &&
                 (end = memchr(here, '\n', left)) != NULL)
            *at = (size_t)(end - p) + 1;
        else
            return *here != '/';
    }
    return true;
}

bool rfc11_is_text(const uint8_t *bytes, size_t n)
{
    static const char *const words[] = {"trace", "type", "abstract_type", "section", "event"};
    static const char tsdl[] = "/* CTF 1.";
    const char *p = (const char *)bytes;
    size_t at = 0;
    if ((n >= sizeof tsdl - 1 && memcmp(p, tsdl, sizeof tsdl - 1) == 0) ||
        !skip_blanks_and_comments(p, n, &at))
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);
        if (n - at > length && memcmp(p + at, words[i], length) == 0 &&
            strchr(" \t\r\n{/", p[at + length]) && p[at + length])
            return true;
    }
    return false;
}
