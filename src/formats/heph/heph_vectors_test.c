/* Golden vectors of the format, from the specification.  vectors-whole holds those where the end of
 * a trace changes what is said of its beginning (epochs, counters): a prefix of them is another
 * trace, so they are not cut.  vectors-long are too long to be cut at every byte. */
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
                {"vectors-long", VECTORS_AS_WRITTEN | VECTORS_IN_PIECES | VECTORS_WITHOUT_MEMORY},
                {"vectors-bad", VECTORS_USUAL | VECTORS_CUT},
            },
    };
    return vectors_run(&suite);
}
