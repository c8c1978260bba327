#pragma once
/* policy: the rules of a new cluster's roles, as written in the program. Internal to authorization.
 */
#include "emulator/authorization/authorization.h"

/** Whether the rules that @role has in a new cluster allow it. */
bool policy_allows(const char *role, const struct sw_attributes *what);
