/* The fuzz program of libFuzzer. usage: fuzz TARGET [libFuzzer's arguments] */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/fuzz.h"

static const struct fuzz_target *target;

/* libFuzzer calls this first. Removes the target's name from the arguments, so that libFuzzer
 * parses the others. */
int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    target = *argc > 1 ? fuzz_target_find((*argv)[1]) : NULL;
    if (!target) {
        (void)fprintf(stderr, "usage: %s TARGET [ARGUMENT...]\n", (*argv)[0]);
        exit(2);
    }
    (*argv)[1] = (*argv)[0];
    (*argv)++;
    (*argc)--;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    return target->run(bytes, n);
}
