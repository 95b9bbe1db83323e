/* Internal constructor for provider sets; their public functions are in tracetta/collect.h. */
#ifndef TRACETTA_DOTNET_PROVIDERS_H
#define TRACETTA_DOTNET_PROVIDERS_H

#include <tracetta/collect.h>

#include "base/alloc.h"

/* Creates an empty provider set with an allocator, like ttr_dotnet_providers_new. Returns NULL if
 * memory is exhausted. */
ttr_dotnet_providers *providers_new(const struct alloc *alloc);

#endif
