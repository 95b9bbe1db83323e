/* Symbols of traces of a complete machine (V6). "Universal.System" declares processes and their
 * code; events of "Universal.Events" are samples ("cpu") and context switches ("cswitch") with
 * stacks. Sources: "Universal Providers Tracing Events" of TraceEvent, and the output of
 * one-collect.
 *
 * Integers are LEB128, texts are u16 bytes and UTF-8:
 *
 *   0, 1 ExistingProcess, ProcessCreate   pid in its namespace   name   namespace
 *   3 ProcessMapping    id   start   last address   offset in the file   file id of more   [more]
 *   4 ProcessSymbol     id   mapping   start   last address   name
 *
 * A symbol is valid in each process that has the mapping. Compiled code of a runtime is called
 * "type [module] Namespace.Class::Method(arguments)[level]" and is split into module and method.
 *
 * Left out: events for symbol lookup elsewhere (5), ends of processes. */
#include "base/hash.h"
#include "formats/nettrace/nettrace.h"

#define MAPPING_TAG \
    UINT64_C(0x556e6976657273) /* makes ids of mappings different from module ids of .NET */
/* maximum number of (process, mapping) pairs; symbols of further pairs are not added */
#define MAPPINGS_MAX 1048576u

static bool text_equals(ttr_text text, const char *word)
{
    return text.n == strlen(word) && memcmp(text.p, word, text.n) == 0;
}

bool nettrace_is_universal(ttr_text provider)
{
    return provider.n > 10 && memcmp(provider.p, "Universal.", 10) == 0;
}

bool nettrace_is_universal_sample(ttr_text provider, ttr_text name)
{
    return text_equals(provider, "Universal.Events") && text_equals(name, "cpu");
}

uint8_t nettrace_get_universal_symbol_kind(ttr_text provider, uint32_t id)
{
    static const uint8_t kinds[] = {SYMBOLS_PROCESS, SYMBOLS_PROCESS, SYMBOLS_NONE, SYMBOLS_MAPPED,
                                    SYMBOLS_SYMBOL};
    return text_equals(provider, "Universal.System") && id < sizeof kinds ? kinds[id]
                                                                          : SYMBOLS_NONE;
}

static ttr_text read_utf16_text(struct cursor *c)
{
    uint16_t n = cursor_u16le(c);
    const uint8_t *p = c->failed ? NULL : cursor_read_bytes(c, n);
    return (ttr_text){p ? (const char *)p : "", p ? n : 0u};
}

static bool set_process_name(struct nettrace_reader *reader, const ttr_event *event,
                             struct cursor *c)
{
    ttr_thread thread = {0};
    (void)nettrace_read_varint(c);
    ttr_text name = read_utf16_text(c);
    if (c->failed || !name.n || !ttr_thread_get(reader->t, event->thread, &thread))
        return true;
    ttr_id id = ttr_text_add(reader->t, name.p, name.n);
    return id && context_name_process(reader->t, reader->in->id, thread.pid, id);
}

/* Returns the id of module number `number` of a process, and sets its name. Returns 0 if memory is
 * out. */
static uint32_t find_or_add_module(struct nettrace_reader *reader, uint32_t process,
                                   uint64_t number, ttr_text name)
{
    ttr *t = reader->t;
    ttr_id id = ttr_text_add(t, name.p, name.n);
    uint32_t module =
        id ? symbols_add_module(&t->symbols, process, hash_pair(number, MAPPING_TAG)) : 0;
    if (module)
        symbols_set_module_name(&t->symbols, module, id);
    return module;
}

/* Returns the file name in a path. */
static ttr_text get_file_name(ttr_text path)
{
    size_t begin = 0;
    for (size_t i = 0; i < path.n; i++)
        if (path.p[i] == '/' || path.p[i] == '\\')
            begin = i + 1;
    return (ttr_text){path.p + begin, path.n - begin};
}

/* Adds a mapping of a process. Mappings of several processes with the same id are linked to a
 * list. */
static bool add_process_mapping(struct nettrace_reader *reader, uint64_t id,
                                const struct nettrace_mapping *mapping)
{
    struct nettrace_universal *universal = &reader->universal;
    const uint32_t *first = pair_map_get(&universal->by_id, id, 0);
    for (uint32_t at = first ? *first : NETTRACE_NONE; at != NETTRACE_NONE;
         at = universal->mapping[at].next)
        if (universal->mapping[at].process == mapping->process)
            return true;
    if (universal->n >= MAPPINGS_MAX)
        return true;
    if (!alloc_reserve(&reader->t->counted, (void **)&universal->mapping, &universal->capacity,
                       universal->n + 1, sizeof *mapping))
        return false;
    universal->mapping[universal->n] = *mapping;
    universal->mapping[universal->n].next = first ? *first : NETTRACE_NONE;
    return pair_map_put(&universal->by_id, id, 0, (uint32_t)universal->n++);
}

static bool add_mapping(struct nettrace_reader *reader, const ttr_event *event, struct cursor *c)
{
    /* path of the memory with code that a runtime has compiled; the symbols in it contain the
     * names of their modules */
    static const char jitted[] = "/memfd:doublemapper";
    ttr *t = reader->t;
    uint64_t id = nettrace_read_varint(c), start = nettrace_read_varint(c),
             last = nettrace_read_varint(c), offset = nettrace_read_varint(c);
    ttr_text path = read_utf16_text(c), file = get_file_name(path);
    struct nettrace_mapping mapping = {.process = t->threads[event->thread].process};
    if (c->failed)
        return true;
    bool has_file = file.n > 0 &&
                    (path.n < sizeof jitted - 1 || memcmp(path.p, jitted, sizeof jitted - 1) != 0);
    if (has_file)
        mapping.module = find_or_add_module(reader, mapping.process, id, file);
    if ((has_file && !mapping.module) || !add_process_mapping(reader, id, &mapping))
        return false;
    struct symbol_range range = {.start = start,
                                 .size = last - start + 1,
                                 .offset = offset,
                                 .from = event->time,
                                 .process = mapping.process,
                                 .module = mapping.module};
    return !has_file || last < start || symbols_add(&t->symbols, SYMBOL_MAPPING, &range);
}

/* Splits a name of the form "type [module] method[level]". Returns false if it has another form. */
static bool split_jitted_name(ttr_text name, ttr_text *module, ttr_text *method)
{
    size_t open = 0, close, end = name.n;
    while (open + 1 < name.n && !(open > 0 && name.p[open] == '[' && name.p[open - 1] == ' '))
        open++;
    for (close = open; close + 1 < name.n && !(name.p[close] == ']' && name.p[close + 1] == ' ');)
        close++;
    if (close + 2 >= name.n || name.p[name.n - 1] != ']')
        return false;
    while (end > close + 2 && name.p[end - 1] != '[')
        end--;
    if (end <= close + 3)
        return false;
    *module = (ttr_text){name.p + open + 1, close - open - 1};
    *method = (ttr_text){name.p + close + 2, end - 1 - (close + 2)};
    return module->n > 0;
}

static bool add_symbol(struct nettrace_reader *reader, const ttr_event *event, struct cursor *c)
{
    ttr *t = reader->t;
    struct nettrace_universal *universal = &reader->universal;
    (void)nettrace_read_varint(c);
    uint64_t id = nettrace_read_varint(c), start = nettrace_read_varint(c),
             last = nettrace_read_varint(c);
    ttr_text name = read_utf16_text(c), module, method = name;
    /* all kernel addresses are zero if the recorder was not allowed to read them */
    if (c->failed || last < start || last - start >= INT64_MAX)
        return true;
    bool is_jitted = split_jitted_name(name, &module, &method);
    struct symbol_range range = {.start = start,
                                 .size = last - start + 1,
                                 .from = is_jitted ? event->time : SYMBOLS_TIME_UNKNOWN,
                                 .name = ttr_text_add(t, method.p, method.n)};
    const uint32_t *first = pair_map_get(&universal->by_id, id, 0);
    const struct nettrace_mapping ctx = {.process = t->threads[event->thread].process,
                                         .next = NETTRACE_NONE};
    const struct nettrace_mapping *mapping = first ? &universal->mapping[*first] : &ctx;
    while (range.name && mapping) {
        range.process = mapping->process;
        range.module = is_jitted ? find_or_add_module(reader, range.process,
                                                      hash_bytes(module.p, module.n), module)
                                 : mapping->module;
        if ((is_jitted && !range.module) || !symbols_add(&t->symbols, SYMBOL_FUNCTION, &range))
            return false;
        mapping = mapping->next == NETTRACE_NONE ? NULL : &universal->mapping[mapping->next];
    }
    return range.name || !method.n;
}

bool nettrace_add_universal_symbols(struct nettrace_reader *reader, const ttr_event *event,
                                    uint8_t kind)
{
    struct cursor c = cursor_init(event->payload, event->payload_size, event->offset);
    if (kind == SYMBOLS_PROCESS)
        return set_process_name(reader, event, &c);
    if (!(reader->in->flags & TTR_READ_SYMBOLS))
        return true;
    return kind == SYMBOLS_MAPPED ? add_mapping(reader, event, &c) : add_symbol(reader, event, &c);
}

void nettrace_universal_free(struct nettrace_reader *reader)
{
    struct nettrace_universal *universal = &reader->universal;
    alloc_free(&reader->t->counted, universal->mapping, universal->capacity,
               sizeof *universal->mapping);
    pair_map_free(&universal->by_id);
}
