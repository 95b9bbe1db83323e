/* Metadata of V1 to V5: what is said of a type of events, with its fields.
 *
 *   V3 to V5   i32 number   z16 provider   i32 id   z16 name   i64 keywords   i32 version   i32 level   i32 fields   fields
 *              V5 then: i32 bytes, u8 kind, so many bytes ...     kind 1: u8 opcode     kind 2: i32 fields, fields of the second kind
 *   V1, V2     z16 provider (V1: a GUID)   i32 id   i32 version   i32 bytes   and where those are not 0, from the id on as above
 *   field      i32 code   [object: i32 fields, fields]   z16 name
 *   second     i32 bytes, its own included   z16 name   i32 code   [array: i32 code of the elements]   [object: i32 fields, fields]   rest
 *
 * Metadata may end behind the level: then nothing is known of the fields.
 *
 * Metadata can lie: runtimes before .NET 5 declare booleans of 4 bytes and write 1, and declare bytes of enumerations and write 4.  So a type
 * that has such fields is read in each way; see nettrace_readings.c. */
#include <stdio.h>

#include "base/status.h"
#include "base/utf.h"
#include "encodings/clr_events.h"
#include "formats/nettrace/nettrace.h"
#include "model/activity.h"

#define DEPTH_MAX 24u
#define LEAST_FIELD 6u /* bytes a declared field takes */

/* Types under construction. */
struct making {
    struct nettrace_reader *reader;
    struct cursor c;
    uint8_t could_lie;    /* see nettrace_readings.c */
    bool is_second;       /* fields of the second kind */
    bool is_out_of_memory;
    const char *problem;  /* or NULL */
};

/* Reads UTF-16 up to its zero as UTF-8 in the arena; NULL (and the cursor failed, or memory is out) without a zero. */
static const char *take_z16(struct cursor *c, struct arena *arena, size_t *n)
{
    size_t units = 0;
    while (cursor_left(c) / 2 > units && load_u16le(c->p + 2 * units) != 0)
        units++;
    if (cursor_left(c) / 2 <= units) {
        c->failed = true;
        return NULL;
    }
    char *to = arena_take(arena, 3 * units + 1);
    *n = to ? utf8_from_utf16le(to, c->p, units) : 0;
    (void)cursor_skip(c, 2 * units + 2);
    return to;
}

static struct type *new_type(struct making *making, struct type type)
{
    struct type *own = arena_take(&making->reader->arena, sizeof *own);
    making->is_out_of_memory |= !own;
    type.align = 3;
    if (own)
        *own = type;
    return own;
}

const struct type *nettrace_plain_type(uint32_t code)
{
    static const struct type plain[] = {
        [NETTRACE_BOOLEAN] = {.kind = TYPE_BOOL, .bits = 32, .align = 3},
        [NETTRACE_CHAR] = {.kind = TYPE_TEXT, .encoding = ENCODING_UTF16LE, .bits = 16, .count = 2, .align = 3},
        [NETTRACE_I8] = {.kind = TYPE_INT, .bits = 8, .align = 3},
        [NETTRACE_U8] = {.kind = TYPE_UINT, .bits = 8, .align = 3},
        [NETTRACE_I16] = {.kind = TYPE_INT, .bits = 16, .align = 3},
        [NETTRACE_U16] = {.kind = TYPE_UINT, .bits = 16, .align = 3},
        [NETTRACE_I32] = {.kind = TYPE_INT, .bits = 32, .align = 3},
        [NETTRACE_U32] = {.kind = TYPE_UINT, .bits = 32, .align = 3},
        [NETTRACE_I64] = {.kind = TYPE_INT, .bits = 64, .align = 3},
        [NETTRACE_U64] = {.kind = TYPE_UINT, .bits = 64, .align = 3},
        [NETTRACE_F32] = {.kind = TYPE_FLOAT, .bits = 32, .align = 3},
        [NETTRACE_F64] = {.kind = TYPE_FLOAT, .bits = 64, .align = 3},
        [NETTRACE_DECIMAL] = {.kind = TYPE_BLOB, .count = 16, .align = 3, .role = NETTRACE_ROLE_DECIMAL},
        [NETTRACE_DATE_TIME] = {.kind = TYPE_UINT, .bits = 64, .align = 3, .role = NETTRACE_ROLE_DATE},
        [NETTRACE_GUID] = {.kind = TYPE_BLOB, .count = 16, .align = 3, .role = NETTRACE_ROLE_GUID},
        [NETTRACE_STRING] = {.kind = TYPE_STRING, .encoding = ENCODING_UTF16LE, .bits = 16, .align = 3},
    };
    return code < sizeof plain / sizeof *plain && plain[code].kind != TYPE_NONE ? &plain[code] : NULL;
}

static struct type *take_fields(struct making *making, unsigned depth);

/* The type that a code begins; what follows it is at the cursor. */
static const struct type *take_type(struct making *making, uint32_t code, unsigned depth)
{
    static const struct type u16 = {.kind = TYPE_UINT, .bits = 16, .align = 3};
    if (depth >= DEPTH_MAX) {
        making->problem = "objects and arrays inside one another, too deep";
        return NULL;
    }
    if (code == NETTRACE_OBJECT)
        return take_fields(making, depth + 1);
    if (code != NETTRACE_ARRAY) {
        const struct type *type = nettrace_plain_type(code);
        making->could_lie |= code == NETTRACE_BOOLEAN ? 1 : code == NETTRACE_U8 ? 2 : 0;
        making->problem = type ? making->problem : "a field has a type that is not known";
        return type;
    }
    uint32_t of = cursor_u32le(&making->c);
    const struct type *element = of == NETTRACE_CHAR ? &u16 : take_type(making, of, depth + 1);
    if (of == NETTRACE_CHAR)
        return new_type(making, (struct type){.kind = TYPE_SEQUENCE, .has_inline_length = true, .length_type = &u16, .element = element,
                                              .role = NETTRACE_ROLE_TEXT16});
    return element ? new_type(making, (struct type){.kind = TYPE_SEQUENCE, .has_inline_length = true, .length_type = &u16, .element = element})
                   : NULL;
}

static bool take_name(struct making *making, struct type_member *member)
{
    size_t n = 0;
    const char *name = take_z16(&making->c, &making->reader->arena, &n);
    making->is_out_of_memory |= !name && !making->c.failed;
    member->name = (ttr_text){name ? name : "", n};
    return name != NULL;
}

static bool take_field(struct making *making, struct type_member *member, unsigned depth)
{
    if (!making->is_second) {
        member->type = take_type(making, cursor_u32le(&making->c), depth);
        return member->type && take_name(making, member);
    }
    struct cursor all = making->c;
    uint32_t size = cursor_u32le(&making->c);
    if (size < 4 || !cursor_skip(&all, size) || !take_name(making, member))
        return false;
    member->type = take_type(making, cursor_u32le(&making->c), depth);
    if (!member->type || making->c.failed || making->c.p > all.p)
        return false;
    making->c = all;
    return true;
}

/* i32 fields, fields; NULL with a problem, or memory is out. */
static struct type *take_fields(struct making *making, unsigned depth)
{
    uint32_t n = cursor_u32le(&making->c);
    if (n > cursor_left(&making->c) / LEAST_FIELD) {
        making->problem = "more fields are announced than there are";
        return NULL;
    }
    struct type_member *members = arena_take(&making->reader->arena, n ? n * sizeof *members : 1);
    making->is_out_of_memory |= !members;
    for (uint32_t i = 0; members && i < n; i++) {
        members[i] = (struct type_member){.name = {"", 0}};
        if (!take_field(making, &members[i], depth) || making->c.failed) {
            making->problem = making->problem ? making->problem : "a field is not whole";
            return NULL;
        }
    }
    return members ? new_type(making, (struct type){.kind = TYPE_STRUCT, .members = members, .members_n = n}) : NULL;
}

/* The fields at the cursor, which moves behind them. */
static ttr_status take_all(struct nettrace_reader *reader, struct cursor *c, bool is_second, struct nettrace_said *said)
{
    struct making making = {.reader = reader, .c = *c, .is_second = is_second};
    said->root = take_fields(&making, 0);
    if (!said->root && !making.is_out_of_memory)
        input_note(reader->in, TTR_NOTE_ODD, c->offset, "nettrace.bad-metadata", "the fields of \"%s\" are not decoded: %s",
                   ttr_text_get(reader->t, said->name).p, making.problem ? making.problem : "they are not whole");
    said->could_lie = making.could_lie;
    *c = making.c;
    c->failed |= !said->root;
    return making.is_out_of_memory ? fail_memory(reader->error) : TTR_OK;
}

/* What may stand behind the fields in V5. */
static ttr_status take_extras(struct nettrace_reader *reader, struct cursor *c, struct nettrace_said *said)
{
    while (cursor_left(c) >= 5) {
        uint32_t size = cursor_u32le(c);
        uint8_t kind = cursor_u8(c);
        struct cursor extra = cursor_part(c, size);
        if (extra.failed) {
            input_note(reader->in, TTR_NOTE_ODD, c->offset, "nettrace.bad-metadata", "what follows the fields of \"%s\" is not whole",
                       ttr_text_get(reader->t, said->name).p);
            return TTR_OK;
        }
        if (kind == NETTRACE_EXTRA_OPCODE && size >= 1)
            said->opcode = cursor_u8(&extra);
        if (kind != NETTRACE_EXTRA_PARAMS)
            continue;
        ttr_status status = take_all(reader, &extra, true, said);
        if (status != TTR_OK)
            return status;
    }
    return TTR_OK;
}

static ttr_id take_text(struct nettrace_reader *reader, struct cursor *c, bool *is_out_of_memory)
{
    size_t n = 0;
    const char *text = take_z16(c, &reader->scratch, &n);
    uint32_t id = text ? intern_add(&reader->t->strings, text, n) : 0;
    *is_out_of_memory |= id == UINT32_MAX || (!text && !c->failed);
    return id == UINT32_MAX ? 0 : id;
}

/* V1 names its providers by GUIDs. */
static ttr_id take_provider_guid(struct nettrace_reader *reader, struct cursor *c, bool *is_out_of_memory)
{
    static const struct {
        uint32_t first;
        const char *name;
    } known[] = {
        {0xe13c0d23, "Microsoft-Windows-DotNETRuntime"},
        {0xa669021c, "Microsoft-Windows-DotNETRuntimeRundown"},
        {0x763fd754, "Microsoft-Windows-DotNETRuntimePrivate"},
        {0x2e5dba47, "System.Threading.Tasks.TplEventSource"},
    };
    char text[40];
    const uint8_t *guid = cursor_take(c, 16);
    if (!guid)
        return 0;
    size_t n = nettrace_guid_text(text, guid);
    const char *name = text;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (load_u32le(guid) == known[i].first) {
            name = known[i].name;
            n = strlen(name);
        }
    uint32_t id = intern_add(&reader->t->strings, name, n);
    *is_out_of_memory |= id == UINT32_MAX;
    return id == UINT32_MAX ? 0 : id;
}

/* Which of the runtime's own events begin and end something on one thread. */
static uint8_t opcode_of(const char *name)
{
    static const char *const tasks[] = {"AssemblyLoader/", "Contention", "ExceptionCatch", "ExceptionFilter", "ExceptionFinally", "GCFinalizers",
                                        "GCRestartEE", "GCSuspendEE", "TieredCompilation/BackgroundJit", "TypeLoad/", "WaitHandleWait"};
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        const char *rest = name + strlen(tasks[i]);
        if (strncmp(name, tasks[i], strlen(tasks[i])) != 0)
            continue;
        if (strncmp(rest, "Start", 5) == 0 || strncmp(rest, "Begin", 5) == 0)
            return ACTIVITY_START;
        if (strncmp(rest, "Stop", 4) == 0 || strncmp(rest, "End", 3) == 0)
            return ACTIVITY_STOP;
    }
    return 0;
}

/* An event of the runtime's own comes without name and fields, which are known beforehand; what is not known of its name is provider/id. */
bool nettrace_name_event(struct nettrace_reader *reader, struct nettrace_said *said)
{
    char text[300];
    ttr_text provider = ttr_text_get(reader->t, said->provider);
    const struct clr_event *known = clr_event_find(provider, said->id, said->version);
    if (known && (!said->root || said->root->members_n == 0) && !said->name) {
        const struct clr_making making = {.arena = &reader->arena, .pointer_bytes = reader->pointer_bytes, .guid_role = NETTRACE_ROLE_GUID};
        uint32_t id = intern_add(&reader->t->strings, known->name, strlen(known->name));
        said->root = clr_event_type(&making, known);
        said->is_known = true;
        said->opcode = opcode_of(known->name);
        said->name = id == UINT32_MAX ? 0 : id;
        return said->root && said->name;
    }
    if (said->name)
        return true;
    int n = snprintf(text, sizeof text, "%.*s/%u", (int)(provider.n < 256 ? provider.n : 256), provider.p, said->id);
    uint32_t id = intern_add(&reader->t->strings, text, n > 0 ? (size_t)n : 0);
    said->name = id == UINT32_MAX ? 0 : id;
    return id != UINT32_MAX;
}

/* What stands before the id in each version. */
static bool take_beginning(struct nettrace_reader *reader, struct cursor *c, struct nettrace_said *said)
{
    bool is_out_of_memory = false;
    if (reader->version >= 3)
        said->number = cursor_u32le(c);
    said->provider = reader->version == 1 ? take_provider_guid(reader, c, &is_out_of_memory) : take_text(reader, c, &is_out_of_memory);
    said->id = cursor_u32le(c);
    if (reader->version < 3) {
        said->version = cursor_u32le(c);
        uint32_t more = cursor_u32le(c);
        if (more)
            (void)cursor_u32le(c); /* the id again */
    }
    return !is_out_of_memory;
}

static ttr_status refuse(struct nettrace_reader *reader, const struct cursor *c)
{
    input_note(reader->in, TTR_NOTE_ODD, c->offset, "nettrace.bad-metadata",
               "metadata that end before their provider and id; events of theirs are passed over");
    return TTR_OK;
}

ttr_status nettrace_metadata(struct nettrace_reader *reader, struct cursor *c, uint64_t number)
{
    struct nettrace_said said = {.bytes = c->p, .bytes_n = cursor_left(c)};
    struct cursor start = *c;
    bool is_out_of_memory = false;
    ttr_status status = TTR_OK;
    said.number = (uint32_t)number;
    if (!take_beginning(reader, c, &said))
        return fail_memory(reader->error);
    if (c->failed)
        return refuse(reader, &start);
    said.name = cursor_left(c) ? take_text(reader, c, &is_out_of_memory) : 0;
    said.keyword = cursor_u64le(c);
    said.version = cursor_u32le(c);
    said.level = cursor_u32le(c);
    if (is_out_of_memory)
        return fail_memory(reader->error);
    if (!c->failed && cursor_left(c) >= 4)
        status = take_all(reader, c, false, &said);
    if (status == TTR_OK && !c->failed && reader->version >= 4)
        status = take_extras(reader, c, &said);
    if (status != TTR_OK)
        return status;
    if (!nettrace_name_event(reader, &said))
        return fail_memory(reader->error);
    arena_reset(&reader->scratch);
    return nettrace_type_add(reader, &said, start.offset);
}
