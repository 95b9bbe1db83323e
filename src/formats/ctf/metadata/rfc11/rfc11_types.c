/* Types of RFC v1.1: the list of all types, their default alignment (4.1.2, 6.1), and the syntax
 * of attributes, which types and blocks share. */
#include "formats/ctf/metadata/rfc11/rfc11_types.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"

#define BUCKETS_FIRST 64u

void *rfc11_names_find(const struct rfc11_names *names, ttr_text name)
{
    if (names->buckets_n == 0)
        return NULL;
    uint64_t hash = hash_bytes(name.p, name.n);
    for (const struct rfc11_name *entry = names->buckets[hash & (names->buckets_n - 1)]; entry;
         entry = entry->next)
        if (entry->hash == hash && entry->name.n == name.n &&
            memcmp(entry->name.p, name.p, name.n) == 0)
            return entry->thing;
    return NULL;
}

/* Doubles the hash table. The old table is not freed, since it is in the arena; all old tables
 * together are smaller than the new one. */
static bool grow_names(struct rfc11_names *names, struct arena *arena)
{
    size_t n = names->buckets_n ? 2 * names->buckets_n : BUCKETS_FIRST;
    struct rfc11_name **buckets = arena_alloc(arena, n * sizeof *buckets);
    if (!buckets)
        return false;
    memset(buckets, 0, n * sizeof *buckets);
    for (size_t i = 0; i < names->buckets_n; i++)
        for (struct rfc11_name *entry = names->buckets[i], *next; entry; entry = next) {
            next = entry->next;
            entry->next = buckets[entry->hash & (n - 1)];
            buckets[entry->hash & (n - 1)] = entry;
        }
    names->buckets = buckets;
    names->buckets_n = n;
    return true;
}

bool rfc11_names_add(struct rfc11_names *names, struct arena *arena, ttr_text name, void *thing)
{
    if (names->n >= names->buckets_n && !grow_names(names, arena))
        return false;
    struct rfc11_name *entry = arena_alloc(arena, sizeof *entry);
    if (!entry)
        return false;
    *entry = (struct rfc11_name){.name = name, .hash = hash_bytes(name.p, name.n), .thing = thing};
    struct rfc11_name **bucket = &names->buckets[entry->hash & (names->buckets_n - 1)];
    entry->next = *bucket;
    *bucket = entry;
    names->n++;
    return true;
}

struct rfc11_state *rfc11_get_state(struct ctf_description *description)
{
    if (description->parser)
        return description->parser;
    struct rfc11_state *state = arena_alloc(&description->arena, sizeof *state);
    if (!state)
        return NULL;
    *state = (struct rfc11_state){.clock = description->clocks_n ? description->clocks[0]
                                                                 : ctf_add_clock(description)};
    if (!state->clock)
        return NULL;
    if (!state->clock->id.n)
        state->clock->id = state->clock->name = (ttr_text){"clock", 5};
    description->parser = state;
    return state;
}

struct rfc11_type *rfc11_add_type(struct ctf_description *description, uint8_t kind,
                                  enum rfc11_rule rule)
{
    struct rfc11_state *state = rfc11_get_state(description);
    struct rfc11_type *made = state ? arena_alloc(&description->arena, sizeof *made) : NULL;
    if (!made)
        return NULL;
    *made =
        (struct rfc11_type){.type = {.kind = kind}, .rule = (uint8_t)rule, .depth = 1, .fields = 1};
    if (state->last)
        state->last->next = made;
    else
        state->first = made;
    state->last = made;
    if (!state->unaligned)
        state->unaligned = made;
    return made;
}

/* --- Default alignment --- */

/* Returns the default alignment of a basic type (4.1.2). Bits that do not fill bytes follow
 * directly. Packed types start at a byte, natural ones at a multiple of their size, limited by the
 * word size. A size that no machine type has (24 bits) starts at a byte. */
static uint8_t get_default_align(enum ctf_alignment alignment, uint32_t bits)
{
    uint32_t word = alignment == CTF_ALIGN_NATURAL_32 ? 32 : 64;
    if (bits % 8 != 0 || bits == 0)
        return 0; /* the member's type is incomplete, because memory ran out */
    if (alignment != CTF_ALIGN_NATURAL_64 && alignment != CTF_ALIGN_NATURAL_32)
        return 3;
    if ((bits & (bits - 1)) != 0)
        return 3;
    return rfc11_get_log2(bits < word ? bits : word);
}

static uint8_t get_larger_align(uint8_t a, uint8_t b)
{
    return a > b ? a : b;
}

/* Returns the alignment that a member requires of its struct. A bitfield requires the alignment of
 * its unit, as in C. */
static uint8_t get_required_struct_align(const struct type *type)
{
    return type->unit ? get_larger_align(type->align, rfc11_get_log2(type->unit)) : type->align;
}

static uint8_t get_compound_align(const struct type *type)
{
    uint8_t align = type->minimum_align;
    for (uint32_t i = 0; i < type->members_n; i++)
        align = get_larger_align(align, get_required_struct_align(type->members[i].type));
    if (type->element)
        align = get_larger_align(align, get_required_struct_align(type->element));
    if (type->length_type)
        align = get_larger_align(align, get_required_struct_align(type->length_type));
    return align;
}

static void set_alignment_of_new_types(struct rfc11_type *first, enum ctf_alignment alignment)
{
    for (struct rfc11_type *made = first; made; made = made->next) {
        switch ((enum rfc11_rule)made->rule) {
        case RULE_FIXED:
            break;
        case RULE_BASIC:
        case RULE_HEADER:
            made->type.align = get_default_align(alignment, made->natural);
            break;
        case RULE_COMPOUND:
            made->type.align = get_compound_align(&made->type);
            break;
        }
    }
}

void rfc11_set_alignment(struct ctf_description *description, enum ctf_alignment alignment)
{
    struct rfc11_state *state = description->parser;
    description->alignment = alignment;
    if (!state)
        return;
    set_alignment_of_new_types(state->first, alignment);
    state->unaligned = NULL;
}

void rfc11_align_new_types(struct ctf_description *description)
{
    struct rfc11_state *state = description->parser;
    set_alignment_of_new_types(state->unaligned, description->alignment);
    state->unaligned = NULL;
}

/* --- Attributes of types and blocks --- */

void rfc11_add_diagnostic(const struct rfc11_parser *parser, ttr_severity severity, size_t at,
                          const char *code, const char *text)
{
    const struct ctf_description *description = parser->description;
    if (description->note)
        description->note(description->note_ctx, severity,
                          ctf_compute_text_offset(parser->lexer.text, at), code, text);
}

bool rfc11_begin_attribute(struct rfc11_parser *parser, struct rfc11_token *name, bool *is_block)
{
    struct rfc11_lexer *lexer = &parser->lexer;
    if (rfc11_is_mark(lexer, '.') && !rfc11_next_token(lexer))
        return false;
    if (lexer->token.kind != RFC11_WORD)
        return rfc11_fail_expected(lexer, "an attribute or '}'");
    *name = lexer->token;
    if (!rfc11_next_token(lexer))
        return false;
    *is_block = rfc11_is_mark(lexer, '{');
    return *is_block || rfc11_expect_mark(lexer, '=');
}

bool rfc11_end_attribute(struct rfc11_parser *parser, bool ended_with_brace)
{
    struct rfc11_lexer *lexer = &parser->lexer;
    if (rfc11_is_mark(lexer, ';'))
        return rfc11_next_token(lexer);
    return ended_with_brace || rfc11_fail_expected(lexer, "';'");
}

bool rfc11_skip_unknown(struct rfc11_parser *parser, const struct rfc11_token *name,
                        const char *where)
{
    struct rfc11_lexer *lexer = &parser->lexer;
    char text[160];
    unsigned depth = 0;
    (void)snprintf(text, sizeof text, "%s has no attribute or block %.*s: it was passed over",
                   where, name->text.n < 60 ? (int)name->text.n : 60, name->text.p);
    rfc11_add_diagnostic(parser, TTR_SEVERITY_ODD, name->at, "ctf.unknown-attribute", text);
    parser->repeatable++;
    while (true) {
        bool is_open = rfc11_is_mark(lexer, '{') || rfc11_is_mark(lexer, '['),
             is_close = rfc11_is_mark(lexer, '}') || rfc11_is_mark(lexer, ']');
        if (lexer->token.kind == RFC11_END || (is_close && depth == 0))
            return rfc11_fail_expected(lexer, "';'");
        bool is_end = depth == 0 && rfc11_is_mark(lexer, ';');
        depth = is_open ? depth + 1 : is_close ? depth - 1 : depth;
        if (!rfc11_next_token(lexer))
            return false;
        if (is_end)
            return true;
        if (is_close && depth == 0)
            return rfc11_end_attribute(parser, true);
    }
}

bool rfc11_parse_bool(struct rfc11_parser *parser, bool *value)
{
    struct rfc11_lexer *lexer = &parser->lexer;
    const struct rfc11_token *token = &lexer->token;
    bool is_number = token->kind == RFC11_NUMBER && !token->is_negative && token->value <= 1;
    *value = rfc11_is_word(lexer, "true") || rfc11_is_word(lexer, "TRUE") ||
             (is_number && token->value == 1);
    if (!*value && !is_number && !rfc11_is_word(lexer, "false") && !rfc11_is_word(lexer, "FALSE"))
        return rfc11_fail_expected(lexer, "true or false");
    return rfc11_next_token(lexer);
}
