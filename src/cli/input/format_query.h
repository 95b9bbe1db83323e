/* Queries about formats, options and styles, so that the command names no format itself. All
 * results are static. */
#ifndef TRACETTA_CLI_INPUT_FORMAT_QUERY_H
#define TRACETTA_CLI_INPUT_FORMAT_QUERY_H

#include <stdbool.h>

#include <tracetta/formats.h>

/* Returns the first option that has a role, as "FORMAT.KEY"; NULL = none. */
const char *format_query_find_option_of_role(ttr_option_role role);

/* Returns the name of the first format that has an option with this role, "" = none. */
const char *format_query_find_format_of_role(ttr_option_role role);

/* Returns true if an option that the user gave ("KEY=VALUE" or "FORMAT.KEY=VALUE") has a role. */
bool format_query_is_option(const char *given, ttr_option_role role);

/* Fills in the style with a name. Returns false if there is none, or if the name is NULL. */
bool format_query_style(const char *name, ttr_style_info *style);

/* Returns the name of the first format with all of these abilities (TTR_FORMAT_*), "" = none. */
const char *format_query_able(uint32_t abilities);

/* Copies the properties of a format. Returns false if the format does not exist. */
bool format_query_find(const char *name, ttr_format_info *info);

/* Returns true for a format with all of these abilities. */
bool format_query_has(const char *format, uint32_t abilities);

#endif
