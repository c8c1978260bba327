/* What was made for one resource, and others need it: a namespace that they have objects in, a
 * definition of which they have some. With it these would go, too: it is handed over instead. */
#include <string.h>

#include "operator/controller/private.h"
#include "operator/inventory/inventory.h"

/* Does @r have an object of the kind that the definition @name, "<plural>.<group>", defines? */
static bool needs_definition(const struct resource *r, const char *name)
{
    const char *dot = strchr(name, '.');
    struct json_object *inventory = sw_inventory_of(r->status);
    for (size_t i = 0; dot && i < sw_json_len(inventory); i++) {
        struct json_object *object = sw_json_at(inventory, i);
        const char *version = sw_json_str(object, "", "apiVersion", NULL);
        const struct sw_kind *kind = sw_kube_kind_find(r->c->kube, version,
                                                       sw_json_str(object, "", "kind", NULL));
        if (kind && sw_streq(kind->group, dot + 1) &&
            strlen(kind->plural) == (size_t)(dot - name) &&
            !memcmp(kind->plural, name, (size_t)(dot - name)))
            return true;
    }
    return false;
}

struct resource *needed_by(const struct resource *owner, const struct sw_key *key)
{
    bool is_namespace = sw_streq(key->kind, "Namespace"),
         is_definition = sw_streq(key->kind, "CustomResourceDefinition");
    for (struct resource *r = owner->c->resources; r; r = r->next) {
        if (r == owner || document_is_deleting(r->doc))
            continue;
        if ((is_namespace && sw_inventory_needs_namespace(sw_inventory_of(r->status), key->name)) ||
            (is_definition && needs_definition(r, key->name)))
            return r;
    }
    return NULL;
}
