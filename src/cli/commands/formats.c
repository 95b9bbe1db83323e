/* formats: lists formats that can be read and written, with their options. */

#include <string.h>

#include <tracetta/formats.h>
#include <tracetta/meaning.h>
#include <tracetta/tracetta.h>

#include "cli/commands/command.h"
#include "cli/ui/json.h"
#include "cli/ui/messages.h"

#define LOSSES_MAX 128u

static void write_options_json(struct json *json, size_t format)
{
    ttr_option_info option;
    json_open(json, "options", '[');
    for (size_t j = 0; ttr_format_option(format, j, &option); j++) {
        json_open(json, NULL, '{');
        json_write_string(json, "key", option.key);
        json_write_string(json, "values", option.values ? option.values : "");
        json_write_string(json, "text", option.text);
        json_write_string(json, "for", option.for_writing ? "writing" : "reading");
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_losses_json(struct json *json, const char *format)
{
    ttr_loss losses[LOSSES_MAX];
    size_t n = ttr_format_losses(format, losses, LOSSES_MAX);
    json_open(json, "losses", '[');
    for (size_t j = 0; j < n && j < LOSSES_MAX; j++) {
        json_open(json, NULL, '{');
        json_write_string(json, "code", losses[j].code);
        json_write_string(json, "what", losses[j].what);
        json_write_string(json, "rule", losses[j].rule);
        json_write_string(json, "kind", losses[j].kind == TTR_LOSS_DROPPED ? "dropped" : "changed");
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_diagnostics_json(struct json *json, size_t format)
{
    ttr_diagnostic_info info;
    json_open(json, "diagnostics", '[');
    for (size_t j = 0; ttr_format_diagnostic(format, j, &info); j++) {
        json_open(json, NULL, '{');
        json_write_string(json, "code", info.code);
        json_write_string(json, "severity", print_diagnostic_severity(info.worst));
        if (info.least != info.worst)
            json_write_string(json, "least_severity", print_diagnostic_severity(info.least));
        json_write_string(json, "meaning", info.meaning);
        json_write_string(json, "effect", info.effect);
        json_write_string(json, "advice", info.advice);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* Returns true if a format is to be listed: its name is an operand, or there are no operands. */
static bool is_format_selected(const struct call *call, const char *name)
{
    bool is_one = call->paths_n == 0;
    for (size_t i = 0; i < call->paths_n; i++)
        is_one = is_one || strcmp(call->path[i], name) == 0;
    return is_one;
}

static const char *find_unknown_format(const struct call *call)
{
    for (size_t i = 0; i < call->paths_n; i++) {
        ttr_format_info info = {0};
        size_t k = 0;
        while (ttr_format_get(k, &info) && strcmp(info.name, call->path[i]) != 0)
            k++;
        if (!ttr_format_get(k, &info))
            return call->path[i];
    }
    return NULL;
}

static void write_formats_json(const struct call *call)
{
    struct json json = {.to = stdout};
    ttr_format_info info;
    json_open(&json, NULL, '{');
    json_write_string(&json, "schema", "tracetta.formats/1");
    json_open(&json, "formats", '[');
    for (size_t i = 0; ttr_format_get(i, &info); i++) {
        if (!is_format_selected(call, info.name))
            continue;
        json_open(&json, NULL, '{');
        json_write_string(&json, "name", info.name);
        json_write_string(&json, "title", info.title);
        json_write_string(&json, "extensions", info.extensions ? info.extensions : "");
        json_write_string(&json, "specification", info.spec ? info.spec : "");
        json_write_bool(&json, "reads", info.abilities & TTR_FORMAT_READS);
        json_write_bool(&json, "writes", info.abilities & TTR_FORMAT_WRITES);
        json_write_bool(&json, "text", info.abilities & TTR_FORMAT_TEXT);
        json_write_bool(&json, "folder", info.abilities & TTR_FORMAT_FOLDER);
        write_options_json(&json, i);
        write_losses_json(&json, info.name);
        write_diagnostics_json(&json, i);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    write_diagnostics_json(&json, TTR_FORMAT_NONE);
    json_close(&json, '}');
}

static void print_format(const struct call *call, size_t i, const ttr_format_info *info, int width)
{
    ttr_option_info option;
    const struct terminal *term = &call->term;
    (void)printf("%s%-*s%s %-6s%-7s %s%s%s%s\n", term_ink(term, INK_BOLD), width, info->name,
                 term_ink(term, INK_PLAIN), info->abilities & TTR_FORMAT_READS ? "reads" : "",
                 info->abilities & TTR_FORMAT_WRITES ? "writes" : "", info->title,
                 call->set.verbose && info->spec ? " (" : "",
                 call->set.verbose && info->spec ? info->spec : "",
                 call->set.verbose && info->spec ? ")" : "");
    for (size_t j = 0; ttr_format_option(i, j, &option); j++)
        (void)printf("             --option %s.%s=%s  %s (%s)\n", info->name, option.key,
                     option.values ? option.values : "VALUE", option.text,
                     option.for_writing ? "writing" : "reading");
}

static void write_rules_json(void)
{
    struct json json = {.to = stdout};
    ttr_interpret_row row = {.size = sizeof row};
    json_open(&json, NULL, '{');
    json_write_string(&json, "schema", "tracetta.rules/1");
    json_open(&json, "rules", '[');
    for (size_t i = 0; ttr_interpret_rule(i, &row); i++) {
        json_open(&json, NULL, '{');
        json_write_string(&json, "world", row.world);
        json_write_string(&json, "events", row.events);
        json_open(&json, "fields", '[');
        for (size_t k = 0; k < sizeof row.fields / sizeof *row.fields && row.fields[k]; k++)
            json_write_string(&json, NULL, row.fields[k]);
        json_close(&json, ']');
        json_write_string(&json, "becomes", row.becomes);
        json_write_string(&json, "name", row.name ? row.name : "");
        json_write_string(&json, "category", row.category ? row.category : "");
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
}

static void print_rule_tables(const struct terminal *term)
{
    ttr_interpret_row row = {.size = sizeof row};
    const char *world = NULL;
    for (size_t i = 0; ttr_interpret_rule(i, &row); i++) {
        if (row.world != world)
            (void)printf("%s%s%s%s\n", world ? "\n" : "", term_ink(term, INK_BOLD), row.world,
                         term_ink(term, INK_PLAIN));
        world = row.world;
        (void)printf("  %s\n      ", row.events);
        for (size_t k = 0; k < sizeof row.fields / sizeof *row.fields && row.fields[k]; k++)
            (void)printf("%s%s", k ? ", " : "", row.fields[k]);
        (void)printf("%s-> %s", row.fields[0] ? " " : "", row.becomes);
        if (row.name)
            (void)printf(" \"%s\"", row.name);
        if (row.category)
            (void)printf(", category %s", row.category);
        (void)printf("\n");
    }
}

static int list_rule_tables(const struct call *call)
{
    if (call->paths_n)
        return report_misuse(call->command->name, "--rules lists all rules: name no format");
    if (call->set.json)
        write_rules_json();
    else
        print_rule_tables(&call->term);
    return OUTCOME_FINE;
}

int run_formats(struct call *call)
{
    if (call->set.rules)
        return list_rule_tables(call);
    ttr_format_info info;
    int width = 0;
    const char *unknown = find_unknown_format(call);
    if (unknown)
        return report_misuse(call->command->name,
                             "no format \"%s\": \"tracetta formats\" lists them", unknown);
    if (call->set.json) {
        write_formats_json(call);
        return OUTCOME_FINE;
    }
    for (size_t i = 0; ttr_format_get(i, &info); i++)
        if (is_format_selected(call, info.name) && strlen(info.name) > (size_t)width)
            width = (int)strlen(info.name);
    for (size_t i = 0; ttr_format_get(i, &info); i++)
        if (is_format_selected(call, info.name))
            print_format(call, i, &info, width);
    return OUTCOME_FINE;
}
