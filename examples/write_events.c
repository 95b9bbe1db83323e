/* Writes events of a running program in the EventHeader encoding.  Usage: write_events OUT.data
 *
 * The events go to two backends: a perf.data file that this program writes, and the kernel's
 * user_events, if available. To record the latter: `perf record -e 'user_events:Example_Shop_*'`.
 */
#include <stdio.h>
#include <tracetta/provider.h>

TTR_PROVIDER_DEFINE(shop, "Example_Shop");

/* Writes the events of one customer. They share an activity id, which groups the events between
 * start and stop. */
static void serve(unsigned number)
{
    static const char *const goods[] = {"apples", "pears", "plums"};
    uint8_t id[16];
    uint32_t weights[3] = {number, number * 2, number * 3};
    ttr_activity_new_id(id);
    TTR_WRITE(shop, "Customer", TTR_LEVEL(4), TTR_KEYWORD(0x1), TTR_OPCODE(TTR_EH_START),
              TTR_ACTIVITY(id), TTR_U32("number", number));
    for (unsigned i = 0; i < 3; i++)
        TTR_WRITE(shop, "Sold", TTR_LEVEL(5), TTR_KEYWORD(0x3), TTR_ACTIVITY(id),
                  TTR_TEXT("what", goods[i]), TTR_U32("weight;unit=g", weights[i]));
    TTR_WRITE(shop, "Customer", TTR_LEVEL(4), TTR_KEYWORD(0x1), TTR_OPCODE(TTR_EH_STOP),
              TTR_ACTIVITY(id), TTR_ARRAY(U32, "weights", weights, 3));
}

/* Writes an event with fields chosen at run time, with a composer instead of the TTR_WRITE
 * macro. */
static ttr_status report(ttr_composer *composer, ttr_tracepoint *point, unsigned customers)
{
    const ttr_field_shape count = {"customers", TTR_EH_VALUE32, 0, 0},
                          mood = {"mood", TTR_EH_ZSTRING8, 0, 0};
    const uint32_t value = customers;
    ttr_compose_begin(composer, "Evening");
    ttr_compose_value(composer, &count, &value, sizeof value);
    ttr_compose_value(composer, &mood, "content", SIZE_MAX);
    return ttr_compose_write(composer, point);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    ttr_error error = {.status = TTR_OK};
    const ttr_perf_file_options options = {.size = sizeof options, .overwrite = true};
    ttr_backend *file = ttr_backend_perf_file(argv[1], &options, &error);
    ttr_composer *composer = file ? ttr_composer_new() : NULL;
    ttr_status status = !file      ? error.status
                        : composer ? ttr_provider_open(&shop, file, &error)
                                   : TTR_E_NOMEM;
    if (status == TTR_OK && ttr_provider_open(&shop, NULL, &error) != TTR_OK)
        fprintf(stderr, "not for the kernel: %s\n", error.text);
    for (unsigned i = 1; i <= 5; i++)
        serve(i);
    ttr_tracepoint *point = status == TTR_OK ? ttr_provider_point(&shop, 4, 0x1, &error) : NULL;
    if (point)
        status = report(composer, point, 5);
    ttr_provider_close(&shop);
    if (file && ttr_backend_finish(file, &error) != TTR_OK)
        status = error.status;
    if (status != TTR_OK)
        fprintf(stderr, "%s: %s\n", argv[1], error.text);
    ttr_composer_free(composer);
    ttr_backend_free(file);
    return status != TTR_OK;
}
