#pragma once
/* pod_request: the slices that a pod's containers request. Internal to scheduler. */
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "base/base.h"
#include "slicing/mig/mig.h"

/** One slice for one container. */
struct slice_request {
    struct sw_mig_profile profile;
    uint16_t container; /* in names */
    uint16_t n;         /* the container's n-th, from 0 */
};

/** All slices that a pod requests. Zero: none. */
struct pod_request {
    size_t n, n_names;
    struct slice_request *list; /* containers, then init, then ephemeral ones; NULL: none */
    char **names;               /* of the containers that request slices */
};

/** All slices that @pod's containers limit themselves to (or request, where no limit is said):
 * mig.das.com/<profile>. Other resources are ignored.
 * @return 0 | SW_INVALID (no profile, no number, more than SW_MIG_MAX_REQUESTS): the container is
 * named
 * Source: DAS's MigAccelerator plugin, which counts the limits of every container. */
int pod_request_read(struct json_object *pod, struct pod_request *out,
                     struct sw_err *err) SW_CHECKED;
/** Free what it owns; it is empty then. */
void pod_request_done(struct pod_request *w);
/** "2 x 1g.5gb, 1 x 3g.20gb" for people; the caller's. */
char *pod_request_text(const struct pod_request *w);
