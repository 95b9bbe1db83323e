/* Golden vectors of trace_pipe_raw, derived from ring_buffer.h of Linux and the decisions in
 * README.md. */
#include "support/support.h"
#include "support/vectors.h"

int main(void)
{
    static const struct vectors_suite suite = {
        .format = "trace_pipe_raw",
        .folders = {{"vectors", VECTORS_USUAL}, {"vectors-bad", VECTORS_USUAL}}};
    return vectors_run(&suite);
}
