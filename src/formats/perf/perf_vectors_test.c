/* Golden vectors of perf.data, derived from the sources of Linux (README.md).  vectors-whole holds
 * those of which a prefix reads differently, since features after the records, or records out of
 * order, change earlier events.  vectors-packed holds compressed ones, which are copied
 * uncompressed. */
#include "support/support.h"
#include "support/vectors.h"

int main(void)
{
    static const struct vectors_suite suite = {
        .format = "perf",
        .folders =
            {
                {"vectors", VECTORS_ALL},
                {"vectors-whole", VECTORS_USUAL | VECTORS_EVERY_BYTE},
                {"vectors-packed",
                 VECTORS_AS_WRITTEN | VECTORS_CUT | VECTORS_IN_PIECES | VECTORS_WITHOUT_MEMORY},
                {"vectors-bad", VECTORS_USUAL},
            },
    };
    return vectors_run(&suite);
}
