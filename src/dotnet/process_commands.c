/* Process commands of the Diagnostic IPC: description and environment of a runtime, and its
 * resumption. */
#include "base/status.h"
#include "dotnet/call.h"

static ttr_status call_process_info(ttr_dotnet *target, enum ipc_command command,
                                    ttr_dotnet_info *info, ttr_error *error)
{
    struct call call;
    call_init(&call, target, "ProcessInfo");
    ipc_write_plain(&call.out, IPC_PROCESS, command);
    ttr_status status = call_run_blocking(&call, error);
    if (status == TTR_OK) {
        arena_reset(&target->about);
        status = ipc_parse_info(call_payload(&call), command, &target->about, info, error);
    }
    call_free(&call);
    return status;
}

ttr_status ttr_dotnet_info_get(ttr_dotnet *target, ttr_dotnet_info *info, ttr_error *error)
{
    static const enum ipc_command commands[] = {IPC_INFO3, IPC_INFO2, IPC_INFO};
    ttr_status status = TTR_E_UNSUPPORTED;
    if (info->size != sizeof *info)
        return fail(error, TTR_E_MISUSE, NO_OFFSET, "info->size must be sizeof(ttr_dotnet_info)");
    for (size_t i = 0; i < sizeof commands / sizeof *commands && status == TTR_E_UNSUPPORTED; i++)
        status = call_process_info(target, commands[i], info, error);
    return status;
}

ttr_status ttr_dotnet_environment(ttr_dotnet *target, size_t *n, ttr_error *error)
{
    struct call call;
    call_init(&call, target, "ProcessEnvironment");
    ipc_write_plain(&call.out, IPC_PROCESS, IPC_ENVIRONMENT);
    ttr_status status = call_run_blocking(&call, error);
    target->variables_n = 0;
    if (status == TTR_OK) {
        struct cursor from = call_payload(&call);
        uint32_t bytes = cursor_u32le(&from);
        if (from.failed || bytes > IPC_ENVIRONMENT_MAX)
            status =
                fail(error, TTR_E_MALFORMED, NO_OFFSET,
                     "the runtime declares an environment of %u bytes; at most %u are accepted",
                     bytes, IPC_ENVIRONMENT_MAX);
        else
            status = call_receive_extra(&call, bytes, error);
    }
    if (status == TTR_OK) {
        arena_reset(&target->environment);
        status = ipc_parse_environment(call_payload(&call), &target->environment,
                                       &target->variables, &target->variables_n, error);
    }
    *n = target->variables_n;
    call_free(&call);
    return status;
}

const char *ttr_dotnet_variable(const ttr_dotnet *target, size_t i)
{
    return i < target->variables_n ? target->variables[i] : NULL;
}

ttr_status ttr_dotnet_resume(ttr_dotnet *target, ttr_error *error)
{
    struct call call;
    call_init(&call, target, "ResumeRuntime");
    ipc_write_plain(&call.out, IPC_PROCESS, IPC_RESUME);
    ttr_status status = call_run_blocking(&call, error);
    call_free(&call);
    return status;
}
