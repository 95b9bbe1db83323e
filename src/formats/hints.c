/* Hints that formats declare for programs that do not know the formats by name: meanings of
 * options, the option that helps against a note, notes that are warnings, and output styles. */
#include <string.h>

#include "formats/table.h"
#include "model/reader.h"

/* Returns true if a blank-separated list of words contains the word. */
static bool list_has_word(const char *list, const char *word)
{
    for (size_t n; *list; list += n + (list[n] == ' ')) {
        n = strcspn(list, " ");
        if (strncmp(list, word, n) == 0 && !word[n])
            return true;
    }
    return false;
}

const char *ttr_format_option_for(const char *name, ttr_option_role role)
{
    for (size_t i = 0; format_at(i); i++) {
        const struct format_hints *hints = format_at(i)->hints;
        if (!hints || strcmp(format_at(i)->name, name) != 0)
            continue;
        for (size_t k = 0; k < hints->uses_n; k++)
            if (hints->uses[k].role == role)
                return hints->uses[k].option;
    }
    return NULL;
}

const char *ttr_note_option(const ttr_diagnostic *note)
{
    /* all formats use this suffix of note codes for records above the size limit */
    static const char too_large[] = ".too-large";
    const size_t n = strlen(note->code);
    for (size_t i = 0; format_at(i); i++) {
        const struct format_hints *hints = format_at(i)->hints;
        for (size_t k = 0; hints && k < hints->uses_n; k++)
            if (list_has_word(hints->uses[k].notes, note->code))
                return hints->uses[k].option;
    }
    return n >= sizeof too_large && strcmp(note->code + n - (sizeof too_large - 1), too_large) == 0
               ? "max_record"
               : "";
}

bool ttr_note_is_warning(const ttr_diagnostic *note)
{
    bool is_found = list_has_word("directory.too-deep", note->code);
    for (size_t i = 0; format_at(i) && !is_found; i++)
        is_found = format_at(i)->hints && list_has_word(format_at(i)->hints->warnings, note->code);
    return is_found;
}

bool ttr_style_get(size_t i, ttr_style_info *info)
{
    for (size_t k = 0; format_at(k); k++) {
        const struct format_hints *hints = format_at(k)->hints;
        const size_t n = hints ? hints->styles_n : 0;
        if (i < n) {
            *info = hints->styles[i];
            return true;
        }
        i -= n;
    }
    return false;
}
