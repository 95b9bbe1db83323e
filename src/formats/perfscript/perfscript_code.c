/* Code addresses as perf script prints them: memory addresses for samples, file addresses for
 * callchains. Symbols come only from the trace; perf also reads files and the running kernel. */
#include "encodings/perf_data/perf_layout.h"
#include "encodings/json/emit.h"
#include "formats/perfscript/perfscript.h"
#include "model/symbols.h"

#define CODE_ROOM 128u  /* maximum size in bytes of a line without its names */
#define FRAMES_MAX 127u /* maximum number of frames, which is that of perf */
#define KERNEL_HALF (UINT64_C(1) << 63)

static bool text_begins_with(ttr_text text, const char *word)
{
    return text.n >= strlen(word) && memcmp(text.p, word, strlen(word)) == 0;
}

/* Appends the name of a file as perf prints it: the path; for the kernel, only the name in
 * brackets; for a kernel module without a build id, "[snd_pcm]" instead of
 * "/lib/.../snd-pcm.ko.xz". */
static char *emit_file_name(char *at, ttr_text path, bool has_build_id)
{
    if (text_begins_with(path, "memfd:"))
        *at++ = '/';
    const char *end = text_begins_with(path, "[kernel.") ? memchr(path.p, ']', path.n) : NULL;
    const char *suffix =
        path.n && *path.p == '/' && !has_build_id ? memmem(path.p, path.n, ".ko", 3) : NULL;
    if (end)
        return emit_piece(at, (ttr_text){path.p, (size_t)(end - path.p) + 1});
    if (!suffix || (suffix + 3 < path.p + path.n && suffix[3] != '.'))
        return emit_piece(at, path);
    const char *begin = suffix;
    while (begin[-1] != '/')
        begin--;
    *at++ = '[';
    for (; begin < suffix; begin++)
        *at++ = *begin == '-' ? '_' : *begin;
    *at++ = ']';
    return at;
}

/* Returns true if a mapping has no file. Its addresses are then printed as memory addresses. */
static bool is_anonymous_mapping(ttr_text path)
{
    return path.n == 0 || text_begins_with(path, "[stack") || text_begins_with(path, "[heap]") ||
           text_begins_with(path, "/SYSV") || text_begins_with(path, "/tmp/perf-") ||
           text_begins_with(path, "//anon") || text_begins_with(path, "/dev/zero") ||
           text_begins_with(path, "/anon_hugepage");
}

/* State of iterating over the addresses of an event. Kernel addresses come first. */
struct address_iter {
    struct ttr_writer *out;
    const ttr_event *event;
    ttr_id thread;
    bool is_chain;
    /* true after the first user-space address: all addresses after it are in user space */
    bool is_user;
};

/* Returns the mapping that contains an address. On 64-bit machines, kernel addresses are in the
 * upper half. A kernel that hides its addresses declares a mapping of the complete address space.
 */
static const struct symbol_range *find_mapping(struct address_iter *iter, uint64_t address)
{
    const ttr *t = iter->out->t;
    const struct symbol_range *mapping =
        symbols_find_mapping(iter->out->t, iter->thread, address, iter->event->time);
    bool is_kernel =
        mapping && mapping->process + 1 == t->sources[t->threads[iter->thread].source].kernel;
    bool is_32 = is_kernel && mapping->start > 0 && mapping->start <= UINT32_MAX;
    iter->is_user |= address < KERNEL_HALF && !is_32;
    return is_kernel && iter->is_user ? NULL : mapping;
}

static const struct symbol_module *find_module_at(const struct ttr_writer *out,
                                                  const struct symbol_range *mapping)
{
    return mapping && mapping->module ? &out->t->symbols.module[mapping->module - 1] : NULL;
}

/* Returns the path of a module that the trace contains. */
static ttr_text get_module_file(const struct ttr_writer *out, const struct symbol_module *module)
{
    if (!module)
        return (ttr_text){"", 0};
    ttr_text name = ttr_text_get(out->t, module->name), path = ttr_text_get(out->t, module->path);
    return path.n == 0 || text_begins_with(name, "memfd:") || text_begins_with(name, "[anon")
               ? name
               : path;
}

/* Appends "            1234 name+0x10 (file)". For user addresses of callchains, the number is an
 * offset in the file. */
static void add_code_line(struct address_iter *iter, uint64_t address)
{
    struct ttr_writer *out = iter->out;
    ttr_symbol symbol = {.name = 0};
    (void)ttr_symbol_get(out->t, iter->thread, address, iter->event->time, &symbol);
    const struct symbol_range *mapping = find_mapping(iter, address);
    const struct symbol_module *module = find_module_at(out, mapping);
    ttr_text name = ttr_text_get(out->t, symbol.name), file = get_module_file(out, module);
    bool has_build_id =
        module && pair_map_get(&out->t->symbols.build_ids, module->path, module->source);
    bool is_in_file = iter->is_chain && mapping && iter->is_user && !is_anonymous_mapping(file);
    char *begin = (char *)buffer_room(&out->buffer, CODE_ROOM + name.n + file.n), *at = begin;
    char digits[NUMBER_MAX];
    if (!begin)
        return;
    /* omit "0x" */
    size_t n = number_format_hex(digits, is_in_file ? symbol.offset : address) - 2;
    for (size_t i = n; i < 16; i++)
        *at++ = ' ';
    at = emit_piece(at, (ttr_text){digits + 2, n});
    at = emit_constant(at, " ");
    at = emit_piece(at, name.n ? name : (ttr_text){"[unknown]", 9});
    if (name.n)
        at = emit_hex(emit_constant(at, "+"), address - symbol.start);
    at = emit_constant(at, " (");
    at = file.n ? emit_file_name(at, file, has_build_id) : emit_constant(at, "[unknown]");
    at = emit_constant(at, ")");
    buffer_commit(&out->buffer, (size_t)(at - begin));
}

void perfscript_add_code(struct ttr_writer *out, const ttr_event *event, ttr_id thread,
                         uint64_t address)
{
    struct address_iter iter = {.out = out, .event = event, .thread = thread};
    add_code_line(&iter, address);
}

void perfscript_add_chain(struct ttr_writer *out, const ttr_event *event, ttr_id thread)
{
    struct address_iter iter = {.out = out, .event = event, .thread = thread, .is_chain = true};
    uint64_t addresses[FRAMES_MAX];
    uint32_t n = event->stack == PERF_STACK_EMPTY
                     ? 0
                     : ttr_event_frames(out->t, event, addresses, FRAMES_MAX);
    buffer_add_byte(&out->buffer, '\n');
    for (uint32_t i = 0; i < n && i < FRAMES_MAX; i++) {
        buffer_add_byte(&out->buffer, '\t');
        add_code_line(&iter, addresses[i]);
        buffer_add_byte(&out->buffer, '\n');
    }
}
