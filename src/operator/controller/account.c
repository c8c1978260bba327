/* Whose the requests for a resource are. */
#include "operator/controller/private.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_PREFIX "slipway-"

/* ---- the account -------------------------------------------------------------------------------
 */

/* What is wrong with the account that the spec names; NULL: nothing. A template is no name: what is
 * admitted must be what is used. */
static const char *account_fault(const struct resource *r)
{
    struct json_object *name = sw_json_find(r->seen, "spec", "serviceAccountName", NULL);
    if (!name)
        return sw_dns_label_fault(resource_namespace(r));
    const char *fault = sw_dns_subdomain_fault(json_object_get_string(name));
    return fault ? fault : sw_dns_label_fault(resource_namespace(r));
}

char *resource_account(const struct resource *r)
{
    struct json_object *named = sw_json_find(r->seen, "spec", "serviceAccountName", NULL);
    const char *acts_as = sw_obj_annotation(r->doc, RESOURCE_ACTS_AS);
    if (acts_as)
        return sw_strdup(acts_as);
    if (!named && r->c->opts.rights != SW_RIGHTS_ACCOUNT)
        return NULL;
    if (account_fault(r))
        return sw_strdup("");
    return sw_printf("system:serviceaccount:%s:%s%s", resource_namespace(r),
                     named ? "" : DEFAULT_PREFIX, named ? json_object_get_string(named) : r->name);
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
    const char *fault = account && !*account ? account_fault(r) : NULL;
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
    const char *chart = sw_json_str(r->doc, "", "spec", "chart", "name", NULL),
               *rest = account + strlen("system:serviceaccount:"), *name = strchr(rest, ':') + 1;
    char *text = sw_printf("slipway rbac %s", *chart ? chart : "RECIPE");
    SW_AUTO_CHARS *usual = sw_printf(DEFAULT_PREFIX "%s", r->name);
    size_t ns_len = (size_t)(name - 1 - rest);
    bool is_here = strlen(resource_namespace(r)) == ns_len &&
                   strncmp(rest, resource_namespace(r), ns_len) == 0;
    if (!sw_streq(r->name, chart))
        sw_append(&text, " --name %s", r->name);
    if (!sw_streq(r->name, resource_namespace(r)))
        sw_append(&text, " --namespace %s", resource_namespace(r));
    if (!is_here)
        sw_append(&text, " --service-account %.*s/%s", (int)ns_len, rest, name);
    else if (!sw_streq(name, usual))
        sw_append(&text, " --service-account %s", name);
    sw_append(&text, " | kubectl apply -f -");
    return text;
}

char *account_message(const struct resource *r, int code, const char *message)
{
    SW_AUTO_CHARS *account = resource_account(r);
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
