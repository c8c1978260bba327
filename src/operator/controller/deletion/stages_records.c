/* Helm's records of objects that are left behind: the resource is removed from their owners, so
 * that they are not deleted with it. */
#include "operator/controller/deletion/stages.h"
#include "operator/manifests/ownership.h"
#include "operator/release/record.h"

static void on_released(const struct sw_kube_answer *a, void *arg)
{
    struct deletion *f = arg;
    f->req = NULL;
    if (a->code == SW_UNAVAILABLE || a->code == SW_CONFLICT) {
        sw_timer_set(f->timer, DELETION_RETRY_MS); /* which lists them again */
        return;
    }
    if (a->code < 0)
        sw_log(SW_LOG_WARN, "release record is deleted with the resource", "resource", f->r->name,
               "why", sw_err_text(a->err), NULL);
    deletion_release_records(f);
}

void deletion_release_records(struct deletion *f)
{
    while (f->next_record < sw_json_len(f->list)) {
        struct json_object *record = sw_json_at(f->list, f->next_record++);
        struct json_object *others = sw_owners_without(record, f->r->uid);
        if (!others)
            continue;
        SW_AUTO_JSON *patch = json_object_new_object();
        sw_json_set(patch, others, "metadata", "ownerReferences", NULL);
        sw_json_set_str(patch, sw_json_str(record, "", "metadata", "resourceVersion", NULL),
                        "metadata", "resourceVersion", NULL);
        f->req = sw_kube_patch(f->r->c->kube, records_kind(f->r), resource_namespace(f->r),
                               sw_obj_name(record), SW_PATCH_MERGE, patch,
                               REQUEST_OWN(RECORDS, .retries = DELETION_RETRIES), on_released, f);
        return;
    }
    finalize_done(f->r, CAPABILITY_deletion);
}
