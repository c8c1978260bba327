#include "emulator/admission/pod_security.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/store/status.h"

#define LABEL "pod-security.kubernetes.io/enforce"
enum { FIRST_MINOR = 23 };

/* What a pod is refused for: "a (b), c (d)". */
struct findings {
    char *text;
};

static void add(struct findings *f, const char *check, const char *detail)
{
    sw_append(&f->text, "%s%s (%s)", *f->text ? ", " : "", check, detail);
}

typedef bool is_bad_fn(json_object *container, json_object *pod_spec);

/* One check of all containers; those that are bad are named. */
struct check {
    const char *name;
    is_bad_fn *is_bad;
    const char *must; /* "must not set x=true" */
    bool or_pod;      /* the pod may set it for all */
};

static json_object *security(json_object *of)
{
    return sw_json_get(of, "securityContext");
}

static bool is_privileged(json_object *c, json_object *spec)
{
    (void)spec;
    return sw_json_bool(security(c), false, "privileged", NULL);
}

static bool adds_capabilities(json_object *c, json_object *spec)
{
    static const char *const allowed[] = {
        "AUDIT_WRITE",      "CHOWN",   "DAC_OVERRIDE", "FOWNER",  "FSETID", "KILL",      "MKNOD",
        "NET_BIND_SERVICE", "SETFCAP", "SETGID",       "SETPCAP", "SETUID", "SYS_CHROOT"
    };
    json_object *list = sw_json_find(security(c), "capabilities", "add", NULL);
    (void)spec;
    for (size_t i = 0; i < sw_json_len(list); i++) {
        bool known = false;
        for (size_t k = 0; k < SW_COUNT(allowed); k++)
            known |= sw_streq(json_object_get_string(sw_json_at(list, i)), allowed[k]);
        if (!known)
            return true;
    }
    return false;
}

static bool has_host_port(json_object *c, json_object *spec)
{
    json_object *ports = sw_json_get(c, "ports");
    (void)spec;
    for (size_t i = 0; i < sw_json_len(ports); i++)
        if (sw_json_int(sw_json_at(ports, i), 0, "hostPort", NULL))
            return true;
    return false;
}

static bool may_escalate(json_object *c, json_object *spec)
{
    (void)spec;
    return sw_json_bool(security(c), true, "allowPrivilegeEscalation", NULL);
}

static bool keeps_capabilities(json_object *c, json_object *spec)
{
    json_object *drop = sw_json_find(security(c), "capabilities", "drop", NULL);
    (void)spec;
    for (size_t i = 0; i < sw_json_len(drop); i++)
        if (sw_streq(json_object_get_string(sw_json_at(drop, i)), "ALL"))
            return false;
    return true;
}

static bool may_be_root(json_object *c, json_object *spec)
{
    bool pods = sw_json_bool(security(spec), false, "runAsNonRoot", NULL);
    return !sw_json_bool(security(c), pods, "runAsNonRoot", NULL);
}

static bool has_no_seccomp(json_object *c, json_object *spec)
{
    const char *pods = sw_json_str(security(spec), "", "seccompProfile", "type", NULL);
    const char *type = sw_json_str(security(c), pods, "seccompProfile", "type", NULL);
    return !sw_streq(type, "RuntimeDefault") && !sw_streq(type, "Localhost");
}

static const struct check baseline[] = {
    { "hostPort", has_host_port, "must not use hostPorts", false },
    { "non-default capabilities", adds_capabilities,
      "must not include capabilities beyond the default set in securityContext.capabilities.add",
      false },
    { "privileged", is_privileged, "must not set securityContext.privileged=true", false },
};
static const struct check restricted[] = {
    { "allowPrivilegeEscalation != false", may_escalate,
      "must set securityContext.allowPrivilegeEscalation=false", false },
    { "unrestricted capabilities", keeps_capabilities,
      "must set securityContext.capabilities.drop=[\"ALL\"]", false },
    { "runAsNonRoot != true", may_be_root, "must set securityContext.runAsNonRoot=true", true },
    { "seccompProfile", has_no_seccomp,
      "must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\"", true },
};

static void run_check(struct findings *f, const struct check *check, json_object *spec)
{
    static const char *const lists[] = { "initContainers", "containers" };
    SW_AUTO_CHARS *names = sw_strdup("");
    size_t n = 0;
    for (size_t l = 0; l < SW_COUNT(lists); l++) {
        json_object *list = sw_json_get(spec, lists[l]);
        for (size_t i = 0; i < sw_json_len(list); i++)
            if (check->is_bad(sw_json_at(list, i), spec))
                sw_append(&names, "%s\"%s\"", n++ ? ", " : "",
                          sw_json_str(sw_json_at(list, i), "", "name", NULL));
    }
    if (!n)
        return;
    SW_AUTO_CHARS *detail = sw_printf("%scontainer%s %s %s", check->or_pod ? "pod or " : "",
                                      n > 1 ? "s" : "", names, check->must);
    add(f, check->name, detail);
}

static void check_host(struct findings *f, json_object *spec)
{
    static const char *const fields[] = { "hostNetwork", "hostPID", "hostIPC" };
    json_object *volumes = sw_json_get(spec, "volumes");
    SW_AUTO_CHARS *shared = sw_strdup("");
    SW_AUTO_CHARS *paths = sw_strdup("");
    size_t n = 0;
    for (size_t i = 0; i < SW_COUNT(fields); i++)
        if (sw_json_bool(spec, false, fields[i], NULL))
            sw_append(&shared, "%s%s=true", *shared ? ", " : "", fields[i]);
    for (size_t i = 0; i < sw_json_len(volumes); i++)
        if (sw_json_get(sw_json_at(volumes, i), "hostPath"))
            sw_append(&paths, "%s\"%s\"", n++ ? ", " : "",
                      sw_json_str(sw_json_at(volumes, i), "", "name", NULL));
    if (*shared)
        add(f, "host namespaces", shared);
    if (!n)
        return;
    SW_AUTO_CHARS *detail = sw_printf("volume%s %s", n > 1 ? "s" : "", paths);
    add(f, "hostPath volumes", detail);
}

int sw_pod_security(struct sw_write *w)
{
    if (w->op != SW_OP_CREATE || !sw_write_is(w, "", "Pod") ||
        sw_store_minor(w->store) < FIRST_MINOR)
        return 0;
    json_object *ns = sw_store_get(w->store, sw_store_kind(w->store, "", "Namespace"), NULL, w->ns);
    const char *level = ns ? sw_obj_label(ns, LABEL) : NULL;
    bool is_restricted = sw_streq(level, "restricted");
    if (!is_restricted && !sw_streq(level, "baseline"))
        return 0;
    json_object *spec = sw_json_get(w->doc, "spec");
    struct findings f = { sw_strdup("") };
    check_host(&f, spec);
    for (size_t i = 0; i < SW_COUNT(baseline); i++)
        run_check(&f, &baseline[i], spec);
    for (size_t i = 0; is_restricted && i < SW_COUNT(restricted); i++)
        run_check(&f, &restricted[i], spec);
    int rc = 0;
    if (*f.text)
        rc = sw_status_forbidden(w->status, w->kind, w->name,
                                 "violates PodSecurity \"%s:latest\": %s", level, f.text);
    free(f.text);
    return rc;
}
