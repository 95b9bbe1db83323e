/* Lexer of print formats, which splits text as libtraceevent does: identifiers and numbers are one
 * kind of word, operators have one or two characters ("<<=" does not exist), adjacent strings are
 * joined. Does not replace escape sequences, which is done later for the format string only. */
#include "encodings/tracepoint/tracepoint_print.h"

static bool is_lexer_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

static bool is_name_character(char c)
{
    char lower = (char)(c | 0x20);
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static void skip_lexer_blanks(ttr_text *text)
{
    while (text->n && is_lexer_blank(*text->p))
        text->p++, text->n--;
}

static ttr_text consume_text(ttr_text *text, size_t n)
{
    ttr_text taken = {text->p, n};
    text->p += n;
    text->n -= n;
    return taken;
}

/* Returns the number of characters before the closing quote; the opening quote is already
 * consumed. Returns SIZE_MAX if it is missing. */
static size_t find_quoted_length(ttr_text text, char quote)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == quote)
            return i;
        i += text.p[i] == '\\';
    }
    return SIZE_MAX;
}

/* Reads one text in quotes and the blanks after it. Returns false if the closing quote is
 * missing. */
static bool read_quoted_piece(ttr_text *rest, char quote, ttr_text *piece)
{
    (void)consume_text(rest, 1);
    size_t n = find_quoted_length(*rest, quote);
    if (n == SIZE_MAX)
        return false;
    *piece = consume_text(rest, n);
    (void)consume_text(rest, 1);
    skip_lexer_blanks(rest);
    return true;
}

static bool has_adjacent_quote(ttr_text rest, char quote)
{
    return quote == '"' && rest.n && *rest.p == '"';
}

static void read_quoted_word(struct tracepoint_lexer *lexer, char quote)
{
    ttr_text rest = lexer->rest, piece;
    size_t n = 0, pieces = 0;
    lexer->word = WORD_ERROR;
    lexer->text = (ttr_text){"", 0};
    do {
        if (!read_quoted_piece(&rest, quote, &piece))
            return;
        n += piece.n;
        pieces++;
    } while (has_adjacent_quote(rest, quote));
    lexer->text = piece;
    char *all = pieces > 1 ? arena_alloc(lexer->arena, n + 1) : NULL;
    if (pieces > 1 && !all) {
        lexer->is_out_of_memory = true;
        return;
    }
    n = 0;
    for (size_t i = 0; i < pieces && read_quoted_piece(&lexer->rest, quote, &piece); i++) {
        if (all)
            memcpy(all + n, piece.p, piece.n);
        n += piece.n;
    }
    if (all)
        lexer->text = (ttr_text){all, n};
    lexer->word = quote == '"' ? WORD_TEXT : WORD_CHAR;
}

static size_t get_operator_length(ttr_text text)
{
    static const char *const pairs[] = {"->", "++", "--", "||", "&&", ">>",
                                        "<<", "<=", ">=", "==", "!="};
    for (size_t i = 0; text.n >= 2 && i < sizeof pairs / sizeof *pairs; i++)
        if (memcmp(text.p, pairs[i], 2) == 0)
            return 2;
    return 1;
}

void tracepoint_next_word(struct tracepoint_lexer *lexer)
{
    skip_lexer_blanks(&lexer->rest);
    if (lexer->rest.n == 0) {
        lexer->word = WORD_END;
        lexer->text = (ttr_text){"", 0};
        return;
    }
    char c = *lexer->rest.p;
    if (c == '"' || c == '\'') {
        read_quoted_word(lexer, c);
        return;
    }
    size_t n = 0;
    while (n < lexer->rest.n && is_name_character(lexer->rest.p[n]))
        n++;
    lexer->word = n ? WORD_NAME : WORD_SIGN;
    lexer->text = consume_text(&lexer->rest, n ? n : get_operator_length(lexer->rest));
}
