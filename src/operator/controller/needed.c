/* What was made for one resource, and others need it: a namespace that they have objects in, a
 * definition of which they have some. With it these would go, too: it is handed over instead. */
#include <string.h>

#include "operator/controller/private.h"
#include "operator/inventory/inventory.h"

/* Has @inventory an object of the kind that the definition @name, "<plural>.<group>", defines? */
static bool needs_definition(struct sw_kube *kube, struct json_object *inventory, const char *name)
{
    const char *dot = strchr(name, '.');
    for (size_t i = 0; dot && i < sw_json_len(inventory); i++) {
        struct json_object *object = sw_json_at(inventory, i);
        const char *version = sw_json_str(object, "", "apiVersion", NULL);
        const struct sw_kind *kind = sw_kube_kind_find(kube, version,
                                                       sw_json_str(object, "", "kind", NULL));
        if (kind && sw_streq(kind->group, dot + 1) &&
            strlen(kind->plural) == (size_t)(dot - name) &&
            !memcmp(kind->plural, name, (size_t)(dot - name)))
            return true;
    }
    return false;
}

bool may_be_needed(const struct sw_key *key)
{
    return sw_streq(key->kind, "Namespace") || sw_streq(key->kind, "CustomResourceDefinition");
}

bool is_needed_by(const struct resource *owner, const struct sw_key *key, struct json_object *doc,
                  struct json_object *status)
{
    if (sw_streq(sw_obj_name(doc), owner->name) || document_is_deleting(doc))
        return false;
    struct json_object *inventory = sw_inventory_of(status);
    return sw_streq(key->kind, "Namespace")
               ? sw_inventory_needs_namespace(inventory, key->name)
               : needs_definition(owner->c->kube, inventory, key->name);
}

struct json_object *find_needing(const struct resource *owner, const struct sw_key *key)
{
    for (struct resource *r = owner->c->resources; r && may_be_needed(key); r = r->next)
        if (is_needed_by(owner, key, r->doc, r->status))
            return r->doc;
    return NULL;
}
