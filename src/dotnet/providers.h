/* Sets of providers, as the rest of the library makes them: see tracetta/collect.h. */
#ifndef TRACETTA_DOTNET_PROVIDERS_H
#define TRACETTA_DOTNET_PROVIDERS_H

#include <tracetta/collect.h>

#include "base/alloc.h"

/* ttr_dotnet_providers_new with another allocator. */
ttr_dotnet_providers *providers_new(const struct alloc *alloc);

#endif
