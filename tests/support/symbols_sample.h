/* What symbols_sample.c knows of itself once sample_fill(3) was called. */
#ifndef TRACETTA_TESTS_SUPPORT_SYMBOLS_SAMPLE_H
#define TRACETTA_TESTS_SUPPORT_SYMBOLS_SAMPLE_H

enum { SAMPLE_PLAIN, SAMPLE_INLINED, SAMPLE_PLACES };

struct sample_place {
    void *address;
    int line; /* of the call there, or of the call of the inlined function it is in */
};

extern struct sample_place sample_place[SAMPLE_PLACES];

int sample_fill(int n);

#endif
