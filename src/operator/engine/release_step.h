#pragma once
/* release_step: the steps in which a release of its own (slipway.dev/releases) is installed or
 * upgraded. Their order is that of Helm, but that definitions of `crds/` are applied at each
 * version, which Helm does when it installs alone. */
#include <stdbool.h>

enum sw_release_step {
    SW_RELEASE_DEFINITIONS, /* of `crds/` */
    SW_RELEASE_BEFORE,      /* hooks */
    SW_RELEASE_OBJECTS,
    SW_RELEASE_AFTER, /* hooks */
    SW_RELEASE_N_STEPS
};

/** What status, plan and explain call it; static. */
const char *sw_release_step_name(enum sw_release_step step, bool is_upgrade);
