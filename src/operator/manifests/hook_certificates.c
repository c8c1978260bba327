/* Certificates of Services, and their CA for clients: by OpenShift's service CA where there is one,
 * else by slipway itself. */
#include "operator/manifests/hooks_internal.h"

#include <stdlib.h>
#include <string.h>

#include "data/text/base64.h"

#define OPENSHIFT_SERVE "service.beta.openshift.io/serving-cert-secret-name"
#define OPENSHIFT_INJECT "service.beta.openshift.io/inject-cabundle"

static bool is_openshift(const struct sw_hook_env *env)
{
    return sw_streq(sw_json_str(env->values, "", "platform", NULL), "OCP");
}

int hook_serve_cert(struct json_object *doc, const struct sw_hook_env *env, struct sw_err *err)
{
    const char *secret = sw_obj_annotation(doc, SW_SERVING_CERT);
    const char *ns = sw_obj_namespace(doc);
    if (!*secret || sw_dns_label_fault(secret))
        return sw_err_set(err, SW_INVALID, "'%s' is not the name of a Secret", secret);
    if (is_openshift(env)) {
        sw_json_set_str(doc, secret, "metadata", "annotations", OPENSHIFT_SERVE, NULL);
        return 0;
    }
    struct sw_cert_text text;
    return env->serving ? env->serving(env->serving_arg, *ns ? ns : env->ns, secret,
                                       sw_obj_name(doc), &text, err)
                        : 0;
}

int hook_inject_ca(struct json_object *doc, const struct sw_hook_env *env, struct sw_err *err)
{
    const char *from = sw_obj_annotation(doc, SW_INJECT_CA), *slash = strchr(from, '/');
    SW_AUTO_CHARS *ns = slash ? sw_strndup(from, (size_t)(slash - from)) : sw_strdup(env->ns);
    const char *secret = slash ? slash + 1 : from;
    struct sw_cert_text text;
    if (is_openshift(env)) {
        sw_json_set_str(doc, "true", "metadata", "annotations", OPENSHIFT_INJECT, NULL);
        return 0;
    }
    if (!*secret || !*ns)
        return sw_err_set(err, SW_INVALID, "'%s' is not [<namespace>/]<secret>", from);
    int rc = env->serving ? env->serving(env->serving_arg, ns, secret, NULL, &text, err) : 0;
    if (rc < 0 || !env->serving)
        return rc;
    const char *kind = sw_obj_kind(doc);
    size_t len;
    SW_AUTO_CHARS *encoded = sw_base64_encode(text.ca, strlen(text.ca), &len);
    struct json_object *webhooks = sw_json_get(doc, "webhooks");
    for (size_t i = 0; i < sw_json_len(webhooks); i++)
        sw_json_set_str(sw_json_at(webhooks, i), encoded, "clientConfig", "caBundle", NULL);
    if (sw_streq(kind, "CustomResourceDefinition"))
        sw_json_set_str(doc, encoded, "spec", "conversion", "webhook", "clientConfig", "caBundle",
                        NULL);
    else if (sw_streq(kind, "APIService"))
        sw_json_set_str(doc, encoded, "spec", "caBundle", NULL);
    else if (sw_streq(kind, "ConfigMap"))
        sw_json_set_str(doc, text.ca, "data", "service-ca.crt", NULL);
    return 0;
}
