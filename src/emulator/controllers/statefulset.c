#include "emulator/controllers/workload.h"

#include <stdlib.h>
#include <string.h>

/* One look at a StatefulSet: its pods by ordinal. Source: Kubernetes "StatefulSets". */
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

/* The ordinal of a pod's name, -1 for a name that is not the set's. */
static int64_t ordinal_of(const struct set *s, json_object *pod)
{
    const char *name = sw_obj_name(pod), *prefix = sw_obj_name(s->doc);
    char *end;
    if (!sw_starts_with(name, prefix) || name[strlen(prefix)] != '-')
        return -1;
    const char *digits = name + strlen(prefix) + 1;
    long long n = strtoll(digits, &end, 10);
    return end == digits || *end || n < 0 || n > 1000000 ? -1 : n;
}

static void put_pod(struct set *s, json_object *pod)
{
    int64_t i = ordinal_of(s, pod) - s->first;
    if (i < 0)
        return;
    if ((size_t)i >= s->n_pods) {
        s->pods = sw_realloc(s->pods, (size_t)i + 1, sizeof *s->pods);
        memset(s->pods + s->n_pods, 0, ((size_t)i + 1 - s->n_pods) * sizeof *s->pods);
        s->n_pods = (size_t)i + 1;
    }
    s->pods[i] = json_object_get(pod);
}

static void gather(struct set *s)
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

static void drop(struct set *s)
{
    for (size_t i = 0; i < s->n_pods; i++)
        json_object_put(s->pods[i]);
    free(s->pods);
    free(s->update);
    free(s->current);
    json_object_put(s->doc);
}

/* ---- claims -------------------------------------------------------------------------------------
 */

/* The claims of the set's templates for one pod, made where missing, and its volumes. */
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
            (void)sw_ctl_create(s->ctl, s->ctl->kinds.pvc, doc, s->doc); /* said in an Event */
        }
        json_object *volume = sw_doc_new("name", sw_str(sw_obj_name(t)), "persistentVolumeClaim",
                                         sw_doc_new("claimName", sw_str(claim), NULL), NULL);
        json_object_array_add(sw_json_need_list(pod, "spec", "volumes", NULL), volume);
    }
}

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

static bool is_over(json_object *pod)
{
    const char *phase = sw_json_str(pod, "", "status", "phase", NULL);
    return sw_streq(phase, "Failed") || sw_streq(phase, "Succeeded");
}

/* From the lowest up: each is there, and ready before the next unless they start in parallel.
 * @return false where it must be tried again. */
static bool scale_up(struct set *s, bool *busy)
{
    for (int64_t i = 0; i < s->want; i++) {
        json_object *pod = (size_t)i < s->n_pods ? s->pods[i] : NULL;
        if (!pod && !create_pod(s, s->first + i))
            return false;
        if (pod && is_over(pod) && !sw_doc_is_deleted(pod))
            (void)sw_ctl_delete(s->ctl, s->ctl->kinds.pod, pod, false); /* made again when gone */
        *busy |= !is_ready(pod);
        if (!is_ready(pod) && !s->parallel)
            return true;
    }
    return true;
}

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

/* From the highest down to the partition: one at a time, the next when it is ready again. */
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
            (void)sw_ctl_delete(s->ctl, s->ctl->kinds.pod, pod, false); /* looked at again */
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
    static const char *const left_out[] = { "readyReplicas", "updatedReplicas", "currentReplicas" };
    bool same = sw_streq(s->current, s->update);
    if (same)
        json_object_object_add(status, "currentReplicas", sw_int(n.updated));
    for (size_t i = 0; i < SW_COUNT(left_out); i++) /* as omitempty leaves them out */
        if (!sw_json_int(status, 0, left_out[i], NULL))
            json_object_object_del(status, left_out[i]);
    sw_json_set_str(status, s->update, "updateRevision", NULL);
    sw_json_set_str(status, done ? s->update : s->current, "currentRevision", NULL);
    json_object_object_add(status, "collisionCount", sw_int(0));
    (void)sw_ctl_put_status(s->ctl, s->ctl->kinds.statefulset, s->doc, status);
}

static void work(struct sw_ctl *ctl, const char *ns, const char *name)
{
    struct set s = { .ctl = ctl };
    bool busy = false, fine = true;
    s.doc = json_object_get(sw_store_get(ctl->store, ctl->kinds.statefulset, ns, name));
    if (!s.doc)
        return;
    if (!sw_doc_is_deleted(s.doc)) {
        gather(&s);
        fine = sw_workload_revision(ctl, s.doc, s.hash) == 0 && scale_up(&s, &busy);
        if (fine && (!busy || s.parallel))
            scale_down(&s, &busy);
        if (fine && !busy)
            update(&s);
        write_status(&s);
    }
    if (!fine)
        sw_ctl_enqueue_in(ctl, SW_Q_STATEFULSET, ns, name, 1000);
    drop(&s);
}

static void on_pod(struct sw_ctl *ctl, json_object *before, json_object *after)
{
    sw_workload_on_pod(ctl, SW_Q_STATEFULSET, "StatefulSet", before, after);
}

const struct sw_controller sw_statefulset_controller = {
    .queue = SW_Q_STATEFULSET,
    .group = "apps",
    .kind = "StatefulSet",
    .work = work,
    .on_pod = on_pod,
};
