#include "cli/cluster/install.h"

#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/requests.h"
#include "data/data.h"
#include "kube/kube.h"
#include "operator/manifests/ownership.h"

#include <json-c/json.h>
#include <stdlib.h>

extern const struct sw_embedded sw_deploy_crds[];

#define API_VERSION "sro.openshift.io/v1beta1"
#define KIND "SpecialResource"

enum {
    RETRIES = 1000000,
    POLL_MS = 20,
    CONFLICT_MS = 200, /* another has written while fields were taken over: read again ... */
    MAX_CONFLICTS = 10 /* ... so often */
};

/* The requests are sent one after another: find the kind SpecialResource; if it is not served,
 * apply the definitions and find it again; take over the fields that `slipway rollback` has
 * written, which would stay otherwise when the resource has them no longer; apply the resource. */
struct sw_install {
    struct sw_connection *conn;
    struct json_object *resource;
    sw_install_fn *done;
    void *arg;
    struct sw_kube_request *req;
    struct sw_timer *timer;
    const struct sw_kind *kind, *crd_kind;
    size_t next_crd;           /* to be applied; those before it are there */
    struct json_object *kinds; /* of sw_install_limit(); NULL: all */
    int n_conflicts;
};

static void find_kind(struct sw_install *in);

void sw_install_cancel(struct sw_install *in)
{
    if (!in)
        return;
    sw_kube_cancel(in->req);
    sw_timer_free(in->timer);
    json_object_put(in->resource);
    json_object_put(in->kinds);
    free(in);
}

static void finish(struct sw_install *in, int code, const struct sw_err *err)
{
    sw_install_fn *done = in->done;
    void *arg = in->arg;
    SW_ERR(copy);
    if (code < 0)
        sw_err_set(&copy, code, "%s", err ? sw_err_text(err) : sw_code_name(code));
    sw_install_cancel(in);
    done(code, &copy, arg);
}

static void on_applied(const struct sw_kube_answer *a, void *arg)
{
    struct sw_install *in = arg;
    in->req = NULL;
    const char *state = sw_json_str(a->object, "", "spec", "managementState", NULL);
    if (a->code == 0 && sw_streq(state, "Unmanaged")) {
        const char *name = sw_obj_name(a->object);
        SW_ERR(paused);
        (void)sw_err_set(&paused, SW_CONFLICT,
                         "%s is paused: its spec is written, and slipway resume %s has it walked",
                         name, name);
        finish(in, SW_CONFLICT, &paused);
        return;
    }
    finish(in, a->code, a->err);
}

/* ---- definitions -------------------------------------------------------------------------------
 */

static void apply_next_crd(struct sw_install *in);

static void on_crd(const struct sw_kube_answer *a, void *arg)
{
    struct sw_install *in = arg;
    in->req = NULL;
    if (a->code == SW_FORBIDDEN) {
        SW_ERR(refused);
        (void)sw_err_set(
            &refused, SW_FORBIDDEN,
            "%s\nThe cluster does not have this definition yet: who administers it "
            "runs this command once, installs slipway's operator (make deploy, or helm "
            "install slipway charts/slipway), or applies the folder deploy/crds.",
            sw_err_text(a->err));
        finish(in, a->code, &refused);
        return;
    }
    if (a->code < 0) {
        finish(in, a->code, a->err);
        return;
    }
    in->next_crd++;
    apply_next_crd(in);
}

static int read_crd(const struct sw_embedded *file, struct json_object **doc, struct sw_err *err)
{
    return sw_yaml_parse(file->text, file->len_bytes, &(struct sw_yaml_opts){ .file = file->name },
                         doc, err);
}

static const char *kind_of(struct json_object *crd)
{
    return sw_json_str(crd, "", "spec", "names", "kind", NULL);
}

static bool is_needed(const struct sw_install *in, struct json_object *crd)
{
    return !in->kinds || sw_streq(kind_of(crd), KIND) ||
           sw_json_bool(in->kinds, false, kind_of(crd), NULL);
}

static void apply_next_crd(struct sw_install *in)
{
    SW_AUTO_JSON *doc = NULL;
    SW_ERR(err);
    int rc = 0;
    for (; rc == 0 && sw_deploy_crds[in->next_crd].name; in->next_crd++) {
        json_object_put(SW_TAKE(doc));
        rc = read_crd(&sw_deploy_crds[in->next_crd], &doc, &err);
        if (rc == 0 && is_needed(in, doc))
            break;
    }
    if (rc < 0) {
        finish(in, rc, &err);
        return;
    }
    if (!sw_deploy_crds[in->next_crd].name) {
        sw_timer_set(in->timer, 0);
        return;
    }
    in->req = sw_kube_apply(in->conn->kube, in->crd_kind, NULL, sw_obj_name(doc), doc,
                            &(struct sw_request_opts){ .retries = RETRIES }, on_crd, in);
}

static void on_crd_kind(int code, const struct sw_kind *kind, const struct sw_err *err, void *arg)
{
    struct sw_install *in = arg;
    in->req = NULL;
    if (code == SW_UNAVAILABLE) {
        sw_timer_set(in->timer, 1000);
    } else if (code == SW_NOTFOUND) { /* each API server has it */
        SW_ERR(wrong);
        (void)sw_cluster_wrong_server(in->conn, &wrong);
        finish(in, code, &wrong);
    } else if (code < 0) {
        finish(in, code, err);
    } else {
        in->crd_kind = kind;
        apply_next_crd(in);
    }
}

struct json_object *sw_install_kinds(void)
{
    struct json_object *kinds = json_object_new_object();
    for (const struct sw_embedded *file = sw_deploy_crds; file->name; file++) {
        SW_AUTO_JSON *doc = NULL;
        SW_ERR(err);
        if (read_crd(file, &doc, &err) == 0 && !sw_streq(kind_of(doc), KIND))
            sw_json_set(kinds, json_object_new_boolean(false), kind_of(doc), NULL);
    }
    return kinds;
}

void sw_install_limit(struct sw_install *in, struct json_object *kinds)
{
    in->kinds = json_object_get(kinds);
}

/* ---- the resource ------------------------------------------------------------------------------
 */

static const struct sw_request_opts as_run = { .field_manager = SW_RUN_MANAGER,
                                               .force = true,
                                               .retries = RETRIES };

static void apply(struct sw_install *in)
{
    in->req = sw_kube_apply(in->conn->kube, in->kind, NULL, sw_obj_name(in->resource), in->resource,
                            &as_run, on_applied, in);
}

static bool is_of_rollback(struct json_object *entry)
{
    return sw_streq(sw_json_str(entry, "", "manager", NULL), SW_ROLLBACK_MANAGER);
}

static void on_taken_over(const struct sw_kube_answer *a, void *arg)
{
    struct sw_install *in = arg;
    in->req = NULL;
    if (a->code == 0)
        apply(in);
    else if (a->code == SW_CONFLICT && in->n_conflicts++ < MAX_CONFLICTS)
        sw_timer_set(in->timer, CONFLICT_MS);
    else
        finish(in, a->code, a->err);
}

static void on_read(const struct sw_kube_answer *a, void *arg)
{
    struct sw_install *in = arg;
    in->req = NULL;
    SW_AUTO_JSON *patch = a->code == 0
                              ? sw_ownership_take_fields(a->object, is_of_rollback, SW_RUN_MANAGER)
                              : NULL;
    if (patch)
        in->req = sw_kube_patch(in->conn->kube, in->kind, NULL, sw_obj_name(in->resource),
                                SW_PATCH_JSON, patch, &as_run, on_taken_over, in);
    else
        apply(in); /* which says what is wrong, if anything is */
}

/* ---- the kind ----------------------------------------------------------------------------------
 */

static void on_kind(int code, const struct sw_kind *kind, const struct sw_err *err, void *arg)
{
    struct sw_install *in = arg;
    in->req = NULL;
    if (code == 0) {
        in->kind = kind;
        in->req = sw_kube_get(in->conn->kube, kind, NULL, sw_obj_name(in->resource), &as_run,
                              on_read, in);
    } else if (code == SW_UNAVAILABLE) {
        sw_timer_set(in->timer, 1000);
    } else if (code == SW_NOTFOUND && in->crd_kind) {
        sw_timer_set(in->timer, POLL_MS); /* applied, but not served yet */
    } else if (code == SW_NOTFOUND) {
        in->req = sw_kube_kind(in->conn->kube, "apiextensions.k8s.io/v1",
                               "CustomResourceDefinition", on_crd_kind, in);
    } else {
        finish(in, code, err);
    }
}

static void find_kind(struct sw_install *in)
{
    in->req = sw_kube_kind(in->conn->kube, API_VERSION, KIND, on_kind, in);
}

static void on_timer(void *arg)
{
    struct sw_install *in = arg;
    if (in->crd_kind && sw_deploy_crds[in->next_crd].name)
        apply_next_crd(in);
    else
        find_kind(in);
}

struct sw_install *sw_install_start(struct sw_connection *conn, struct json_object *resource,
                                    sw_install_fn *done, void *arg)
{
    struct sw_install *in = sw_zalloc(1, sizeof *in);
    *in = (struct sw_install){
        .conn = conn, .resource = json_object_get(resource), .done = done, .arg = arg
    };
    in->timer = sw_timer_new(conn->loop, on_timer, in);
    find_kind(in);
    return in;
}
