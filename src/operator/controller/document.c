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
    r->fault = code;
    sw_text_set(&r->fault_message, message); /* it may be the old one */
}

bool fault_is_news(char **last, const char *message)
{
    bool same = sw_streq(*last, message);
    sw_text_set(last, message);
    return message && !same;
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

bool document_has_finalizer(struct json_object *doc)
{
    return sw_json_has_text(sw_json_find(doc, "metadata", "finalizers", NULL), SW_FINALIZER);
}

bool document_is_held(struct json_object *doc)
{
    struct json_object *list = sw_json_find(doc, "metadata", "finalizers", NULL);
    return sw_json_has_text(list, SW_FINALIZER) || sw_json_has_text(list, SW_OLD_FINALIZER);
}

bool resource_is_held(const struct resource *r)
{
    return document_is_held(r->doc);
}

bool document_is_deleting(struct json_object *doc)
{
    return sw_json_find(doc, "metadata", "deletionTimestamp", NULL);
}

bool resource_is_deleting(const struct resource *r)
{
    return document_is_deleting(r->doc);
}

bool resource_is_orphaning(const struct resource *r)
{
    struct sw_policy policy;
    (void)sw_policy_read(r->doc, &policy, NULL); /* its errors are told elsewhere */
    return policy.orphan;
}

bool resource_is_removed(const struct resource *r)
{
    return sw_streq(sw_json_str(r->doc, "", "spec", "managementState", NULL), "Removed");
}

bool resource_is_unmanaged(const struct resource *r)
{
    return sw_streq(sw_json_str(r->doc, "", "spec", "managementState", NULL), "Unmanaged");
}
