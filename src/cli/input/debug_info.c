/* --debug-info: the library learns from the trace what lies where, and asks here what that is. */
#include "cli/input/debug_info.h"

#include <string.h>
#include <sys/stat.h>

#include "cli/input/debuginfod.h"
#include "cli/input/symbols.h"
#include "cli/ui/messages.h"

bool debug_info_is_asked(const struct settings *set)
{
    return set->debug_info || set->debuginfod || set->debug_info_dir || set->debug_info_prefix ||
           set->debug_info_full_path;
}

int debug_info_begin(struct inputs *inputs, const struct call *call)
{
    const struct settings *set = &call->set;
    ttr_error error = {0};
    if (!debug_info_is_asked(set))
        return OUTCOME_FINE;
    struct stat about;
    if (set->debug_info_dir && (stat(set->debug_info_dir, &about) != 0 || !S_ISDIR(about.st_mode)))
        talk_note(call,
                  "%s: warning: --debug-info-dir names no folder: debug information is looked for "
                  "beside the binaries only",
                  set->debug_info_dir);
    if (set->debuginfod && !(inputs->servers = debuginfod_new(call, set->debuginfod)))
        return OUTCOME_MISUSE;
    bool is_babeltrace2 = set->style && strcmp(set->style, "babeltrace2") == 0;
    const struct symbols_options options = {.folder = set->debug_info_dir,
                                            .prefix = set->debug_info_prefix,
                                            .has_full_paths = set->debug_info_full_path,
                                            .is_exact = is_babeltrace2,
                                            .no_mmap = set->no_mmap,
                                            .servers = inputs->servers,
                                            .call = call};
    inputs->symbols = symbols_new(&options);
    if (!inputs->symbols) {
        talk_failure(inputs_name(call), "out of memory");
        return OUTCOME_INPUT;
    }
    const ttr_debug_options how = {.size = sizeof how,
                                   .locate = symbols_locate,
                                   .own = inputs->symbols,
                                   .like_babeltrace2 = is_babeltrace2};
    inputs->reader = ttr_debug_info(ttr_sort(inputs->reader, &error), &how, &error);
    return inputs->reader ? OUTCOME_FINE : inputs_failed(call, inputs_name(call), &error);
}

void debug_info_end(struct inputs *inputs)
{
    if (inputs->symbols)
        symbols_tell(inputs->symbols);
    symbols_free(inputs->symbols);
    debuginfod_free(inputs->servers);
}
