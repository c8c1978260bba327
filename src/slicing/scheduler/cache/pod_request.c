#include "slicing/scheduler/cache/pod_request.h"

#include <json-c/printbuf.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"

void pod_request_done(struct pod_request *w)
{
    for (size_t i = 0; i < w->n_names; i++)
        free(w->names[i]);
    free(w->names);
    free(w->list);
    *w = (struct pod_request){ 0 };
}

/* One resource of a container. @n: slices of the container so far. */
static int read_resource(const char *name, struct json_object *value, const char *container,
                         uint16_t *n, struct pod_request *w, struct sw_err *err)
{
    struct sw_mig_profile profile;
    enum sw_mig_owner owner;
    struct sw_quantity q;
    if (!sw_starts_with(name, SW_MIG_DAS_PREFIX))
        return 0;
    int rc = sw_mig_resource_parse(name, strlen(name), &profile, &owner, err);
    if (rc == 0)
        rc = sw_quantity_from_json(value, &q, err);
    const int64_t amount = rc == 0 ? sw_quantity_value(&q) : 0;
    if (amount < 0 || amount > SW_MIG_MAX_REQUESTS)
        rc = sw_err_set(err, SW_INVALID, "%lld is not from 0 to %d", (long long)amount,
                        SW_MIG_MAX_REQUESTS);
    if (rc < 0)
        return sw_err_wrap(err, SW_INVALID, "container '%s': %s", container, name);
    if (w->n + (size_t)amount > SW_MIG_MAX_REQUESTS)
        return sw_err_set(err, SW_INVALID, "more than %d slices in one pod", SW_MIG_MAX_REQUESTS);
    if (amount == 0)
        return 0;
    if (*n == 0) {
        w->names = sw_realloc(w->names, w->n_names + 1, sizeof *w->names);
        w->names[w->n_names++] = sw_strdup(container);
    }
    w->list = sw_realloc(w->list, w->n + (size_t)amount, sizeof *w->list);
    for (int64_t i = 0; i < amount; i++)
        w->list[w->n++] = (struct slice_request){ profile, (uint16_t)(w->n_names - 1), (*n)++ };
    return 0;
}

static int read_containers(struct json_object *list, struct pod_request *w, struct sw_err *err)
{
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *c = sw_json_at(list, i);
        struct json_object *resources = sw_json_get(c, "resources");
        struct json_object *limits = sw_json_get(resources, "limits");
        struct json_object *amounts = limits ? limits : sw_json_get(resources, "requests");
        const char *name = sw_json_str(c, "", "name", NULL);
        uint16_t n = 0;
        if (!json_object_is_type(amounts, json_type_object))
            continue;
        json_object_object_foreach(amounts, resource, value)
        {
            const int rc = read_resource(resource, value, name, &n, w, err);
            if (rc < 0)
                return rc;
        }
    }
    return 0;
}

int pod_request_read(struct json_object *pod, struct pod_request *out, struct sw_err *err)
{
    static const char *const lists[] = { "containers", "initContainers", "ephemeralContainers" };
    struct json_object *spec = sw_json_get(pod, "spec");
    struct pod_request w = { 0 };
    for (size_t i = 0; i < SW_COUNT(lists); i++) {
        const int rc = read_containers(sw_json_get(spec, lists[i]), &w, err);
        if (rc < 0) {
            pod_request_done(&w);
            return rc;
        }
    }
    *out = w;
    return 0;
}

char *pod_request_text(const struct pod_request *w)
{
    struct printbuf *out = printbuf_new();
    for (size_t i = 0; i < w->n; i++) {
        bool listed = false;
        unsigned amount = 0;
        for (size_t k = 0; k < w->n; k++)
            if (sw_mig_profile_equal(&w->list[k].profile, &w->list[i].profile)) {
                listed |= k < i;
                amount++;
            }
        char name[SW_MIG_NAME_LEN];
        if (!listed)
            sprintbuf(out, "%s%u x %s", i ? ", " : "", amount,
                      sw_mig_profile_text(&w->list[i].profile, name));
    }
    char *text = sw_strndup(out->bpos ? out->buf : "", (size_t)out->bpos);
    printbuf_free(out);
    return text;
}
