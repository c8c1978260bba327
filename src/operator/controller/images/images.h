#pragma once
/* images: what a resource needs of image registries. images.c checks that driver containers have an
 * image, and reads the cluster's mirrors; toolkits.c reads driver toolkits. */
#include "operator/controller/core.h"
#include "operator/registries/registries.h"

struct image_check;
struct toolkits;

struct images {
    struct json_object *related; /* sw_related_images(), for .Values.global.relatedImages */
    struct image_check *checks;  /* of images in registries, the newest first */
    int n;                       /* of them */
    struct sw_timer *timer;      /* to check missing images again; NULL: none yet */
    struct sw_access *mirrors;   /* the cluster's mirrors are being read */
    bool no_mirrors;             /* they cannot be read */
    struct toolkits *toolkits;   /* or NULL */
};

static inline struct images *images_of(const struct sw_controller *c)
{
    return c->state[CAPABILITY_images];
}

/** Are the driver toolkits for the kernels of @r known? Else plan_resume() is called. */
bool toolkits_ready(struct resource *r);
void toolkits_close(struct sw_controller *c);
