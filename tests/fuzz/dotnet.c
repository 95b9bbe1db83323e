/* Fuzzes what a .NET runtime answers: any bytes as the payloads of answers, as the head of one, and
 * as a stream.  What is read must stay within its bytes, hold memory in proportion to them, and a
 * stream must be framed alike in one piece and in many.
 *
 * [0] which payload | [1] size of the pieces | the bytes. */
#include "dotnet/framing.h"
#include "dotnet/ipc.h"
#include "fuzz/fuzz.h"

static void read_payload(const struct alloc *alloc, unsigned which, const uint8_t *bytes, size_t n)
{
    static const enum ipc_command infos[] = {IPC_INFO, IPC_INFO2, IPC_INFO3};
    struct arena arena;
    ttr_dotnet_info info = {.size = sizeof info};
    const char **list = NULL;
    size_t count = 0;
    arena_init(&arena, alloc);
    struct cursor from = cursor_init(bytes, n, 0);
    if (which < 3) {
        (void)!ipc_parse_info(from, infos[which], &arena, &info, NULL);
    } else if (ipc_parse_environment(from, &arena, &list, &count, NULL) == TTR_OK) {
        for (size_t i = 0; i < count; i++)
            if (!list[i] || strlen(list[i]) > 3 * n)
                fuzz_stop("a variable is longer than what it was made of");
    }
    arena_free(&arena);
}

static void read_heads(const uint8_t *bytes, size_t n)
{
    struct ipc_answer answer;
    struct ipc_advertise who;
    if (n >= IPC_HEADER_SIZE && ipc_parse_answer(bytes, &answer) && answer.payload > UINT16_MAX)
        fuzz_stop("an answer is larger than its size can say");
    if (n >= IPC_ADVERTISE_SIZE)
        (void)!ipc_parse_advertise(bytes, &who);
}

static void frame(const uint8_t *bytes, size_t n, size_t piece)
{
    struct framing at_once, in_pieces;
    framing_init(&at_once);
    framing_init(&in_pieces);
    framing_scan(&at_once, bytes, n);
    for (size_t at = 0; at < n; at += piece)
        framing_scan(&in_pieces, bytes + at, n - at < piece ? n - at : piece);
    if (at_once.state != in_pieces.state || at_once.complete_end != in_pieces.complete_end ||
        at_once.complete_end > n)
        fuzz_stop("a stream is framed otherwise in pieces");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct support_heap heap;
    if (n < 2)
        return 0;
    support_heap_init(&heap, 0);
    read_payload(&heap.alloc, bytes[0] & 3, bytes + 2, n - 2);
    if (heap.blocks || heap.peak > FUZZ_MEMORY_BASE + FUZZ_MEMORY_PER_BYTE * n)
        fuzz_stop("memory leaks, or is out of proportion");
    read_heads(bytes + 2, n - 2);
    frame(bytes + 2, n - 2, (size_t)bytes[1] + 1);
    return 0;
}
