/* Release records that were there before digests were kept: SRO's, those of a release that helm
 * made, those of older versions of slipway. Each gets its digest in the status, once; what is
 * written later has one from the beginning. Their objects are written as the resource's account,
 * as all others.
 *
 * Whoever writes a resource chooses name and namespace, and so the release of somebody else: where
 * the operator has not been at work before, records are read as the resource's account, and one
 * that it may not read is not adopted. */
#include "operator/controller/private.h"

#include <stdlib.h>

#include "operator/release/record.h"

enum { RETRIES = 4 };

struct adoption {
    struct resource *r;
    char *account;                /* as which they are read; NULL: as the operator itself */
    struct json_object *lists[2]; /* of ConfigMaps, Secrets */
    size_t n_listed;
    enum record_home home;
    size_t next; /* record to be read, in the list of @home */
    struct json_object *change;
    struct sw_kube_request *req;
    struct records_write *write;
    records_fn *done;
    void *arg;
};

static const enum sw_releases kinds[] = { SW_RELEASES_CONFIG_MAPS, SW_RELEASES_SECRETS };
_Static_assert(SW_COUNT(kinds) == SW_COUNT(((struct adoption *)0)->lists), "a list for each kind");

void adoption_cancel(struct adoption *a)
{
    if (!a)
        return;
    sw_kube_cancel(a->req);
    records_cancel(a->write);
    for (size_t i = 0; i < SW_COUNT(a->lists); i++)
        json_object_put(a->lists[i]);
    json_object_put(a->change);
    free(a->account);
    free(a);
}

static void end(struct adoption *a, int code, const char *message)
{
    records_fn *done = a->done;
    void *arg = a->arg;
    SW_AUTO_CHARS *copy = sw_strdup(message);
    adoption_cancel(a);
    done(code, copy, arg);
}

static struct json_object *chosen(const struct adoption *a)
{
    return a->lists[a->home == RECORDS_IN_CONFIG_MAPS ? 0 : 1];
}

static const struct sw_kind *chosen_kind(const struct adoption *a)
{
    return sw_release_kind(a->r->c->kube, a->home == RECORDS_IN_CONFIG_MAPS
                                              ? SW_RELEASES_CONFIG_MAPS
                                              : SW_RELEASES_SECRETS);
}

/* ---- digests of all of them --------------------------------------------------------------------
 */

static void on_written(int code, const char *message, void *arg)
{
    struct adoption *a = arg;
    struct resource *r = a->r;
    a->write = NULL;
    bool says = code == 0 && a->home == RECORDS_IN_CONFIG_MAPS && sw_json_len(chosen(a)) &&
                r->c->opts.releases == SW_RELEASES_SECRETS;
    if (says) {
        SW_AUTO_CHARS *text = sw_printf(
            "the release records in namespace %s are ConfigMaps, with all that the recipe renders "
            "to, and stay so: `slipway releases --to-secrets %s` makes them Secrets",
            resource_namespace(r), r->name);
        event_record(r, &(struct sw_action){
                            .warning = true, .reason = "ReleasesInConfigMaps", .message = text });
    }
    end(a, code, message);
}

static void read_next(struct adoption *a);

/* Does @code end it? What is not there, or not for the account, is not adopted. */
static bool is_failure(const struct adoption *a, int code)
{
    return code < 0 && code != SW_NOTFOUND && !(a->account && code == SW_FORBIDDEN);
}

static void on_record(const struct sw_kube_answer *answer, void *arg)
{
    struct adoption *a = arg;
    SW_AUTO_JSON *release = NULL;
    SW_ERR(err);
    char digest[SW_SHA256_HEX];
    a->req = NULL;
    if (is_failure(a, answer->code)) {
        end(a, answer->code, sw_err_text(answer->err));
        return;
    }
    if (answer->code == 0 && sw_release_of_record(answer->object, &release, &err) == 0) {
        sw_release_digest(answer->object, release, digest);
        records_put(a->change, sw_obj_name(answer->object), digest);
    } else if (answer->code == 0) {
        sw_log(SW_LOG_WARN, "release record", "resource", a->r->name, "error", sw_err_text(&err),
               NULL);
    }
    read_next(a);
}

static void read_next(struct adoption *a)
{
    struct resource *r = a->r;
    if (a->next < sw_json_len(chosen(a))) {
        const char *name = sw_obj_name(sw_json_at(chosen(a), a->next++));
        a->req = sw_kube_get(r->c->kube, chosen_kind(a), resource_namespace(r), name,
                             a->account ? REQUEST_BY(a->account, .retries = RETRIES)
                                        : REQUEST_OWN(RECORDS, .retries = RETRIES),
                             on_record, a);
        return;
    }
    records_put_home(a->change, a->home);
    a->write = records_write(r, SW_TAKE(a->change), on_written, a);
}

/* ---- which there are ---------------------------------------------------------------------------
 */

/* ConfigMaps are looked for only where SRO or an older slipway has been at work: others could make
 * the records of a new resource ConfigMaps, which more people may read. */
static bool is_asked(const struct adoption *a, size_t i)
{
    return kinds[i] != SW_RELEASES_CONFIG_MAPS || records_are_old(a->r) ||
           a->r->c->opts.releases == SW_RELEASES_CONFIG_MAPS;
}

static void list_next(struct adoption *a);

static void on_list(const struct sw_kube_answer *answer, void *arg)
{
    struct adoption *a = arg;
    if (sw_release_list_add(a->lists[a->n_listed], answer))
        return;
    a->req = NULL;
    if (is_failure(a, answer->code)) {
        end(a, answer->code, sw_err_text(answer->err));
        return;
    }
    a->n_listed++;
    list_next(a);
}

static void list_next(struct adoption *a)
{
    struct resource *r = a->r;
    for (; a->n_listed < SW_COUNT(kinds); a->n_listed++) {
        const struct sw_kind *kind = sw_release_kind(r->c->kube, kinds[a->n_listed]);
        if (kind && is_asked(a, a->n_listed)) {
            a->req = sw_release_list(r->c->kube, kind, resource_namespace(r), r->name, a->account,
                                     on_list, a);
            return;
        }
    }
    struct json_object *newest[] = { sw_release_newest(a->lists[0]),
                                     sw_release_newest(a->lists[1]) };
    bool in_maps = r->c->opts.releases == SW_RELEASES_CONFIG_MAPS;
    if (newest[0] && newest[1])
        in_maps = sw_release_version(newest[0]) > sw_release_version(newest[1]);
    else if (newest[0] || newest[1])
        in_maps = newest[0];
    a->home = in_maps ? RECORDS_IN_CONFIG_MAPS : RECORDS_IN_SECRETS;
    read_next(a);
}

struct adoption *records_adopt(struct resource *r, records_fn *done, void *arg)
{
    struct adoption *a = sw_zalloc(1, sizeof *a);
    *a = (struct adoption){ .r = r, .done = done, .arg = arg };
    a->account = records_are_old(r) ? NULL : resource_account(r);
    for (size_t i = 0; i < SW_COUNT(a->lists); i++)
        a->lists[i] = json_object_new_array();
    a->change = json_object_new_object();
    (void)sw_json_need_map(a->change, "records", NULL);
    list_next(a);
    return a;
}
