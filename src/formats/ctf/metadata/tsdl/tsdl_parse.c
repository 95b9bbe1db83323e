/* Parser of TSDL: recursive descent with one token of look-ahead (CTF 1.8.3 section C.2).
 *
 *   text      = { statement }
 *   statement = keyword "{" { attribute | declaration } "}" ";"    trace, env, clock, stream, event
 *             | declaration
 *   attribute = path ( "=" value | ":=" specifier ) ";"
 *   declaration = "typedef" specifier declarators ";"
 *             | "typealias" specifier declarator ":=" name ";"
 *             | specifier declarators ";"                          fields in a struct or variant
 *   declarator = { "*" } name { "[" value "]" } [ ":" bits ]
 *
 * Event blocks may number thousands, and a tree needs many times the memory of its text. After
 * TREE_KEPT bytes of text, only the syntax of event blocks is checked here; the resolver parses
 * each one again when it needs it (tsdl_parse_block) and frees its tree at once. So memory is
 * O(TREE_KEPT), and text after it is parsed twice.
 *
 * Invariants: nesting never exceeds TSDL_DEPTH_MAX, so recursion is bounded; the first failure is
 * kept in reading->status.
 *
 * Accepted although the grammar does not allow it: `=` instead of `:=`, keywords as labels of
 * enumerations, a missing ';' after the '}' of a type if another declaration follows. Left out:
 * indices in expressions (a[1]), for which the language has no meaning. */
#include <string.h>

#include "formats/ctf/metadata/tsdl/tsdl_tree.h"

#define WORDS_MAX 16u /* maximum number of words in a type name */

/* bytes; event blocks within this much text keep their syntax trees. Later event blocks are
 * checked, and parsed again when needed, one at a time, because a tree needs many times as much
 * memory as its text. */
#define TREE_KEPT ((size_t)4 << 20)

struct parser {
    struct tsdl_reading *reading;
    struct tsdl_token token; /* look-ahead */
    unsigned depth;
};

static bool read_next_token(struct parser *p)
{
    return tsdl_next_token(p->reading, &p->token);
}

static bool is_at_sign(const struct parser *p, char sign)
{
    return p->token.kind == TSDL_TOKEN_SIGN && p->token.keyword == (uint8_t)sign;
}

static bool is_at_keyword(const struct parser *p, enum tsdl_keyword keyword)
{
    return p->token.kind == TSDL_TOKEN_KEYWORD && p->token.keyword == keyword;
}

/* Sets the error that the next token is not `expected`. Returns false. */
static bool fail_unexpected_token(struct parser *p, const char *expected)
{
    const struct tsdl_token *token = &p->token;
    /* if the token is the last one, it may be cut off, so the text counts as ended */
    p->reading->is_at_end = token->end == p->reading->text->n;
    if (token->kind == TSDL_TOKEN_END)
        return tsdl_fail(p->reading, token->at, "expected %s, found the end of the text", expected);
    int shown = token->end - token->at < 40 ? (int)(token->end - token->at) : 40;
    return tsdl_fail(p->reading, token->at, "expected %s, found %s'%.*s'", expected,
                     token->kind == TSDL_TOKEN_KEYWORD ? "the keyword " : "", shown,
                     p->reading->text->p + token->at);
}

/* Consumes a punctuation character. Fails if the next token is not this character. */
static bool expect_sign(struct parser *p, char sign, const char *expected)
{
    return is_at_sign(p, sign) ? read_next_token(p) : fail_unexpected_token(p, expected);
}

static bool increase_nesting_depth(struct parser *p)
{
    if (++p->depth <= TSDL_DEPTH_MAX)
        return true;
    return tsdl_fail(p->reading, p->token.at, "more than %u levels of nesting", TSDL_DEPTH_MAX);
}

static bool is_word_token(const struct tsdl_token *token)
{
    return token->kind == TSDL_TOKEN_NAME || token->kind == TSDL_TOKEN_KEYWORD;
}

/* Returns the path in [begin, end) of the text, without the blanks between its names and points. */
static bool join_path_words(struct parser *p, size_t begin, size_t end, ttr_text *text)
{
    const char *source = p->reading->text->p;
    bool is_plain = true;
    for (size_t i = begin; i < end && is_plain; i++)
        is_plain = (unsigned char)source[i] > ' ' && source[i] != '/' && source[i] != '-';
    *text = (ttr_text){source + begin, end - begin};
    if (is_plain)
        return true;
    char *to = tsdl_tree_alloc(p->reading, end - begin);
    if (!to)
        return false;
    size_t n = 0;
    for (struct tsdl_token token = {.end = begin}; token.end < end;) {
        if (!tsdl_next_token(p->reading, &token))
            return false;
        if (!is_word_token(&token)) {
            to[n++] = '.';
            continue;
        }
        memcpy(to + n, token.text.p, token.text.n);
        n += token.text.n;
    }
    *text = (ttr_text){to, n};
    return true;
}

/* Parses a path such as a.b.c. Sets `*keyword` if the path is a single keyword. */
static bool parse_path(struct parser *p, const char *expected, ttr_text *text, uint8_t *keyword)
{
    size_t begin = p->token.at, end = begin;
    for (bool goes_on = true; goes_on;) {
        if (!is_word_token(&p->token))
            return fail_unexpected_token(p, end == begin ? expected : "a name after the point");
        *keyword = end == begin ? p->token.keyword : 0;
        end = p->token.end;
        if (!read_next_token(p))
            return false;
        goes_on = is_at_sign(p, '.') || p->token.kind == TSDL_TOKEN_ARROW;
        if (goes_on && !read_next_token(p))
            return false;
    }
    return join_path_words(p, begin, end, text);
}

/* Parses a number, a string or a path, with signs and parentheses. */
static const struct tsdl_value *parse_value(struct parser *p)
{
    unsigned parentheses = 0;
    bool has_sign = false;
    struct tsdl_value *value = tsdl_tree_alloc(p->reading, sizeof *value);
    if (!value)
        return NULL;
    value->at = p->token.at;
    while (is_at_sign(p, '+') || is_at_sign(p, '-') || is_at_sign(p, '(')) {
        has_sign |= !is_at_sign(p, '(');
        value->is_negative ^= is_at_sign(p, '-');
        parentheses += is_at_sign(p, '(');
        if (!read_next_token(p))
            return NULL;
    }
    if (p->token.kind == TSDL_TOKEN_NUMBER) {
        value->kind = TSDL_VALUE_NUMBER;
        value->number = p->token.number;
    } else if (has_sign) {
        (void)fail_unexpected_token(p, "a number after the sign");
        return NULL;
    } else if (p->token.kind == TSDL_TOKEN_STRING || p->token.kind == TSDL_TOKEN_CHARACTERS) {
        value->kind = TSDL_VALUE_STRING;
        value->text = p->token.text;
        value->is_unescaped = p->token.is_unescaped;
    } else {
        value->kind = TSDL_VALUE_PATH;
        if (!parse_path(p, "a number, a string or a name", &value->text, &value->keyword))
            return NULL;
    }
    if (value->kind != TSDL_VALUE_PATH && !read_next_token(p))
        return NULL;
    while (parentheses-- > 0)
        if (!expect_sign(p, ')', "')'"))
            return NULL;
    return value;
}

static const struct tsdl_statement *parse_attributes(struct parser *p);
static const struct tsdl_statement *parse_fields(struct parser *p);

/* Parses { body }. On failure, sets reading->status and returns false. */
static bool parse_body(struct parser *p, bool has_fields, const struct tsdl_statement **body)
{
    if (!expect_sign(p, '{', "'{'") || !increase_nesting_depth(p))
        return false;
    *body = has_fields ? parse_fields(p) : parse_attributes(p);
    p->depth--;
    return p->reading->status == TTR_OK && expect_sign(p, '}', "'}'");
}

static bool is_basic_word(const struct parser *p)
{
    if (p->token.kind != TSDL_TOKEN_KEYWORD)
        return false;
    switch (p->token.keyword) {
    case TSDL_VOID:
    case TSDL_CHAR:
    case TSDL_SHORT:
    case TSDL_INT:
    case TSDL_LONG:
    case TSDL_FLOAT:
    case TSDL_DOUBLE:
    case TSDL_SIGNED:
    case TSDL_UNSIGNED:
    case TSDL_CONST:
    case TSDL_BOOL:
    case TSDL_COMPLEX:
    case TSDL_IMAGINARY:
        return true;
    default:
        return false;
    }
}

/* Parses type names that consist of words: "unsigned long", "const uint32_t". */
static bool parse_words(struct parser *p, struct tsdl_specifier *specifier)
{
    ttr_text words[WORDS_MAX];
    size_t words_n = 0, size = 0;
    bool has_type = false;
    while (is_basic_word(p) || (p->token.kind == TSDL_TOKEN_NAME && !has_type)) {
        has_type |= p->token.keyword != TSDL_CONST;
        if (words_n == WORDS_MAX)
            return fail_unexpected_token(p, "a type name of fewer words");
        size += p->token.text.n + 1;
        words[words_n++] = p->token.text;
        if (!read_next_token(p))
            return false;
    }
    if (!has_type)
        return fail_unexpected_token(p, "a type");
    specifier->name = words[0];
    if (words_n == 1)
        return true;
    char *to = tsdl_tree_alloc(p->reading, size);
    if (!to)
        return false;
    specifier->name = (ttr_text){to, size - 1};
    for (size_t i = 0; i < words_n; i++) {
        memcpy(to, words[i].p, words[i].n);
        to += words[i].n;
        *to++ = ' ';
    }
    return true;
}

/* Parses the optional tag after struct, variant or enum. */
static bool parse_tag_name(struct parser *p, struct tsdl_specifier *specifier)
{
    if (p->token.kind != TSDL_TOKEN_NAME)
        return true;
    specifier->name = p->token.text;
    return read_next_token(p);
}

static bool parse_struct(struct parser *p, struct tsdl_specifier *specifier)
{
    if (!read_next_token(p) || !parse_tag_name(p, specifier))
        return false;
    specifier->has_body = is_at_sign(p, '{');
    if (!specifier->has_body && specifier->name.n == 0)
        return fail_unexpected_token(p, "the name of a structure or '{'");
    if (specifier->has_body && !parse_body(p, true, &specifier->body))
        return false;
    if (!is_at_keyword(p, TSDL_ALIGN))
        return true;
    return read_next_token(p) && expect_sign(p, '(', "'(' after align") &&
           (specifier->align = parse_value(p)) && expect_sign(p, ')', "')' after the alignment");
}

static bool parse_variant(struct parser *p, struct tsdl_specifier *specifier)
{
    if (!read_next_token(p) || !parse_tag_name(p, specifier))
        return false;
    if (is_at_sign(p, '<')) {
        if (!read_next_token(p) || !(specifier->tag = parse_value(p)) ||
            !expect_sign(p, '>', "'>' after the tag"))
            return false;
    }
    specifier->has_body = is_at_sign(p, '{');
    if (specifier->has_body)
        return parse_body(p, true, &specifier->body);
    return specifier->name.n ? true : fail_unexpected_token(p, "the name of a variant, '<' or '{'");
}

static struct tsdl_enumerator *parse_enumerator(struct parser *p)
{
    if (!is_word_token(&p->token) && p->token.kind != TSDL_TOKEN_STRING) {
        (void)fail_unexpected_token(p, "a label");
        return NULL;
    }
    struct tsdl_enumerator *enumerator = tsdl_tree_alloc(p->reading, sizeof *enumerator);
    if (!enumerator)
        return NULL;
    enumerator->at = p->token.at;
    enumerator->label = p->token.text;
    if (!read_next_token(p))
        return NULL;
    if (!is_at_sign(p, '='))
        return enumerator;
    if (!read_next_token(p) || !(enumerator->low = parse_value(p)))
        return NULL;
    if (p->token.kind != TSDL_TOKEN_DOTS)
        return enumerator;
    return read_next_token(p) && (enumerator->high = parse_value(p)) ? enumerator : NULL;
}

static bool parse_enumerators(struct parser *p, struct tsdl_specifier *specifier)
{
    const struct tsdl_enumerator **link = &specifier->enumerator;
    if (!expect_sign(p, '{', "'{' and labels"))
        return false;
    while (!is_at_sign(p, '}')) {
        struct tsdl_enumerator *enumerator = parse_enumerator(p);
        if (!enumerator)
            return false;
        *link = enumerator;
        link = &enumerator->next;
        if (is_at_sign(p, ',')
                ? !read_next_token(p)
                : !is_at_sign(p, '}') && !fail_unexpected_token(p, "',' or '}' after a label"))
            return false;
    }
    if (!specifier->enumerator)
        return tsdl_fail(p->reading, p->token.at, "an enumeration has at least one label");
    return read_next_token(p);
}

static const struct tsdl_specifier *parse_specifier(struct parser *p);

static bool parse_enum(struct parser *p, struct tsdl_specifier *specifier)
{
    if (!read_next_token(p) || !parse_tag_name(p, specifier))
        return false;
    if (is_at_sign(p, ':')) {
        if (!read_next_token(p) || !(specifier->container = parse_specifier(p)))
            return false;
    }
    specifier->has_body = is_at_sign(p, '{') || specifier->container;
    if (specifier->has_body)
        return parse_enumerators(p, specifier);
    return specifier->name.n ? true
                             : fail_unexpected_token(p, "the name of an enumeration, ':' or '{'");
}

/* Parses integer { ... }, floating_point { ... }, string { ... }, or string alone. */
static bool parse_class(struct parser *p, struct tsdl_specifier *specifier)
{
    if (!read_next_token(p))
        return false;
    specifier->has_body = specifier->class != TSDL_CLASS_STRING || is_at_sign(p, '{');
    return !specifier->has_body || parse_body(p, false, &specifier->body);
}

static bool parse_type_kind(struct parser *p, struct tsdl_specifier *specifier)
{
    while (is_at_keyword(p, TSDL_CONST)) {
        struct parser ahead = *p;
        if (!read_next_token(&ahead))
            return false;
        if (is_basic_word(&ahead) || ahead.token.kind == TSDL_TOKEN_NAME)
            break;
        *p = ahead;
    }
    switch (p->token.kind == TSDL_TOKEN_KEYWORD ? p->token.keyword : 0) {
    case TSDL_STRUCT:
        specifier->class = TSDL_CLASS_STRUCT;
        return parse_struct(p, specifier);
    case TSDL_VARIANT:
        specifier->class = TSDL_CLASS_VARIANT;
        return parse_variant(p, specifier);
    case TSDL_ENUM:
        specifier->class = TSDL_CLASS_ENUM;
        return parse_enum(p, specifier);
    case TSDL_INTEGER:
        specifier->class = TSDL_CLASS_INTEGER;
        return parse_class(p, specifier);
    case TSDL_FLOATING_POINT:
        specifier->class = TSDL_CLASS_FLOAT;
        return parse_class(p, specifier);
    case TSDL_STRING:
        specifier->class = TSDL_CLASS_STRING;
        return parse_class(p, specifier);
    default:
        return parse_words(p, specifier);
    }
}

/* Parses a type specifier. Returns NULL on failure. */
static const struct tsdl_specifier *parse_specifier(struct parser *p)
{
    struct tsdl_specifier *specifier = tsdl_tree_alloc(p->reading, sizeof *specifier);
    if (!specifier)
        return NULL;
    specifier->at = p->token.at;
    if (!increase_nesting_depth(p) || !parse_type_kind(p, specifier))
        return NULL;
    p->depth--;
    specifier->end = p->token.at;
    return specifier;
}

static bool parse_dimensions(struct parser *p, struct tsdl_declarator *declarator)
{
    const struct tsdl_dimension **link = &declarator->dimension;
    while (is_at_sign(p, '[')) {
        struct tsdl_dimension *dimension = tsdl_tree_alloc(p->reading, sizeof *dimension);
        if (!dimension || !read_next_token(p))
            return false;
        if (is_at_sign(p, ']'))
            return fail_unexpected_token(p, "the length of the array");
        if (!(dimension->length = parse_value(p)) || !expect_sign(p, ']', "']' after the length"))
            return false;
        *link = dimension;
        link = &dimension->next;
    }
    return true;
}

/* Parses a declarator such as `*const *name[2][len] : 3`. Parentheses around the name or the
 * declarator are ignored. */
static struct tsdl_declarator *parse_declarator(struct parser *p, bool needs_name)
{
    unsigned parentheses = 0;
    struct tsdl_declarator *declarator = tsdl_tree_alloc(p->reading, sizeof *declarator);
    if (!declarator)
        return NULL;
    while (is_at_sign(p, '*') || is_at_sign(p, '(') ||
           (declarator->pointers && is_at_keyword(p, TSDL_CONST))) {
        declarator->pointers += is_at_sign(p, '*');
        parentheses += is_at_sign(p, '(');
        if (!read_next_token(p))
            return NULL;
    }
    declarator->at = p->token.at;
    if (p->token.kind == TSDL_TOKEN_NAME) {
        declarator->name = p->token.text;
        if (!read_next_token(p))
            return NULL;
    } else if (needs_name) {
        (void)fail_unexpected_token(p, "a name");
        return NULL;
    }
    if (!parse_dimensions(p, declarator))
        return NULL;
    while (parentheses-- > 0)
        if (!expect_sign(p, ')', "')'"))
            return NULL;
    return parse_dimensions(p, declarator) ? declarator : NULL;
}

/* Parses a list of declarators separated by commas, and the semicolon after it. */
static bool parse_declarators(struct parser *p, struct tsdl_statement *statement)
{
    const struct tsdl_declarator **link = &statement->declarator;
    for (;;) {
        struct tsdl_declarator *declarator = parse_declarator(p, true);
        if (!declarator)
            return false;
        if (is_at_sign(p, ':') && statement->kind == TSDL_FIELDS &&
            (!read_next_token(p) || !(declarator->bits = parse_value(p))))
            return false;
        *link = declarator;
        link = &declarator->next;
        if (!is_at_sign(p, ','))
            return expect_sign(p, ';', "',' or ';'");
        if (!read_next_token(p))
            return false;
    }
}

/* Parses the new name of an alias: a type name of C, with stars. */
static bool parse_alias_name(struct parser *p, struct tsdl_statement *statement)
{
    size_t at = p->token.at;
    const struct tsdl_specifier *alias = parse_specifier(p);
    struct tsdl_declarator *declarator = alias ? parse_declarator(p, false) : NULL;
    if (!declarator)
        return false;
    if (declarator->name.n || declarator->dimension)
        return tsdl_fail(p->reading, declarator->at, "expected ';': the name of a type ends here");
    if (alias->name.n == 0 || alias->has_body || alias->tag || alias->align)
        return tsdl_fail(p->reading, at,
                         "an alias names a type such as 'uint32_t', 'unsigned long' or 'void *'");
    statement->alias = alias;
    statement->alias_pointers = declarator->pointers;
    return true;
}

/* Parses the declaration `typealias T := name;`. */
static bool parse_alias(struct parser *p, struct tsdl_statement *statement)
{
    statement->kind = TSDL_ALIAS;
    if (!read_next_token(p) || !(statement->specifier = parse_specifier(p)) ||
        !(statement->declarator = parse_declarator(p, false)))
        return false;
    if (statement->declarator->name.n)
        return tsdl_fail(p->reading, statement->declarator->at,
                         "expected ':=' and the name of the alias");
    if (p->token.kind != TSDL_TOKEN_DEFINE)
        return fail_unexpected_token(p, "':='");
    return read_next_token(p) && parse_alias_name(p, statement) &&
           expect_sign(p, ';', "';' after the alias");
}

/* Parses the declaration `typedef T name, name;`. */
static bool parse_typedef(struct parser *p, struct tsdl_statement *statement)
{
    statement->kind = TSDL_TYPES;
    return read_next_token(p) && (statement->specifier = parse_specifier(p)) &&
           parse_declarators(p, statement);
}

/* Returns true if the next keyword starts a declaration. Then a missing ';' after '}' is
 * accepted. */
static bool is_at_declaration(const struct parser *p)
{
    if (p->token.kind != TSDL_TOKEN_KEYWORD)
        return false;
    switch (p->token.keyword) {
    case TSDL_STRUCT:
    case TSDL_VARIANT:
    case TSDL_ENUM:
    case TSDL_TYPEALIAS:
    case TSDL_TYPEDEF:
    case TSDL_TRACE:
    case TSDL_ENV:
    case TSDL_CLOCK:
    case TSDL_STREAM:
    case TSDL_EVENT:
    case TSDL_CALLSITE:
        return true;
    default:
        return false;
    }
}

/* Parses a declaration of fields, or of only a type: `struct name { ... };`. */
static bool parse_declaration(struct parser *p, struct tsdl_statement *statement)
{
    statement->kind = TSDL_FIELDS;
    if (!(statement->specifier = parse_specifier(p)))
        return false;
    bool is_end = is_at_sign(p, ';') || is_at_declaration(p);
    if (!is_end || statement->specifier->class == TSDL_CLASS_NAMED ||
        !statement->specifier->has_body)
        return parse_declarators(p, statement);
    statement->kind = TSDL_DECLARE;
    return !is_at_sign(p, ';') || read_next_token(p);
}

static struct tsdl_statement *append_statement(struct parser *p)
{
    struct tsdl_statement *statement = tsdl_tree_alloc(p->reading, sizeof *statement);
    if (statement)
        statement->at = p->token.at;
    return statement;
}

/* Parses the members of a structure or variant, up to its '}'. */
static const struct tsdl_statement *parse_fields(struct parser *p)
{
    const struct tsdl_statement *first = NULL, **link = &first;
    while (!is_at_sign(p, '}')) {
        struct tsdl_statement *statement = append_statement(p);
        if (!statement)
            return NULL;
        bool is_fine = is_at_keyword(p, TSDL_TYPEDEF)     ? parse_typedef(p, statement)
                       : is_at_keyword(p, TSDL_TYPEALIAS) ? parse_alias(p, statement)
                                                          : parse_declaration(p, statement);
        if (!is_fine)
            return NULL;
        *link = statement;
        link = &statement->next;
    }
    return first;
}

/* Returns true if the next token starts a type specifier. */
static bool is_at_type(const struct parser *p)
{
    return is_at_keyword(p, TSDL_STRUCT) || is_at_keyword(p, TSDL_VARIANT) ||
           is_at_keyword(p, TSDL_ENUM) || is_at_keyword(p, TSDL_INTEGER) ||
           is_at_keyword(p, TSDL_FLOATING_POINT);
}

/* Parses an attribute: `name = value`, `name := type`, or `name = type`. */
static bool parse_assignment(struct parser *p, struct tsdl_statement *statement)
{
    uint8_t keyword;
    if (!parse_path(p, "a name or '}'", &statement->name, &keyword))
        return false;
    bool is_type = p->token.kind == TSDL_TOKEN_DEFINE;
    if (!is_type && !is_at_sign(p, '='))
        return fail_unexpected_token(p, "'=' or ':='");
    if (!read_next_token(p))
        return false;
    is_type |= is_at_type(p);
    statement->kind = is_type ? TSDL_ASSIGN_TYPE : TSDL_ASSIGN;
    if (is_type ? !(statement->specifier = parse_specifier(p))
                : !(statement->value = parse_value(p)))
        return false;
    return expect_sign(p, ';', "';'");
}

/* Parses the attributes of a block or class, up to its '}'. */
static const struct tsdl_statement *parse_attributes(struct parser *p)
{
    const struct tsdl_statement *first = NULL, **link = &first;
    while (!is_at_sign(p, '}')) {
        struct tsdl_statement *statement = append_statement(p);
        if (!statement)
            return NULL;
        bool is_fine = is_at_keyword(p, TSDL_TYPEDEF)     ? parse_typedef(p, statement)
                       : is_at_keyword(p, TSDL_TYPEALIAS) ? parse_alias(p, statement)
                       : is_at_keyword(p, TSDL_STRUCT) || is_at_keyword(p, TSDL_VARIANT) ||
                               is_at_keyword(p, TSDL_ENUM)
                           ? parse_declaration(p, statement)
                           : parse_assignment(p, statement);
        if (!is_fine)
            return NULL;
        *link = statement;
        link = &statement->next;
    }
    return first;
}

static bool parse_block(struct parser *p, struct tsdl_statement *statement)
{
    statement->kind = TSDL_BLOCK;
    statement->keyword = p->token.keyword;
    return read_next_token(p) && parse_body(p, false, &statement->body) &&
           expect_sign(p, ';', "';' after '}'");
}

/* Exchanges the arena of the text's syntax tree with that of the current event block, so that the
 * nodes of the block can be freed separately. */
static void swap_tree_arenas(struct tsdl_reading *reading)
{
    struct arena tree = reading->tree;
    reading->tree = reading->block;
    reading->block = tree;
}

static bool parse_event(struct parser *p, struct tsdl_statement *statement)
{
    struct tsdl_reading *reading = p->reading;
    if (reading->tree.total <= TREE_KEPT)
        return parse_block(p, statement);
    swap_tree_arenas(reading);
    bool is_fine = parse_block(p, statement);
    statement->is_deferred = true;
    statement->body = NULL;
    tsdl_free_block(reading, statement);
    return is_fine;
}

static bool parse_root(struct parser *p, struct tsdl_statement *statement)
{
    switch (p->token.kind == TSDL_TOKEN_KEYWORD ? p->token.keyword : 0) {
    case TSDL_TRACE:
    case TSDL_ENV:
    case TSDL_CLOCK:
    case TSDL_STREAM:
    case TSDL_CALLSITE:
        return parse_block(p, statement);
    case TSDL_EVENT:
        return parse_event(p, statement);
    case TSDL_TYPEDEF:
        return parse_typedef(p, statement);
    case TSDL_TYPEALIAS:
        return parse_alias(p, statement);
    case TSDL_STRUCT:
    case TSDL_VARIANT:
    case TSDL_ENUM:
        return parse_declaration(p, statement);
    default:
        return fail_unexpected_token(
            p, "a declaration (trace, env, clock, stream, event, typealias, typedef, "
               "struct, variant, enum)");
    }
}

/* Returns true if an incomplete declaration at the end of the text may be dropped. A tracer that
 * is stopped leaves one, because it writes metadata packet by packet. Without packets, this is
 * only accepted if another metadata file continues the text. At least one stream block is
 * required, since no stream can be read without it. */
static bool can_drop_cut_declaration(struct tsdl_reading *reading, bool has_stream, size_t at)
{
    if (!reading->is_at_end || (!reading->text->pieces_n && !reading->text->is_part) || !has_stream)
        return false;
    reading->is_cut = true;
    reading->cut_at = at;
    return true;
}

bool tsdl_parse_text(struct tsdl_reading *reading, const struct tsdl_statement **first)
{
    struct parser p = {.reading = reading};
    const struct tsdl_statement **link = first;
    bool has_stream = false;
    *first = NULL;
    if (!read_next_token(&p))
        return false;
    while (p.token.kind != TSDL_TOKEN_END) {
        const size_t at = p.token.at;
        struct tsdl_statement *statement = append_statement(&p);
        if (!statement || !parse_root(&p, statement))
            return can_drop_cut_declaration(reading, has_stream, at);
        has_stream |= statement->kind == TSDL_BLOCK && statement->keyword == TSDL_STREAM;
        *link = statement;
        link = &statement->next;
    }
    return true;
}

bool tsdl_parse_block(struct tsdl_reading *reading, const struct tsdl_statement *block,
                      const struct tsdl_statement **body)
{
    struct parser p = {.reading = reading, .token = {.end = block->at}};
    struct tsdl_statement again = {0};
    *body = block->body;
    if (!block->is_deferred)
        return true;
    swap_tree_arenas(reading);
    if (!read_next_token(&p) || !parse_block(&p, &again))
        return false;
    *body = again.body;
    return true;
}

void tsdl_free_block(struct tsdl_reading *reading, const struct tsdl_statement *block)
{
    if (!block->is_deferred)
        return;
    arena_reset(&reading->tree);
    swap_tree_arenas(reading);
}
