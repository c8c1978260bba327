#pragma once
/* builds: what OpenShift builds in a resource's namespace need: permission to pull images
 * (image_puller.c), and the Secret to push them with (builds.c). */
#include "operator/controller/core.h"

struct builds {
    struct resource *r;
    struct sw_kube_watch *secret_watch;
    bool secrets_known;
    char *push_secret;      /* NULL: there is none */
    char *puller_ns;        /* whose RoleBinding is watched; NULL: none */
    struct sw_timer *timer; /* to write the RoleBinding again */
    int64_t wait_ms;
};

static inline struct builds *builds_of(const struct resource *r)
{
    return r->state[CAPABILITY_builds];
}

/** Let builds of the resource's namespace pull images: keep `builder` in the RoleBinding. */
void image_puller_open(struct builds *b);
void image_puller_close(struct builds *b);
