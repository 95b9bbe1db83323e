/* Golden vectors of the file format, and of everything that an EventHeader event can hold
 * (README.md). */
#include "support/support.h"
#include "support/vectors.h"

int main(void)
{
    static const struct vectors_suite suite = {
        .format = "interceptor",
        .folders = {{"vectors", VECTORS_ALL}, {"vectors-bad", VECTORS_USUAL | VECTORS_EVERY_BYTE}},
    };
    return vectors_run(&suite);
}
