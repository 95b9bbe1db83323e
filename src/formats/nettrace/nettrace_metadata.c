/* Parser of metadata of V1 to V5: identity, name and fields of an event type.
 *
 * Layouts:
 *
 *   V3 to V5    i32 number   z16 provider   i32 id   z16 name   i64 keywords   i32 version
 *               i32 level   i32 n, n fields of form 1
 *   V5 then     tags: i32 size, u8 kind, content
 *               kind 1: u8 opcode      kind 2: i32 n, n fields of form 2
 *   V1, V2      z16 provider (V1: a GUID)   i32 id   i32 version   i32 size of all that follows
 *               if it is not 0: the same as above from the id on
 *   form 1      i32 code   [object: i32 n, n fields]   z16 name
 *   form 2      i32 size with itself   z16 name   i32 code   [array: i32 code of the elements]
 *               [object: i32 n, n fields]   rest
 *
 * Order of calls: nettrace_parse_metadata() parses the record, nettrace_fill_known_event() adds
 * name and fields from the runtime's manifest, nettrace_add_event_type() makes the type.
 *
 * Events of the runtime have neither name nor fields in their metadata; both come from the manifest
 * of the runtime (encodings/dotnet/clr_events.h), by provider, id and version. That includes the
 * events of the rundown, which declare methods and modules when tracing ends (nettrace_symbols.c).
 *
 * Failure: fields that cannot be parsed cost this type its fields, with a note (NET-META-8).
 * Without provider and id the record is damage, and its events are lost (NET-META-10). A record may
 * end after the level: the fields are then unknown.
 *
 * Metadata may be wrong: runtimes before .NET 5 declare booleans of 4 bytes and write 1, and
 * declare enumerations as bytes and write 4. Such types have several layouts, see
 * nettrace_layouts.c. */
#include <stdio.h>

#include "base/status.h"
#include "base/utf.h"
#include "encodings/dotnet/clr_events.h"
#include "formats/nettrace/nettrace.h"
#include "model/activity.h"

/* Parses the fields at the cursor into definition->root. is_second: the fields are in form 2. */
static ttr_status parse_fields(struct nettrace_reader *reader, struct cursor *c, bool is_second,
                               struct nettrace_definition *definition)
{
    struct clr_field_parser making = {.arena = &reader->arena, .c = *c, .is_second = is_second};
    definition->root = clr_parse_fields(&making);
    if (!definition->root && !making.is_out_of_memory)
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, c->offset, "nettrace.bad-metadata",
                             "the fields of \"%s\" are not decoded: %s",
                             ttr_text_get(reader->t, definition->name).p,
                             making.problem ? making.problem : "they are incomplete");
    definition->could_lie = making.could_lie | nettrace_get_earlier_count_bit(definition->root);
    *c = making.c;
    c->failed |= !definition->root;
    return making.is_out_of_memory ? fail_memory(reader->error) : TTR_OK;
}

/* V5: parses the tags after the fields. Skips tags of unknown kinds. */
static ttr_status parse_tags(struct nettrace_reader *reader, struct cursor *c,
                             struct nettrace_definition *definition)
{
    while (cursor_left(c) >= 5) {
        uint32_t size = cursor_u32le(c);
        uint8_t kind = cursor_u8(c);
        struct cursor extra = cursor_slice(c, size);
        if (extra.failed) {
            input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, c->offset, "nettrace.bad-metadata",
                                 "the tags after the fields of \"%s\" are incomplete",
                                 ttr_text_get(reader->t, definition->name).p);
            return TTR_OK;
        }
        if (kind == NETTRACE_EXTRA_OPCODE && size >= 1) {
            definition->opcode = cursor_u8(&extra);
            definition->has_opcode = true;
        }
        if (kind != NETTRACE_EXTRA_PARAMS)
            continue;
        ttr_status status = parse_fields(reader, &extra, true, definition);
        if (status != TTR_OK)
            return status;
    }
    return TTR_OK;
}

static ttr_id parse_z16_id(struct nettrace_reader *reader, struct cursor *c, bool *is_out_of_memory)
{
    size_t n = 0;
    const char *text = clr_read_z16(c, &reader->scratch, &n);
    uint32_t id = text ? intern_add(&reader->t->strings, text, n) : 0;
    *is_out_of_memory |= id == UINT32_MAX || (!text && !c->failed);
    return id == UINT32_MAX ? 0 : id;
}

/* Returns the provider name of a GUID that V1 stores; the GUID as text if it is unknown. */
static ttr_id parse_provider_guid(struct nettrace_reader *reader, struct cursor *c,
                                  bool *is_out_of_memory)
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
    const uint8_t *guid = cursor_read_bytes(c, 16);
    if (!guid)
        return 0;
    size_t n = clr_format_guid(text, guid);
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

/* Returns the opcode (begin or end) that the name of a runtime event implies; 0 if none. */
static uint8_t get_known_opcode(const char *name)
{
    static const char *const tasks[] = {"AssemblyLoader/",
                                        "BGCAllocWait",
                                        "Contention",
                                        "DebugExceptionProcessing",
                                        "ExceptionCatch",
                                        "ExceptionFilter",
                                        "ExceptionFinally",
                                        "GCFinalizers",
                                        "GCRestartEE",
                                        "GCSuspendEE",
                                        "ThreadPoolWorkerThreadRetirement",
                                        "TieredCompilation/BackgroundJit",
                                        "TypeLoad/",
                                        "WaitHandleWait"};
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

/* Returns true if the fields in the manifest apply: the metadata contain no fields, and the same
 * event name or none. */
static bool should_use_known_fields(const struct nettrace_definition *definition,
                                    const struct clr_event *known, ttr_text name)
{
    size_t n = strlen(known->name);
    return !definition->has_stored_fields && known->version <= definition->version &&
           (name.n == 0 || (name.n >= n && memcmp(name.p, known->name, n) == 0));
}

/* Adds to a definition what the runtime's manifest has of the event. If neither the manifest nor
 * the file contains its name, the name is "provider/id". */
bool nettrace_fill_known_event(struct nettrace_reader *reader,
                               struct nettrace_definition *definition)
{
    char text[300];
    ttr_text provider = ttr_text_get(reader->t, definition->provider),
             name = ttr_text_get(reader->t, definition->name);
    const struct clr_event *known = clr_find_event(provider, definition->id, definition->version);
    const struct clr_type_options making = {.arena = &reader->arena,
                                            .pointer_bytes = reader->pointer_bytes,
                                            .guid_role = NETTRACE_ROLE_GUID};
    definition->has_stored_fields = definition->root && definition->root->members_n > 0;
    if (known && should_use_known_fields(definition, known, name)) {
        definition->root = clr_make_event_type(&making, known);
        if (!definition->root)
            return false;
    } else if (known && definition->root &&
               !clr_add_event_labels(&reader->arena, known, definition->root)) {
        return false;
    }
    if (definition->name)
        return true;
    int n = known
                ? snprintf(text, sizeof text, "%s", known->name)
                : snprintf(text, sizeof text, "%.*s/%u", (int)(provider.n < 256 ? provider.n : 256),
                           provider.p, definition->id);
    uint32_t id = intern_add(&reader->t->strings, text, n > 0 ? (size_t)n : 0);
    definition->is_known = known != NULL;
    definition->opcode =
        known && !definition->opcode ? get_known_opcode(known->name) : definition->opcode;
    definition->name = id == UINT32_MAX ? 0 : id;
    return id != UINT32_MAX;
}

struct nettrace_type *nettrace_get_type_of_version(struct nettrace_type *type, uint8_t version)
{
    for (struct nettrace_type *other = type; other; other = other->next_version)
        if (other->version == version)
            return other;
    struct nettrace_definition definition = {
        .provider = type->provider, .name = type->name, .id = type->id, .version = version};
    if (type->has_stored_fields)
        return nettrace_type_add_version(type, version, type->layouts->root);
    return nettrace_fill_known_event(type->reader, &definition)
               ? nettrace_type_add_version(type, version, definition.root)
               : NULL;
}

/* Parses the members before the name: number, provider, id; in V1 and V2 also the version. Returns
 * false if memory runs out. */
static bool parse_identity(struct nettrace_reader *reader, struct cursor *c,
                           struct nettrace_definition *definition)
{
    bool is_out_of_memory = false;
    if (reader->version >= 3)
        definition->number = cursor_u32le(c);
    definition->provider = reader->version == 1 ? parse_provider_guid(reader, c, &is_out_of_memory)
                                                : parse_z16_id(reader, c, &is_out_of_memory);
    definition->id = cursor_u32le(c);
    if (reader->version < 3) {
        definition->version = cursor_u32le(c);
        uint32_t more = cursor_u32le(c);
        if (more)
            (void)cursor_u32le(c); /* the id is stored twice */
    }
    return !is_out_of_memory;
}

static void skip_z16(struct cursor *c)
{
    while (cursor_u16le(c) != 0)
        continue; /* the loop ends, because cursor_u16le() returns 0 after the end */
}

bool nettrace_metadata_is_usable(unsigned version, struct cursor c)
{
    if (version >= 3)
        (void)cursor_u32le(&c);
    if (version == 1)
        (void)cursor_skip(&c, 16);
    else
        skip_z16(&c);
    (void)cursor_u32le(&c);
    if (version < 3) {
        (void)cursor_u32le(&c);
        if (cursor_u32le(&c) != 0)
            (void)cursor_u32le(&c);
    }
    return !c.failed;
}

static ttr_status report_unusable_metadata(struct nettrace_reader *reader, const struct cursor *c)
{
    reader->has_bad_metadata = true;
    return input_add_damage(
        reader->in, c->offset, cursor_left(c), "nettrace.bad-metadata", reader->error,
        "metadata that end before their provider and id; their events are lost");
}

ttr_status nettrace_parse_metadata(struct nettrace_reader *reader, struct cursor *c,
                                   uint64_t number)
{
    struct nettrace_definition definition = {.bytes = c->p, .bytes_n = cursor_left(c)};
    struct cursor start = *c;
    bool is_out_of_memory = false;
    ttr_status status = TTR_OK;
    definition.number = (uint32_t)number;
    if (!nettrace_metadata_is_usable(reader->version, start))
        return report_unusable_metadata(reader, &start);
    if (!parse_identity(reader, c, &definition))
        return fail_memory(reader->error);
    /* V1 and V2 omit everything from here on if there are no fields */
    if (reader->version >= 3 || cursor_left(c)) {
        definition.name = cursor_left(c) ? parse_z16_id(reader, c, &is_out_of_memory) : 0;
        definition.keyword = cursor_u64le(c);
        definition.version = cursor_u32le(c);
        definition.level = cursor_u32le(c);
    }
    if (is_out_of_memory)
        return fail_memory(reader->error);
    if (!c->failed && cursor_left(c) >= 4)
        status = parse_fields(reader, c, false, &definition);
    if (status == TTR_OK && !c->failed && reader->version >= 4)
        status = parse_tags(reader, c, &definition);
    if (status != TTR_OK)
        return status;
    if (!nettrace_fill_known_event(reader, &definition))
        return fail_memory(reader->error);
    arena_reset(&reader->scratch);
    return nettrace_add_event_type(reader, &definition, start.offset);
}
