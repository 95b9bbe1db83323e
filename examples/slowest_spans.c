/* Prints the ten span names with the largest total duration, for a trace of any format.  Usage:
 * slowest_spans FILE */
#include <inttypes.h>
#include <stdio.h>
#include <tracetta/analyse.h>
#include <tracetta/read.h>

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    ttr_error error = {.status = TTR_OK};
    ttr *t = ttr_new(NULL);
    ttr_reader *in = t ? ttr_open(t, argv[1], NULL, &error) : NULL;
    ttr_stat *stat = in ? ttr_stat_new(t, in, NULL, NULL, &error) : NULL;
    if (stat) {
        const ttr_stat_row *rows;
        size_t n = ttr_stat_rows(stat, &rows);
        printf("%12s %12s %10s %10s  name\n", "total ns", "self ns", "count", "p99 ns");
        for (size_t i = 0; i < n && i < 10; i++)
            if (rows[i].kind == TTR_KIND_SPAN)
                printf("%12" PRIu64 " %12" PRIu64 " %10" PRIu64 " %10" PRIu64 "  %s\n",
                       rows[i].total, rows[i].self, rows[i].count, rows[i].p99,
                       ttr_text_get(t, rows[i].name).p);
    }
    if (error.status != TTR_OK)
        fprintf(stderr, "%s: %s\n", argv[1], error.text);
    int failed = error.status != TTR_OK;
    ttr_stat_free(stat);
    ttr_close(in);
    ttr_free(t);
    return failed;
}
