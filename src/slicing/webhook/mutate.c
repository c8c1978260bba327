/* From AdmissionReview to AdmissionReview. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/openssl.h"
#include "data/data.h"
#include "kube/review.h"
#include "slicing/mig/mig.h"
#include "slicing/webhook/tolerations.h"
#include "slicing/webhook/webhook.h"

/* Different profiles that one container may ask for; more than any GPU has. */
enum { MAX_SLICES = 32 };

static const char *const container_lists[] = { "containers", "initContainers",
                                               "ephemeralContainers" };

struct mutation {
    const struct sw_webhook_policy *policy;
    struct sw_json_writer *patch; /* written as text at once */
    size_t n_ops;
    struct json_object *warnings; /* NULL until there is one */
    bool asks;                    /* some container asks for a slice */
    struct sw_err *err;
};

/* ---- patch operations --------------------------------------------------------------------------
 */

static void put_member(const struct sw_sink *to, const char *key, const char *text, size_t len)
{
    (void)to->ops->key(to->arg, key, strlen(key), NULL); /* a writer does not fail */
    (void)to->ops->string(to->arg, text, len, NULL);
}

/* @value is taken; NULL for "remove". @path is a JSON pointer, @key its last part, unescaped. */
static void add_op(struct mutation *m, const char *op, const char *path, const char *key,
                   struct json_object *value)
{
    char buf[512];
    size_t n = strlen(path); /* of ours: it has room */
    memcpy(buf, path, n);
    buf[n++] = '/';
    for (const char *p = key; *p && n + 3 < sizeof buf; p++) {
        if (*p != '/' && *p != '~') {
            buf[n++] = *p;
            continue;
        }
        buf[n++] = '~';
        buf[n++] = *p == '/' ? '1' : '0';
    }
    const struct sw_sink *to = sw_json_writer_sink(m->patch);
    if (m->n_ops++ == 0)
        (void)to->ops->begin_list(to->arg, NULL);
    (void)to->ops->begin_map(to->arg, NULL);
    put_member(to, "op", op, strlen(op));
    put_member(to, "path", buf, n);
    if (value) {
        (void)to->ops->key(to->arg, "value", 5, NULL);
        (void)sw_json_walk(value, NULL, to, NULL);
        (void)json_object_put(value);
    }
    (void)to->ops->end_map(to->arg, NULL);
}

static char *take_patch(struct mutation *m, size_t *len_bytes)
{
    const struct sw_sink *to = sw_json_writer_sink(m->patch);
    if (m->n_ops)
        (void)to->ops->end_list(to->arg, NULL);
    m->n_ops = 0;
    return sw_json_writer_take(m->patch, len_bytes);
}

static void put_op(struct mutation *m, const char *path, struct json_object *map, const char *key,
                   struct json_object *value)
{
    add_op(m, json_object_object_get_ex(map, key, NULL) ? "replace" : "add", path, key, value);
}

__attribute__((format(printf, 2, 3))) static void warn(struct mutation *m, const char *fmt, ...)
{
    if (!m->warnings)
        m->warnings = json_object_new_array();
    if (sw_json_len(m->warnings) >= 8)
        return; /* the API server cuts them off anyway */
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *text = sw_vprintf(fmt, ap);
    va_end(ap);
    json_object_array_add(m->warnings, json_object_new_string(text));
}

/* ---- resources of one container ----------------------------------------------------------------
 */

struct slice {
    char name[sizeof SW_MIG_DAS_PREFIX + SW_MIG_NAME_LEN]; /* as our device plugin calls it */
    const char *limit_key, *request_key; /* as the pod calls it; NULL: it does not */
    struct json_object *limit, *request; /* borrowed */
};

struct slices {
    size_t n;
    struct slice list[MAX_SLICES];
};

/* @path: of the container */
static int note_slice(struct mutation *m, struct slices *s, const char *path, const char *key,
                      struct json_object *value, bool limit)
{
    const char *map = limit ? "limits" : "requests";
    if (!sw_starts_with(key, SW_MIG_NVIDIA_PREFIX) && !sw_starts_with(key, SW_MIG_DAS_PREFIX))
        return 0;
    struct sw_mig_profile profile;
    enum sw_mig_owner owner;
    if (sw_mig_resource_parse(key, strlen(key), &profile, &owner, NULL) < 0) {
        warn(m, "%s/resources/%s: '%.*s' names no MIG profile such as 1g.5gb and is left alone",
             path, map, (int)sw_utf8_valid_len(key, strnlen(key, 80)), key);
        return 0;
    }
    if (!value || json_object_is_type(value, json_type_object) ||
        json_object_is_type(value, json_type_array))
        return sw_err_set(m->err, SW_INVALID, "%s/resources/%s: %s: expected a quantity", path, map,
                          key);
    char name[sizeof s->list->name] = SW_MIG_DAS_PREFIX;
    (void)sw_mig_resource_text(&profile, name + sizeof SW_MIG_DAS_PREFIX - 1);
    struct slice *slice = s->list;
    while (slice < s->list + s->n && strcmp(slice->name, name) != 0)
        slice++;
    if (slice == s->list + MAX_SLICES)
        return sw_err_set(m->err, SW_FORBIDDEN,
                          "%s/resources/%s: more than %d different MIG profiles", path, map,
                          MAX_SLICES);
    if (slice == s->list + s->n) {
        s->n++;
        *slice = (struct slice){ 0 };
        memcpy(slice->name, name, sizeof name);
    }
    const char **as = limit ? &slice->limit_key : &slice->request_key;
    if (*as)
        return sw_err_set(m->err, SW_FORBIDDEN,
                          "%s/resources/%s: %s and %s are the same MIG slice; ask for one of them",
                          path, map, *as, key);
    *as = key;
    *(limit ? &slice->limit : &slice->request) = value;
    return 0;
}

/* In one of the two maps: what is there as @key becomes @name, with @value. */
static void rewrite(struct mutation *m, const char *path, struct json_object *map, const char *key,
                    const char *name, struct json_object *was, struct json_object *value)
{
    const bool renamed = key && strcmp(key, name) != 0;
    if (renamed)
        add_op(m, "remove", path, key, NULL);
    if (!key || renamed)
        add_op(m, "add", path, name, json_object_get(value));
    else if (!sw_json_equal(was, value))
        put_op(m, path, map, name, json_object_get(value));
}

/* What a request alone names is left alone: a server refuses extended resources without a limit. */
static void forget_requests(struct slices *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->list[i].limit_key)
            s->list[n++] = s->list[i];
    s->n = n;
}

/* Extended resources have no range between request and limit: both become the limit. */
static int mutate_resources(struct mutation *m, const char *path, struct json_object *container)
{
    char at[2][192];
    static const char *const maps[2] = { "limits", "requests" };
    struct json_object *resources = sw_json_get(container, "resources");
    struct json_object *map[2];
    struct slices s = { .n = 0 };
    for (int i = 0; i < 2; i++) {
        map[i] = sw_json_get(resources, maps[i]);
        if (!json_object_is_type(map[i], json_type_object))
            continue;
        json_object_object_foreach(map[i], key, value)
        {
            int rc = note_slice(m, &s, path, key, value, i == 0);
            if (rc < 0)
                return rc;
        }
    }
    forget_requests(&s);
    for (int i = 0; s.n && i < 2; i++) {
        (void)snprintf(at[i], sizeof at[i], "%s/resources", path);
        if (!map[i])
            add_op(m, "add", at[i], maps[i], json_object_new_object());
        (void)snprintf(at[i], sizeof at[i], "%s/resources/%s", path, maps[i]);
    }
    for (size_t i = 0; i < s.n; i++) {
        const struct slice *slice = &s.list[i];
        struct json_object *value = slice->limit;
        rewrite(m, at[0], map[0], slice->limit_key, slice->name, slice->limit, value);
        rewrite(m, at[1], map[1], slice->request_key, slice->name, slice->request, value);
        struct sw_quantity q; /* "0" asks for nothing */
        m->asks |= sw_quantity_from_json(value, &q, NULL) < 0 || q.nano != 0;
    }
    return 0;
}

/* ---- NVIDIA_VISIBLE_DEVICES --------------------------------------------------------------------
 */

/* envFrom may set any variable whose name begins with its prefix; only kubelet reads its content.
 */
static int check_env_from(struct mutation *m, const char *path, struct json_object *container)
{
    struct json_object *list = sw_json_get(container, "envFrom");
    for (size_t i = 0; m->policy->env_from != SW_WEBHOOK_ENV_ALLOW && i < sw_json_len(list); i++) {
        const char *prefix = sw_json_str(sw_json_at(list, i), "", "prefix", NULL);
        if (strncmp(prefix, "NVIDIA_VISIBLE_DEVICES", strlen(prefix)) != 0)
            continue;
        if (m->policy->env_from == SW_WEBHOOK_ENV_REFUSE)
            return sw_err_set(
                m->err, SW_FORBIDDEN,
                "%s/envFrom/%zu: could set NVIDIA_VISIBLE_DEVICES, which is the device "
                "plugin's for pods with MIG slices; give it a prefix",
                path, i);
        warn(m,
             "%s/envFrom/%zu: if NVIDIA_VISIBLE_DEVICES is in it, the container opens other GPUs "
             "than its slices; a prefix keeps it out",
             path, i);
    }
    return 0;
}

/* From the end, so that earlier indices stay right. */
static int mutate_env(struct mutation *m, const char *path, struct json_object *container)
{
    struct json_object *env = sw_json_get(container, "env");
    char at[192], index[24];
    if (check_env_from(m, path, container) < 0)
        return SW_FORBIDDEN;
    if (!json_object_is_type(env, json_type_array))
        return 0;
    (void)snprintf(at, sizeof at, "%s/env", path);
    for (size_t i = sw_json_len(env); i-- > 0;) {
        struct json_object *entry = sw_json_at(env, i);
        const char *value = sw_json_str(entry, "", "value", NULL);
        if (strcmp(sw_json_str(entry, "", "name", NULL), "NVIDIA_VISIBLE_DEVICES") != 0)
            continue;
        /* "none" and "void" open no GPU: a container beside the one with the slice may say so */
        if (!sw_json_get(entry, "valueFrom") &&
            (strcmp(value, "none") == 0 || strcmp(value, "void") == 0))
            continue;
        if (!m->policy->strip_visible_devices)
            return sw_err_set(m->err, SW_FORBIDDEN,
                              "%s/%zu: NVIDIA_VISIBLE_DEVICES is set by the device plugin for pods "
                              "with MIG slices; a value of your own would open other GPUs",
                              at, i);
        (void)snprintf(index, sizeof index, "%zu", i);
        add_op(m, "remove", at, index, NULL);
    }
    return 0;
}

/* ---- the pod -----------------------------------------------------------------------------------
 */

static int each_container(struct mutation *m, struct json_object *spec,
                          int (*visit)(struct mutation *m, const char *path,
                                       struct json_object *container))
{
    for (size_t l = 0; l < SW_COUNT(container_lists); l++) {
        struct json_object *list = sw_json_get(spec, container_lists[l]);
        const size_t n = json_object_is_type(list, json_type_array) ? sw_json_len(list) : 0;
        for (size_t i = 0; i < n; i++) {
            char path[96];
            (void)snprintf(path, sizeof path, "/spec/%s/%zu", container_lists[l], i);
            int rc = visit(m, path, sw_json_at(list, i));
            if (rc < 0)
                return rc;
        }
    }
    return 0;
}

static void mutate_field(struct mutation *m, struct json_object *spec, const char *field,
                         const char *wanted, const char *unset)
{
    const char *now = sw_json_str(spec, "", field, NULL);
    const bool users = *now && strcmp(now, unset) != 0;
    if (!wanted || !*wanted || strcmp(now, wanted) == 0 || (users && m->policy->keep_user_fields))
        return;
    put_op(m, "/spec", spec, field, json_object_new_string(wanted));
}

/* An ephemeral container has no resources, but an environment, and it runs in the pod that has the
 * slices: it is checked for what opens other GPUs when it is added. Those that were there before
 * cannot be changed any more. */
static int mutate_ephemeral(struct mutation *m, struct json_object *pod, struct json_object *old)
{
    struct json_object *spec = sw_json_get(pod, "spec");
    struct json_object *list = sw_json_get(spec, "ephemeralContainers");
    struct json_object *old_list = sw_json_find(old, "spec", "ephemeralContainers", NULL);
    SW_AUTO_JSON *before = json_object_new_object(); /* their names as a map: there may be many */
    for (size_t i = 0; i < sw_json_len(old_list); i++)
        json_object_object_add(before, sw_json_str(sw_json_at(old_list, i), "", "name", NULL),
                               NULL);
    int rc = each_container(m, spec, mutate_resources);
    free(take_patch(m, NULL)); /* the resources of a pod cannot be changed any more */
    for (size_t i = 0; rc == 0 && m->asks && i < sw_json_len(list); i++) {
        struct json_object *c = sw_json_at(list, i);
        char path[96];
        (void)snprintf(path, sizeof path, "/spec/ephemeralContainers/%zu", i);
        if (!json_object_object_get_ex(before, sw_json_str(c, "", "name", NULL), NULL))
            rc = mutate_env(m, path, c);
    }
    return rc;
}

static int mutate_pod(struct mutation *m, struct json_object *pod)
{
    struct json_object *spec = sw_json_get(pod, "spec");
    SW_AUTO_JSON *more = webhook_tolerations(m->policy->tolerate, spec); /* by the pod's names */
    const bool has_list = sw_json_get(spec, "tolerations") != NULL;
    if (sw_json_len(more) && !has_list)
        add_op(m, "add", "/spec", "tolerations", json_object_get(more));
    for (size_t i = 0; has_list && i < sw_json_len(more); i++)
        add_op(m, "add", "/spec/tolerations", "-", json_object_get(sw_json_at(more, i)));
    int rc = each_container(m, spec, mutate_resources);
    if (rc == 0 && m->asks)
        rc = each_container(m, spec, mutate_env);
    if (rc == 0 && m->asks) {
        mutate_field(m, spec, "schedulerName", m->policy->scheduler_name, "default-scheduler");
        mutate_field(m, spec, "runtimeClassName", m->policy->runtime_class, "");
    }
    return rc;
}

/* ---- the answer --------------------------------------------------------------------------------
 */

static void add(struct json_object *map, const char *key, struct json_object *value)
{
    json_object_object_add_ex(map, key, value,
                              JSON_C_OBJECT_ADD_CONSTANT_KEY | JSON_C_OBJECT_ADD_KEY_IS_NEW);
}

static bool is_pod(struct json_object *request, const char *operation, const char *subresource)
{
    return strcmp(sw_json_str(request, "CREATE", "operation", NULL), operation) == 0 &&
           strcmp(sw_json_str(request, "", "kind", "kind", NULL), "Pod") == 0 &&
           !*sw_json_str(request, "", "kind", "group", NULL) &&
           strcmp(sw_json_str(request, "", "subResource", NULL), subresource) == 0;
}

static bool is_among(const char *name, const char *names)
{
    const size_t len = strlen(name);
    for (const char *at = names ? names : ""; *(at += strspn(at, ", "));) {
        const size_t n = strcspn(at, ", ");
        if (n == len && memcmp(at, name, n) == 0)
            return true;
        at += n;
    }
    return false;
}

static int mutate_request(struct mutation *m, struct json_object *request)
{
    const bool created = is_pod(request, "CREATE", "");
    struct json_object *pod = sw_json_get(request, "object");
    if (!created && !is_pod(request, "UPDATE", "ephemeralcontainers"))
        return 0;
    if (is_among(sw_json_str(request, "", "namespace", NULL), m->policy->excluded_namespaces))
        return 0;
    if (!json_object_is_type(pod, json_type_object))
        return sw_err_set(m->err, SW_INVALID, "request.object: expected a Pod");
    return created ? mutate_pod(m, pod)
                   : mutate_ephemeral(m, pod, sw_json_get(request, "oldObject"));
}

/* Complete the @response to a request that was mutated into m->patch. */
static void put_patch(struct mutation *m, struct json_object *response)
{
    size_t len;
    SW_AUTO_CHARS *text = take_patch(m, &len);
    SW_AUTO_CHARS *encoded = sw_alloc(len / 3 * 4 + 8);
    const int n = EVP_EncodeBlock((unsigned char *)encoded, (const unsigned char *)text, (int)len);
    add(response, "patchType", json_object_new_string("JSONPatch"));
    add(response, "patch", json_object_new_string_len(encoded, n));
}

int sw_webhook_mutate(const struct sw_webhook_policy *policy, struct json_object *review,
                      struct json_object **out, enum sw_webhook_outcome *outcome,
                      struct sw_err *err)
{
    int rc = sw_kube_review_check(review, err);
    if (rc < 0)
        return rc;
    SW_ERR(why);
    struct mutation m = { .policy = policy,
                          .patch = sw_json_writer_new(SW_JSON_PLAIN),
                          .err = &why };
    struct json_object *response;
    rc = mutate_request(&m, sw_json_get(review, "request"));
    const bool changed = rc == 0 && m.n_ops > 0;
    *outcome = rc < 0 ? SW_WEBHOOK_DENIED : changed ? SW_WEBHOOK_MUTATED : SW_WEBHOOK_UNCHANGED;
    *out = sw_kube_review_answer(review, rc, sw_err_text(&why), &response);
    if (changed)
        put_patch(&m, response);
    if (m.warnings && sw_ends_with(sw_json_str(review, "", "apiVersion", NULL), "/v1"))
        add(response, "warnings", json_object_get(m.warnings));
    sw_json_writer_free(m.patch);
    (void)json_object_put(m.warnings);
    return 0;
}
