#include <string.h>

#include "base/base.h"
#include "base/loop.h"
#include "data/data.h"
#include "emulator/admission/admission.h"
#include "emulator/admission/policies.h"
#include "emulator/admission/webhook.h"
#include "emulator/store/change.h"
#include "emulator/store/status.h"
#include "emulator/write/crds.h"
#include "emulator/write/gc.h"
#include "emulator/write/write.h"

static int check_preconditions(struct sw_write *w)
{
    const char *uid = sw_obj_uid(w->old);
    const char *rv = sw_json_str(w->old, "", "metadata", "resourceVersion", NULL);
    if (w->opts->if_uid && strcmp(w->opts->if_uid, uid) != 0)
        return sw_status_conflict(w->status, w->kind, w->name,
                                  "Precondition failed: UID in precondition: %s, "
                                  "UID in object meta: %s",
                                  w->opts->if_uid, uid);
    if (w->opts->if_version && strcmp(w->opts->if_version, rv) != 0)
        return sw_status_conflict(w->status, w->kind, w->name,
                                  "Precondition failed: ResourceVersion in precondition: %s, "
                                  "ResourceVersion in object meta: %s",
                                  w->opts->if_version, rv);
    return 0;
}

/* How long a pod may take to stop; 0 for other kinds. */
static int64_t grace_period_s(const struct sw_write *w)
{
    if (!sw_write_is(w, "", "Pod"))
        return 0;
    const char *phase = sw_json_str(w->old, "", "status", "phase", NULL);
    if (!sw_json_str(w->old, "", "spec", "nodeName", NULL)[0] || strcmp(phase, "Failed") == 0 ||
        strcmp(phase, "Succeeded") == 0)
        return 0;
    if (w->opts->grace_set)
        return w->opts->grace_period_s > 0 ? w->opts->grace_period_s : 0;
    return sw_json_int(w->old, 30, "spec", "terminationGracePeriodSeconds", NULL);
}

/* Add the finalizer of the propagation policy. The garbage collector (gc.c) acts on it. */
static void set_propagation(struct sw_write *w)
{
    bool orphan_by_default = sw_write_is(w, "batch", "Job") && w->opts->version;
    const char *policy = w->opts->propagation;
    if (!policy && sw_meta_has_finalizer(w->doc, SW_GC_ORPHAN))
        policy = "Orphan";
    if (!policy && sw_meta_has_finalizer(w->doc, SW_GC_FOREGROUND))
        policy = "Foreground";
    if (!policy && orphan_by_default) {
        sw_status_warn(w->status, "child pods are preserved by default when jobs are deleted; set "
                                  "propagationPolicy=Background to remove them or set "
                                  "propagationPolicy=Orphan to suppress this warning");
        policy = "Orphan";
    }
    sw_meta_drop_finalizer(w->doc, SW_GC_ORPHAN);
    sw_meta_drop_finalizer(w->doc, SW_GC_FOREGROUND);
    if (sw_streq(policy, "Orphan"))
        sw_meta_add_finalizer(w->doc, SW_GC_ORPHAN);
    else if (sw_streq(policy, "Foreground"))
        sw_meta_add_finalizer(w->doc, SW_GC_FOREGROUND);
}

/* Set the deletionTimestamp, or shorten the grace period of an object that has one. */
static void set_deleted(struct sw_write *w, int64_t grace_s)
{
    char when[21];
    json_object *meta = sw_json_find(w->doc, "metadata", NULL);
    bool first = !sw_doc_is_deleted(w->old);
    int64_t before = sw_json_int(w->old, 0, "metadata", "deletionGracePeriodSeconds", NULL);
    if (!first && grace_s >= before)
        return;
    int64_t at = sw_loop_now_ms(sw_store_loop(w->store)) + grace_s * 1000;
    sw_json_set_str(meta, sw_time_rfc3339(at, when), "deletionTimestamp", NULL);
    sw_json_set(meta, json_object_new_int64(grace_s), "deletionGracePeriodSeconds", NULL);
    int64_t generation = sw_json_int(w->doc, 0, "metadata", "generation", NULL);
    if (first && generation > 0)
        sw_json_set(meta, json_object_new_int64(generation + 1), "generation", NULL);
}

int sw_store_delete(struct sw_store *store, const struct sw_emu_kind *kind, const char *ns,
                    const char *name, const struct sw_store_opts *opts, json_object **out,
                    struct sw_status *status)
{
    struct sw_write w;
    sw_write_init(&w, store, kind, ns, opts, status);
    int rc = sw_write_find(&w, name);
    w.op = SW_OP_DELETE;
    if (rc == 0)
        rc = check_preconditions(&w);
    if (rc == 0)
        rc = sw_admit_validate(&w);
    if (rc == 0)
        rc = sw_webhooks_mutate(&w);
    if (rc == 0)
        rc = sw_policies_validate(&w);
    if (rc == 0)
        rc = sw_webhooks_validate(&w);
    if (rc < 0)
        return rc;
    int64_t grace_s = grace_period_s(&w);
    w.doc = sw_meta_copy(w.old);
    set_propagation(&w);
    if (sw_write_is(&w, "", "Namespace"))
        sw_json_set_str(w.doc, "Terminating", "status", "phase", NULL);
    if (sw_write_is(&w, "apiextensions.k8s.io", "CustomResourceDefinition") &&
        !sw_doc_is_deleted(w.old))
        sw_meta_add_finalizer(w.doc, SW_CRD_FINALIZER);
    if (grace_s == 0 && !sw_write_is_held(&w)) {
        rc = sw_write_remove(&w, out);
    } else {
        set_deleted(&w, grace_s);
        rc = sw_write_store_update(&w, out);
    }
    sw_write_done(&w);
    return rc;
}
