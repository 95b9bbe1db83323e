/* The events of said.h from C. */
#include "support/said_both.h"

TTR_PROVIDER_DEFINE(said_c, "TestProviderC");
TTR_PROVIDER_DEFINE_GROUP(said_c_group, "TestProviderC", "msft");
#define PROVIDER said_c
#include "support/said.h"

void say_c(void)
{
    say_all();
}
