/* The namespace of a SpecialResourceModule: made before anything else where it is not there. It has
 * no owner and stays when the module goes, as SRO leaves it. */
#include "operator/controller/modules/module.h"

static void done(struct module *m)
{
    void (*then)(struct module *) = m->go_on;
    then(m);
}

static void on_made(const struct sw_kube_answer *a, void *arg)
{
    struct module *m = arg;
    m->req = NULL;
    if (a->code < 0)
        module_refused(m, a->code, sw_err_text(a->err));
    else
        done(m);
}

static void make(struct module *m, const struct sw_kind *kind)
{
    SW_ERR(err);
    SW_AUTO_JSON *doc = sw_namespace_new(module_namespace(m));
    int rc = sw_hooks_apply(
        doc, &(struct sw_hook_env){ .resource = m->seen, .ns = module_namespace(m) }, &err);
    if (rc < 0)
        module_fail(m, sw_err_text(&err));
    else
        m->req = sw_kube_apply(m->c->kube, kind, NULL, module_namespace(m), doc,
                               REQUEST_BY(m->account, .retries = 2), on_made, m);
}

/* Who may not read it goes on: it is there where its account is, and what is applied into one that
 * is not there says so. */
static void on_namespace(const struct sw_kube_answer *a, void *arg)
{
    struct module *m = arg;
    const struct sw_kind *kind = sw_kube_kind_find(m->c->kube, "v1", "Namespace");
    m->req = NULL;
    if (a->code == SW_NOTFOUND && kind)
        make(m, kind);
    else if (a->code < 0 && a->code != SW_FORBIDDEN)
        module_refused(m, a->code, sw_err_text(a->err));
    else
        done(m);
}

void module_need_namespace(struct module *m, void (*go_on)(struct module *m))
{
    const struct sw_kind *kind = sw_kube_kind_find(m->c->kube, "v1", "Namespace");
    m->go_on = go_on;
    if (kind)
        m->req = sw_kube_get(m->c->kube, kind, NULL, module_namespace(m),
                             REQUEST_BY(m->account, .retries = 2), on_namespace, m);
    else
        done(m);
}
