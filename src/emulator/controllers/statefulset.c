#include "emulator/controllers/workload.h"

#include <stdlib.h>
#include <string.h>

/* A StatefulSet and its pods by ordinal. Source: Kubernetes "StatefulSets". */
struct set {
    struct sw_ctl *ctl;
    json_object *doc; /* counted */
    char hash[11];
    char *update, *current; /* revisions, as labels have them: "name-hash" */
    json_object **pods;     /* by ordinal from `first`, counted; NULL: none */
    size_t n_pods;
    int64_t first, want;
    bool parallel;
};

static const char hash_label[] = "controller-revision-hash";

/* Put @pod at its ordinal, which is the end of its name; other pods are ignored. */
static void put_pod(struct set *s, json_object *pod)
{
    const char *name = sw_obj_name(pod), *prefix = sw_obj_name(s->doc);
    char *end;
    if (!sw_starts_with(name, prefix) || name[strlen(prefix)] != '-')
        return;
    const char *digits = name + strlen(prefix) + 1;
    long long ordinal = strtoll(digits, &end, 10);
    if (end == digits || *end || ordinal < s->first || ordinal > 1000000)
        return;
    size_t i = (size_t)(ordinal - s->first);
    if (i >= s->n_pods) {
        s->pods = sw_realloc(s->pods, i + 1, sizeof *s->pods);
        memset(s->pods + s->n_pods, 0, (i + 1 - s->n_pods) * sizeof *s->pods);
        s->n_pods = i + 1;
    }
    s->pods[i] = json_object_get(pod);
}

/* Read the spec and find the pods. */
static void read_set(struct set *s)
{
    sw_doc_hash(sw_json_find(s->doc, "spec", "template", NULL), s->hash);
    s->update = sw_printf("%s-%s", sw_obj_name(s->doc), s->hash);
    const char *current = sw_json_str(s->doc, "", "status", "currentRevision", NULL);
    s->current = sw_strdup(*current ? current : s->update);
    s->first = sw_json_int(s->doc, 0, "spec", "ordinals", "start", NULL);
    s->want = sw_json_int(s->doc, 1, "spec", "replicas", NULL);
    s->parallel = sw_streq(sw_json_str(s->doc, "", "spec", "podManagementPolicy", NULL),
                           "Parallel");
    for (struct sw_pod *p = sw_ctl_owned_pods(s->ctl, sw_obj_uid(s->doc)); p; p = p->owner_next)
        put_pod(s, p->doc);
}

/* ---- claims -------------------------------------------------------------------------------------
 */

/* Create the missing claims of the set's templates for one pod, and add its volumes. */
static void add_claims(struct set *s, json_object *pod, const char *pod_name)
{
    json_object *templates = sw_json_find(s->doc, "spec", "volumeClaimTemplates", NULL);
    for (size_t i = 0; i < sw_json_len(templates); i++) {
        json_object *t = sw_json_at(templates, i);
        SW_AUTO_CHARS *claim = sw_printf("%s-%s", sw_obj_name(t), pod_name);
        if (!sw_store_get(s->ctl->store, s->ctl->kinds.pvc, sw_obj_namespace(s->doc), claim)) {
            json_object *doc = sw_json_copy(t);
            json_object_object_del(doc, "status");
            sw_json_set_str(doc, "v1", "apiVersion", NULL);
            sw_json_set_str(doc, "PersistentVolumeClaim", "kind", NULL);
            sw_json_set_str(doc, claim, "metadata", "name", NULL);
            sw_json_set_str(doc, sw_obj_namespace(s->doc), "metadata", "namespace", NULL);
            (void)sw_ctl_create(s->ctl, s->ctl->kinds.pvc, doc, s->doc); /* an Event reports it */
        }
        json_object *volume = sw_doc_new("name", sw_str(sw_obj_name(t)), "persistentVolumeClaim",
                                         sw_doc_new("claimName", sw_str(claim), NULL), NULL);
        json_object_array_add(sw_json_need_list(pod, "spec", "volumes", NULL), volume);
    }
}

/* @return whether the pod was created. */
static bool create_pod(struct set *s, int64_t ordinal)
{
    SW_AUTO_CHARS *name = sw_printf("%s-%lld", sw_obj_name(s->doc), (long long)ordinal);
    SW_AUTO_CHARS *index = sw_printf("%lld", (long long)ordinal);
    json_object *pod = sw_workload_pod(s->doc, name);
    json_object *labels = sw_workload_labels(pod);
    sw_json_set_str(labels, s->update, hash_label, NULL);
    sw_json_set_str(labels, name, "statefulset.kubernetes.io/pod-name", NULL);
    sw_json_set_str(labels, index, "apps.kubernetes.io/pod-index", NULL);
    sw_json_set_str(pod, name, "spec", "hostname", NULL);
    sw_json_set_str(pod, sw_json_str(s->doc, "", "spec", "serviceName", NULL), "spec", "subdomain",
                    NULL);
    add_claims(s, pod, name);
    return sw_ctl_create(s->ctl, s->ctl->kinds.pod, pod, s->doc) == 0;
}

/* ---- what to do ---------------------------------------------------------------------------------
 */

static bool is_ready(json_object *pod)
{
    return pod && !sw_doc_is_deleted(pod) && sw_streq(sw_cond_status(pod, "Ready"), "True");
}

/* Create missing pods from the lowest ordinal up, each when the one before is ready, unless they
 * start in parallel. *@busy is set while one is not ready.
 * @return false: a pod could not be created */
static bool scale_up(struct set *s, bool *busy)
{
    for (int64_t i = 0; i < s->want; i++) {
        json_object *pod = (size_t)i < s->n_pods ? s->pods[i] : NULL;
        if (!pod && !create_pod(s, s->first + i))
            return false;
        if (pod && sw_doc_is_over(pod) && !sw_doc_is_deleted(pod))
            (void)sw_ctl_delete(s->ctl, s->ctl->kinds.pod, pod,
                                false); /* created again when it is gone */
        *busy |= !is_ready(pod);
        if (!is_ready(pod) && !s->parallel)
            return true;
    }
    return true;
}

/* Delete surplus pods from the highest ordinal down. *@busy is set while there is one. */
static void scale_down(struct set *s, bool *busy)
{
    for (size_t i = s->n_pods; i-- > 0 && (int64_t)i >= s->want;) {
        if (!s->pods[i])
            continue;
        *busy = true;
        if (!sw_doc_is_deleted(s->pods[i]))
            (void)sw_ctl_delete(s->ctl, s->ctl->kinds.pod, s->pods[i], false);
        if (!s->parallel)
            return;
    }
}

/* Replace pods of an old revision from the highest ordinal down to the partition: one at a time,
 * the next when the new pod is ready. */
static void update(struct set *s)
{
    json_object *strategy = sw_json_find(s->doc, "spec", "updateStrategy", NULL);
    int64_t partition = sw_json_int(strategy, 0, "rollingUpdate", "partition", NULL);
    if (sw_streq(sw_json_str(strategy, "", "type", NULL), "OnDelete"))
        return;
    for (int64_t i = s->want - 1; i >= 0 && i + s->first >= partition; i--) {
        json_object *pod = (size_t)i < s->n_pods ? s->pods[i] : NULL;
        if (!pod || sw_doc_is_deleted(pod))
            return;
        if (!sw_streq(sw_obj_label(pod, hash_label), s->update)) {
            (void)sw_ctl_delete(s->ctl, s->ctl->kinds.pod, pod,
                                false); /* its deletion enqueues the set */
            return;
        }
        if (!is_ready(pod))
            return;
    }
}

static void write_status(struct set *s)
{
    struct sw_workload_count n;
    sw_workload_count(s->ctl, s->doc, hash_label, s->update, &n);
    bool done = n.updated == s->want && n.active == s->want && n.updated_ready == s->want;
    json_object *status = sw_workload_status(s->doc, "replicas", n.active, "readyReplicas", n.ready,
                                             "availableReplicas", n.available, "updatedReplicas",
                                             n.updated, "currentReplicas",
                                             done ? n.updated : n.active - n.updated, NULL);
    if (sw_streq(s->current, s->update))
        json_object_object_add(status, "currentReplicas", sw_int(n.updated));
    sw_status_omit_zeros(status, "readyReplicas", "updatedReplicas", "currentReplicas", NULL);
    sw_json_set_str(status, s->update, "updateRevision", NULL);
    sw_json_set_str(status, done ? s->update : s->current, "currentRevision", NULL);
    json_object_object_add(status, "collisionCount", sw_int(0));
    sw_ctl_put_status(s->ctl, s->ctl->kinds.statefulset, s->doc, status);
}

static void work(struct sw_ctl *ctl, const char *ns, const char *name)
{
    struct set s = { .ctl = ctl };
    bool busy = false, ok = true;
    s.doc = json_object_get(sw_store_get(ctl->store, ctl->kinds.statefulset, ns, name));
    if (!s.doc)
        return;
    if (!sw_doc_is_deleted(s.doc)) {
        read_set(&s);
        ok = sw_workload_revision(ctl, s.doc, s.hash) == 0 && scale_up(&s, &busy);
        if (ok && (!busy || s.parallel))
            scale_down(&s, &busy);
        if (ok && !busy)
            update(&s);
        write_status(&s);
    }
    if (!ok)
        sw_ctl_enqueue_in(ctl, SW_Q_STATEFULSET, ns, name, SW_CTL_RETRY_MS);
    for (size_t i = 0; i < s.n_pods; i++)
        json_object_put(s.pods[i]);
    free(s.pods);
    free(s.update);
    free(s.current);
    json_object_put(s.doc);
}

const struct sw_controller sw_statefulset_controller = {
    .group = "apps",
    .kind = "StatefulSet",
    .owns_pods = true,
    .work = work,
};
