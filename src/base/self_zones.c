/* Categories of the zones of the library itself; see the header. */
#include "base/self_zones.h"

TTR_CATEGORIES_DEFINE(SELF_CATEGORIES);
