/* Golden vectors of the format, from the sources of Linux (README.md).  vectors-whole holds those
 * of which a prefix gives other events: what stands behind their records, or is out of order, tells
 * of those before; vectors-packed holds compressed ones, whose bytes are given unpacked. */
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
