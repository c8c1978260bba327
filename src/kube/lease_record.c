#include "kube/lease_record.h"

#include <json-c/json.h>
#include <stdio.h>
#include <time.h>

#include "base/base.h"
#include "data/data.h"

struct lease_record lease_record_read(struct json_object *lease)
{
    return (struct lease_record){
        .holder = sw_json_str(lease, "", "spec", "holderIdentity", NULL),
        .lease_ms = sw_json_int(lease, 0, "spec", "leaseDurationSeconds", NULL) * 1000,
        .renewed = sw_json_str(lease, "", "spec", "renewTime", NULL),
        .transitions = sw_json_int(lease, 0, "spec", "leaseTransitions", NULL),
    };
}

/** metav1.MicroTime: six digits of a second, always. */
static void set_time(struct json_object *lease, int64_t ms, const char *field)
{
    time_t s = (time_t)(ms / 1000);
    struct tm tm;
    char text[64];
    (void)gmtime_r(&s, &tm);
    size_t len = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
    (void)snprintf(text + len, sizeof text - len, ".%06dZ", (int)(ms % 1000) * 1000);
    sw_json_set_str(lease, text, "spec", field, NULL);
}

static void set_int(struct json_object *lease, int64_t value, const char *field)
{
    sw_json_set(lease, json_object_new_int64(value), "spec", field, NULL);
}

struct json_object *lease_record_hold(struct json_object *from, const char *ns, const char *name,
                                      const char *identity, int64_t lease_ms, int64_t now_ms)
{
    struct lease_record old = lease_record_read(from);
    struct json_object *lease = from ? sw_json_copy(from) : json_object_new_object();
    if (!from) {
        sw_json_set_str(lease, "coordination.k8s.io/v1", "apiVersion", NULL);
        sw_json_set_str(lease, "Lease", "kind", NULL);
        sw_json_set_str(lease, ns, "metadata", "namespace", NULL);
        sw_json_set_str(lease, name, "metadata", "name", NULL);
    }
    if (!sw_streq(old.holder, identity)) {
        set_time(lease, now_ms, "acquireTime");
        set_int(lease, from ? old.transitions + 1 : 0, "leaseTransitions");
    }
    sw_json_set_str(lease, identity, "spec", "holderIdentity", NULL);
    set_int(lease, (lease_ms + 999) / 1000, "leaseDurationSeconds");
    set_time(lease, now_ms, "renewTime");
    return lease;
}

struct json_object *lease_record_release(struct json_object *from, int64_t now_ms)
{
    struct json_object *lease = sw_json_copy(from);
    sw_json_set_str(lease, "", "spec", "holderIdentity", NULL);
    set_int(lease, 1, "leaseDurationSeconds");
    set_time(lease, now_ms, "renewTime");
    set_time(lease, now_ms, "acquireTime");
    return lease;
}
