/* Golden vectors from the specification.  In vectors-whole, the end of a
 * trace changes how its start is read (epochs, counters), so these traces are not truncated.
 * vectors-file have epochs that a pipe delivers too late (heph_pipe_test.c).
 * vectors-long are too long to be truncated at every byte. */
#include "support/support.h"
#include "support/vectors.h"

int main(void)
{
    static const struct vectors_suite suite = {
        .format = "heph",
        .folders =
            {
                {"vectors", VECTORS_ALL},
                {"vectors-whole", VECTORS_USUAL | VECTORS_EVERY_BYTE},
                {"vectors-file", (VECTORS_USUAL | VECTORS_EVERY_BYTE) & ~VECTORS_IN_PIECES},
                {"vectors-long", VECTORS_AS_WRITTEN | VECTORS_IN_PIECES | VECTORS_WITHOUT_MEMORY},
                {"vectors-bad", VECTORS_USUAL | VECTORS_CUT},
            },
    };
    return vectors_run(&suite);
}
