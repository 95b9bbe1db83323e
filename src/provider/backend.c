/* Creation and destruction of backends: a copied function table and its context. */
#include "base/alloc.h"
#include "base/status.h"
#include "provider/state.h"

ttr_backend *backend_new(const ttr_backend_functions *functions, void *ctx,
                         void (*free_ctx)(void *ctx), ttr_error *error)
{
    ttr_backend *backend = alloc_zero(alloc_default(), 1, sizeof *backend);
    if (!backend) {
        (void)fail_memory(error);
        return NULL;
    }
    *backend = (ttr_backend){.functions = *functions, .ctx = ctx, .free_ctx = free_ctx};
    return backend;
}

ttr_backend *ttr_backend_new(const ttr_backend_functions *functions, void *ctx, ttr_error *error)
{
    if (functions->size != sizeof *functions || !functions->add || !functions->write) {
        (void)fail(error, TTR_E_MISUSE, NO_OFFSET,
                   "a backend needs the functions add and write, and size must be "
                   "sizeof(ttr_backend_functions)");
        return NULL;
    }
    return backend_new(functions, ctx, NULL, error);
}

ttr_status ttr_backend_finish(ttr_backend *backend, ttr_error *error)
{
    int sys = backend->finish ? backend->finish(backend->ctx) : 0;
    return sys ? fail_sys(error, sys, NO_OFFSET, "not all events could be written") : TTR_OK;
}

void ttr_backend_free(ttr_backend *backend)
{
    if (!backend)
        return;
    if (backend->finish)
        (void)backend->finish(backend->ctx);
    if (backend->free_ctx)
        backend->free_ctx(backend->ctx);
    alloc_free(alloc_default(), backend, 1, sizeof *backend);
}
