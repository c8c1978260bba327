/* The table of capabilities: see capability.h. */
#include "operator/controller/capability.h"

const struct capability *const capabilities[] = {
#define CAPABILITY(name) &capability_##name,
#include "operator/controller/capabilities.def"
#undef CAPABILITY
    NULL
};
