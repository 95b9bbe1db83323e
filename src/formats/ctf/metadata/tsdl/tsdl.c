/* TSDL, the metadata language of CTF 1.8: parses a text into a description.
 *
 * Stages, in this order:
 *   tsdl_lex.c           text to tokens
 *   tsdl_parse.c         tokens to syntax tree, by recursive descent
 *   tsdl_blocks.c        blocks (trace, env, clock, stream, event), in dependency order
 *   tsdl_resolve.c       declared types: names, structures, variants, arrays
 *   tsdl_class.c         declared types: numbers, strings, enumerations
 *   tsdl_instantiate.c   types used as roots: references become paths, names become roles
 *
 * Memory is limited in proportion to the length of the text, nesting by TSDL_DEPTH_MAX. */
#include <string.h>

#include "base/status.h"
#include "formats/ctf/metadata/tsdl/tsdl_types.h"

#define MEMORY_PER_BYTE                                                      \
    64u /* limit of memory for syntax tree and description, per byte of text \
         */
/* bytes of memory that syntax tree and description may use for any text, even a short one */
#define MEMORY_FREE (1u << 20)
#define TEXT_MAX ((size_t)1 << 30)

/* Fails unless the text starts with the comment "CTF 1.8"; other versions are not supported
 * (section 7.1). */
static bool check_version_comment(struct tsdl_reading *reading)
{
    static const char opening[] = "/* CTF", version[] = " 1.8";
    const struct ctf_text *text = reading->text;
    size_t n = sizeof opening - 1, whole = n + sizeof version - 1;
    if (text->n < n || memcmp(text->p, opening, n) != 0)
        return true;
    bool is_ours = text->n > whole && memcmp(text->p + n, version, sizeof version - 1) == 0 &&
                   (text->p[whole] < '0' || text->p[whole] > '9');
    return is_ours ||
           tsdl_fail(reading, n,
                     "this is not metadata of CTF 1.8, which begins with \"/* CTF 1.8\"");
}

static struct tsdl_state *get_parser_state(struct ctf_description *description)
{
    if (!description->parser &&
        (description->parser = arena_alloc(&description->arena, sizeof(struct tsdl_state))))
        memset(description->parser, 0, sizeof(struct tsdl_state));
    return description->parser;
}

static bool parse_and_resolve(struct tsdl_reading *reading, struct ctf_description *description,
                              struct arena *shared)
{
    const struct tsdl_statement *first;
    struct tsdl_state *state = get_parser_state(description);
    if (!state)
        return tsdl_fail_memory(reading);
    if (reading->text->n > TEXT_MAX)
        return tsdl_fail(reading, 0, "more than %zu bytes of metadata", TEXT_MAX);
    state->readings_n++;
    state->text_n += reading->text->n;
    reading->tree_max = MEMORY_FREE + MEMORY_PER_BYTE * reading->text->n;
    static const struct tsdl_scope root = {0, NULL};
    struct tsdl_names structures = {0};
    struct tsdl_resolver resolver = {.reading = reading,
                                     .description = description,
                                     .state = state,
                                     .scope = &root,
                                     .structures = &structures,
                                     .shared = shared,
                                     .line = 1};
    resolver.memory_max = MEMORY_FREE + MEMORY_PER_BYTE * (size_t)state->text_n;
    if (!check_version_comment(reading) || !tsdl_parse_text(reading, &first) ||
        !tsdl_resolve_text(&resolver, first))
        return false;
    if (reading->is_cut)
        tsdl_add_diagnostic(&resolver, TTR_SEVERITY_DAMAGE, reading->cut_at, "ctf.cut-metadata",
                            "the metadata end inside this declaration");
    return true;
}

ttr_status tsdl_parse(struct ctf_description *description, const struct ctf_text *text,
                      ttr_error *error)
{
    struct tsdl_reading reading = {.text = text, .error = error};
    struct arena shared;
    arena_init(&reading.tree, description->alloc);
    arena_init(&reading.block, description->alloc);
    arena_init(&shared, description->alloc);
    description->version = CTF_1_8;
    bool is_fine = parse_and_resolve(&reading, description, &shared);
    arena_free(&shared);
    arena_free(&reading.block);
    arena_free(&reading.tree);
    return is_fine ? TTR_OK : reading.status;
}
