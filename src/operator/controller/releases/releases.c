/* Helm's records of releases, so that `helm list`, `helm get` and `helm history` show what slipway
 * deployed: one for each revision of recipe and values; ten are kept. A record is packed JSON in a
 * ConfigMap or a Secret, with labels.
 * Source: Helm 3's storage drivers (helm.sh/helm/v3/pkg/storage/driver); SRO kept them so. */
#include "operator/controller/releases/releases.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { RETRIES = 4, RETRY_FIRST_MS = 1000, RETRY_CAP_MS = 15000, QUICK_TRIES = 4 };

/* ---- what is deployed --------------------------------------------------------------------------
 */

/* The names of the shared releases that others own: what they install is not in the record. NULL:
 * there is none. */
static struct json_object *names_of_others(struct resource *r)
{
    SW_AUTO_JSON *values = resource_values(r, NULL);
    struct json_object *others = sw_json_get(values, SW_RELEASES_OF_OTHERS);
    if (!others)
        return NULL;
    struct json_object *names = json_object_new_object();
    json_object_object_foreach(others, name, owner)
    {
        (void)owner;
        (void)json_object_object_add(names, name, json_object_new_boolean(true));
    }
    return names;
}

/* What a revision is made of: the recipe's files and the values, not the facts of the cluster. */
static void digest_of(struct resource *r, char out[static SW_SHA256_HEX])
{
    SW_AUTO_JSON *all = json_object_new_object();
    struct json_object *others = names_of_others(r);
    if (others)
        sw_json_set(all, others, SW_RELEASES_OF_OTHERS, NULL);
    sw_json_set_str(all, r->recipe->digest, "recipe", NULL);
    sw_json_set_str(all, resource_namespace(r), "namespace", NULL);
    sw_json_set(all, json_object_get(sw_json_find(r->doc, "spec", "set", NULL)), "set", NULL);
    sw_json_sha256(all, out);
    out[32] = '\0'; /* a label's value has 63 characters at most */
}

const char *release_label(struct json_object *record, const char *key)
{
    const char *value = sw_obj_label(record, key);
    return value ? value : "";
}

/* The newest record, if slipway wrote it (or took it over), else NULL: its labels count then. */
static struct json_object *newest_of(struct resource *r, struct json_object *list)
{
    struct json_object *newest = sw_release_newest(list);
    const struct sw_kind *kind = records_kind(r);
    if (!newest || record_is_known(r, sw_obj_name(newest)))
        return newest;
    record_refused(r, SW_RECORD_UNKNOWN, kind ? kind->kind : "", sw_obj_name(newest), NULL, false);
    return NULL;
}

/* Of those of others, too: no record of theirs is written over. */
static int64_t newest_version(struct json_object *list)
{
    struct json_object *newest = sw_release_newest(list);
    return newest ? sw_release_version(newest) : 0;
}

/* Set what templates and hooks see of the release. A record without the label is SRO's, and is that
 * of the present revision. */
static void take_records(struct resource *r, struct json_object *list)
{
    struct releases *s = releases_of(r);
    struct json_object *last = newest_of(r, list);
    digest_of(r, s->digest);
    const char *recorded = last ? release_label(last, DIGEST_LABEL) : "";
    bool same = last && (!*recorded || sw_streq(recorded, s->digest));
    s->known = true;
    s->version = newest_version(list) + !same;
    s->was_deployed = false;
    for (size_t i = 0; i < sw_json_len(list); i++) {
        const char *status = release_label(sw_json_at(list, i), "status");
        if (record_is_known(r, sw_obj_name(sw_json_at(list, i))))
            s->was_deployed |= sw_streq(status, "deployed") || sw_streq(status, "superseded");
    }
    s->is_upgrade = s->was_deployed && s->version > 1;
}

/* ---- the work ----------------------------------------------------------------------------------
 */

static void release_work_free(struct release_work *w)
{
    if (!w)
        return;
    sw_kube_cancel(w->req);
    adoption_cancel(w->adoption);
    records_cancel(w->write);
    lookups_free(w->lookups);
    json_object_put(w->release);
    json_object_put(w->list);
    json_object_put(w->doc);
    json_object_put(w->change);
    free(w);
}

static void settled(struct resource *r);

void release_work_end(struct release_work *w)
{
    struct resource *r = w->r;
    releases_of(r)->work = NULL;
    release_work_free(w);
    plan_resume(r); /* plan_ready() may be true now */
    if (!releases_of(r)->work && !release_move(r))
        settled(r); /* there may be another status to be recorded */
    if (!releases_of(r)->work)
        resource_report(r);
}

static void on_retry(void *arg)
{
    struct resource *r = arg;
    free(SW_TAKE(releases_of(r)->settled));
    free(SW_TAKE(releases_of(r)->recorded));
    if (!release_move(r))
        settled(r);
}

void release_retry_later(struct resource *r, const char *why)
{
    struct releases *s = releases_of(r);
    const int64_t wait_ms = (int64_t)RETRY_FIRST_MS << (s->n_failed < 8 ? s->n_failed : 8);
    if (!s->timer)
        s->timer = sw_timer_new(r->c->loop, on_retry, r);
    sw_text_set(&s->why, why);
    s->n_failed++;
    sw_timer_set(s->timer, wait_ms < RETRY_CAP_MS ? wait_ms : RETRY_CAP_MS);
}

static bool is_retrying(const struct releases *s)
{
    return s->timer && sw_timer_is_set(s->timer);
}

/* The record is not written, or later; the walk goes on. What is not found is the namespace: other
 * objects of the walk can be there before it. */
static void give_up(struct release_work *w, int code, const char *why)
{
    struct resource *r = w->r;
    if (code == SW_UNAVAILABLE || code == SW_CONFLICT || code == SW_NOTFOUND) {
        release_retry_later(r, why);
    } else {
        sw_log(SW_LOG_WARN, "release not recorded", "resource", r->name, "why", why, NULL);
        event_record(r, &(struct sw_action){
                            .warning = true, .reason = "ReleaseNotRecorded", .message = why });
    }
    release_work_end(w);
}

/* ---- the record --------------------------------------------------------------------------------
 */

static void on_written(const struct sw_kube_answer *a, void *arg)
{
    struct release_work *w = arg;
    w->req = NULL;
    if (a->code < 0) {
        give_up(w, a->code, sw_err_text(a->err));
        return;
    }
    releases_of(w->r)->n_failed = 0;
    releases_of(w->r)->version = w->version;
    releases_of(w->r)->was_deployed |= sw_streq(w->status, "deployed");
    release_tidy(w);
}

/* The status lets the record have its content. */
static void on_allowed(int code, const char *message, void *arg)
{
    struct release_work *w = arg;
    struct resource *r = w->r;
    const struct sw_kind *kind = records_kind(r);
    w->write = NULL;
    if (code < 0 || !kind) {
        give_up(w, code < 0 ? code : SW_INVALID, message ? message : "no kind keeps it");
        return;
    }
    w->req = sw_kube_apply(r->c->kube, kind, resource_namespace(r), sw_obj_name(w->doc), w->doc,
                           REQUEST_OWN(RECORDS, .force = true, .retries = RETRIES), on_written, w);
}

static void write_record(void *arg)
{
    struct release_work *w = arg;
    struct resource *r = w->r;
    const struct sw_kind *kind = records_kind(w->r);
    SW_AUTO_CHARS *packed = NULL;
    SW_ERR(err);
    char digest[SW_SHA256_HEX];
    int rc = release_make(w, &packed, digest, &err);
    if (rc == SW_PENDING)
        return; /* a lookup or a renderer, which calls this again */
    if (rc < 0 || !kind) {
        give_up(w, rc < 0 ? rc : SW_INVALID,
                rc < 0 ? sw_err_text(&err) : "the server serves no ConfigMaps");
        return;
    }
    if ((rc = release_check_size(packed, &err)) < 0) {
        give_up(w, rc, sw_err_text(&err));
        return;
    }
    json_object_put(w->doc);
    struct release_head head = release_head(w);
    w->doc = release_object(r, &head, packed);
    const char *name = sw_obj_name(w->doc);
    sw_release_seal(w->doc, digest);
    SW_AUTO_CHARS *digests = records_with(r, name, digest);
    struct json_object *change = json_object_new_object();
    records_put(change, name, digests);
    if (records_home(r) == RECORDS_UNSETTLED)
        records_put_home(change, sw_streq(sw_obj_kind(w->doc), "Secret") ? RECORDS_IN_SECRETS
                                                                         : RECORDS_IN_CONFIG_MAPS);
    if (strchr(digests, ' ')) /* the others are not trusted when it is written */
        release_put_digests(w, name, digest);
    w->write = records_write(r, change, on_allowed, w);
}

static void give_up_foreign(struct release_work *w)
{
    SW_AUTO_CHARS *why = sw_printf("release %s of namespace %s was not installed by this resource",
                                   w->r->name, resource_namespace(w->r));
    give_up(w, SW_INVALID, why);
}

/* The newest record has only the name of one that was taken over. */
static void on_newest(const struct sw_kube_answer *a, void *arg)
{
    struct release_work *w = arg;
    w->req = NULL;
    if (a->code < 0)
        give_up(w, a->code, sw_err_text(a->err));
    else if (release_is_own(w->r, a->object))
        write_record(w);
    else
        give_up_foreign(w);
}

static void on_list(const struct sw_kube_answer *a, void *arg)
{
    struct release_work *w = arg;
    struct resource *r = w->r;
    if (sw_release_list_add(w->list, a))
        return;
    w->req = NULL;
    if (a->code < 0 && a->code != SW_NOTFOUND && w->status) {
        give_up(w, a->code, sw_err_text(a->err));
        return;
    }
    if (w->removing) {
        release_tidy(w);
        return;
    }
    take_records(r, w->list); /* a walk does not wait for records that cannot be read */
    if (!w->status) {
        release_work_end(w);
        return;
    }
    struct json_object *last = newest_of(r, w->list);
    bool recorded = last && sw_streq(release_label(last, DIGEST_LABEL), releases_of(r)->digest);
    bool was = recorded && sw_streq(release_label(last, "status"), "deployed");
    bool begins = sw_starts_with(w->status, "pending-");
    if (was || (recorded && (begins || sw_streq(release_label(last, "status"), w->status)))) {
        release_work_end(w); /* a deployed revision stays deployed, even if its pods fail later */
        return;
    }
    w->version = newest_version(w->list) + !recorded;
    bool is_owned = !newest_version(w->list);
    for (size_t i = 0; i < sw_json_len(w->list); i++)
        is_owned |= sw_obj_has_owner(sw_json_at(w->list, i), r->uid);
    if (is_owned)
        write_record(w);
    else if (last)
        w->req = sw_kube_get(r->c->kube, records_kind(r), resource_namespace(r), sw_obj_name(last),
                             REQUEST_OWN(RECORDS, .retries = RETRIES), on_newest, w);
    else
        give_up_foreign(w);
}

static void list_records(struct release_work *w)
{
    struct resource *r = w->r;
    const struct sw_kind *kind = records_kind(r);
    if (kind) {
        w->req = sw_release_list(r->c->kube, kind, resource_namespace(r), r->name, NULL, on_list,
                                 w);
    } else {
        releases_of(r)->known = true;
        release_work_end(w);
    }
}

static void on_work_adopted(int code, const char *message, void *arg)
{
    struct release_work *w = arg;
    w->adoption = NULL;
    if (code < 0 && w->status)
        give_up(w, code, message);
    else
        list_records(w);
}

/* @status: to be recorded; NULL: none. */
struct release_work *release_work_new(struct resource *r, const char *status)
{
    struct release_work *w = releases_of(r)->work = sw_zalloc(1, sizeof *w);
    *w = (struct release_work){ .r = r, .status = status, .list = json_object_new_array() };
    return w;
}

static void read_records(struct resource *r, struct release_work *w)
{
    w->lookups = lookups_new(r, write_record, w);
    if (records_are_begun(r))
        list_records(w);
    else
        w->adoption = records_adopt(r, on_work_adopted, w);
}

/* ---- the row ------------------------------------------------------------------------------------
 */

static void on_adopted(int code, const char *message, void *arg)
{
    struct resource *r = arg;
    releases_of(r)->adoption = NULL;
    releases_of(r)->not_adopted = code < 0; /* it is tried again when something is to be recorded */
    if (code < 0)
        sw_log(SW_LOG_DEBUG, "release records", "resource", r->name, "error", message, NULL);
    (void)release_move(r);
    plan_resume(r);
}

/* Have records that were there before their digests? What comes after the first walk has begun is
 * none of them. */
static bool is_adopted(struct resource *r)
{
    struct releases *s = releases_of(r);
    if (r->c->opts.releases == SW_RELEASES_NONE || records_are_begun(r) || s->not_adopted)
        return true;
    if (!s->adoption && !s->work)
        s->adoption = records_adopt(r, on_adopted, r);
    return false;
}

enum { N_USES = 4 }; /* texts of templates that depend on the release */
static const char *const words[] = {
    "helm.sh/hook", ".Release.Revision", ".Release.Is", ".Release }",
    "pre-delete",   "post-delete",       NULL
};

static bool plan_ready(struct resource *r)
{
    struct releases *s = releases_of(r);
    if (!is_adopted(r))
        return false;
    s->is_used = false;
    for (size_t i = 0; i < N_USES && r->c->opts.releases != SW_RELEASES_NONE; i++)
        s->is_used |= sw_recipe_view_mentions(r->recipe, words[i]);
    if (!s->is_used)
        return sro_hooks_known(r);
    if (s->known) {
        char digest[SW_SHA256_HEX];
        digest_of(r, digest);
        s->known = sw_streq(digest, s->digest); /* else it is another revision: read the records */
    }
    if (!s->known && !s->work)
        read_records(r, release_work_new(r, NULL));
    return s->known && sro_hooks_known(r);
}

static void changed(struct resource *r)
{
    releases_of(r)->not_moved = false;
    (void)release_move(r);
}

static void hooks_over(struct resource *r)
{
    if (r->c->opts.releases == SW_RELEASES_NONE)
        return;
    struct releases *s = releases_of(r);
    release_work_free(SW_TAKE(s->work));
    free(SW_TAKE(s->recorded));
    free(SW_TAKE(s->settled));
    s->known = s->was_deployed = s->is_upgrade = false;
    s->version = 0;
    struct release_work *w = release_work_new(r, NULL);
    w->removing = true;
    read_records(r, w);
    own_records_begin(r, NULL);
}

/* Hooks of a deletion are read from a record. So a recipe that has some is recorded when its first
 * object is applied, as Helm does it, and again when it is Ready or has failed. */
static void record_pending(struct resource *r)
{
    struct releases *s = releases_of(r);
    if (!s->is_in_namespace || !(sw_recipe_view_mentions(r->recipe, "pre-delete") ||
                                 sw_recipe_view_mentions(r->recipe, "post-delete")))
        return;
    char digest[SW_SHA256_HEX];
    digest_of(r, digest);
    if (s->recorded && sw_starts_with(s->recorded, digest))
        return;
    free(s->recorded);
    s->recorded = sw_printf("%s pending", digest);
    read_records(r, release_work_new(r, s->was_deployed ? "pending-upgrade" : "pending-install"));
}

static void settled(struct resource *r)
{
    struct sw_controller *c = r->c;
    struct releases *s = releases_of(r);
    if (c->opts.releases == SW_RELEASES_NONE || s->work || !r->plan || r->fault ||
        resource_is_blocked(r) || resource_is_planning(r) || r->leaving)
        return;
    enum sw_phase phase = sw_engine_phase(r->engine);
    if (phase == SW_PHASE_PROGRESSING) {
        record_pending(r);
        return;
    }
    bool same = sw_streq(s->settled, r->revision) && s->settled_phase == (int)phase;
    if (!s->is_begun || same || sw_controller_phase(c, r->name) != phase)
        return;
    sw_text_set(&s->settled, r->revision);
    s->settled_phase = phase;
    bool deployed = phase == SW_PHASE_READY && !resource_is_rolled_back(r);
    const char *status = deployed ? "deployed" : "failed";
    char digest[SW_SHA256_HEX];
    digest_of(r, digest);
    SW_AUTO_CHARS *recorded = sw_printf("%s %s", digest, status);
    if (sw_streq(recorded, s->recorded))
        return;
    free(s->recorded);
    s->recorded = SW_TAKE(recorded);
    read_records(r, release_work_new(r, status));
    own_records_begin(r, status);
}

/* Records are written by the operator itself, in a namespace that the resource's author chose: not
 * before the account has proven that it may write something. A namespace may be somebody else's. */
static void object_observed(struct resource *r, struct json_object *object)
{
    struct releases *s = releases_of(r);
    bool is_ours = object && (sw_obj_has_owner(object, r->uid) ||
                              sw_streq(sw_obj_annotation(object, "slipway.dev/resource"), r->name));
    s->is_begun |= is_ours && !sw_streq(sw_obj_kind(object), "Namespace");
    s->is_in_namespace |= is_ours && sw_obj_namespace(object);
    release_hook_observed(r, object);
}

/* Of the @state of the plan, where that is a subchart's own release. */
static void own_revision_view(const struct resource *r, size_t state, struct release_view *out)
{
    SW_AUTO_JSON *doc = own_revision_of(r, state, NULL);
    *out = (struct release_view){ .revision = sw_json_int(doc, 1, "revision", NULL),
                                  .was_deployed = sw_json_get(doc, "deployed"),
                                  .is_upgrade = sw_json_get(doc, "from") };
}

static void release_view(struct resource *r, int state, struct release_view *out)
{
    const struct releases *s = releases_of(r);
    if (state >= 0 && r->plan && r->plan->states[state].release) {
        own_revision_view(r, (size_t)state, out);
        return;
    }
    *out = (struct release_view){ s->version ? s->version : 1, s->was_deployed, s->is_upgrade,
                                  s->sro_ran };
}

static void add_revision(struct resource *r, struct json_object *all)
{
    const struct releases *s = releases_of(r);
    sw_json_set(all, json_object_new_int64(s->is_used ? s->version : 0), "release", NULL);
}

/* A process that is about to end waits for the first tries. */
static bool is_busy(const struct resource *r)
{
    const struct releases *s = releases_of(r);
    return s->work || s->own || (is_retrying(s) && s->n_failed <= QUICK_TRIES);
}

static void resource_close(struct resource *r)
{
    struct releases *s = releases_of(r);
    if (is_retrying(s) && !r->leaving)
        sw_log(SW_LOG_WARN, "release not recorded", "resource", r->name, "why", s->why, NULL);
    release_work_free(SW_TAKE(s->work));
    own_records_free(SW_TAKE(s->own));
    adoption_cancel(SW_TAKE(s->adoption));
    sw_kube_cancel(SW_TAKE(s->marker_req));
    sw_timer_free(SW_TAKE(s->timer));
    free(SW_TAKE(s->why));
    free(SW_TAKE(s->recorded));
    free(SW_TAKE(s->settled));
    json_object_put(SW_TAKE(s->hook_runs));
}

const struct capability capability_releases = {
    .name = "releases",
    .summary = "Helm's records: helm list, get and history; hooks of upgrades",
    .words = words,
    .resource_size = sizeof(struct releases),
    .changed = changed,
    .plan_ready = plan_ready,
    .release = release_view,
    .add_revision = add_revision,
    .object_observed = object_observed,
    .stepped = settled,
    .is_busy = is_busy,
    .hooks_over = hooks_over,
    .resource_close = resource_close,
};
