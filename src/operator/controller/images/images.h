#pragma once
/* images: what a resource needs of image registries. images.c checks that driver containers have an
 * image, and reads the cluster's mirrors; toolkits.c reads driver toolkits; related.c reads the
 * images that the operator's environment names. */
#include "operator/controller/core.h"
#include "operator/registries/registries.h"

struct image_check;
struct toolkits;

struct images {
    struct json_object *related; /* {part: image}, or NULL */
    struct image_check *checks;  /* images that registries were asked for, the newest first */
    int n;                       /* of them */
    struct sw_timer *timer;      /* to ask again for those that are missing; NULL: none yet */
    struct sw_access *mirrors;   /* the cluster's mirrors are being read */
    bool no_mirrors;             /* they cannot be read */
    struct toolkits *toolkits;   /* or NULL */
};

static inline struct images *images_of(const struct sw_controller *c)
{
    return c->state[CAPABILITY_images];
}

/** Is it known which driver toolkits are for the kernels of @r? Else plan_resume() is called. */
bool toolkits_ready(struct resource *r);
void toolkits_close(struct sw_controller *c);

/** {part: image} as RELATED_IMAGES and RELATED_IMAGE_<PART>_IMAGE of the environment say, the
 * caller's; NULL: they say nothing. */
struct json_object *related_images(void);
