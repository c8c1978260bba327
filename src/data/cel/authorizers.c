/* Kubernetes' authorizer: may who asks do this? */
#include <stdlib.h>

#include "data/cel/cel.h"
#include "data/cel/functions.h"

static struct cel_value with(struct cel_run *x, struct cel_value v, enum cel_kind kind,
                             const struct cel_check *check)
{
    struct cel_check *kept = sw_arena_alloc(x->arena, sizeof *kept);
    *kept = *check;
    v.kind = kind;
    v.check = kept;
    return v;
}

enum { PATH, GROUP, RESOURCE, SUBRESOURCE, NAMESPACE, NAME, SELECTOR };

static struct cel_value narrow(struct cel_run *x, const struct cel_value *args, int what)
{
    struct cel_check check = *args[0].check;
    const char *text = sw_cel_chars(x, args[1]);
    enum cel_kind kind = CEL_RESOURCE_CHECK;
    switch (what) {
    case PATH:
        if (!*text)
            return sw_cel_fail(x, "path must not be empty");
        check.path = text;
        kind = CEL_PATH_CHECK;
        break;
    case GROUP:
        check.group = text;
        kind = CEL_GROUP_CHECK;
        break;
    case RESOURCE:
        check.resource = text;
        break;
    case SUBRESOURCE:
        check.subresource = text;
        break;
    case NAMESPACE:
        check.ns = text;
        break;
    case NAME:
        check.name = text;
        break;
    default: /* RBAC does not look at selectors */
        break;
    }
    return with(x, args[0], kind, &check);
}

static struct cel_value service_account(struct cel_run *x, const struct cel_value *args,
                                        int variant)
{
    struct cel_check check = { 0 };
    (void)variant;
    check.user = sw_arena_printf(x->arena, "system:serviceaccount:%s:%s", sw_cel_chars(x, args[1]),
                                 sw_cel_chars(x, args[2]));
    return with(x, args[0], CEL_AUTHORIZER, &check);
}

static struct cel_value check(struct cel_run *x, const struct cel_value *args, int variant)
{
    struct cel_check c = *args[0].check;
    (void)variant;
    const struct sw_cel_question question = {
        .user = c.user,
        .groups = c.groups,
        .path = c.path,
        .group = c.group,
        .resource = c.resource,
        .subresource = c.subresource,
        .ns = c.ns,
        .name = c.name,
        .verb = sw_cel_chars(x, args[1]),
    };
    char *reason = NULL;
    if (!sw_cel_charge(x, 350000)) /* what Kubernetes charges for it */
        return sw_cel_over(x);
    c.allowed = !x->input->allows || x->input->allows(&question, &reason, x->input->arg);
    SW_AUTO_CHARS *why = reason;
    c.reason = why ? sw_arena_strdup(x->arena, why) : "";
    return with(x, args[0], CEL_DECISION, &c);
}

enum { ALLOWED, REASON, ERRORED, ERROR };

static struct cel_value answer(struct cel_run *x, const struct cel_value *args, int what)
{
    (void)x;
    switch (what) {
    case ALLOWED:
        return sw_cel_bool(args[0].check->allowed);
    case REASON:
        return sw_cel_static(args[0].check->reason);
    case ERRORED:
        return sw_cel_bool(false);
    default:
        return sw_cel_static("");
    }
}

const struct cel_function sw_cel_authorizers[] = {
    { "path", "a.s>p", narrow, PATH },
    { "group", "a.s>g", narrow, GROUP },
    { "serviceAccount", "a.ss>a", service_account, 0 },
    { "resource", "g.s>r", narrow, RESOURCE },
    { "subresource", "r.s>r", narrow, SUBRESOURCE },
    { "namespace", "r.s>r", narrow, NAMESPACE },
    { "name", "r.s>r", narrow, NAME },
    { "fieldSelector", "r.s>r", narrow, SELECTOR },
    { "labelSelector", "r.s>r", narrow, SELECTOR },
    { "check", "p.s>x", check, 0 },
    { "check", "r.s>x", check, 0 },
    { "allowed", "x.>b", answer, ALLOWED },
    { "reason", "x.>s", answer, REASON },
    { "errored", "x.>b", answer, ERRORED },
    { "error", "x.>s", answer, ERROR },
    { 0 },
};
