/* The list of all rule tables. */
#include "meaning/rules.h"

const struct rule_table *rule_get_table(size_t i)
{
    static const struct rule_table *const tables[] = {&linux_kernel_rules, &lttng_ust_rules,
                                                      &dotnet_rules};
    return i < sizeof tables / sizeof *tables ? tables[i] : NULL;
}
