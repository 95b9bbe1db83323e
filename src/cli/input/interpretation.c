/* Decides whether events become spans and counters by their meaning (tracetta/meaning.h). If so,
 * adds the stage that does this after the reader of the inputs. */
#include "cli/input/interpretation.h"

#include <string.h>

#include <tracetta/meaning.h>
#include <tracetta/report.h>

/* Returns true for a format that must print the lines of another tool. */
static bool is_of_another_tool(const char *format)
{
    static const char *const names[] = {"babeltrace2", "perf", "perfscript", "trace-cmd",
                                        "microsoft"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], format) == 0)
            return true;
    return false;
}

static bool has_input_of_format(ttr_reader *reader, const char *format)
{
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++)
        if (report.format && strcmp(report.format, format) == 0)
            return true;
    return false;
}

bool interpretation_is_enabled(const struct call *call, ttr_reader *reader)
{
    const char *to = call->set.to ? call->set.to : call->set.style;
    if (call->set.raw)
        return false;
    return !to || (!is_of_another_tool(to) && !has_input_of_format(reader, to));
}

ttr_reader *interpretation_wrap_reader(const struct call *call, ttr_reader *reader,
                                       ttr_error *error)
{
    const ttr_interpret_options options = {.size = sizeof options, .pairs = call->set.pairs.list};
    return ttr_interpret(reader, &options, error);
}

int interpretation_begin(struct inputs *inputs, const struct call *call)
{
    ttr_error error = {0};
    inputs->reader = interpretation_wrap_reader(call, inputs->reader, &error);
    return inputs->reader ? OUTCOME_FINE
                          : inputs_report_failure(call, inputs_get_name(call), &error);
}
