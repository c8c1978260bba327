#include "chart/recipe/render/hook.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "chart/recipe/recipe.h"
#include "data/go/strconv.h"
#include "data/json/path.h"
#include "data/text/nearest.h"

#define HOOK "helm.sh/hook"
#define HOOK_DELETE_POLICY "helm.sh/hook-delete-policy"
#define HOOK_WEIGHT "helm.sh/hook-weight"

struct word {
    const char *word;
    unsigned bit;
};

static const struct word events[] = {
    { "pre-install", SW_HOOK_PRE_INSTALL },
    { "post-install", SW_HOOK_POST_INSTALL },
    { "pre-delete", SW_HOOK_PRE_DELETE },
    { "post-delete", SW_HOOK_POST_DELETE },
    { "pre-upgrade", SW_HOOK_PRE_UPGRADE },
    { "post-upgrade", SW_HOOK_POST_UPGRADE },
    { "pre-rollback", SW_HOOK_PRE_ROLLBACK },
    { "post-rollback", SW_HOOK_POST_ROLLBACK },
    { "test", SW_HOOK_TEST },
    { "test-success", SW_HOOK_TEST },
};

static const struct word policies[] = {
    { "before-hook-creation", SW_HOOK_DELETE_BEFORE_CREATION },
    { "hook-succeeded", SW_HOOK_DELETE_SUCCEEDED },
    { "hook-failed", SW_HOOK_DELETE_FAILED },
};

/* The next name of "a, b", without the blanks around it; *@at goes behind its comma. @return its
 * length, or -1: there is none. */
static long next_name(const char **at, const char **name)
{
    if (!**at)
        return -1;
    size_t len = strcspn(*at, ","), skip = len + ((*at)[len] == ',');
    *name = *at;
    *at += skip;
    while (len && strchr(" \t", **name))
        (*name)++, len--;
    while (len && strchr(" \t", (*name)[len - 1]))
        len--;
    return (long)len;
}

/* The bit of a name; 0: it is not in the table. */
static unsigned bit_of(const char *name, size_t len, const struct word *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(words[i].word) == len && strncasecmp(words[i].word, name, len) == 0)
            return words[i].bit;
    return 0;
}

/* The bits of "a, b". @*unknown: whether a name is not in the table. */
static unsigned read_flags(const char *text, const struct word *words, size_t n, bool *unknown)
{
    unsigned bits = 0;
    const char *name;
    *unknown = false;
    for (long len; (len = next_name(&text, &name)) >= 0;) {
        unsigned bit = bit_of(name, (size_t)len, words, n);
        *unknown |= !bit;
        bits |= bit;
    }
    return bits;
}

/* As strconv.Atoi. */
static bool read_weight(const char *text, int *weight)
{
    int64_t number;
    if (sw_parse_int(text, strlen(text), 10, &number) != SW_PARSE_OK || number < INT_MIN ||
        number > INT_MAX)
        return false;
    *weight = (int)number;
    return true;
}

bool sw_helm_hook_read(struct json_object *object, struct sw_helm_hook *hook)
{
    *hook = (struct sw_helm_hook){ 0 };
    const char *when = sw_obj_annotation(object, HOOK);
    if (!when)
        return true;
    bool unknown;
    hook->events = read_flags(when, events, SW_COUNT(events), &unknown);
    if (unknown || !hook->events)
        return false;
    const char *policy = sw_obj_annotation(object, HOOK_DELETE_POLICY);
    hook->policies = policy ? read_flags(policy, policies, SW_COUNT(policies), &unknown) : 0;
    if (!hook->policies)
        hook->policies = SW_HOOK_DELETE_BEFORE_CREATION;
    const char *weight = sw_obj_annotation(object, HOOK_WEIGHT);
    if (weight && !read_weight(weight, &hook->weight))
        hook->weight = 0;
    return true;
}

/* ---- what is not known --------------------------------------------------------------------------
 */

/* Tell of each name in @text, the value of the annotation @key, that is not in the table. @effect:
 * what comes of it. */
static void check_names(const char *key, const char *text, const struct word *words, size_t n,
                        const char *effect, sw_helm_hook_fault_fn *fn, void *arg)
{
    const char *known[SW_COUNT(events) + 1] = { NULL }, *name;
    for (size_t i = 0; i < n; i++)
        known[i] = words[i].word;
    for (long len; (len = next_name(&text, &name)) >= 0;) {
        if (bit_of(name, (size_t)len, words, n))
            continue;
        SW_AUTO_CHARS *found = sw_strndup(name, (size_t)len);
        const char *meant = sw_text_nearest(found, known);
        SW_AUTO_CHARS *fault = sw_printf("%s: '%s' %s%s%s%s", key, found, effect,
                                         meant ? "; is it '" : "", meant ? meant : "",
                                         meant ? "'?" : "");
        fn(arg, key, fault);
    }
}

void sw_helm_hook_check(struct json_object *object, sw_helm_hook_fault_fn *fn, void *arg)
{
    const char *when = sw_obj_annotation(object, HOOK);
    if (!when)
        return;
    check_names(HOOK, *when ? when : ",", events, SW_COUNT(events),
                "is none of Helm's hooks: the object is left out", fn, arg);
    const char *policy = sw_obj_annotation(object, HOOK_DELETE_POLICY);
    if (policy)
        check_names(HOOK_DELETE_POLICY, policy, policies, SW_COUNT(policies),
                    "is none of Helm's policies: it deletes nothing", fn, arg);
    const char *weight = sw_obj_annotation(object, HOOK_WEIGHT);
    int ignored;
    SW_AUTO_CHARS *fault = weight && !read_weight(weight, &ignored)
                               ? sw_printf("%s: '%s' is no integer, and is taken for 0",
                                           HOOK_WEIGHT, weight)
                               : NULL;
    if (fault)
        fn(arg, HOOK_WEIGHT, fault);
}
