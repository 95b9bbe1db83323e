/* The traces of the matrix: generated files, recorded files, and random events. */
#ifndef TRACETTA_TESTS_SOURCES_H
#define TRACETTA_TESTS_SOURCES_H

#include <tracetta/build.h>

/* Starts an event of a random kind with random attributes and fields, any of which may be extreme.
 * The caller ends the event. */
void sources_make_event(ttr_builder *b, uint64_t *state, int64_t time);

/* Writes a file with generate_fxt; the caller removes it. Returns false on failure. */
bool sources_generate(const char *generator, const char *options, char path[64]);

#endif
