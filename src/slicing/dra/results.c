/* What a ResourceClaim was allocated. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "kube/allocator/allocator.h"
#include "slicing/dra/dra.h"

enum { MAX_RESULTS = 32 }; /* Source: resource.k8s.io/v1, AllocationResultsMaxSize */

void sw_dra_results_free(struct sw_dra_result *results, size_t n)
{
    for (size_t i = 0; results && i < n; i++) {
        free(results[i].request);
        free(results[i].group);
        free(results[i].device);
        sw_dra_sharing_done(&results[i].sharing);
    }
    free(results);
}

static bool is_label(const char *text, size_t len)
{
    bool ok = len > 0 && len <= 63;
    for (size_t i = 0; i < len && ok; i++)
        ok = isalnum((unsigned char)text[i]) || text[i] == '-';
    return ok;
}

/* Requests that kube-scheduler made of the limits of a container are called
 * "container-I-request-K": the container gets all of them. Others stand for themselves, because a
 * container may name each. */
static char *group_of(struct json_object *claim, const char *request)
{
    const char *made = sw_json_str(claim, "", "metadata", "annotations", SW_EXTENDED_CLAIM, NULL);
    const char *end = strstr(request, "-request-");
    return *made && sw_starts_with(request, "container-") && end
               ? sw_strndup(request, (size_t)(end - request))
               : sw_strdup(request);
}

static int read_result(struct json_object *claim, struct json_object *doc,
                       struct sw_dra_result *out, struct sw_err *err)
{
    const char *request = sw_json_str(doc, "", "request", NULL);
    const char *device = sw_json_str(doc, "", "device", NULL);
    const size_t len = strcspn(request, "/");
    if (!is_label(request, len))
        return sw_err_set(err, SW_INVALID, "request: '%.64s' is no name", request);
    if (!is_label(device, strlen(device)))
        return sw_err_set(err, SW_INVALID, "device: '%.64s' is no name", device);
    out->request = sw_strndup(request, len);
    out->group = group_of(claim, out->request);
    out->device = sw_strdup(device);
    out->admin = sw_json_bool(doc, false, "adminAccess", NULL);
    return 0;
}

/* Whether it is for that request. "gpu" is for "gpu/large", too. */
static bool is_for(struct json_object *config, const char *request)
{
    struct json_object *requests = sw_json_get(config, "requests");
    SW_AUTO_CHARS *parent = sw_strndup(request, strcspn(request, "/"));
    return !sw_json_len(requests) || sw_json_has_text(requests, request) ||
           sw_json_has_text(requests, parent);
}

/* Those of the claim count before those of its DeviceClasses, and later ones before earlier ones.
 * Source: NVIDIA's DRA driver, which passes over the kind for other devices only where the
 * configuration names no request. */
static int apply_config(struct json_object *config, size_t i, struct json_object *doc,
                        struct sw_dra_result *result, struct sw_err *err)
{
    struct sw_dra_sharing sharing;
    const bool of_claim = strcmp(sw_json_str(config, "", "source", NULL), "FromClaim") == 0;
    const bool is_slice = strstr(result->device, "-mig-") != NULL;
    int rc = sw_dra_config_read(sw_json_find(config, "opaque", "parameters", NULL), &sharing, err);
    if (rc < 0)
        return rc;
    if (result->admin || !is_for(config, sw_json_str(doc, "", "request", NULL))) {
        sw_dra_sharing_done(&sharing);
    } else if (sharing.of_slices != is_slice) {
        if (sw_json_len(sw_json_get(config, "requests")))
            rc = sw_err_set(err, SW_INVALID, "%s is for %s, and device %s is not one",
                            sharing.of_slices ? "MigDeviceConfig" : "GpuConfig",
                            sharing.of_slices ? "slices" : "whole GPUs", result->device);
        sw_dra_sharing_done(&sharing);
    } else if (result->config == SIZE_MAX || of_claim || !result->of_claim) {
        sw_dra_sharing_done(&result->sharing);
        result->sharing = sharing;
        result->config = i;
        result->of_claim = of_claim;
    } else {
        sw_dra_sharing_done(&sharing);
    }
    return rc;
}

static int apply_configs(struct json_object *allocation, struct json_object *doc,
                         struct sw_dra_result *result, struct sw_err *err)
{
    struct json_object *list = sw_json_find(allocation, "devices", "config", NULL);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *config = sw_json_at(list, i);
        if (!sw_streq(sw_json_str(config, "", "opaque", "driver", NULL), SW_DRA_DRIVER))
            continue;
        const int rc = apply_config(config, i, doc, result, err);
        if (rc < 0)
            return sw_err_wrap(err, rc, "config[%zu]", i);
    }
    return 0;
}

int sw_dra_results_read(struct json_object *claim, const char *uid, const char *pool,
                        struct sw_dra_result **out, size_t *n, struct sw_err *err)
{
    struct json_object *allocation = sw_json_find(claim, "status", "allocation", NULL);
    struct json_object *list = sw_json_find(allocation, "devices", "results", NULL);
    const size_t n_all = sw_json_len(list);
    if (!sw_streq(sw_obj_uid(claim), uid))
        return sw_err_set(err, SW_CONFLICT, "the ResourceClaim of this name has another UID: %s",
                          sw_obj_uid(claim));
    if (!allocation)
        return sw_err_set(err, SW_PENDING, "the ResourceClaim is not allocated");
    if (n_all > MAX_RESULTS)
        return sw_err_set(err, SW_INVALID, "results: more than %d", MAX_RESULTS);
    struct sw_dra_result *results = sw_zalloc(n_all + 1, sizeof *results);
    size_t n_ours = 0;
    int rc = 0;
    for (size_t i = 0; i < n_all && rc == 0; i++) {
        struct json_object *doc = sw_json_at(list, i);
        if (!sw_streq(sw_json_str(doc, "", "driver", NULL), SW_DRA_DRIVER) ||
            !sw_streq(sw_json_str(doc, "", "pool", NULL), pool))
            continue;
        struct sw_dra_result *result = &results[n_ours++];
        result->sharing.threads = -1;
        result->config = SIZE_MAX;
        rc = read_result(claim, doc, result, err);
        if (rc < 0)
            (void)sw_err_wrap(err, rc, "results[%zu]", i);
        else
            rc = apply_configs(allocation, doc, result, err);
    }
    if (rc == 0 && !n_ours)
        rc = sw_err_set(err, SW_NOTFOUND,
                        "the ResourceClaim has no device of " SW_DRA_DRIVER " in pool '%s'", pool);
    if (rc < 0) {
        sw_dra_results_free(results, n_ours);
        return rc;
    }
    *out = results;
    *n = n_ours;
    return 0;
}
