/* The document of a resource: what its metadata and spec say. */
#include "operator/controller/private.h"

#include <stdlib.h>

struct resource *resource_find(struct sw_controller *c, const char *name)
{
    for (struct resource *r = c->resources; r; r = r->next)
        if (sw_streq(r->name, name))
            return r;
    return NULL;
}

const char *resource_namespace(const struct resource *r)
{
    const char *ns = sw_json_str(r->doc, "", "spec", "namespace", NULL);
    return *ns ? ns : r->name;
}

void resource_set_fault(struct resource *r, int code, const char *message)
{
    char *copy = message ? sw_strdup(message) : NULL; /* may be what it replaces */
    free(r->fault_message);
    r->fault = code;
    r->fault_message = copy;
    r->own->fault_of_render = false;
}

struct json_object *resource_as_owner(const struct resource *r)
{
    struct json_object *owner = json_object_new_object(), *list = json_object_new_array();
    sw_json_set_str(owner, SW_GROUP_VERSION, "apiVersion", NULL);
    sw_json_set_str(owner, "SpecialResource", "kind", NULL);
    sw_json_set_str(owner, r->name, "name", NULL);
    sw_json_set_str(owner, r->uid, "uid", NULL);
    (void)json_object_array_add(list, owner);
    return list;
}

static bool has_name(struct json_object *list, const char *name)
{
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (sw_streq(json_object_get_string(sw_json_at(list, i)), name))
            return true;
    return false;
}

bool document_has_finalizer(struct json_object *doc)
{
    return has_name(sw_json_find(doc, "metadata", "finalizers", NULL), SW_FINALIZER);
}

bool document_is_held(struct json_object *doc)
{
    return document_has_finalizer(doc) ||
           has_name(sw_json_find(doc, "metadata", "finalizers", NULL), SW_OLD_FINALIZER);
}

bool resource_is_held(const struct resource *r)
{
    return document_is_held(r->doc);
}

bool document_is_deleting(struct json_object *doc)
{
    return sw_json_find(doc, "metadata", "deletionTimestamp", NULL);
}

char *resource_account(const struct resource *r)
{
    const char *parents = sw_obj_annotation(r->doc, RESOURCE_ACTS_AS);
    const char *name = sw_json_str(r->doc, "", "spec", "serviceAccountName", NULL);
    if (parents)
        return sw_strdup(parents);
    return *name ? sw_printf("system:serviceaccount:%s:%s", resource_namespace(r), name) : NULL;
}

bool resource_is_deleting(const struct resource *r)
{
    return document_is_deleting(r->doc);
}

bool resource_is_removed(const struct resource *r)
{
    return sw_streq(sw_json_str(r->doc, "", "spec", "managementState", NULL), "Removed");
}

bool resource_is_unmanaged(const struct resource *r)
{
    return sw_streq(sw_json_str(r->doc, "", "spec", "managementState", NULL), "Unmanaged");
}
