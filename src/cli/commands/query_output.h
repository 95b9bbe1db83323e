/* Prints results of queries as tables, CSV, JSON and the like. */
#ifndef TRACETTA_CLI_COMMANDS_QUERY_OUTPUT_H
#define TRACETTA_CLI_COMMANDS_QUERY_OUTPUT_H

#include <tracetta/query.h>

struct call;

/* Functions of libtracetta-query that printing needs. */
struct query_library {
    __typeof__(ttr_result_step) *step;
    __typeof__(ttr_result_columns) *columns;
    __typeof__(ttr_result_name) *name;
    __typeof__(ttr_result_type) *type;
    __typeof__(ttr_result_int) *get_int;
    __typeof__(ttr_result_real) *get_real;
    __typeof__(ttr_result_text) *get_text;
    __typeof__(ttr_result_free) *free;
};

/* Prints all rows of a result in the format of the call. Returns TTR_END, or why it stopped. */
ttr_status print_query_result(const struct call *call, const struct query_library *library,
                              ttr_result *result, ttr_error *error);

#endif
