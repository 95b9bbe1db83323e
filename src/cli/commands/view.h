/* report --html, which shares its library with the command view. */
#ifndef TRACETTA_CLI_COMMANDS_VIEW_H
#define TRACETTA_CLI_COMMANDS_VIEW_H

struct call;

/* Runs "report --html FILE... -o OUTPUT". Returns an outcome. */
int report_html(struct call *call);

#endif
