/* Colours of the text output: ECMA-48 escape sequences, which all common terminals support. Each
 * has at most COLOR_SIZE_MAX bytes. */
#ifndef TRACETTA_FORMATS_TEXT_COLOR_H
#define TRACETTA_FORMATS_TEXT_COLOR_H

#define COLOR_SIZE_MAX 5
#define COLOR_OFF "\x1b[0m"
#define COLOR_TIME "\x1b[2m"
#define COLOR_NAME "\x1b[1m"
#define COLOR_FIELD "\x1b[36m"
#define COLOR_SPAN "\x1b[32m"
#define COLOR_MOMENT "\x1b[33m"
#define COLOR_COUNTER "\x1b[34m"
#define COLOR_LINKED "\x1b[35m"
#define COLOR_BAD "\x1b[31m"

#endif
