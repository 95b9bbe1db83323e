/* Writes a perf.data file of EventHeader events for benchmarks: five event classes of a fictional
 * web shop, in a fixed pseudo-random order.
 *
 *   usage: eventheader EVENTS FILE */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <tracetta/provider.h>

TTR_PROVIDER_DEFINE(shop, "Bench_Shop");
TTR_PROVIDER_DEFINE_GROUP(storage, "Bench_Storage", "bench");

static const char *const paths[] = {"/",
                                    "/basket",
                                    "/basket/add",
                                    "/search",
                                    "/article/4711",
                                    "/images/large/4711-front.webp",
                                    "/checkout/pay"};
static const char *const agents[] = {"Mozilla/5.0 (X11; Linux x86_64)", "curl/8.5.0",
                                     "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X)"};

static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

static ttr_status write_one(uint64_t i, uint64_t *state)
{
    uint32_t r = next_random(state), s = next_random(state);
    uint8_t activity[16] = {1, 2, 3, (uint8_t)i, (uint8_t)(i >> 8), (uint8_t)(i >> 16)};
    uint32_t sizes[4] = {s & 0xfff, r & 0xff, 17, 4096};
    switch (r % 20) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
        return TTR_WRITE(shop, "Request", TTR_LEVEL(4), TTR_KEYWORD(0x11), TTR_OPCODE(1),
                         TTR_ACTIVITY(activity), TTR_TEXT("path", paths[s % 7]),
                         TTR_TEXT("agent", agents[s % 3]), TTR_U32("bytes", s),
                         TTR_PORT("port", (uint16_t)0x901f), TTR_IP4("client", s));
    case 5:
    case 6:
    case 7:
    case 8:
    case 9:
        return TTR_WRITE(shop, "Response", TTR_LEVEL(4), TTR_KEYWORD(0x11), TTR_OPCODE(2),
                         TTR_ACTIVITY(activity), TTR_U16("status", (uint16_t)(200 + r % 7 * 50)),
                         TTR_U64("duration_ns", (uint64_t)s * 100),
                         TTR_F64("load", (double)(s % 1000) / 250), TTR_BOOL("cached", s & 1),
                         TTR_ERRNO("error", (int32_t)(r % 3)));
    case 10:
    case 11:
    case 12:
    case 13:
    case 14:
    case 15:
        return TTR_WRITE(storage, "Read", TTR_LEVEL(5), TTR_KEYWORD(0x2),
                         TTR_I32("fd", (int32_t)(s % 64)), TTR_X64("offset", (uint64_t)s << 12),
                         TTR_U32("bytes", sizes[r % 4]), TTR_STRUCT("device", 3),
                         TTR_U16("major", 259), TTR_U16("minor", (uint16_t)(s % 8)),
                         TTR_TEXT("name", "nvme0n1p2"));
    case 16:
    case 17:
    case 18:
        return TTR_WRITE(storage, "Queue", TTR_LEVEL(5), TTR_KEYWORD(0x4),
                         TTR_ARRAY(U32, "sizes", sizes, 1 + s % 4),
                         TTR_U8("depth", (uint8_t)(s % 33)), TTR_GUID("volume", activity),
                         TTR_PID("owner", (int32_t)(1000 + s % 40)));
    default:
        return TTR_WRITE(
            shop, "Failure", TTR_LEVEL(2), TTR_KEYWORD(0x80),
            TTR_TEXT("what", "the upstream server closed the connection before it answered"),
            TTR_TEXT16("where", u"gateway \u2013 retry 2"),
            TTR_TIME64("since", 1700000000 + (int64_t)(s % 100000)),
            TTR_BINARY("state", activity, 16));
    }
}

int main(int argc, char **argv)
{
    ttr_error error = {0};
    uint64_t state = 42, n = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
    if (n == 0) {
        fprintf(stderr, "usage: eventheader EVENTS FILE\n");
        return 2;
    }
    ttr_backend *file = ttr_backend_perf_file(
        argv[2], &(ttr_perf_file_options){.size = sizeof(ttr_perf_file_options), .overwrite = true},
        &error);
    ttr_status status = file ? ttr_provider_open(&shop, file, &error) : error.status;
    if (status == TTR_OK)
        status = ttr_provider_open(&storage, file, &error);
    for (uint64_t i = 0; i < n && status == TTR_OK; i++)
        status = write_one(i, &state);
    ttr_provider_close(&shop);
    ttr_provider_close(&storage);
    ttr_status end = file ? ttr_backend_finish(file, &error) : status;
    ttr_backend_free(file);
    if (status == TTR_OK && end == TTR_OK)
        return 0;
    fprintf(stderr, "eventheader: %s\n", error.text[0] ? error.text : ttr_status_text(status));
    return 1;
}
