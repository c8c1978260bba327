#pragma once
/* driver_images: will a recipe's driver containers work on another kernel? Each needs a BuildConfig
 * of its vendor in the recipe, or an image whose driver toolkit release file names that kernel. Of
 * a DaemonSet with the annotation slipway.dev/driver-image the image of the container that it names
 * has to be there, or the recipe has the Job that it names. */
#include <stdbool.h>

struct json_object;
struct sw_driver_images;
struct sw_registries;
struct sw_rendered;

struct sw_driver_images_ask {
    const struct sw_rendered *rendered; /* for that kernel; used during the call only */
    const char *kernel, *arch;          /* arch NULL: amd64 */
    const char *ns;                     /* whose pull secrets are used; NULL: none's */
};

/** Borrowed for the call. @status is "True", "False" or "Error". @images is a list of
 * {"daemonSet", "container", "image", "status", "reason"}, one for each driver container;
 * "container" where the annotation names one. */
struct sw_driver_images_report {
    const char *status, *reason;
    struct json_object *images;
};
typedef void sw_driver_images_fn(const struct sw_driver_images_report *report, void *arg);

/** Check what was rendered, and read the images. @registries NULL: no image is read; those that
 * would have to be are "Unknown". @fn is called once, never before this returned. */
struct sw_loop;
struct sw_driver_images *sw_driver_images_open(struct sw_loop *loop,
                                               struct sw_registries *registries,
                                               const struct sw_driver_images_ask *ask,
                                               sw_driver_images_fn *fn, void *arg);
/** No callback of it runs from here on. NULL is accepted; not needed after the answer. */
void sw_driver_images_close(struct sw_driver_images *p);
