/* Diagnostic IPC messages; ipc.h describes them. Follows the published specification, except where
 * recorded runtimes differ: their error answers have 24 bytes. */
#include "dotnet/ipc.h"

#include "base/status.h"
#include "dotnet/utf16.h"

#define MESSAGE_MAX 65535u
#define BUFFER_MB 256u

static const uint8_t magic[14] = "DOTNET_IPC_V1";
static const uint8_t advertise_magic[8] = "ADVR_V1";

static void append_u32(struct buffer *to, uint32_t value)
{
    uint8_t bytes[4];
    store_u32le(bytes, value);
    buffer_add(to, bytes, sizeof bytes);
}

static void append_u64(struct buffer *to, uint64_t value)
{
    uint8_t bytes[8];
    store_u64le(bytes, value);
    buffer_add(to, bytes, sizeof bytes);
}

/* Appends a message header and returns its offset. store_message_size stores the size. */
static size_t append_message_head(struct buffer *to, enum ipc_set set, enum ipc_command command)
{
    size_t at = to->n;
    buffer_add(to, magic, sizeof magic);
    buffer_add_zeros(to, 2);
    buffer_add_byte(to, (uint8_t)set);
    buffer_add_byte(to, (uint8_t)command);
    buffer_add_zeros(to, 2);
    return at;
}

static bool store_message_size(struct buffer *to, size_t at)
{
    if (to->failed || to->n - at > MESSAGE_MAX)
        return false;
    store_u16le(to->bytes + at + sizeof magic, (uint16_t)(to->n - at));
    return true;
}

void ipc_write_plain(struct buffer *to, enum ipc_set set, enum ipc_command command)
{
    (void)store_message_size(to, append_message_head(to, set, command));
}

void ipc_write_stop(struct buffer *to, uint64_t session)
{
    size_t at = append_message_head(to, IPC_EVENTPIPE, IPC_STOP);
    append_u64(to, session);
    (void)store_message_size(to, at);
}

static void append_providers(struct buffer *to, enum ipc_command command,
                             const ttr_dotnet_providers *set)
{
    ttr_dotnet_provider provider;
    uint32_t n = 0;
    while (ttr_dotnet_providers_at(set, n, &provider))
        n++;
    append_u32(to, n);
    for (uint32_t i = 0; ttr_dotnet_providers_at(set, i, &provider); i++) {
        append_u64(to, provider.keywords);
        append_u32(to, provider.level);
        utf16_append(to, provider.name);
        utf16_append(to, provider.arguments);
        if (command >= IPC_COLLECT_FILTER)
            /* the provider has no event filter: u8 0 (disabled), u32 0 (number of event ids) */
            buffer_add_zeros(to, 5);
    }
}

/* Appends CollectTracing in wire order; each `>=` decides whether this version of the command has a
 * field. */
ttr_status ipc_write_collect(struct buffer *to, enum ipc_command command,
                             const ttr_dotnet_config *wish, ttr_error *error)
{
    size_t at = append_message_head(to, IPC_EVENTPIPE, command);
    if (command >= IPC_COLLECT_FILTER)
        append_u32(to,
                   /* output format 0: events follow on this connection; the alternative is
                    * user_events */
                   0);
    append_u32(to, wish->buffer_mb ? wish->buffer_mb : BUFFER_MB);
    append_u32(to, wish->flags & TTR_DOTNET_NETPERF ? 0 : 1);
    if (command >= IPC_COLLECT_KEYWORD)
        append_u64(to, wish->rundown);
    else if (command >= IPC_COLLECT_RUNDOWN)
        buffer_add_byte(to, wish->rundown != 0);
    if (command >= IPC_COLLECT_STACKS)
        buffer_add_byte(to, !(wish->flags & TTR_DOTNET_NO_STACKS));
    append_providers(to, command, wish->providers);
    if (command >= IPC_COLLECT_BLOCK)
        append_u32(to, wish->flags & TTR_DOTNET_BLOCK ? 1 : 0);
    if (store_message_size(to, at))
        return TTR_OK;
    if (to->failed)
        return fail_memory(error);
    return fail(error, TTR_E_LIMIT, NO_OFFSET,
                "the providers need %zu bytes in a command, at most %u are possible; request fewer",
                to->n - at, MESSAGE_MAX);
}

bool ipc_parse_answer(const uint8_t head[IPC_HEADER_SIZE], struct ipc_answer *answer)
{
    struct cursor from = cursor_init(head, IPC_HEADER_SIZE, 0);
    const uint8_t *name = cursor_read_bytes(&from, sizeof magic);
    uint32_t size = cursor_u16le(&from);
    uint8_t set = cursor_u8(&from), command = cursor_u8(&from);
    if (memcmp(name, magic, sizeof magic) != 0 || set != IPC_SERVER ||
        (command != 0 && command != 0xff) || size < IPC_HEADER_SIZE)
        return false;
    *answer = (struct ipc_answer){.payload = size - IPC_HEADER_SIZE, .is_error = command != 0};
    return true;
}

bool ipc_parse_advertise(const uint8_t bytes[IPC_ADVERTISE_SIZE], struct ipc_advertise *advertise)
{
    struct cursor from = cursor_init(bytes, IPC_ADVERTISE_SIZE, 0);
    const uint8_t *name = cursor_read_bytes(&from, sizeof advertise_magic),
                  *cookie = cursor_read_bytes(&from, sizeof advertise->cookie);
    if (memcmp(name, advertise_magic, sizeof advertise_magic) != 0)
        return false;
    memcpy(advertise->cookie, cookie, sizeof advertise->cookie);
    advertise->pid = cursor_u64le(&from);
    return true;
}

ttr_status ipc_parse_info(struct cursor from, enum ipc_command command, struct arena *texts,
                          ttr_dotnet_info *info, ttr_error *error)
{
    const char **const all[] = {&info->command,  &info->os,      &info->arch,
                                &info->assembly, &info->runtime, &info->rid};
    size_t declared_n = command == IPC_INFO ? 3 : command == IPC_INFO2 ? 5 : 6;
    if (command == IPC_INFO3)
        /* the version of the structure is ignored: later versions only append fields */
        (void)cursor_u32le(&from);
    info->pid = cursor_u64le(&from);
    const uint8_t *cookie = cursor_read_bytes(&from, sizeof info->cookie);
    if (cookie)
        memcpy(info->cookie, cookie, sizeof info->cookie);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        *all[i] = "";
    for (size_t i = 0; i < declared_n && !from.failed; i++) {
        const char *text = utf16_parse(&from, texts);
        if (!text && !from.failed)
            return fail_memory(error);
        *all[i] = text ? text : "";
    }
    if (from.failed)
        return fail(error, TTR_E_MALFORMED, from.offset,
                    "the runtime's answer to ProcessInfo ends early, at byte %llu",
                    (unsigned long long)from.offset);
    return TTR_OK;
}

ttr_status ipc_parse_environment(struct cursor from, struct arena *texts, const char ***list,
                                 size_t *n, ttr_error *error)
{
    uint32_t count = cursor_u32le(&from);
    /* Each string has at least its count of 4 bytes. A larger number of strings is false and must
     * not cause an allocation. */
    if (from.failed || count > cursor_left(&from) / 4)
        return fail(error, TTR_E_MALFORMED, from.offset,
                    "the runtime declares %u variables in %zu bytes", count, cursor_left(&from));
    const char **all = arena_alloc(texts, ((size_t)count + 1) * sizeof *all);
    if (!all)
        return fail_memory(error);
    for (uint32_t i = 0; i < count; i++) {
        all[i] = utf16_parse(&from, texts);
        if (!all[i] && !from.failed)
            return fail_memory(error);
        if (!all[i])
            return fail(error, TTR_E_MALFORMED, from.offset,
                        "the runtime's environment ends early, in variable %u of %u", i + 1, count);
    }
    all[count] = NULL;
    *list = all;
    *n = count;
    return TTR_OK;
}

const char *ipc_result_text(uint32_t result)
{
    static const struct {
        uint32_t result;
        const char *text;
    } known[] = {
        {IPC_BAD_ENCODING, "it cannot read the command: a value in it is out of range"},
        {IPC_UNKNOWN_COMMAND, "it does not know the command"},
        {IPC_UNKNOWN_MAGIC, "it uses another protocol"},
        {IPC_NOT_SUPPORTED, "it does not support this"},
        {IPC_FAIL, "it failed; at most 64 sessions can run at once"},
        {IPC_INVALID_ARGUMENT, "an argument is wrong"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].result == result)
            return known[i].text;
    return "unknown reason";
}
