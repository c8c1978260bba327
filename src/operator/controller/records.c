/* What is kept about a resource in the cluster: the digests in its status, and where its release
 * records are. The status is patched before an object is written, and lets both the old and the new
 * content be until it is: wherever the controller is killed, what is there can be trusted. */
#include "operator/controller/private.h"

#include <stdlib.h>
#include <string.h>

#include "operator/release/record.h"

enum { RETRIES = 4, MAX_DIGESTS = 8 };

static const char *const home_names[] = { [RECORDS_UNSETTLED] = "",
                                          [RECORDS_IN_CONFIG_MAPS] = "ConfigMap",
                                          [RECORDS_MOVING] = "Moving",
                                          [RECORDS_IN_SECRETS] = "Secret" };

/* ---- what the status says ----------------------------------------------------------------------
 */

static void merge(struct resource *r, struct json_object *change)
{
    struct json_object *records = sw_json_get(change, "records");
    const char *home = sw_json_str(change, NULL, "recordsIn", NULL);
    if (!r->own->records)
        r->own->records = json_object_new_object();
    if (records) {
        json_object_object_foreach(records, name, value)
        {
            if (value)
                (void)json_object_object_add(r->own->records, name, json_object_get(value));
            else
                (void)json_object_object_del(r->own->records, name);
        }
    }
    r->own->records_are_new &= !home;
    for (size_t i = 0; home && i < SW_COUNT(home_names); i++)
        if (sw_streq(home, home_names[i]))
            r->own->records_in = (enum record_home)i;
}

/* Take what @status says, in place of what was known. */
static void take(struct resource *r, struct json_object *status)
{
    json_object_put(SW_TAKE(r->own->records));
    r->own->records_in = RECORDS_UNSETTLED;
    if (json_object_is_type(sw_json_get(status, "records"), json_type_object))
        merge(r, status);
}

void records_open(struct resource *r)
{
    bool first = !r->own->records_are_open; /* later it is what slipway wrote, or older */
    r->own->records_are_open = true;
    if (first)
        take(r, r->status);
    (void)sw_json_del(r->status, "records", NULL);
    (void)sw_json_del(r->status, "recordsIn", NULL);
    if (!sw_json_len(r->status))
        json_object_put(SW_TAKE(r->status));
    if (first) {
        r->own->records_are_old = r->status && !r->own->records;
        r->own->records_are_new = !r->status && !r->own->records;
    }
}

void records_put_known(const struct resource *r, struct json_object *status)
{
    if (r->own->records)
        sw_json_set(status, sw_json_copy(r->own->records), "records", NULL);
    else if (!r->own->records_are_old)
        (void)sw_json_need_map(status, "records", NULL);
    if (r->own->records_in != RECORDS_UNSETTLED)
        sw_json_set_str(status, home_names[r->own->records_in], "recordsIn", NULL);
}

void records_close(struct resource *r)
{
    json_object_put(SW_TAKE(r->own->records));
    free(SW_TAKE(r->own->record_doubt));
    free(SW_TAKE(r->own->record_refused));
}

bool records_are_begun(const struct resource *r)
{
    return r->own->records && !r->own->records_are_new;
}

bool records_are_kept(const struct resource *r)
{
    return sw_json_len(r->own->records) > 0;
}

bool records_are_old(const struct resource *r)
{
    return r->own->records_are_old;
}

bool record_is_known(const struct resource *r, const char *name)
{
    return sw_record_is_known(r->seen, r->own->records, name);
}

enum sw_record_trust record_check(const struct resource *r, const char *name, const char *digest)
{
    return sw_record_check(r->seen, r->own->records, name, digest);
}

enum record_home records_home(const struct resource *r)
{
    return r->own->records_in;
}

const struct sw_kind *records_kind(const struct resource *r)
{
    const struct sw_controller *c = r->c;
    enum sw_releases where = c->opts.releases;
    if (where != SW_RELEASES_NONE && r->own->records_in != RECORDS_UNSETTLED)
        where = r->own->records_in == RECORDS_IN_CONFIG_MAPS ? SW_RELEASES_CONFIG_MAPS
                                                             : SW_RELEASES_SECRETS;
    return sw_release_kind(c->kube, where);
}

/* ---- changes of it -----------------------------------------------------------------------------
 */

void records_put(struct json_object *change, const char *name, const char *digests)
{
    struct json_object *records = sw_json_need_map(change, "records", NULL);
    (void)json_object_object_add(records, name, digests ? json_object_new_string(digests) : NULL);
}

void records_put_home(struct json_object *change, enum record_home home)
{
    sw_json_set(change, home == RECORDS_UNSETTLED ? NULL : json_object_new_string(home_names[home]),
                "recordsIn", NULL);
}

/* Without its second word: the first may be that of the object, if none of the others was written;
 * heap. */
static char *shortened(const char *all)
{
    const char *second = strchr(all, ' '), *third = second ? strchr(second + 1, ' ') : NULL;
    return third ? sw_printf("%.*s%s", (int)(second - all), all, third) : sw_strdup(all);
}

char *records_with(const struct resource *r, const char *name, const char *digest)
{
    const char *now = sw_json_str(r->own->records, "", name, NULL);
    SW_AUTO_CHARS *all = *now ? sw_printf("%s %s", now, digest) : sw_strdup(digest);
    return strlen(all) > MAX_DIGESTS * SW_SHA256_HEX ? shortened(all) : SW_TAKE(all);
}

void records_mark_new(struct resource *r, struct json_object *status)
{
    if (r->own->records_are_new && !r->own->records)
        (void)sw_json_need_map(status, "records", NULL);
}

/* A patch of the status, or a look at it. */
struct records_write {
    struct resource *r;
    struct json_object *change; /* NULL: it is only read */
    struct sw_kube_request *req;
    records_fn *done;
    void *arg;
};

void records_cancel(struct records_write *w)
{
    if (!w)
        return;
    sw_kube_cancel(w->req);
    json_object_put(w->change);
    free(w);
}

static void on_answer(const struct sw_kube_answer *a, void *arg)
{
    struct records_write *w = arg;
    struct resource *r = w->r;
    struct json_object *status = sw_json_get(a->object, "status");
    w->req = NULL;
    if (a->code == 0 && !w->change && sw_streq(sw_obj_uid(a->object), r->uid))
        take(r, status);
    if (a->code == 0 && w->change) {
        merge(r, w->change);
        if (!sw_json_get(status, "records"))
            sw_log(SW_LOG_WARN, "status.records is not kept: apply the definitions of this version",
                   "resource", r->name, NULL);
    }
    records_fn *done = w->done;
    void *its_arg = w->arg;
    SW_AUTO_CHARS *message = a->code < 0 ? sw_strdup(sw_err_text(a->err)) : NULL;
    int code = a->code;
    records_cancel(w);
    done(code, message, its_arg);
}

static struct records_write *write_new(struct resource *r, records_fn *done, void *arg)
{
    struct records_write *w = sw_zalloc(1, sizeof *w);
    *w = (struct records_write){ .r = r, .done = done, .arg = arg };
    return w;
}

static const struct sw_kind *resource_kind(const struct resource *r)
{
    return sw_kube_kind_find(r->c->kube, SW_GROUP_VERSION, "SpecialResource");
}

struct records_write *records_write(struct resource *r, struct json_object *change,
                                    records_fn *done, void *arg)
{
    struct records_write *w = write_new(r, done, arg);
    SW_AUTO_JSON *body = json_object_new_object();
    w->change = change;
    sw_json_set(body, json_object_get(change), "status", NULL);
    w->req = sw_kube_patch(r->c->kube, resource_kind(r), NULL, r->name, SW_PATCH_MERGE, body,
                           REQUEST_OWN(KINDS, .subresource = "status", .retries = RETRIES),
                           on_answer, w);
    return w;
}

struct records_write *records_read_again(struct resource *r, records_fn *done, void *arg)
{
    static const char *const fields[] = { "status.records", "status.recordsIn", NULL };
    struct records_write *w = write_new(r, done, arg);
    w->req = sw_kube_get(r->c->kube, resource_kind(r), NULL, r->name,
                         REQUEST_OWN(KINDS, .fields = fields, .retries = RETRIES), on_answer, w);
    return w;
}

static void on_forgotten(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    if (a->code == 0)
        merge(op->r, op->doc);
    op_free(op);
}

void records_forget(struct resource *r, const char *name)
{
    SW_AUTO_JSON *body = json_object_new_object();
    if (!sw_json_get(r->own->records, name))
        return;
    struct op *op = op_new(r, NULL, 0);
    op->doc = json_object_new_object();
    records_put(op->doc, name, NULL);
    sw_json_set(body, json_object_get(op->doc), "status", NULL);
    op->req = sw_kube_patch(r->c->kube, resource_kind(r), NULL, r->name, SW_PATCH_MERGE, body,
                            REQUEST_OWN(KINDS, .subresource = "status", .retries = RETRIES),
                            on_forgotten, op);
}

/* ---- what is not used --------------------------------------------------------------------------
 */

void record_refused(struct resource *r, enum sw_record_trust trust, const char *kind,
                    const char *name, const char *digest, bool lasting)
{
    SW_AUTO_CHARS *why = sw_record_why_not(trust, r->name, kind, resource_namespace(r), name,
                                           digest);
    if (sw_streq(why, r->own->record_refused))
        return;
    sw_log(SW_LOG_WARN, "record not used", "resource", r->name, "why", why, NULL);
    event_record(r,
                 &(struct sw_action){ .warning = true, .reason = "RecordNotUsed", .message = why });
    sw_text_set(&r->own->record_refused, why);
    if (lasting) {
        free(r->own->record_doubt);
        r->own->record_doubt = SW_TAKE(why);
    }
}

void record_doubt_end(struct resource *r)
{
    if (!r->own->record_doubt)
        return;
    free(SW_TAKE(r->own->record_doubt));
    resource_tell_if_walked(r);
}

void records_fill_spec(struct resource *r, struct sw_spec *spec)
{
    static const char in_config_maps[] =
        "The release records are ConfigMaps, with all that the recipe renders to, as SRO keeps "
        "them: `slipway releases --to-secrets` moves them";
    if (r->own->record_doubt) {
        spec->records = r->own->record_doubt;
        spec->records_reason = "RecordNotUsed";
    } else if (r->own->records_in == RECORDS_IN_CONFIG_MAPS &&
               r->c->opts.releases == SW_RELEASES_SECRETS) {
        spec->records = in_config_maps;
        spec->records_reason = "ReleasesInConfigMaps";
    }
}
