/* Whose the requests for a resource are. */
#include "operator/controller/private.h"

#include <stdlib.h>
#include <string.h>

#include "operator/manifests/rights_command.h"

/* ---- what is wrong with it ---------------------------------------------------------------------
 */

/* What is wrong with the account that the spec of @doc, whose namespace is @ns, names; NULL:
 * nothing. A template is no name: what is admitted must be what is used. */
static const char *account_fault(struct json_object *doc, const char *ns)
{
    struct json_object *name = sw_json_find(doc, "spec", "serviceAccountName", NULL);
    const char *fault = name ? sw_dns_subdomain_fault(json_object_get_string(name)) : NULL;
    return fault ? fault : sw_dns_label_fault(ns);
}

/* ---- that of another resource ------------------------------------------------------------------
 * A resource that was made for a dependency acts as its parent's account. Whoever may write
 * resources can write the annotation; the operator alone writes the status. It says there which
 * account that is, and for what content: one that others have changed is not walked as somebody
 * else.
 */

static bool is_of_slipway(const char *annotation)
{
    static const char *const prefixes[] = { "slipway.dev/", "specialresource.openshift.io/",
                                            "helm.sh/" };
    for (size_t i = 0; i < SW_COUNT(prefixes); i++)
        if (sw_starts_with(annotation, prefixes[i]))
            return true;
    return false;
}

struct json_object *resource_asked(struct json_object *doc)
{
    /* what only says whether the resource is worked on, and in which words */
    static const char *const harmless_fields[] = { "managementState", "debug" },
                             *const harmless_annotations[] = { "slipway.dev/no-hooks",
                                                               "slipway.dev/releases" };
    struct json_object *asked = json_object_new_object(), *annotations = json_object_new_object();
    struct json_object *spec = sw_json_copy(sw_json_get(doc, "spec"));
    for (size_t i = 0; spec && i < SW_COUNT(harmless_fields); i++)
        (void)sw_json_del(spec, harmless_fields[i], NULL);
    if (sw_json_find(doc, "metadata", "annotations", NULL)) {
        json_object_object_foreach(sw_json_find(doc, "metadata", "annotations", NULL), key, value)
        {
            if (is_of_slipway(key))
                (void)json_object_object_add(annotations, key, json_object_get(value));
        }
    }
    for (size_t i = 0; i < SW_COUNT(harmless_annotations); i++)
        (void)sw_json_del(annotations, harmless_annotations[i], NULL);
    (void)json_object_object_add(asked, "spec", spec);
    (void)json_object_object_add(asked, "annotations", annotations);
    return asked;
}

/* As whom @doc, with its status, acts; heap. NULL: as itself; "": that is not confirmed. */
static char *acts_as(struct json_object *doc)
{
    const char *wanted = sw_obj_annotation(doc, RESOURCE_ACTS_AS);
    char digest[SW_SHA256_HEX];
    if (!wanted)
        return NULL;
    SW_AUTO_JSON *asked = resource_asked(doc);
    bool is_confirmed = sw_streq(sw_json_str(doc, NULL, "status", "actsAs", "account", NULL),
                                 wanted) &&
                        sw_streq(sw_json_str(doc, NULL, "status", "actsAs", "digest", NULL),
                                 sw_json_sha256(asked, digest));
    return sw_strdup(is_confirmed ? wanted : "");
}

bool account_take(struct resource *r, struct json_object *doc)
{
    SW_AUTO_CHARS *before = r->own->acts_as;
    r->own->acts_as = acts_as(doc);
    return !sw_streq(before, r->own->acts_as);
}

bool account_differs(const struct resource *r, struct json_object *doc)
{
    static const char *const fields[] = { "serviceAccountName", "namespace" };
    SW_AUTO_CHARS *now = acts_as(doc);
    bool differs = !sw_streq(now, r->own->acts_as);
    for (size_t i = 0; i < SW_COUNT(fields); i++)
        differs |= !sw_json_equal(sw_json_find(r->seen, "spec", fields[i], NULL),
                                  sw_json_find(doc, "spec", fields[i], NULL));
    return differs;
}

const char *resource_acts_as(const struct resource *r)
{
    return r->own->acts_as;
}

char *account_unconfirmed(const struct resource *r)
{
    if (!r->own->acts_as || *r->own->acts_as)
        return NULL;
    return sw_printf(
        "annotation " RESOURCE_ACTS_AS ": %s: status.actsAs, which the operator writes, "
        "does not confirm that for this content [Waiting: the resource whose dependency "
        "it is, or that the annotation is removed]",
        sw_obj_annotation(r->seen, RESOURCE_ACTS_AS));
}

/* ---- the account -------------------------------------------------------------------------------
 */

char *account_of(const struct sw_controller *c, struct json_object *doc, const char *ns,
                 const char *name)
{
    const char *named = sw_json_str(doc, NULL, "spec", "serviceAccountName", NULL);
    if (!named && c->opts.rights != SW_RIGHTS_ACCOUNT)
        return NULL;
    if (account_fault(doc, ns))
        return sw_strdup("");
    return sw_printf("system:serviceaccount:%s:%s%s", ns, named ? "" : SW_ACCOUNT_PREFIX,
                     named ? named : name);
}

char *resource_account(const struct resource *r)
{
    if (r->own->acts_as)
        return sw_strdup(r->own->acts_as);
    return account_of(r->c, r->seen, resource_namespace(r), r->name);
}

const char *resource_account_now(const struct resource *r)
{
    char *account = resource_account(r);
    if (account && sw_streq(account, r->own->account)) { /* a macro may ask twice */
        free(account);
        return r->own->account;
    }
    free(r->own->account);
    return r->own->account = account;
}

int account_check(const struct resource *r, struct sw_err *err)
{
    SW_AUTO_CHARS *account = resource_account(r);
    const char *fault = account && !*account && !r->own->acts_as
                            ? account_fault(r->seen, resource_namespace(r))
                            : NULL;
    if (!fault)
        return 0;
    if (sw_dns_label_fault(resource_namespace(r)))
        return sw_err_set(err, SW_INVALID, "spec.namespace: '%s': %s", resource_namespace(r),
                          fault);
    return sw_err_set(err, SW_INVALID, "spec.serviceAccountName: '%s': %s",
                      sw_json_str(r->seen, "", "spec", "serviceAccountName", NULL), fault);
}

/* ---- what it may not do ------------------------------------------------------------------------
 */

/* The command that prints the rights which @r needs. */
static char *rbac_command(const struct resource *r, const char *account)
{
    return sw_rights_command(r->doc ? r->doc : r->seen, resource_namespace(r), account);
}

char *account_rights_command(const struct resource *r)
{
    SW_AUTO_CHARS *account = resource_account(r);
    return account && *account ? rbac_command(r, account) : NULL;
}

void account_report(struct resource *r)
{
    if (r->c->opts.rights != SW_RIGHTS_LEGACY || r->own->legacy_told || resource_account_now(r))
        return;
    SW_AUTO_CHARS *account = sw_printf("system:serviceaccount:%s:" SW_ACCOUNT_PREFIX "%s",
                                       resource_namespace(r), r->name);
    SW_AUTO_CHARS *command = rbac_command(r, account);
    SW_AUTO_CHARS *message = sw_printf(
        "it names no account and has the operator's own rights (--legacy-rights), as has whoever "
        "may write it: %s, then spec.serviceAccountName: " SW_ACCOUNT_PREFIX "%s",
        command, r->name);
    r->own->legacy_told = true;
    event_report(
        r, &(struct sw_action){ .reason = "LegacyRights", .message = message, .warning = true });
}

char *account_message(const struct resource *r, int code, const char *message)
{
    SW_AUTO_CHARS *account = resource_account(r), *unconfirmed = account_unconfirmed(r);
    if (code == SW_INVALID && unconfirmed)
        return SW_TAKE(unconfirmed);
    if (code == SW_INVALID && account && !*account) {
        SW_ERR(err);
        (void)account_check(r, &err);
        return sw_strdup(sw_err_text(&err));
    }
    if (code != SW_FORBIDDEN || !account || !*account)
        return sw_strdup(message);
    SW_AUTO_CHARS *command = rbac_command(r, account);
    return sw_printf("%s; as %s: %s", message, account, command);
}
