/* --debug-info: the library learns from the trace which binary is loaded at an address, and calls
 * the symbolizer to find function and line. */
#include "cli/input/debug_info.h"

#include <string.h>
#include <sys/stat.h>

#include "cli/input/symbolizer.h"
#include "cli/ui/messages.h"

bool debug_info_is_requested(const struct settings *set)
{
    return set->debug_info || set->debuginfod || set->debug_info_dir || set->debug_info_prefix ||
           set->debug_info_full_path;
}

int debug_info_begin(struct inputs *inputs, const struct call *call)
{
    const struct settings *set = &call->set;
    ttr_error error = {0};
    if (!debug_info_is_requested(set))
        return OUTCOME_FINE;
    struct stat about;
    if (set->debug_info_dir && (stat(set->debug_info_dir, &about) != 0 || !S_ISDIR(about.st_mode)))
        print_note(call,
                   "%s: warning: --debug-info-dir names no folder: debug information is looked for "
                   "beside the binaries only",
                   set->debug_info_dir);
    bool is_babeltrace2 = set->style && strcmp(set->style, "babeltrace2") == 0;
    const ttr_symbols_options options = {
        .debug_folder = set->debug_info_dir,
        .prefix = set->debug_info_prefix,
        .servers = set->debuginfod,
        .flags = (set->debug_info_full_path ? TTR_SYMBOLS_FULL_PATHS : 0) |
                 (is_babeltrace2 ? TTR_SYMBOLS_LIKE_BABELTRACE2 : 0) |
                 (set->no_mmap ? TTR_SYMBOLS_NO_MMAP : 0)};
    int outcome = symbolizer_new(&inputs->symbolizer, call, "--debug-info", &options);
    if (outcome != OUTCOME_FINE)
        return outcome;
    const ttr_debug_options how = {.size = sizeof how,
                                   .locate = symbolizer_locate,
                                   .user_data = inputs->symbolizer,
                                   .like_babeltrace2 = is_babeltrace2};
    inputs->reader = ttr_debug_info(ttr_sort(inputs->reader, &error), &how, &error);
    return inputs->reader ? OUTCOME_FINE
                          : inputs_report_failure(call, inputs_get_name(call), &error);
}

void debug_info_end(struct inputs *inputs)
{
    if (inputs->symbolizer)
        symbolizer_report(inputs->symbolizer);
    symbolizer_free(inputs->symbolizer);
}
