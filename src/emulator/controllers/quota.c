#include "emulator/admission/quota.h"
#include "emulator/controllers/core.h"

#include "data/json/path.h"

/* What of each ResourceQuota is used: counted anew when something in its namespace changes. */

static void on_change(const struct sw_store_event *event, void *arg)
{
    struct sw_ctl *ctl = arg;
    const char *ns = sw_obj_namespace(event->object);
    if (!event->kind->namespaced || event->kind == ctl->kinds.quota || !ns)
        return;
    SW_STORE_LIST(quotas);
    sw_store_list(ctl->store, ctl->kinds.quota, ns, &quotas);
    for (size_t i = 0; i < quotas.n; i++)
        sw_ctl_enqueue(ctl, SW_Q_QUOTA, ns, sw_obj_name(quotas.items[i]));
}

static void work_quota(struct sw_ctl *ctl, const char *ns, const char *name)
{
    SW_AUTO_JSON *quota = json_object_get(sw_store_get(ctl->store, ctl->kinds.quota, ns, name));
    if (!quota)
        return;
    if (!ctl->any_quota) { /* most clusters have none, and pay nothing */
        ctl->any_quota = true;
        ctl->subs[ctl->n_subs++] = sw_store_subscribe(ctl->store, NULL, on_change, ctl);
    }
    json_object *hard = sw_json_find(quota, "spec", "hard", NULL);
    json_object *status = json_object_new_object();
    if (hard)
        sw_json_set(status, sw_json_copy(hard), "hard", NULL);
    sw_json_set(status, sw_quota_used(ctl->store, quota), "used", NULL);
    sw_ctl_put_status(ctl, ctl->kinds.quota, quota, status);
}

const struct sw_controller sw_quota_controller = {
    .group = "",
    .kind = "ResourceQuota",
    .work = work_quota,
};
