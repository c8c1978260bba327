#include "emulator/controllers/devices_internal.h"

#include <stdlib.h>
#include <string.h>

#include "kube/allocator/allocator.h"

/* ---- the claims of a pod ------------------------------------------------------------------------
 */

/* The pod's entry at @i of spec.resourceClaims; NULL: none. */
static json_object *entry_of(json_object *pod, size_t i)
{
    return sw_json_at(sw_json_find(pod, "spec", "resourceClaims", NULL), i);
}

/* The name of the claim of @entry, made for the pod or its own; NULL: none is made yet. */
static const char *claim_name(json_object *pod, json_object *entry)
{
    const char *own = sw_json_str(entry, NULL, "resourceClaimName", NULL);
    json_object *made = sw_json_find(pod, "status", "resourceClaimStatuses", NULL);
    for (size_t i = 0; !own && i < sw_json_len(made); i++)
        if (sw_streq(sw_json_str(sw_json_at(made, i), "", "name", NULL),
                     sw_json_str(entry, "?", "name", NULL)))
            own = sw_json_str(sw_json_at(made, i), NULL, "resourceClaimName", NULL);
    return own;
}

json_object *sw_devices_claim(struct sw_ctl *ctl, json_object *pod, size_t i)
{
    const char *name = claim_name(pod, entry_of(pod, i));
    return name && ctl->kinds.claim
               ? sw_store_get(ctl->store, ctl->kinds.claim, sw_obj_namespace(pod), name)
               : NULL;
}

size_t sw_devices_n_claims(json_object *pod)
{
    return sw_json_len(sw_json_find(pod, "spec", "resourceClaims", NULL));
}

char *sw_devices_unclaimed(struct sw_ctl *ctl, const struct sw_pod *pod)
{
    for (size_t i = 0; i < sw_devices_n_claims(pod->doc); i++) {
        json_object *entry = entry_of(pod->doc, i);
        const char *own = sw_json_str(entry, NULL, "resourceClaimName", NULL);
        if (sw_devices_claim(ctl, pod->doc, i))
            continue;
        return own ? sw_printf("waiting for resourceclaim \"%s\" to be created", own)
                   : sw_printf("waiting for dynamic resource controller to create the "
                               "resourceclaim \"%s\"",
                               sw_json_str(entry, "", "name", NULL));
    }
    return NULL;
}

json_object *sw_devices_made_claim(struct sw_ctl *ctl, json_object *pod)
{
    const char *name = sw_json_str(pod, NULL, "status", "extendedResourceClaimStatus",
                                   "resourceClaimName", NULL);
    return name && ctl->kinds.claim
               ? sw_store_get(ctl->store, ctl->kinds.claim, sw_obj_namespace(pod), name)
               : NULL;
}

char *sw_devices_name(struct sw_ctl *ctl, const char *base)
{
    return sw_printf(
        "%s%c%c%c%c%c", base, SW_NAME_LETTER(sw_ctl_random(ctl, 1000)),
        SW_NAME_LETTER(sw_ctl_random(ctl, 1000)), SW_NAME_LETTER(sw_ctl_random(ctl, 1000)),
        SW_NAME_LETTER(sw_ctl_random(ctl, 1000)), SW_NAME_LETTER(sw_ctl_random(ctl, 1000)));
}

/* ---- kubelet ------------------------------------------------------------------------------------
 */

/* Whether the node has a driver: it has published devices there, or for all nodes. */
static bool has_driver(struct sw_ctl *ctl, const char *driver, json_object *node)
{
    SW_STORE_LIST(slices);
    sw_store_list(ctl->store, ctl->kinds.slice, NULL, &slices);
    for (size_t i = 0; i < slices.n; i++) {
        json_object *spec = sw_json_get(slices.items[i], "spec");
        const char *name = sw_json_str(spec, "", "nodeName", NULL);
        if (sw_streq(sw_json_str(spec, "", "driver", NULL), driver) &&
            (!*name || sw_streq(name, sw_obj_name(node))))
            return true;
    }
    return false;
}

static char *unprepared(struct sw_ctl *ctl, const struct sw_pod *pod, json_object *claim)
{
    json_object *results = sw_json_find(claim, "status", "allocation", "devices", "results", NULL);
    if (!sw_json_find_by(sw_json_find(claim, "status", "reservedFor", NULL), "uid",
                         sw_obj_uid(pod->doc)))
        return sw_printf("prepare dynamic resources: pod %s (%s) is not allowed to use "
                         "ResourceClaim %s (%s)",
                         sw_pod_name(pod), sw_obj_uid(pod->doc), sw_obj_name(claim),
                         sw_obj_uid(claim));
    for (size_t i = 0; i < sw_json_len(results); i++) {
        const char *driver = sw_json_str(sw_json_at(results, i), "", "driver", NULL);
        if (!has_driver(ctl, driver, pod->node->doc))
            return sw_printf("prepare dynamic resources: DRA driver %s is not registered", driver);
    }
    return NULL;
}

char *sw_devices_unprepared(struct sw_ctl *ctl, const struct sw_pod *pod)
{
    json_object *made = sw_devices_made_claim(ctl, pod->doc);
    char *why = made ? unprepared(ctl, pod, made) : NULL;
    for (size_t i = 0; !why && ctl->kinds.claim && i < sw_devices_n_claims(pod->doc); i++) {
        json_object *claim = sw_devices_claim(ctl, pod->doc, i);
        const char *name = claim_name(pod->doc, entry_of(pod->doc, i));
        if (claim)
            why = unprepared(ctl, pod, claim);
        else if (name)
            why = sw_printf("prepare dynamic resources: fetch ResourceClaim %s: "
                            "resourceclaims.resource.k8s.io \"%s\" not found",
                            name, name);
    }
    return why;
}

/* ---- the end of claims --------------------------------------------------------------------------
 */

static int drop_allocation(json_object *doc, void *arg)
{
    (void)arg;
    json_object *status = sw_json_get(doc, "status");
    json_object_object_del(status, "allocation");
    json_object_object_del(status, "devices");
    json_object_object_del(status, "reservedFor");
    return 0;
}

static int unprotect(json_object *doc, void *arg)
{
    (void)arg;
    json_object *list = sw_json_find(doc, "metadata", "finalizers", NULL);
    for (size_t i = sw_json_len(list); i-- > 0;)
        if (sw_streq(json_object_get_string(sw_json_at(list, i)), SW_CLAIM_FINALIZER))
            (void)json_object_array_del_idx(list, i, 1);
    if (!sw_json_len(list))
        json_object_object_del(sw_json_get(doc, "metadata"), "finalizers");
    return 0;
}

void sw_devices_deallocate(struct sw_ctl *ctl, json_object *claim)
{
    SW_AUTO_JSON *held = json_object_get(claim);
    if (sw_json_get(claim, "status"))
        (void)sw_ctl_modify(ctl, ctl->kinds.claim, held, "status", drop_allocation, NULL);
    if (sw_json_len(sw_json_find(claim, "metadata", "finalizers", NULL)))
        (void)sw_ctl_modify(ctl, ctl->kinds.claim, held, NULL, unprotect, NULL);
}

/* Whether the pod that a claim is reserved for still uses it. */
static bool is_used(struct sw_ctl *ctl, const char *ns, json_object *consumer)
{
    json_object *pod = sw_store_get(ctl->store, ctl->kinds.pod, ns,
                                    sw_json_str(consumer, "", "name", NULL));
    return pod && sw_streq(sw_obj_uid(pod), sw_json_str(consumer, "", "uid", NULL)) &&
           !sw_doc_is_over(pod);
}

static int keep_used(json_object *doc, void *arg)
{
    json_object *list = sw_json_find(doc, "status", "reservedFor", NULL);
    for (size_t i = sw_json_len(list); i-- > 0;)
        if (!is_used(arg, sw_obj_namespace(doc), sw_json_at(list, i)))
            (void)json_object_array_del_idx(list, i, 1);
    return 0;
}

/* A claim is free when the last pod that used it is gone; one that was made for a pod goes. */
static void work_claim(struct sw_ctl *ctl, const char *ns, const char *name)
{
    json_object *claim = sw_store_get(ctl->store, ctl->kinds.claim, ns, name);
    json_object *list = sw_json_find(claim, "status", "reservedFor", NULL);
    SW_AUTO_JSON *held = json_object_get(claim);
    size_t n_used = 0;
    for (size_t i = 0; i < sw_json_len(list); i++)
        n_used += is_used(ctl, ns, sw_json_at(list, i));
    if (!claim || (n_used && n_used == sw_json_len(list)))
        return;
    if (n_used) {
        (void)sw_ctl_modify(ctl, ctl->kinds.claim, held, "status", keep_used, ctl);
        return;
    }
    json_object *owner = sw_doc_controller(held);
    json_object *pod = sw_streq(sw_json_str(owner, "", "kind", NULL), "Pod")
                           ? sw_store_get(ctl->store, ctl->kinds.pod, ns,
                                          sw_json_str(owner, "", "name", NULL))
                           : NULL;
    const bool goes = owner && (!pod || sw_doc_is_over(pod));
    if (sw_json_len(list) || sw_doc_is_deleted(held))
        sw_devices_deallocate(ctl, held);
    if (goes && !sw_doc_is_deleted(held))
        (void)sw_ctl_delete(ctl, ctl->kinds.claim, held, false);
}

static void enqueue_claim(struct sw_ctl *ctl, json_object *claim)
{
    if (claim)
        sw_ctl_enqueue(ctl, SW_Q_CLAIM, sw_obj_namespace(claim), sw_obj_name(claim));
}

/* A pod that is over, or gone, uses its claims no longer. */
static void on_user(struct sw_ctl *ctl, json_object *before, json_object *after)
{
    json_object *pod = before ? before : after;
    if (after && !sw_doc_is_over(after))
        return;
    for (size_t i = 0; i < sw_devices_n_claims(pod); i++)
        enqueue_claim(ctl, sw_devices_claim(ctl, pod, i));
    enqueue_claim(ctl, sw_devices_made_claim(ctl, pod));
}

/* The more important one is tried first, then the older one. Source: kube-scheduler's plugin
 * PrioritySort. */
static int by_priority(const void *a, const void *b)
{
    const struct sw_pod *x = *(struct sw_pod *const *)a, *y = *(struct sw_pod *const *)b;
    const int64_t px = sw_json_int(x->doc, 0, "spec", "priority", NULL);
    const int64_t py = sw_json_int(y->doc, 0, "spec", "priority", NULL);
    if (px != py)
        return px < py ? 1 : -1;
    const int order = strcmp(sw_json_str(x->doc, "", "metadata", "creationTimestamp", NULL),
                             sw_json_str(y->doc, "", "metadata", "creationTimestamp", NULL));
    return order ? order : strcmp(sw_pod_name(x), sw_pod_name(y));
}

/* Try the pods that wait for devices once more. */
static void retry_pods(struct sw_ctl *ctl)
{
    struct sw_pod **list = NULL;
    size_t n_pods = 0, cap = 0;
    for (struct sw_pod *p = sw_ctl_waiting_pods(ctl); p; p = p->wait_next) {
        size_t n = sw_devices_n_claims(p->doc);
        if (!n && p->unschedulable)
            free(sw_devices_resources(ctl, p, &n));
        if (!n)
            continue;
        SW_GROW(list, n_pods, cap);
        list[n_pods++] = p;
    }
    if (n_pods)
        qsort(list, n_pods, sizeof(struct sw_pod *), by_priority);
    for (size_t i = 0; i < n_pods; i++)
        sw_ctl_enqueue(ctl, SW_Q_SCHEDULE, sw_pod_ns(list[i]), sw_pod_name(list[i]));
    free(list);
}

/* A claim that was just made by the scheduler, or allocated, leaves less to others, not more. */
static void on_claim(const struct sw_store_event *event, void *arg)
{
    json_object *status = sw_json_get(event->object, "status");
    const bool made = sw_json_find(event->object, "metadata", "annotations", SW_EXTENDED_CLAIM,
                                   NULL);
    const bool taken = sw_json_get(status, "allocation") && !sw_json_get(status, "devices");
    if (event->type == SW_STORE_DELETED || !(taken || (made && event->type == SW_STORE_ADDED)))
        retry_pods(arg);
    if (((struct sw_ctl *)arg)->any_mounting)
        sw_kubelet_devices(arg);
}

static void on_class(const struct sw_store_event *event, void *arg)
{
    (void)event;
    retry_pods(arg);
}

static void open_claims(struct sw_ctl *ctl)
{
    if (!ctl->kinds.claim)
        return;
    ctl->subs[ctl->n_subs++] = sw_store_subscribe(ctl->store, ctl->kinds.claim, on_claim, ctl);
    ctl->subs[ctl->n_subs++] = sw_store_subscribe(ctl->store, ctl->kinds.device_class, on_class,
                                                  ctl);
}

const struct sw_controller sw_claim_controller = {
    .group = "resource.k8s.io",
    .kind = "ResourceClaim",
    .work = work_claim,
    .on_pod = on_user,
    .open = open_claims,
};

/* ---- the claims of templates --------------------------------------------------------------------
 */

static int note_claim(json_object *doc, void *arg)
{
    json_object_array_add(sw_json_need_list(doc, "status", "resourceClaimStatuses", NULL),
                          json_object_get(arg));
    return 0;
}

/* @return whether there is a template to make the claim of. */
static bool make_claim(struct sw_ctl *ctl, json_object *pod, json_object *entry)
{
    const char *from = sw_json_str(entry, "", "resourceClaimTemplateName", NULL);
    const char *name = sw_json_str(entry, "", "name", NULL), *ns = sw_obj_namespace(pod);
    json_object *template = sw_store_get(ctl->store, ctl->kinds.claim_template, ns, from);
    if (!template)
        return false;
    SW_AUTO_CHARS *base = sw_printf("%s-%s-", sw_obj_name(pod), name);
    SW_AUTO_CHARS *made = sw_devices_name(ctl, base);
    json_object *labels = sw_json_find(template, "spec", "metadata", "labels", NULL);
    json_object *meta = sw_doc_new("name", sw_str(made), "namespace", sw_str(ns), "labels",
                                   sw_json_copy(labels), "ownerReferences",
                                   sw_doc_list(sw_doc_owner_ref(pod), NULL), NULL);
    sw_json_set_str(meta, name, "annotations", "resource.kubernetes.io/pod-claim-name", NULL);
    json_object *claim = sw_doc_new(
        "apiVersion", sw_str("resource.k8s.io/v1"), "kind", sw_str("ResourceClaim"), "metadata",
        meta, "spec", sw_json_copy(sw_json_find(template, "spec", "spec", NULL)), NULL);
    SW_AUTO_JSON *status = sw_doc_new("name", sw_str(name), "resourceClaimName", sw_str(made),
                                      NULL);
    if (sw_ctl_create(ctl, ctl->kinds.claim, claim, pod) < 0)
        return false;
    (void)sw_ctl_modify(ctl, ctl->kinds.pod, pod, "status", note_claim, status);
    return true;
}

/* A pod: make the claims that it lacks. */
static void work_pod(struct sw_ctl *ctl, json_object *pod)
{
    bool again = false;
    for (size_t i = 0; i < sw_devices_n_claims(pod); i++) {
        json_object *entry = entry_of(pod, i);
        const bool ours = sw_json_get(entry, "resourceClaimTemplateName");
        if (!sw_doc_is_over(pod) && !sw_doc_is_deleted(pod) && ours && !claim_name(pod, entry))
            again |= !make_claim(ctl, pod, entry);
    }
    if (again)
        sw_ctl_enqueue_in(ctl, SW_Q_DEVICE, sw_obj_namespace(pod), sw_obj_name(pod),
                          SW_CTL_RETRY_MS);
}

static void work(struct sw_ctl *ctl, const char *ns, const char *name)
{
    json_object *pod = *ns && ctl->kinds.claim ? sw_store_get(ctl->store, ctl->kinds.pod, ns, name)
                                               : NULL;
    SW_AUTO_JSON *held = json_object_get(pod);
    if (held)
        work_pod(ctl, held);
    if (*ns)
        return;
    /* a slice came, changed or went */
    retry_pods(ctl);
    sw_kubelet_devices(ctl);
    sw_devices_evict(ctl);
}

static void on_pod(struct sw_ctl *ctl, json_object *before, json_object *after)
{
    (void)before;
    if (after && sw_devices_n_claims(after))
        sw_ctl_enqueue(ctl, SW_Q_DEVICE, sw_obj_namespace(after), sw_obj_name(after));
}

const struct sw_controller sw_device_controller = {
    .group = "resource.k8s.io",
    .kind = "ResourceSlice",
    .work = work,
    .on_pod = on_pod,
};
