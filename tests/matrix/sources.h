/* Where the traces of the matrix come from: generated files, recorded ones, and random events made
 * by hand. */
#ifndef TRACETTA_TESTS_SOURCES_H
#define TRACETTA_TESTS_SOURCES_H

#include <tracetta/write.h>

/* Begins an event of a random kind with random attributes and fields, any of which may be odd; the
 * caller ends or takes it. */
void sources_make_event(ttr_builder *b, uint64_t *state, int64_t time);

/* Makes a file with generate_fxt, to be removed by the caller; false when that fails. */
bool sources_generate(const char *generator, const char *options, char path[64]);

#endif
