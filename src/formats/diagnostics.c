/* Explains diagnostic codes: those of the formats, and those that belong to no format. */
#include "formats/table.h"

static const ttr_diagnostic_info general[] = {
    {TTR_SEVERITY_DAMAGE, TTR_SEVERITY_DAMAGE, "input.compression",
     "compressed data that is broken or cut", "input ends there", ""},
    {TTR_SEVERITY_REMARK, TTR_SEVERITY_REMARK, "directory.passed-over",
     "files in a folder that are not traces", "skipped", ""},
    {TTR_SEVERITY_ODD, TTR_SEVERITY_ODD, "directory.no-file", "dangling link in a folder",
     "skipped", ""},
    {TTR_SEVERITY_ODD, TTR_SEVERITY_ODD, "directory.link", "link out of a searched folder",
     "skipped", "--follow-links"},
    {TTR_SEVERITY_ODD, TTR_SEVERITY_ODD, "directory.too-deep", "folder more than 8 levels down",
     "not searched", "name it"},
    {TTR_SEVERITY_DAMAGE, TTR_SEVERITY_DAMAGE, "directory.bad-main-file",
     "trace folder without a usable main file (metadata)", "its events are lost",
     "restore the file, or --metadata=FILE"},
    {TTR_SEVERITY_DAMAGE, TTR_SEVERITY_DAMAGE, "trace.unreadable",
     "trace, file or folder that cannot be read", "its events are lost", ""},
    {TTR_SEVERITY_ODD, TTR_SEVERITY_ODD, "filter.unknown",
     "event without the process, thread or CPU that a filter asks for", "left out", ""},
    {TTR_SEVERITY_REMARK, TTR_SEVERITY_REMARK, "meaning.lost-begin",
     "end of an interpreted span without a begin", "stays an instant", ""},
    {TTR_SEVERITY_REMARK, TTR_SEVERITY_REMARK, "meaning.lost-end",
     "interpreted span without an end", "ends incomplete where the loss shows", ""},
    {TTR_SEVERITY_ODD, TTR_SEVERITY_ODD, "meaning.no-event", "a name of --pair that no event has",
     "makes no spans", "check the name with stat --raw"},
    {TTR_SEVERITY_ODD, TTR_SEVERITY_ODD, "pair.other-name", "end and begin have different names",
     "span has the begin's name", ""},
    {TTR_SEVERITY_REMARK, TTR_SEVERITY_REMARK, "pair.too-many-open", "too many open spans",
     "further begins and ends stay unpaired", ""},
    {TTR_SEVERITY_ODD, TTR_SEVERITY_ODD, "pair.unmatched-end", "end without a begin",
     "stays an end", ""},
    {.code = NULL},
};

bool ttr_format_diagnostic(size_t i, size_t j, ttr_diagnostic_info *info)
{
    const struct format *format = i == TTR_FORMAT_NONE ? NULL : format_at(i);
    const ttr_diagnostic_info *table = i == TTR_FORMAT_NONE ? general
                                       : format             ? format->diagnostics
                                                            : NULL;
    for (size_t k = 0; table && table[k].code; k++)
        if (k == j) {
            *info = table[k];
            return true;
        }
    return false;
}
