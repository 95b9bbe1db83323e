/* Addresses and lines in symbols_sample.c, valid after sample_fill(3). */
#ifndef TRACETTA_TESTS_SUPPORT_SYMBOLS_SAMPLE_H
#define TRACETTA_TESTS_SUPPORT_SYMBOLS_SAMPLE_H

enum { SAMPLE_PLAIN, SAMPLE_INLINED, SAMPLE_MANGLED, SAMPLE_PLACES };

struct sample_place {
    void *address;
    int line; /* line of the call, or of the call of the inlined function that contains it */
};

extern struct sample_place sample_place[SAMPLE_PLACES];

int sample_fill(int n);

#endif
