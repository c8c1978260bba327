/* The objects that a SpecialResourceModule watches for versions, and the paths in them: spec.watch.
 */
#include "operator/controller/modules/module.h"

#include <stdlib.h>

#include "operator/manifests/module_versions.h"

enum { MAX_OBJECTS = 1000 }; /* in which something was found */

#define FAULT "fault" /* in place of the entries: why there are none */

int module_collect(struct module *m, struct sw_err *err)
{
    for (struct version_watch *e = m->watches; e; e = e->next) {
        if (e->trouble)
            return sw_err_set(err, e->code, "%s", e->trouble);
        json_object_object_foreach(e->found, name, found)
        {
            (void)name;
            if (sw_json_get(found, FAULT))
                return sw_err_set(err, SW_INVALID, "%s", sw_json_str(found, "", FAULT, NULL));
            sw_module_add(m->entries, found);
        }
    }
    return 0;
}

void module_close_watches(struct module *m)
{
    while (m->watches) {
        struct version_watch *e = m->watches;
        m->watches = e->next;
        sw_kube_watch_close(e->watch);
        sw_kube_cancel(e->req);
        json_object_put(e->spec);
        json_object_put(e->found);
        free(e->trouble);
        free(e);
    }
}

/* Of an object nothing else is kept: it may be a large one of many. */
static void keep_found(struct version_watch *e, const char *name, struct json_object *object)
{
    struct json_object *entries = json_object_new_array(), *fault = NULL;
    SW_ERR(err);
    if (sw_module_collect(e->spec, object, entries, &err) < 0) {
        fault = json_object_new_object();
        sw_json_set_str(fault, sw_err_text(&err), FAULT, NULL);
    }
    bool is_known = json_object_object_get_ex(e->found, name, NULL);
    if (!fault && !sw_json_len(entries))
        json_object_object_del(e->found, name);
    else if (is_known || sw_json_len(e->found) < MAX_OBJECTS)
        (void)json_object_object_add(e->found, name, json_object_get(fault ? fault : entries));
    json_object_put(fault);
    json_object_put(entries);
}

static void on_version(const struct sw_watch_event *w, void *arg)
{
    struct version_watch *e = arg;
    bool refused = w->type == SW_WATCH_ERROR && (w->code == SW_FORBIDDEN || w->code == SW_INVALID);
    if (refused && !sw_json_len(e->found)) {
        sw_text_set(&e->trouble, w->err ? sw_err_text(w->err) : sw_code_name(w->code));
        e->code = w->code;
        module_begin_soon(e->m, SETTLE_MS);
        return;
    }
    if (w->type != SW_WATCH_ERROR)
        free(SW_TAKE(e->trouble));
    if (w->type != SW_WATCH_ADDED && w->type != SW_WATCH_MODIFIED && w->type != SW_WATCH_DELETED)
        return;
    SW_AUTO_CHARS *name = sw_printf("%s/%s", w->ns ? w->ns : "", w->name);
    if (w->type == SW_WATCH_DELETED)
        json_object_object_del(e->found, name);
    else
        keep_found(e, name, w->object);
    module_begin_soon(e->m, SETTLE_MS);
}

static void on_version_kind(int code, const struct sw_kind *kind, const struct sw_err *err,
                            void *arg)
{
    struct version_watch *e = arg;
    e->req = NULL;
    if (code < 0) {
        module_fail(e->m, sw_err_text(err));
        return;
    }
    const char *ns = sw_json_str(e->spec, NULL, "namespace", NULL);
    const char *name = sw_json_str(e->spec, "", "name", NULL);
    e->watch = sw_kube_watch_open(
        e->m->c->kube, kind,
        WATCH_BY(e->m->account, .ns = kind->namespaced ? ns : NULL, .name = *name ? name : NULL),
        on_version, e);
}

void module_open_watches(struct module *m)
{
    struct json_object *list = sw_json_find(m->seen, "spec", "watch", NULL);
    module_close_watches(m);
    for (size_t i = sw_json_len(list); i-- > 0;) {
        struct version_watch *e = sw_zalloc(1, sizeof *e);
        *e = (struct version_watch){ .m = m,
                                     .next = m->watches,
                                     .found = json_object_new_object(),
                                     .spec = json_object_get(sw_json_at(list, i)) };
        m->watches = e;
        e->req = sw_kube_kind(m->c->kube, sw_json_str(e->spec, "", "apiVersion", NULL),
                              sw_json_str(e->spec, "", "kind", NULL), on_version_kind, e);
    }
}
