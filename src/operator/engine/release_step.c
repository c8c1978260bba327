#include "operator/engine/release_step.h"

const char *sw_release_step_name(enum sw_release_step step, bool is_upgrade)
{
    static const char *const names[SW_RELEASE_N_STEPS][2] = {
        [SW_RELEASE_DEFINITIONS] = { "definitions", "definitions" },
        [SW_RELEASE_BEFORE] = { "pre-install hooks", "pre-upgrade hooks" },
        [SW_RELEASE_OBJECTS] = { "objects", "objects" },
        [SW_RELEASE_AFTER] = { "post-install hooks", "post-upgrade hooks" },
    };
    return names[step][is_upgrade];
}
