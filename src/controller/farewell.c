#include "controller/farewell.h"

#include <stdlib.h>
#include <string.h>

#include "controller/release_hooks.h"
#include "controller/release_in.h"
#include "recipe/recipe.h"

#define DONE_NOTE "slipway.dev/deletion-hooks"
#define RUN_MARK "slipway.dev/deletion"
#define NO_HOOKS "slipway.dev/no-hooks"

enum { RETRIES = 4, RETRY_MS = 5000, AGAIN_MS = 30000 };

enum stage {
    LOOKING,  /* which hooks there are is being found out */
    BEFORE,   /* pre-delete */
    REMOVING, /* the engine is at it */
    AFTER,    /* post-delete */
    OVER,     /* no hook is to run any more */
};

struct farewell {
    struct resource *r;
    enum stage stage;
    struct json_object *list; /* records, without their content */
    char *record;             /* name of the newest; NULL: none */
    size_t next_record;       /* that is let go */
    struct release_hooks before, after;
    struct json_object *done; /* key -> "" (succeeded), or why it failed */
    struct sw_kube_request *req;
    struct sw_timer *timer;

    /* the hook that runs */
    size_t at;
    bool tidying; /* all of the stage have succeeded: those that are not kept go */
    struct json_object *doc, *live;
    const struct sw_kind *kind;
    struct sw_kube_watch *watch;
    bool synced;
    char *words;
    bool failed;
};

static void go_on(struct farewell *f);
static void look(struct farewell *f);
static void let_records_go(struct farewell *f);
static void give_up(struct farewell *f, const char *why);

/* ---- words -------------------------------------------------------------------------------------
 */

static void tell_engine(struct farewell *f)
{
    resource_tell(f->r);
}

/* Each thing is said once. */
static void say(struct farewell *f, bool failed, const char *words)
{
    if (sw_streq(f->words, words) && f->failed == failed)
        return;
    free(f->words);
    f->words = sw_strdup(words);
    f->failed = failed;
    if (failed) {
        sw_log(SW_LOG_WARN, "hook of the deletion failed", "resource", f->r->name, "why", words,
               NULL);
        event_record(f->r, &(struct sw_action){
                               .warning = true, .reason = "DeletionHookFailed", .message = words });
    }
    tell_engine(f);
}

void farewell_spec(const struct resource *r, struct sw_spec *spec)
{
    const struct farewell *f = r->farewell;
    if (!f || !spec->deleting)
        return;
    if (f->stage == BEFORE)
        spec->hold = SW_HOLD_ALL;
    else if ((f->stage == REMOVING && f->after.n) || f->stage == AFTER)
        spec->hold = SW_HOLD_LAST;
    spec->hold_words = f->stage == BEFORE || f->stage == AFTER ? f->words : NULL;
    spec->hold_failed = f->failed;
}

/* NULL: none are kept. */
static const struct sw_kind *record_kind(const struct farewell *f)
{
    const struct sw_controller *c = f->r->c;
    return c->opts.releases == SW_RELEASES_NONE ? NULL : release_kind(c);
}

/* ---- one hook ----------------------------------------------------------------------------------
 */

static struct release_hooks *hooks_of(struct farewell *f)
{
    return f->stage == AFTER ? &f->after : &f->before;
}

static const struct release_hook *current(struct farewell *f)
{
    return &hooks_of(f)->items[f->at];
}

static void leave_hook(struct farewell *f)
{
    sw_kube_cancel(SW_TAKE(f->req));
    sw_kube_watch_close(SW_TAKE(f->watch));
    json_object_put(SW_TAKE(f->doc));
    json_object_put(SW_TAKE(f->live));
    f->kind = NULL;
    f->synced = false;
}

static void try_later(struct farewell *f, int64_t ms)
{
    sw_timer_set(f->timer, ms);
}

static void fail(struct farewell *f, const char *why)
{
    SW_AUTO_CHARS *words = sw_printf(
        "hook %s failed: %s [Failed: the deletion waits. Mend the cause and delete the hook's "
        "object, or annotate the resource with " NO_HOOKS "=true to go without]",
        current(f)->key, why);
    say(f, true, words);
}

/* Something about it is not to be had now. */
static void trouble(struct farewell *f, int code, const char *why)
{
    if (f->tidying)
        leave_hook(f);
    if (code == SW_UNAVAILABLE || code == SW_CONFLICT || code == SW_GONE) {
        try_later(f, RETRY_MS);
        return;
    }
    fail(f, why);
    try_later(f, AGAIN_MS); /* rights, quotas and webhooks change */
}

static void on_noted(const struct sw_kube_answer *a, void *arg)
{
    struct farewell *f = arg;
    f->req = NULL;
    if (a->code < 0 && a->code != SW_NOTFOUND) { /* without a record nobody would run it again */
        (void)json_object_object_del(f->done, current(f)->key);
        trouble(f, a->code, sw_err_text(a->err));
        return;
    }
    if (*sw_json_str(f->done, "", current(f)->key, NULL) == '\0')
        leave_hook(f);
    go_on(f);
}

/* @why "": it has succeeded. */
static void note(struct farewell *f, const char *why)
{
    (void)json_object_object_add(f->done, current(f)->key, json_object_new_string(why));
    SW_AUTO_JSON *all = json_object_new_object();
    sw_json_set_str(all, f->r->uid, "uid", NULL);
    (void)json_object_object_add(all, "hooks", json_object_get(f->done));
    SW_AUTO_CHARS *text = sw_json_text(all, SW_JSON_PLAIN, NULL);
    SW_AUTO_JSON *patch = json_object_new_object();
    sw_json_set_str(patch, text, "metadata", "annotations", DONE_NOTE, NULL);
    f->req = sw_kube_patch(f->r->c->kube, record_kind(f), resource_namespace(f->r), f->record,
                           SW_PATCH_MERGE, patch, &(struct sw_request_opts){ .retries = RETRIES },
                           on_noted, f);
}

static void on_applied(const struct sw_kube_answer *a, void *arg)
{
    struct farewell *f = arg;
    f->req = NULL;
    if (a->code == SW_NOTFOUND) { /* its namespace is gone: it can never run */
        give_up(f, sw_err_text(a->err));
        return;
    }
    if (a->code < 0) {
        trouble(f, a->code, sw_err_text(a->err));
        return;
    }
    if (!f->live)
        f->live = json_object_get(a->object);
    go_on(f);
}

static void on_deleted(const struct sw_kube_answer *a, void *arg)
{
    struct farewell *f = arg;
    f->req = NULL;
    if (a->code < 0 && a->code != SW_NOTFOUND && a->code != SW_CONFLICT)
        trouble(f, a->code, sw_err_text(a->err));
    else if (f->tidying) {
        f->at++;
        leave_hook(f);
        go_on(f);
    }
}

static void remove_live(struct farewell *f, const char *uid)
{
    const char *ns = f->kind->namespaced ? sw_obj_namespace(f->doc) : NULL;
    f->req = sw_kube_delete(
        f->r->c->kube, f->kind, ns, sw_obj_name(f->doc),
        &(struct sw_request_opts){ .propagation = "Background", .uid = uid, .retries = RETRIES },
        on_deleted, f);
}

/* An object of this very run, not one of an install or of another resource before. */
static bool is_of_this_run(struct farewell *f)
{
    return sw_streq(sw_obj_annotation(f->live, RUN_MARK), sw_obj_annotation(f->doc, RUN_MARK));
}

static void failed(struct farewell *f, const char *why)
{
    const struct release_hook *hook = current(f);
    bool noted = sw_json_get(f->done, hook->key) != NULL;
    fail(f, why);
    if (!(hook->policies & SW_HOOK_DELETE_FAILED))
        return;
    if (!noted)
        note(f, why); /* else a restart would find nothing, and run it again */
    else if (!f->req)
        remove_live(f, sw_obj_uid(f->live));
}

static void apply_hook(struct farewell *f)
{
    const char *failed_why = sw_json_str(f->done, "", current(f)->key, NULL);
    if (*failed_why) {
        fail(f, failed_why);
        return;
    }
    const char *ns = f->kind->namespaced ? sw_obj_namespace(f->doc) : NULL;
    f->req = sw_kube_apply(f->r->c->kube, f->kind, ns, sw_obj_name(f->doc), f->doc,
                           &(struct sw_request_opts){ .force = true, .retries = RETRIES },
                           on_applied, f);
}

static void look_at_hook(struct farewell *f)
{
    const struct release_hook *hook = current(f);
    const char *why;
    if (!f->synced || f->req)
        return;
    if (!f->live) {
        apply_hook(f);
        return;
    }
    if (sw_json_find(f->live, "metadata", "deletionTimestamp", NULL))
        return; /* the watch tells when it is gone */
    if (!is_of_this_run(f)) {
        if (hook->policies & SW_HOOK_DELETE_BEFORE_CREATION)
            remove_live(f, sw_obj_uid(f->live));
        else
            fail(f, "an object of that name is there already");
        return;
    }
    enum hook_verdict verdict = release_hook_judge(f->live, &why);
    if (verdict == HOOK_SUCCEEDED) {
        note(f, "");
        return;
    }
    if (verdict == HOOK_FAILED) {
        failed(f, why);
        return;
    }
    SW_AUTO_CHARS *words = sw_printf("hook %s: %s", hook->key, why);
    say(f, false, words);
}

static void on_watch(const struct sw_watch_event *w, void *arg)
{
    struct farewell *f = arg;
    if (w->type == SW_WATCH_ERROR)
        return;
    if (w->type == SW_WATCH_SYNCED)
        f->synced = true;
    else if (sw_streq(w->name, sw_obj_name(f->doc))) {
        json_object_put(f->live);
        f->live = w->type == SW_WATCH_DELETED ? NULL : json_object_get(w->object);
        if (f->live && !*sw_obj_kind(f->live)) /* items of a list do not say what they are */
            sw_json_set_str(f->live, f->kind->kind, "kind", NULL);
    }
    look_at_hook(f);
}

/* As every other object, but that it is nobody's: what a hook leaves behind stays, as with Helm. */
static int prepare(struct farewell *f, const struct sw_kind *kind, struct sw_err *err)
{
    struct resource *r = f->r;
    SW_AUTO_JSON *doc = sw_json_copy(current(f)->doc);
    SW_AUTO_CHARS *mark = sw_printf("%s %s", f->stage == AFTER ? "post-delete" : "pre-delete",
                                    r->uid);
    int rc = sw_hooks_apply(doc,
                            &(struct sw_hook_env){ .resource = r->doc,
                                                   .ns = resource_namespace(r),
                                                   .namespaced = kind->namespaced },
                            err);
    if (rc < 0)
        return rc;
    (void)sw_json_del(doc, "metadata", "ownerReferences", NULL);
    sw_json_set_str(doc, mark, "metadata", "annotations", RUN_MARK, NULL);
    f->doc = SW_TAKE(doc);
    f->kind = kind;
    return 0;
}

static void on_kind(int code, const struct sw_kind *kind, const struct sw_err *kind_err, void *arg)
{
    struct farewell *f = arg;
    SW_ERR(err);
    f->req = NULL;
    if (code < 0) {
        trouble(f, code, sw_err_text(kind_err));
        return;
    }
    int rc = prepare(f, kind, &err);
    if (rc < 0) {
        trouble(f, rc, sw_err_text(&err));
        return;
    }
    if (f->tidying) {
        remove_live(f, NULL);
        return;
    }
    f->watch = sw_kube_watch_open(
        f->r->c->kube, kind,
        &(struct sw_watch_opts){ .ns = kind->namespaced ? sw_obj_namespace(f->doc) : NULL,
                                 .name = sw_obj_name(f->doc) },
        on_watch, f);
}

/* ---- all of a stage ----------------------------------------------------------------------------
 */

static bool is_done(struct farewell *f, const struct release_hook *hook)
{
    return sw_streq(sw_json_str(f->done, NULL, hook->key, NULL), "");
}

static bool wants_turn(struct farewell *f, const struct release_hook *hook)
{
    return f->tidying ? (hook->policies & SW_HOOK_DELETE_SUCCEEDED) != 0 : !is_done(f, hook);
}

static void enter(struct farewell *f, enum stage stage)
{
    leave_hook(f);
    sw_timer_stop(f->timer);
    f->stage = stage;
    f->at = 0;
    f->tidying = f->failed = false;
    free(SW_TAKE(f->words));
    if (stage == BEFORE || stage == AFTER)
        go_on(f);
    else
        tell_engine(f);
}

static void go_on(struct farewell *f)
{
    if (f->req)
        return;
    if (f->doc && !f->tidying) {
        look_at_hook(f);
        return;
    }
    const struct release_hooks *hooks = hooks_of(f);
    while (f->at < hooks->n && !wants_turn(f, &hooks->items[f->at]))
        f->at++;
    if (f->at < hooks->n) {
        struct json_object *doc = hooks->items[f->at].doc;
        if (!f->tidying) {
            SW_AUTO_CHARS *words = sw_printf("hook %s", hooks->items[f->at].key);
            say(f, false, words);
        }
        f->req = sw_kube_kind(f->r->c->kube, sw_obj_api_version(doc), sw_obj_kind(doc), on_kind, f);
        return;
    }
    if (!f->tidying && hooks->n) { /* Helm deletes what has succeeded when all of them have */
        f->tidying = true;
        f->at = 0;
        go_on(f);
        return;
    }
    enter(f, f->stage == BEFORE ? REMOVING : OVER);
}

/* ---- which there are ---------------------------------------------------------------------------
 */

static void give_up(struct farewell *f, const char *why)
{
    sw_log(SW_LOG_WARN, "hooks of the deletion are left out", "resource", f->r->name, "why", why,
           NULL);
    event_record(f->r, &(struct sw_action){
                           .warning = true, .reason = "DeletionHooksLeftOut", .message = why });
    enter(f, OVER);
}

static int read_hooks(struct farewell *f, struct json_object *record, struct sw_err *err)
{
    const char *ns = resource_namespace(f->r), *noted = sw_obj_annotation(record, DONE_NOTE);
    SW_AUTO_JSON *release = NULL, *note_doc = NULL;
    int rc = release_of_record(record, &release, err);
    if (rc == 0)
        rc = release_hooks_read(release, "pre-delete", ns, &f->before, err);
    if (rc == 0)
        rc = release_hooks_read(release, "post-delete", ns, &f->after, err);
    if (rc == 0 && noted && sw_json_parse(noted, strlen(noted), NULL, &note_doc, NULL) == 0 &&
        sw_streq(sw_json_str(note_doc, "", "uid", NULL), f->r->uid) &&
        json_object_is_type(sw_json_get(note_doc, "hooks"), json_type_object)) {
        json_object_put(f->done);
        f->done = sw_json_copy(sw_json_get(note_doc, "hooks"));
    }
    return rc;
}

static void on_record(const struct sw_kube_answer *a, void *arg)
{
    struct farewell *f = arg;
    SW_ERR(err);
    f->req = NULL;
    if (a->code == SW_UNAVAILABLE) {
        try_later(f, RETRY_MS);
        return;
    }
    int rc = a->code < 0 ? sw_err_set(&err, a->code, "%s", sw_err_text(a->err))
                         : read_hooks(f, a->object, &err);
    if (rc < 0)
        give_up(f, sw_err_text(&err));
    else
        enter(f, f->before.n ? BEFORE : REMOVING);
}

static void on_listed(struct farewell *f)
{
    if (f->stage == OVER) {
        let_records_go(f);
        return;
    }
    struct json_object *newest = release_newest(f->list);
    if (!newest) {
        enter(f, REMOVING);
        return;
    }
    f->record = sw_strdup(sw_obj_name(newest));
    f->req = sw_kube_get(f->r->c->kube, record_kind(f), resource_namespace(f->r), f->record,
                         &(struct sw_request_opts){ .retries = RETRIES }, on_record, f);
}

static void on_list(const struct sw_kube_answer *a, void *arg)
{
    struct farewell *f = arg;
    for (size_t i = 0; a->code == 0 && i < sw_json_len(a->items); i++)
        (void)json_object_array_add(f->list, json_object_get(sw_json_at(a->items, i)));
    if (a->code == 0 && a->more)
        return;
    f->req = NULL;
    if (a->code == SW_UNAVAILABLE || a->code == SW_GONE)
        try_later(f, RETRY_MS);
    else if (a->code < 0 && a->code != SW_NOTFOUND && f->stage == LOOKING)
        give_up(f, sw_err_text(a->err));
    else
        on_listed(f);
}

static void look(struct farewell *f)
{
    static const char *const fields[] = { "metadata.labels", "metadata.ownerReferences", NULL };
    SW_AUTO_CHARS *selector = sw_printf("owner=helm,name=%s", f->r->name);
    json_object_put(f->list);
    f->list = json_object_new_array();
    f->next_record = 0;
    f->req = sw_kube_list(f->r->c->kube, record_kind(f), resource_namespace(f->r),
                          &(struct sw_request_opts){
                              .label_selector = selector, .fields = fields, .retries = RETRIES },
                          on_list, f);
}

/* ---- records of what stays ---------------------------------------------------------------------
 */

static void on_let_go(const struct sw_kube_answer *a, void *arg)
{
    struct farewell *f = arg;
    f->req = NULL;
    if (a->code == SW_UNAVAILABLE || a->code == SW_CONFLICT) {
        try_later(f, RETRY_MS); /* from the list on */
        return;
    }
    if (a->code < 0)
        sw_log(SW_LOG_WARN, "release record goes with the resource", "resource", f->r->name, "why",
               sw_err_text(a->err), NULL);
    let_records_go(f);
}

/* @return the owners but the resource, the caller's; NULL: it is none of them. */
static struct json_object *other_owners(struct json_object *record, const char *uid)
{
    struct json_object *owners = sw_json_find(record, "metadata", "ownerReferences", NULL);
    struct json_object *others = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(owners); i++)
        if (!sw_streq(sw_json_str(sw_json_at(owners, i), "", "uid", NULL), uid))
            (void)json_object_array_add(others, json_object_get(sw_json_at(owners, i)));
    if (sw_json_len(others) < sw_json_len(owners))
        return others;
    json_object_put(others);
    return NULL;
}

/* One after the other: what is deployed goes on without the resource, and so do its records. */
static void let_records_go(struct farewell *f)
{
    while (f->next_record < sw_json_len(f->list)) {
        struct json_object *record = sw_json_at(f->list, f->next_record++);
        struct json_object *others = other_owners(record, f->r->uid);
        if (!others)
            continue;
        SW_AUTO_JSON *patch = json_object_new_object();
        sw_json_set(patch, others, "metadata", "ownerReferences", NULL);
        sw_json_set_str(patch, sw_json_str(record, "", "metadata", "resourceVersion", NULL),
                        "metadata", "resourceVersion", NULL);
        f->req = sw_kube_patch(f->r->c->kube, record_kind(f), resource_namespace(f->r),
                               sw_obj_name(record), SW_PATCH_MERGE, patch,
                               &(struct sw_request_opts){ .retries = RETRIES }, on_let_go, f);
        return;
    }
    upgrade_finalize(f->r);
}

/* ---- what others call --------------------------------------------------------------------------
 */

static void on_timer(void *arg)
{
    struct farewell *f = arg;
    if (f->req)
        return;
    if (f->stage == LOOKING || f->stage == OVER)
        look(f);
    else if (f->stage == BEFORE || f->stage == AFTER)
        go_on(f);
}

static bool orphans(const struct resource *r)
{
    return sw_streq(sw_json_str(r->doc, "", "spec", "deletionPolicy", NULL), "orphan");
}

static bool goes_without(const struct resource *r)
{
    return orphans(r) || sw_streq(sw_obj_annotation(r->doc, NO_HOOKS), "true");
}

/* The user has changed something: what failed may be tried again, or be done without. */
static void resume(struct farewell *f)
{
    if ((f->stage == BEFORE || f->stage == AFTER) && !goes_without(f->r)) {
        const char *key = current(f)->key;
        if (f->failed && !f->live && sw_json_get(f->done, key))
            (void)json_object_object_del(f->done, key);
        go_on(f);
    } else if (f->stage != OVER && goes_without(f->r)) {
        enter(f, OVER);
    }
}

bool farewell_begin(struct resource *r)
{
    struct farewell *f = r->farewell;
    if (f) {
        resume(f);
        return f->stage != LOOKING;
    }
    f = r->farewell = sw_zalloc(1, sizeof *f);
    *f = (struct farewell){ .r = r, .done = json_object_new_object() };
    f->timer = sw_timer_new(r->c->loop, on_timer, f);
    if (goes_without(r) || !record_kind(f)) {
        f->stage = OVER;
        return true;
    }
    look(f);
    return false;
}

void farewell_emptied(struct resource *r)
{
    struct farewell *f = r->farewell;
    if (f && f->stage == REMOVING)
        enter(f, AFTER);
}

void farewell_finalize(struct resource *r)
{
    struct farewell *f = r->farewell;
    if (f && orphans(r) && record_kind(f) && !f->req) {
        f->stage = OVER;
        look(f);
        return;
    }
    upgrade_finalize(r);
}

void farewell_close(struct resource *r)
{
    struct farewell *f = SW_TAKE(r->farewell);
    if (!f)
        return;
    leave_hook(f);
    sw_timer_free(f->timer);
    release_hooks_done(&f->before);
    release_hooks_done(&f->after);
    json_object_put(f->list);
    json_object_put(f->done);
    free(f->record);
    free(f->words);
    free(f);
}
