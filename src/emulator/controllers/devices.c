#include "emulator/controllers/devices.h"

#include "emulator/schema/cel.h"

#include <stdlib.h>
#include <string.h>

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

/* The claim of the pod's entry at @i; borrowed, NULL: none. */
static json_object *claim_of(struct sw_ctl *ctl, json_object *pod, size_t i)
{
    const char *name = claim_name(pod, entry_of(pod, i));
    return name && ctl->kinds.claim
               ? sw_store_get(ctl->store, ctl->kinds.claim, sw_obj_namespace(pod), name)
               : NULL;
}

static size_t n_claims(json_object *pod)
{
    return sw_json_len(sw_json_find(pod, "spec", "resourceClaims", NULL));
}

char *sw_devices_unclaimed(struct sw_ctl *ctl, const struct sw_pod *pod)
{
    for (size_t i = 0; i < n_claims(pod->doc); i++) {
        json_object *entry = entry_of(pod->doc, i);
        const char *own = sw_json_str(entry, NULL, "resourceClaimName", NULL);
        if (claim_of(ctl, pod->doc, i))
            continue;
        return own ? sw_printf("waiting for resourceclaim \"%s\" to be created", own)
                   : sw_printf("waiting for dynamic resource controller to create the "
                               "resourceclaim \"%s\"",
                               sw_json_str(entry, "", "name", NULL));
    }
    return NULL;
}

/* ---- devices ------------------------------------------------------------------------------------
 */

/* A device of a slice, borrowed from the list of slices. */
struct device {
    const char *driver, *pool;
    json_object *doc;
    bool used;
};
/* Those that can be had on one node, and the claims' results so far. */
struct search {
    struct sw_ctl *ctl;
    struct sw_store_list slices;
    struct device *items;
    size_t n, cap;
};

static void search_done(struct search *s)
{
    free(s->items);
    sw_store_list_done(&s->slices);
}

static void mark_used(struct search *s, json_object *claim)
{
    json_object *results = sw_json_find(claim, "status", "allocation", "devices", "results", NULL);
    for (size_t i = 0; i < sw_json_len(results); i++) {
        json_object *r = sw_json_at(results, i);
        for (size_t k = 0; k < s->n && !sw_json_bool(r, false, "adminAccess", NULL); k++)
            if (sw_streq(s->items[k].driver, sw_json_str(r, "", "driver", NULL)) &&
                sw_streq(s->items[k].pool, sw_json_str(r, "", "pool", NULL)) &&
                sw_streq(sw_json_str(s->items[k].doc, "", "name", NULL),
                         sw_json_str(r, "?", "device", NULL)))
                s->items[k].used = true;
    }
}

static void search_init(struct search *s, struct sw_ctl *ctl, const char *node)
{
    *s = (struct search){ .ctl = ctl };
    if (!ctl->kinds.slice)
        return;
    sw_store_list(ctl->store, ctl->kinds.slice, NULL, &s->slices);
    for (size_t i = 0; i < s->slices.n; i++) {
        json_object *spec = sw_json_get(s->slices.items[i], "spec");
        json_object *devices = sw_json_get(spec, "devices");
        if (!sw_json_bool(spec, false, "allNodes", NULL) &&
            !sw_streq(sw_json_str(spec, "", "nodeName", NULL), node))
            continue;
        for (size_t k = 0; k < sw_json_len(devices); k++) {
            SW_GROW(s->items, s->n, s->cap);
            s->items[s->n++] = (struct device){ .driver = sw_json_str(spec, "", "driver", NULL),
                                                .pool = sw_json_str(spec, "", "pool", "name", NULL),
                                                .doc = sw_json_at(devices, k) };
        }
    }
    SW_STORE_LIST(claims);
    sw_store_list(ctl->store, ctl->kinds.claim, NULL, &claims);
    for (size_t i = 0; i < claims.n; i++)
        mark_used(s, claims.items[i]);
}

/* The value of an attribute: {"string": "gpu"} is "gpu". */
static json_object *plain(json_object *attribute)
{
    json_object *value = NULL;
    if (json_object_is_type(attribute, json_type_object)) {
        json_object_object_foreach(attribute, type, of_type)
        {
            (void)type;
            value = of_type;
        }
    }
    return json_object_get(value);
}

/* What CEL calls `device`; new. Attributes without a domain are the driver's. */
static json_object *as_cel(const struct device *d)
{
    json_object *root = sw_doc_new("device", sw_doc_new("driver", sw_str(d->driver), NULL), NULL);
    json_object *attributes = sw_json_get(d->doc, "attributes");
    (void)sw_json_need_map(root, "device", "attributes", d->driver, NULL);
    if (!json_object_is_type(attributes, json_type_object))
        return root;
    json_object_object_foreach(attributes, name, value)
    {
        const char *slash = strchr(name, '/');
        SW_AUTO_CHARS *domain = slash ? sw_strndup(name, (size_t)(slash - name))
                                      : sw_strdup(d->driver);
        sw_json_set(root, plain(value), "device", "attributes", domain, slash ? slash + 1 : name,
                    NULL);
    }
    return root;
}

static bool selected(const struct device *d, json_object *selectors)
{
    SW_AUTO_JSON *root = as_cel(d);
    for (size_t i = 0; i < sw_json_len(selectors); i++) {
        SW_ERR(err);
        const char *text = sw_json_str(sw_json_at(selectors, i), "", "cel", "expression", NULL);
        if (sw_cel_holds(text, root, &err) != 1)
            return false;
    }
    return true;
}

/* ---- allocation ---------------------------------------------------------------------------------
 */

/* Add the devices for one wish to @results. @name: of the request. @return whether there are
 * enough. */
static bool grant(struct search *s, const char *name, json_object *wish, json_object *results)
{
    json_object *class = sw_store_get(s->ctl->store, s->ctl->kinds.device_class, NULL,
                                      sw_json_str(wish, "", "deviceClassName", NULL));
    const bool all = sw_streq(sw_json_str(wish, "", "allocationMode", NULL), "All");
    const bool admin = sw_json_bool(wish, false, "adminAccess", NULL);
    int64_t want = all ? INT64_MAX : sw_json_int(wish, 1, "count", NULL), n = 0;
    for (size_t i = 0; class && i < s->n && n < want; i++) {
        struct device *d = &s->items[i];
        if (!selected(d, sw_json_find(class, "spec", "selectors", NULL)) ||
            !selected(d, sw_json_get(wish, "selectors")))
            continue;
        if (d->used && !admin) {
            if (all)
                return false;
            continue;
        }
        d->used |= !admin;
        n++;
        json_object_array_add(results,
                              sw_doc_new("request", sw_str(name), "driver", sw_str(d->driver),
                                         "pool", sw_str(d->pool), "device",
                                         sw_str(sw_json_str(d->doc, "", "name", NULL)),
                                         "adminAccess", admin ? sw_bool(true) : NULL, NULL));
    }
    return all ? n > 0 : n == want;
}

/* Whether the devices of an allocated claim can be had on the node. */
static bool is_here(const struct search *s, json_object *claim)
{
    json_object *results = sw_json_find(claim, "status", "allocation", "devices", "results", NULL);
    for (size_t i = 0; i < sw_json_len(results); i++) {
        bool found = false;
        for (size_t k = 0; k < s->n && !found; k++)
            found = sw_streq(s->items[k].pool,
                             sw_json_str(sw_json_at(results, i), "?", "pool", NULL));
        if (!found)
            return false;
    }
    return true;
}

/* The results for a claim, new; NULL: the node has not what it asks for. */
static json_object *allocate(struct search *s, json_object *claim)
{
    SW_AUTO_JSON *results = json_object_new_array();
    json_object *requests = sw_json_find(claim, "spec", "devices", "requests", NULL);
    for (size_t i = 0; i < sw_json_len(requests); i++) {
        json_object *request = sw_json_at(requests, i), *one = sw_json_get(request, "exactly");
        json_object *choices = sw_json_get(request, "firstAvailable");
        const char *name = sw_json_str(request, "", "name", NULL);
        bool granted = one && grant(s, name, one, results);
        for (size_t k = 0; !granted && k < sw_json_len(choices); k++) {
            json_object *choice = sw_json_at(choices, k);
            SW_AUTO_CHARS *path = sw_printf("%s/%s", name, sw_json_str(choice, "", "name", NULL));
            granted = grant(s, path, choice, results);
        }
        if (!granted)
            return NULL;
    }
    return SW_TAKE(results);
}

bool sw_devices_fit(struct sw_ctl *ctl, const struct sw_pod *pod, const char *node)
{
    struct search s;
    bool fits = true;
    if (!n_claims(pod->doc))
        return true;
    search_init(&s, ctl, node);
    for (size_t i = 0; fits && i < n_claims(pod->doc); i++) {
        json_object *claim = claim_of(ctl, pod->doc, i);
        if (sw_json_find(claim, "status", "allocation", NULL)) {
            fits = is_here(&s, claim);
        } else {
            SW_AUTO_JSON *results = claim ? allocate(&s, claim) : NULL;
            fits = results != NULL;
        }
    }
    search_done(&s);
    return fits;
}

/* What is written into a claim. */
struct taken {
    const struct sw_pod *pod;
    const char *node;
    json_object *results; /* NULL: it is allocated already */
};

static int set_taken(json_object *doc, void *arg)
{
    const struct taken *t = arg;
    if (t->results) {
        sw_json_set(doc, json_object_get(t->results), "status", "allocation", "devices", "results",
                    NULL);
        json_object *field = sw_doc_new("key", sw_str("metadata.name"), "operator", sw_str("In"),
                                        "values", sw_doc_list(sw_str(t->node), NULL), NULL);
        json_object *term = sw_doc_new("matchFields", sw_doc_list(field, NULL), NULL);
        sw_json_set(doc, sw_doc_list(term, NULL), "status", "allocation", "nodeSelector",
                    "nodeSelectorTerms", NULL);
    }
    const char *uid = sw_obj_uid(t->pod->doc);
    json_object *list = sw_json_need_list(doc, "status", "reservedFor", NULL);
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (sw_streq(sw_json_str(sw_json_at(list, i), "", "uid", NULL), uid))
            return 0;
    json_object_array_add(list, sw_doc_new("resource", sw_str("pods"), "name",
                                           sw_str(sw_pod_name(t->pod)), "uid", sw_str(uid), NULL));
    return 0;
}

void sw_devices_take(struct sw_ctl *ctl, const struct sw_pod *pod, const char *node)
{
    struct search s;
    if (!n_claims(pod->doc))
        return;
    search_init(&s, ctl, node);
    for (size_t i = 0; i < n_claims(pod->doc); i++) {
        json_object *claim = claim_of(ctl, pod->doc, i);
        const bool had = sw_json_find(claim, "status", "allocation", NULL);
        SW_AUTO_JSON *results = had || !claim ? NULL : allocate(&s, claim);
        struct taken taken = { .pod = pod, .node = node, .results = results };
        if (claim)
            (void)sw_ctl_modify(ctl, ctl->kinds.claim, claim, "status", set_taken, &taken);
    }
    search_done(&s);
}

/* ---- the controller -----------------------------------------------------------------------------
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
    SW_AUTO_CHARS *made = sw_printf(
        "%s-%s-%c%c%c%c%c", sw_obj_name(pod), name, SW_NAME_LETTER(sw_ctl_random(ctl, 1000)),
        SW_NAME_LETTER(sw_ctl_random(ctl, 1000)), SW_NAME_LETTER(sw_ctl_random(ctl, 1000)),
        SW_NAME_LETTER(sw_ctl_random(ctl, 1000)), SW_NAME_LETTER(sw_ctl_random(ctl, 1000)));
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

/* A pod: make the claims that it lacks, or free them when it is over. */
static void work_pod(struct sw_ctl *ctl, json_object *pod)
{
    bool again = false;
    for (size_t i = 0; i < n_claims(pod); i++) {
        json_object *entry = entry_of(pod, i), *claim = claim_of(ctl, pod, i);
        const bool ours = sw_json_get(entry, "resourceClaimTemplateName");
        if (sw_doc_is_over(pod) && ours && claim)
            (void)sw_ctl_delete(ctl, ctl->kinds.claim, claim, false);
        else if (!sw_doc_is_over(pod) && !sw_doc_is_deleted(pod) && ours && !claim_name(pod, entry))
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
    for (struct sw_pod *p = sw_ctl_waiting_pods(ctl); p; p = p->wait_next)
        if (n_claims(p->doc))
            sw_ctl_enqueue(ctl, SW_Q_SCHEDULE, sw_pod_ns(p), sw_pod_name(p));
}

static void on_pod(struct sw_ctl *ctl, json_object *before, json_object *after)
{
    (void)before;
    if (after && n_claims(after))
        sw_ctl_enqueue(ctl, SW_Q_DEVICE, sw_obj_namespace(after), sw_obj_name(after));
}

const struct sw_controller sw_device_controller = {
    .group = "resource.k8s.io",
    .kind = "ResourceSlice",
    .work = work,
    .on_pod = on_pod,
};
