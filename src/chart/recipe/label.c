/* The labels that nodes get for states. */
#include <ctype.h>
#include <string.h>

#include "chart/recipe/plan/plan.h"

int sw_recipe_label(const char *resource, const char *label, char **key, struct sw_err *err)
{
    static const char prefix[] = "specialresource.openshift.io/";
    SW_AUTO_CHARS *text = sw_printf("%sstate-%s-%s", prefix, resource, label);
    const char *name = text + strlen(prefix);
    size_t len = strlen(name);
    if (len > 63)
        return sw_err_set(err, SW_INVALID,
                          "label '%s' has %zu characters, Kubernetes allows 63: "
                          "shorten the resource's or the state's name",
                          name, len);
    bool ok = isalnum((unsigned char)name[len - 1]); /* it begins with "state-" */
    for (size_t i = 0; i < len; i++)
        ok &= isalnum((unsigned char)name[i]) || strchr("-_.", name[i]);
    if (!ok)
        return sw_err_set(err, SW_INVALID,
                          "label '%s' may hold letters, digits, '-', '_' and '.' only", name);
    *key = SW_TAKE(text);
    return 0;
}

int sw_plan_check_labels(const struct sw_plan *plan, const char *resource, struct sw_err *err)
{
    for (size_t i = 0; i < plan->n_states; i++) {
        SW_AUTO_CHARS *key = NULL;
        const struct sw_recipe_state *s = &plan->states[i];
        int rc = s->label ? sw_recipe_label(resource, s->label, &key, err) : 0;
        if (rc < 0)
            return sw_err_wrap(err, rc, "state '%s'", s->name);
    }
    return 0;
}
