/* libtracetta-view for the commands that use it: view, and report --html. */
#ifndef TRACETTA_CLI_COMMANDS_VIEW_H
#define TRACETTA_CLI_COMMANDS_VIEW_H

#include <tracetta/view.h>

#include "cli/input/input_list.h"

/* Functions of the library. */
struct view_library {
    __typeof__(ttr_view_tables) *tables;
    __typeof__(ttr_view_new) *create;
    __typeof__(ttr_view_free) *free;
    __typeof__(ttr_view_listen) *listen;
    __typeof__(ttr_view_url) *url;
    __typeof__(ttr_view_serve) *serve;
    __typeof__(ttr_view_report) *report;
};

/* Loads the library. Returns an outcome; a failure is reported. */
int view_load(struct view_library *library);

/* Reads all inputs into a store, and makes its view. Returns an outcome; a failure is reported.
 * *view stays NULL after an interruption. The caller frees the view, then the store. */
int view_open(struct call *call, const struct view_library *library, struct inputs *inputs,
              ttr_store **store, ttr_view **view);

#endif
