/* The labels that nodes get for states. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "chart/recipe/plan/plan.h"

#define PREFIX "specialresource.openshift.io/"

/* of a label's name: 54 characters of it, a dash and the digits of a hash */
enum { MOST = 63, HASH_DIGITS = 8 };

char *sw_recipe_label_key(const char *resource, const char *label)
{
    char *text = sw_printf(PREFIX "state-%s-%s", resource, label);
    char *name = text + strlen(PREFIX);
    size_t len = strlen(name);
    if (len <= MOST)
        return text;
    uint64_t hash = sw_fnv64a(name, len);
    (void)snprintf(name + MOST - HASH_DIGITS - 1, HASH_DIGITS + 2, "-%08" PRIx32,
                   (uint32_t)(hash ^ hash >> 32));
    return text;
}

int sw_recipe_label(const char *resource, const char *label, char **key, struct sw_err *err)
{
    SW_AUTO_CHARS *text = sw_recipe_label_key(resource, label);
    const char *name = text + strlen(PREFIX);
    size_t len = strlen(name);
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
