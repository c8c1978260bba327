#include "chart/recipe/render/hook.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "chart/recipe/recipe.h"
#include "data/json/path.h"

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

/* The bits of "a, b". @*unknown: whether a word is not in the table. */
static unsigned read_flags(const char *text, const struct word *words, size_t n, bool *unknown)
{
    unsigned bits = 0;
    *unknown = false;
    while (*text) {
        size_t len = strcspn(text, ","), skip = len + (text[len] == ',');
        while (len && strchr(" \t", *text))
            text++, len--, skip--;
        size_t word_len = len;
        while (word_len && strchr(" \t", text[word_len - 1]))
            word_len--;
        size_t i = 0;
        while (i < n && !(strlen(words[i].word) == word_len &&
                          strncasecmp(words[i].word, text, word_len) == 0))
            i++;
        *unknown |= i == n;
        bits |= i < n ? words[i].bit : 0;
        text += skip;
    }
    return bits;
}

bool sw_helm_hook_read(struct json_object *object, struct sw_helm_hook *hook)
{
    *hook = (struct sw_helm_hook){ 0 };
    const char *when = sw_obj_annotation(object, "helm.sh/hook");
    if (!when)
        return true;
    bool unknown;
    hook->events = read_flags(when, events, SW_COUNT(events), &unknown);
    if (unknown || !hook->events)
        return false;
    const char *policy = sw_obj_annotation(object, "helm.sh/hook-delete-policy");
    hook->policies = policy ? read_flags(policy, policies, SW_COUNT(policies), &unknown) : 0;
    if (!hook->policies)
        hook->policies = SW_HOOK_DELETE_BEFORE_CREATION;
    const char *weight = sw_obj_annotation(object, "helm.sh/hook-weight");
    char *end;
    long number = weight ? strtol(weight, &end, 10) : 0;
    if (weight && *weight && !*end && number >= INT_MIN && number <= INT_MAX)
        hook->weight = (int)number;
    return true;
}
