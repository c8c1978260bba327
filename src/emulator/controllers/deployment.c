#include "emulator/controllers/workload.h"

#include "data/text/time.h"

#include <stdlib.h>
#include <string.h>

/* A Deployment and its ReplicaSets. Source: Kubernetes "Deployments". */
struct rollout {
    struct sw_ctl *ctl;
    json_object *doc;  /* counted */
    json_object *next; /* the ReplicaSet of the template, counted; NULL: not created yet */
    json_object **old; /* the others, counted, the youngest first */
    size_t n_old;
    char hash[11];
    bool failed; /* a write failed */
};

static const char hash_label[] = "pod-template-hash";
static const char revision_key[] = "deployment.kubernetes.io/revision";

static int64_t replicas_of(json_object *doc)
{
    return sw_json_int(doc, 1, "spec", "replicas", NULL);
}

static int64_t available_of(json_object *rs)
{
    return sw_json_int(rs, 0, "status", "availableReplicas", NULL);
}

/* The most replicas that may be unavailable in a rolling update. */
static int64_t max_unavailable(json_object *deployment)
{
    int64_t want = replicas_of(deployment);
    json_object *most = sw_json_find(deployment, "spec", "strategy", "rollingUpdate",
                                     "maxUnavailable", NULL);
    return sw_doc_share(most, want, false, want / 4);
}

static bool recreates(json_object *deployment)
{
    return sw_streq(sw_json_str(deployment, "", "spec", "strategy", "type", NULL), "Recreate");
}

static int64_t revision_of(json_object *doc)
{
    const char *text = sw_obj_annotation(doc, revision_key);
    return text ? strtoll(text, NULL, 10) : 0;
}

/* ---- its ReplicaSets ----------------------------------------------------------------------------
 */

static int by_revision(const void *a, const void *b)
{
    int64_t p = revision_of(*(json_object *const *)a), q = revision_of(*(json_object *const *)b);
    return p < q ? 1 : p > q ? -1 : 0;
}

/* Find the ReplicaSets. */
static void find_replicasets(struct rollout *r)
{
    SW_STORE_LIST(list);
    size_t cap = 0;
    sw_doc_hash(sw_json_find(r->doc, "spec", "template", NULL), r->hash);
    sw_store_list(r->ctl->store, r->ctl->kinds.replicaset, sw_obj_namespace(r->doc), &list);
    for (size_t i = 0; i < list.n; i++) {
        json_object *rs = list.items[i];
        if (!sw_streq(sw_json_str(sw_doc_controller(rs), "", "uid", NULL), sw_obj_uid(r->doc)))
            continue;
        if (sw_streq(sw_obj_label(rs, hash_label), r->hash)) {
            r->next = json_object_get(rs);
            continue;
        }
        SW_GROW(r->old, r->n_old, cap);
        r->old[r->n_old++] = json_object_get(rs);
    }
    if (r->n_old > 1)
        qsort(r->old, r->n_old, sizeof *r->old, by_revision);
}

/* The replicas of all ReplicaSets, by their specs. */
static int64_t total(const struct rollout *r)
{
    int64_t n = r->next ? replicas_of(r->next) : 0;
    for (size_t i = 0; i < r->n_old; i++)
        n += replicas_of(r->old[i]);
    return n;
}

static int set_replicas(json_object *doc, void *arg)
{
    sw_json_set(doc, sw_int(*(int64_t *)arg), "spec", "replicas", NULL);
    return 0;
}

/* Set the replicas of *@rs, and replace *@rs by the stored document. */
static void scale(struct rollout *r, json_object **rs, int64_t n)
{
    if (n < 0 || n == replicas_of(*rs))
        return;
    const struct sw_emu_kind *kind = r->ctl->kinds.replicaset;
    if (sw_ctl_modify(r->ctl, kind, *rs, NULL, set_replicas, &n) < 0) {
        r->failed = true;
        return;
    }
    json_object *now = sw_store_get(r->ctl->store, kind, sw_obj_namespace(*rs), sw_obj_name(*rs));
    if (!now)
        return;
    json_object_get(now);
    json_object_put(*rs);
    *rs = now;
}

static int set_revision(json_object *doc, void *arg)
{
    sw_json_set_str(doc, arg, "metadata", "annotations", revision_key, NULL);
    return 0;
}

/* A new document: the ReplicaSet of the template. */
static json_object *new_replicaset(struct rollout *r, const char *revision)
{
    SW_AUTO_CHARS *name = sw_printf("%s-%s", sw_obj_name(r->doc), r->hash);
    json_object *template = sw_json_copy(sw_json_find(r->doc, "spec", "template", NULL));
    json_object *selector = sw_json_copy(sw_json_find(r->doc, "spec", "selector", NULL));
    sw_json_set_str(template, r->hash, "metadata", "labels", hash_label, NULL);
    sw_json_set_str(selector, r->hash, "matchLabels", hash_label, NULL);
    json_object *meta = sw_doc_new(
        "name", sw_str(name), "namespace", sw_str(sw_obj_namespace(r->doc)), "labels",
        sw_json_copy(sw_json_find(template, "metadata", "labels", NULL)), "annotations",
        sw_doc_new(revision_key, sw_str(revision), NULL), "ownerReferences",
        sw_doc_list(sw_doc_owner_ref(r->doc), NULL), NULL);
    json_object *spec = sw_doc_new("replicas", sw_int(0), "selector", selector, "template",
                                   template, NULL);
    int64_t min_s = sw_json_int(r->doc, 0, "spec", "minReadySeconds", NULL);
    if (min_s)
        json_object_object_add(spec, "minReadySeconds", sw_int(min_s));
    return sw_doc_new("apiVersion", sw_str("apps/v1"), "kind", sw_str("ReplicaSet"), "metadata",
                      meta, "spec", spec, NULL);
}

/* Create the ReplicaSet of the template where it is missing, and give it and the Deployment the
 * highest revision. */
static void ensure_next(struct rollout *r)
{
    struct sw_ctl *ctl = r->ctl;
    int64_t last = r->n_old ? revision_of(r->old[0]) : 0;
    int64_t mine = r->next ? revision_of(r->next) : 0;
    SW_AUTO_CHARS *revision = sw_printf("%lld", (long long)(mine > last ? mine : last + 1));
    if (!r->next) {
        r->failed = sw_ctl_create(ctl, ctl->kinds.replicaset, new_replicaset(r, revision), r->doc) <
                    0;
        SW_AUTO_CHARS *name = sw_printf("%s-%s", sw_obj_name(r->doc), r->hash);
        r->next = json_object_get(
            sw_store_get(ctl->store, ctl->kinds.replicaset, sw_obj_namespace(r->doc), name));
    } else if (mine <= last) {
        (void)sw_ctl_modify(ctl, ctl->kinds.replicaset, r->next, NULL, set_revision, revision);
    }
    if (!sw_streq(sw_obj_annotation(r->doc, revision_key), revision))
        (void)sw_ctl_modify(ctl, ctl->kinds.deployment, r->doc, NULL, set_revision, revision);
}

/* ---- strategies ---------------------------------------------------------------------------------
 */

static bool has_pods(const struct rollout *r, json_object *rs)
{
    return sw_ctl_owned_pods(r->ctl, sw_obj_uid(rs)) != NULL;
}

/* Scale old ReplicaSets down: first by the replicas that are not available, then by as many as may
 * be unavailable. Both their specs and their statuses count, since a status is older than the spec.
 */
static void scale_down(struct rollout *r, int64_t unavailable)
{
    int64_t least = replicas_of(r->doc) - unavailable, available = available_of(r->next);
    int64_t spare = total(r) - least - (replicas_of(r->next) - available);
    for (size_t i = r->n_old; i-- > 0 && spare > 0;) {
        int64_t down = replicas_of(r->old[i]) - available_of(r->old[i]);
        down = down < spare ? down : spare;
        if (down <= 0)
            continue;
        scale(r, &r->old[i], replicas_of(r->old[i]) - down);
        spare -= down;
    }
    for (size_t i = 0; i < r->n_old; i++)
        available += available_of(r->old[i]);
    for (size_t i = r->n_old; i-- > 0 && available > least && spare > 0;) {
        int64_t n = replicas_of(r->old[i]);
        n = n < available - least ? n : available - least;
        n = n < spare ? n : spare;
        scale(r, &r->old[i], replicas_of(r->old[i]) - n);
        available -= n;
        spare -= n;
    }
}

/* Scale the new ReplicaSet up and the old ones down, as far as the strategy allows now. */
static void roll(struct rollout *r)
{
    int64_t want = replicas_of(r->doc), now = replicas_of(r->next), most = max_unavailable(r->doc);
    int64_t surge = sw_doc_share(
        sw_json_find(r->doc, "spec", "strategy", "rollingUpdate", "maxSurge", NULL), want, true,
        (want + 3) / 4);
    if (surge <= 0 && most <= 0)
        most = 1;
    int64_t room = want + surge - total(r);
    if (now >= want)
        scale(r, &r->next, want);
    else if (room > 0)
        scale(r, &r->next, now + (room < want - now ? room : want - now));
    scale_down(r, most);
}

/* Scale the new ReplicaSet up when all pods of the old ones are gone. */
static void recreate(struct rollout *r)
{
    bool any = false;
    for (size_t i = 0; i < r->n_old; i++) {
        scale(r, &r->old[i], 0);
        any |= has_pods(r, r->old[i]);
    }
    if (!any)
        scale(r, &r->next, replicas_of(r->doc));
}

/* ---- status -------------------------------------------------------------------------------------
 */

/* The sums of the ReplicaSets' statuses. */
struct numbers {
    int64_t replicas, ready, available, updated;
};

static void add_numbers(struct numbers *n, json_object *rs)
{
    n->replicas += sw_json_int(rs, 0, "status", "replicas", NULL);
    n->ready += sw_json_int(rs, 0, "status", "readyReplicas", NULL);
    n->available += available_of(rs);
}

/* As sw_cond_set(), with lastUpdateTime. */
static void set_condition(struct rollout *r, json_object *status, const char *type,
                          const char *value, const char *reason, const char *message)
{
    json_object *list = sw_json_need_list(status, "conditions", NULL);
    int64_t now = sw_ctl_now(r->ctl);
    if (sw_cond_set(list, type, value, reason, message, now))
        json_object_object_add(sw_json_find_by(list, "type", type), "lastUpdateTime", sw_time(now));
}

/* The time until the rollout exceeds its progress deadline; negative: it has. */
static int64_t time_left(struct rollout *r, json_object *progressing)
{
    int64_t limit_s = sw_json_int(r->doc, 600, "spec", "progressDeadlineSeconds", NULL), since = 0;
    const char *text = sw_json_str(progressing, "", "lastUpdateTime", NULL);
    if (sw_time_parse(text, &since, NULL) < 0)
        since = sw_ctl_now(r->ctl);
    return since + limit_s * 1000 - sw_ctl_now(r->ctl);
}

static void set_progress(struct rollout *r, json_object *status, const struct numbers *n)
{
    json_object *list = sw_json_need_list(status, "conditions", NULL);
    json_object *old = sw_json_find_by(list, "type", "Progressing");
    const char *reason = sw_json_str(old, "", "reason", NULL), *rs = sw_obj_name(r->next);
    SW_AUTO_CHARS *message = NULL;
    int64_t want = replicas_of(r->doc);
    if (n->updated == want && n->replicas == want && n->available == want) {
        message = sw_printf("ReplicaSet \"%s\" has successfully progressed.", rs);
        set_condition(r, status, "Progressing", "True", "NewReplicaSetAvailable", message);
        return;
    }
    int64_t left = time_left(r, old);
    json_object *was = sw_json_get(r->doc, "status");
    int64_t was_updated = sw_json_int(was, 0, "updatedReplicas", NULL);
    bool is_new = !old || sw_streq(reason, "NewReplicaSetAvailable");
    if (is_new || n->updated > was_updated ||
        n->replicas - n->updated < sw_json_int(was, 0, "replicas", NULL) - was_updated ||
        n->ready > sw_json_int(was, 0, "readyReplicas", NULL) ||
        n->available > sw_json_int(was, 0, "availableReplicas", NULL)) {
        message = sw_printf("ReplicaSet \"%s\" is progressing.", rs);
        set_condition(r, status, "Progressing", "True", "ReplicaSetUpdated", message);
        json_object_object_add(sw_json_find_by(list, "type", "Progressing"), "lastUpdateTime",
                               sw_time(sw_ctl_now(r->ctl)));
        left = time_left(r, sw_json_find_by(list, "type", "Progressing"));
    } else if (left < 0) {
        message = sw_printf("ReplicaSet \"%s\" has timed out progressing.", rs);
        set_condition(r, status, "Progressing", "False", "ProgressDeadlineExceeded", message);
        return;
    }
    sw_ctl_enqueue_in(r->ctl, SW_Q_DEPLOYMENT, sw_obj_namespace(r->doc), sw_obj_name(r->doc),
                      left + 1000);
}

/* A ReplicaSet whose pods are refused says so in the Deployment's status, too. */
static void copy_failure(struct rollout *r, json_object *status)
{
    json_object *failure = r->next ? sw_obj_condition(r->next, "ReplicaFailure") : NULL;
    for (size_t i = 0; !failure && i < r->n_old; i++)
        failure = sw_obj_condition(r->old[i], "ReplicaFailure");
    if (failure) {
        set_condition(r, status, "ReplicaFailure", sw_json_str(failure, "", "status", NULL),
                      sw_json_str(failure, "", "reason", NULL),
                      sw_json_str(failure, "", "message", NULL));
        return;
    }
    json_object *list = sw_json_need_list(status, "conditions", NULL);
    for (size_t i = sw_json_len(list); i-- > 0;)
        if (sw_streq(sw_json_str(sw_json_at(list, i), "", "type", NULL), "ReplicaFailure"))
            json_object_array_del_idx(list, i, 1);
}

static void write_status(struct rollout *r)
{
    struct numbers n = { 0 };
    if (r->next)
        add_numbers(&n, r->next);
    n.updated = n.replicas;
    for (size_t i = 0; i < r->n_old; i++)
        add_numbers(&n, r->old[i]);
    int64_t want = replicas_of(r->doc), most = recreates(r->doc) ? 0 : max_unavailable(r->doc);
    int64_t missing = (total(r) > want ? total(r) : want) - n.available;
    json_object *status = sw_workload_status(
        r->doc, "replicas", n.replicas, "updatedReplicas", n.updated, "readyReplicas", n.ready,
        "availableReplicas", n.available, "unavailableReplicas", missing > 0 ? missing : 0, NULL);
    sw_status_omit_zeros(status, "replicas", "updatedReplicas", "readyReplicas",
                         "availableReplicas", "unavailableReplicas", NULL);
    if (n.available >= want - most)
        set_condition(r, status, "Available", "True", "MinimumReplicasAvailable",
                      "Deployment has minimum availability.");
    else
        set_condition(r, status, "Available", "False", "MinimumReplicasUnavailable",
                      "Deployment does not have minimum availability.");
    if (sw_json_bool(r->doc, false, "spec", "paused", NULL))
        set_condition(r, status, "Progressing", "Unknown", "DeploymentPaused",
                      "Deployment is paused");
    else if (r->next)
        set_progress(r, status, &n);
    copy_failure(r, status);
    sw_ctl_put_status(r->ctl, r->ctl->kinds.deployment, r->doc, status);
}

static void work(struct sw_ctl *ctl, const char *ns, const char *name)
{
    struct rollout r = { .ctl = ctl };
    r.doc = json_object_get(sw_store_get(ctl->store, ctl->kinds.deployment, ns, name));
    if (!r.doc)
        return;
    if (!sw_doc_is_deleted(r.doc)) {
        bool paused = sw_json_bool(r.doc, false, "spec", "paused", NULL);
        find_replicasets(&r);
        if (!paused)
            ensure_next(&r);
        if (paused && r.next && !r.n_old)
            scale(&r, &r.next, replicas_of(r.doc));
        else if (!paused && r.next && recreates(r.doc))
            recreate(&r);
        else if (!paused && r.next)
            roll(&r);
        write_status(&r);
        int64_t keep = sw_json_int(r.doc, 10, "spec", "revisionHistoryLimit", NULL);
        for (size_t i = (size_t)(keep > 0 ? keep : 0); i < r.n_old; i++)
            if (!replicas_of(r.old[i]) && !has_pods(&r, r.old[i]))
                (void)sw_ctl_delete(ctl, ctl->kinds.replicaset, r.old[i], false);
    }
    if (r.failed)
        sw_ctl_enqueue_in(ctl, SW_Q_DEPLOYMENT, ns, name, SW_CTL_RETRY_MS);
    for (size_t i = 0; i < r.n_old; i++)
        json_object_put(r.old[i]);
    free(r.old);
    json_object_put(r.next);
    json_object_put(r.doc);
}

/* A deleted pod of a ReplicaSet enqueues the Deployment: Recreate waits for the last old pod. */
static void on_pod(struct sw_ctl *ctl, json_object *before, json_object *after)
{
    json_object *ref = after ? NULL : sw_doc_controller(before);
    if (sw_streq(sw_json_str(ref, "", "kind", NULL), "ReplicaSet"))
        sw_ctl_enqueue_owner(ctl, SW_Q_DEPLOYMENT,
                             sw_store_get(ctl->store, ctl->kinds.replicaset,
                                          sw_obj_namespace(before),
                                          sw_json_str(ref, "", "name", NULL)));
}

const struct sw_controller sw_deployment_controller = {
    .group = "apps",
    .kind = "Deployment",
    .owned_group = "apps",
    .owned_kind = "ReplicaSet",
    .work = work,
    .on_pod = on_pod,
};
