/* Finds functions and lines by address; see symbolizer.h. */
#include "cli/input/symbolizer.h"

#include <stdlib.h>

#include "cli/commands/command.h"
#include "cli/input/optional_library.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/messages.h"

struct symbolizer {
    const struct call *call;
    ttr_symbols_options options;
    ttr_symbols *symbols; /* NULL = not loaded */
    bool is_tried;        /* lazy symbolizer: loading was tried, successfully or not */
    /* The functions of the library. */
    __typeof__(ttr_symbols_new) *create;
    __typeof__(ttr_symbols_free) *free;
    __typeof__(ttr_symbols_locate) *locate;
    __typeof__(ttr_symbols_problems) *problems;
};

static bool should_continue(void *user_data)
{
    (void)user_data;
    return !interrupt_was_received();
}

static void print_symbol_warning(void *user_data, const char *text)
{
    const struct symbolizer *symbolizer = user_data;
    print_note(symbolizer->call, "warning: %s", text);
}

static bool load_symbol_library(struct symbolizer *symbolizer, char reason[LIBRARY_REASON])
{
    const struct library_function functions[] = {
        {"ttr_symbols_new", &symbolizer->create},
        {"ttr_symbols_free", &symbolizer->free},
        {"ttr_symbols_locate", &symbolizer->locate},
        {"ttr_symbols_problems", &symbolizer->problems},
    };
    symbolizer->is_tried = true;
    return load_optional_library(LIBRARY_SYMBOLS, functions, sizeof functions / sizeof *functions,
                                 reason);
}

static bool has_debuginfod_servers(const ttr_symbols_options *options)
{
    const char *known = getenv("DEBUGINFOD_URLS");
    return !options->servers || options->servers[0] || (known && known[0]);
}

struct symbolizer *symbolizer_new_lazy(const struct call *call, const ttr_symbols_options *options)
{
    struct symbolizer *symbolizer = calloc(1, sizeof *symbolizer);
    if (!symbolizer)
        return NULL;
    symbolizer->call = call;
    symbolizer->options = *options;
    symbolizer->options.size = sizeof *options;
    symbolizer->options.progress = should_continue;
    symbolizer->options.warn = print_symbol_warning;
    symbolizer->options.user_data = symbolizer;
    return symbolizer;
}

int symbolizer_new(struct symbolizer **symbolizer, const struct call *call, const char *option,
                   const ttr_symbols_options *options)
{
    char reason[LIBRARY_REASON] = "no memory";
    ttr_error error = {0};
    *symbolizer = NULL;
    if (!has_debuginfod_servers(options))
        return report_misuse(NULL, "--debuginfod needs a server: --debuginfod=URL, or "
                                   "DEBUGINFOD_URLS in the environment");
    struct symbolizer *made = symbolizer_new_lazy(call, options);
    if (!made || !load_symbol_library(made, reason)) {
        report_failure_text(option, "%s", reason);
    } else if ((made->symbols = made->create(&made->options, &error))) {
        *symbolizer = made;
        return OUTCOME_FINE;
    } else {
        report_failure_text(options->servers ? "--debuginfod" : option, "%s", error.text);
    }
    free(made);
    return OUTCOME_MISUSE;
}

void symbolizer_free(struct symbolizer *symbolizer)
{
    if (symbolizer && symbolizer->symbols)
        symbolizer->free(symbolizer->symbols);
    free(symbolizer);
}

void symbolizer_locate(void *ctx, const ttr_binary *binary, uint64_t address, ttr_location *place)
{
    struct symbolizer *symbolizer = ctx;
    char reason[LIBRARY_REASON];
    if (!symbolizer->is_tried) {
        if (load_symbol_library(symbolizer, reason))
            symbolizer->symbols = symbolizer->create(&symbolizer->options, NULL);
        else
            print_note(
                symbolizer->call,
                "warning: names of functions that the trace does not have are not looked up: "
                "that %s",
                reason);
    }
    if (symbolizer->symbols)
        symbolizer->locate(symbolizer->symbols, binary, address, place);
}

void symbolizer_report(const struct symbolizer *symbolizer)
{
    static const struct {
        ttr_symbols_problem problem;
        const char *text;
    } rows[] = {
        {TTR_SYMBOLS_MISSING, "not here, so that functions and lines in them are unknown: "
                              "--debug-info-target-prefix says below which folder they are"},
        {TTR_SYMBOLS_OTHER, "not those that were traced (their build ids differ), so that "
                            "functions and lines in them are unknown"},
        {TTR_SYMBOLS_NO_PROGRAM,
         "no programs or libraries, so that functions and lines in them are unknown"},
    };
    for (size_t i = 0; symbolizer->symbols && i < sizeof rows / sizeof *rows; i++) {
        const char *first;
        size_t n = symbolizer->problems(symbolizer->symbols, rows[i].problem, &first);
        if (n)
            print_note(symbolizer->call,
                       "warning: of the binaries in the trace %zu %s %s; the first is %s", n,
                       n == 1 ? "is" : "are", rows[i].text, first);
    }
}
