#include "emulator/store/change.h"

#include <string.h>

#include "base/base.h"
#include "emulator/store/status.h"

void sw_write_init(struct sw_write *w, struct sw_store *store, const struct sw_emu_kind *kind,
                   const char *ns, const struct sw_store_opts *opts, struct sw_status *status)
{
    static const struct sw_store_opts none;
    *w = (struct sw_write){ .store = store,
                            .kind = kind->stored_as ? kind->stored_as : kind,
                            .opts = opts ? opts : &none,
                            .status = status,
                            .ns = ns ? ns : "",
                            .name = "" };
    w->subresource = w->opts->subresource;
}

void sw_write_done(struct sw_write *w)
{
    json_object_put(SW_TAKE(w->doc));
}

const char *sw_write_manager(const struct sw_write *w)
{
    return w->opts->manager ? w->opts->manager : "kube-controller-manager";
}

bool sw_write_is(const struct sw_write *w, const char *group, const char *kind)
{
    return strcmp(w->kind->kind, kind) == 0 && strcmp(w->kind->group, group) == 0;
}

int sw_write_find(struct sw_write *w, const char *name)
{
    w->op = SW_OP_UPDATE;
    w->name = name;
    w->object = sw_store_object(w->store, w->kind, w->kind->namespaced ? w->ns : "", name);
    if (!w->object)
        return sw_status_not_found(w->status, w->kind, name);
    w->old = w->object->now->doc;
    w->ns = w->object->ns;
    w->name = w->object->name;
    return 0;
}
