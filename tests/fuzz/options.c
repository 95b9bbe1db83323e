/* Fuzzes the options of the command. The input is one byte, which selects a command, and lines,
 * which are the words of a command line. Parsing ends, and frees what it allocates. Each word is
 * also parsed as count, size, duration and time. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands/command.h"
#include "cli/ui/options.h"
#include "fuzz/fuzz.h"

#define WORDS_MAX 32

static void parse_units(const char *word)
{
    uint64_t number;
    int64_t ns;
    struct moment moment;
    if (units_parse_duration(word, &ns) && ns < 0 && word[0] != '-')
        fuzz_stop("a duration without a sign is negative");
    (void)units_parse_count(word, &number);
    (void)units_parse_size(word, &number);
    (void)units_parse_nanoseconds(word, &ns);
    (void)units_parse_seconds(word, &ns);
    (void)units_parse_moment(word, &moment);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static bool is_silent;
    struct settings settings = {0};
    char *words[WORDS_MAX + 1] = {NULL};
    int words_n = 0;
    if (!is_silent && freopen("/dev/null", "w", stderr)) /* each input is reported as misuse */
        is_silent = true;
    char *text = calloc(n + 1, 1);
    if (!text)
        fuzz_stop("memory runs out");
    if (n > 1)
        memcpy(text, bytes + 1, n - 1);
    for (char *at = text; *at && words_n < WORDS_MAX;) {
        char *end = at + strcspn(at, "\n");
        const bool is_last = !*end;
        *end = '\0';
        parse_units(at);
        words[words_n++] = at;
        if (is_last)
            break;
        at = end + 1;
    }
    for (int i = 0; i + 1 < words_n; i++)
        if (option_words(words[i], words[i + 1]) > 2)
            fuzz_stop("an option has too many words");
    const int left = options_parse(1u << (n ? bytes[0] & 31 : 0), words, words_n, &settings);
    if (left > words_n || left < -1)
        fuzz_stop("options leave too many words");
    settings_free(&settings);
    free(text);
    return 0;
}
