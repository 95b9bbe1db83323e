/* TSDL, the language of CTF 1.8: reading a text of it into a description.
 *
 * Words (tsdl_lex.c), grammar (tsdl_parse.c), then meaning: types (tsdl_resolve.c, tsdl_class.c),
 * blocks (tsdl_blocks.c), and types put in place (tsdl_place.c).  Memory is bounded by the length
 * of what was read; nesting by TSDL_DEPTH_MAX. */
#include <string.h>

#include "base/status.h"
#include "formats/ctf/metadata/tsdl/tsdl_types.h"

#define MEMORY_PER_BYTE 64u    /* of the tree and of the description, for each byte of text */
#define MEMORY_FREE (1u << 20) /* and this much for any */
#define TEXT_MAX ((size_t)1 << 30)

/* "/ * CTF 1.8" opens a text of metadata; other versions are not ours (7.1). */
static bool check_opening(struct tsdl_reading *reading)
{
    static const char opening[] = "/* CTF", version[] = " 1.8";
    const struct ctf_text *text = reading->text;
    size_t n = sizeof opening - 1, whole = n + sizeof version - 1;
    if (text->n < n || memcmp(text->p, opening, n) != 0)
        return true;
    bool is_ours = text->n > whole && memcmp(text->p + n, version, sizeof version - 1) == 0 &&
                   (text->p[whole] < '0' || text->p[whole] > '9');
    return is_ours || tsdl_fail(reading, n,
                                "this is no metadata of CTF 1.8, which begins with \"/* CTF 1.8\"");
}

static struct tsdl_state *state_of(struct ctf_description *description)
{
    if (!description->parser &&
        (description->parser = arena_take(&description->arena, sizeof(struct tsdl_state))))
        memset(description->parser, 0, sizeof(struct tsdl_state));
    return description->parser;
}

static bool read_text(struct tsdl_reading *reading, struct ctf_description *description)
{
    const struct tsdl_statement *first;
    struct tsdl_state *state = state_of(description);
    if (!state)
        return tsdl_fail_memory(reading);
    if (reading->text->n > TEXT_MAX)
        return tsdl_fail(reading, 0, "more than %zu bytes of metadata", TEXT_MAX);
    state->readings_n++;
    state->text_n += reading->text->n;
    reading->tree_max = MEMORY_FREE + MEMORY_PER_BYTE * reading->text->n;
    static const struct tsdl_scope root = {0, NULL};
    struct tsdl_resolver resolver = {
        .reading = reading, .description = description, .state = state, .scope = &root, .line = 1};
    resolver.memory_max = MEMORY_FREE + MEMORY_PER_BYTE * (size_t)state->text_n;
    if (!check_opening(reading) || !tsdl_parse_text(reading, &first) ||
        !tsdl_resolve_text(&resolver, first))
        return false;
    if (reading->is_cut)
        tsdl_note(&resolver, TTR_NOTE_DAMAGE, reading->cut_at, "ctf.cut-metadata",
                  "the metadata end inside this declaration");
    return true;
}

ttr_status tsdl_parse(struct ctf_description *description, const struct ctf_text *text,
                      ttr_error *error)
{
    struct tsdl_reading reading = {.text = text, .error = error};
    arena_init(&reading.tree, description->alloc);
    arena_init(&reading.block, description->alloc);
    description->version = CTF_1_8;
    bool is_fine = read_text(&reading, description);
    arena_free(&reading.block);
    arena_free(&reading.tree);
    return is_fine ? TTR_OK : reading.status;
}
