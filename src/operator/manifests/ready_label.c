#include "operator/manifests/ready_label.h"

#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "operator/engine/nodes/node_set.h"

static const char *const suffixes[] = { ".ready", ".device-plugin-ready", ".dra-ready" };

/* One item "STATE=KEY". */
struct item {
    char *state, *key;
};

static void item_done(struct item *item)
{
    free(item->state);
    free(item->key);
    *item = (struct item){ 0 };
}

/* Read the item at *@text, which moves behind it. @return whether there was one */
static bool next_item(const char **text, struct item *item)
{
    item_done(item);
    *text += strspn(*text, ", \t\n");
    size_t len = strcspn(*text, ", \t\n");
    if (!len)
        return false;
    const char *equals = memchr(*text, '=', len), *end = *text + len;
    item->state = sw_strndup(*text, equals ? (size_t)(equals - *text) : len);
    item->key = equals ? sw_strndup(equals + 1, (size_t)(end - equals - 1)) : sw_strdup("");
    *text = end;
    return true;
}

static const char *items_of(struct json_object *metadata)
{
    return sw_json_str(metadata, "", "annotations", SW_ANN_READY_LABELS, NULL);
}

/* "kmm.node.kubernetes.io/<ns>.<module>.ready" */
static bool may_set(const char *key, const char *ns)
{
    SW_AUTO_CHARS *start = sw_printf(SW_READY_LABEL "%s.", ns ? ns : "");
    if (sw_label_key_fault(key) || !sw_starts_with(key, ns ? start : SW_READY_LABEL))
        return false;
    for (size_t i = 0; i < SW_COUNT(suffixes); i++)
        if (sw_ends_with(key, suffixes[i]) && strlen(key) > strlen(start) + strlen(suffixes[i]))
            return true;
    return false;
}

int sw_ready_labels_check(struct json_object *metadata, const char *ns, struct sw_err *err)
{
    const char *text = items_of(metadata);
    struct item item = { 0 };
    int rc = 0;
    while (rc == 0 && next_item(&text, &item)) {
        if (!*item.state || !*item.key)
            rc = sw_err_set(err, SW_INVALID,
                            "annotation " SW_ANN_READY_LABELS ": '%s%s%s' is not STATE=LABEL",
                            item.state, *item.key ? "=" : "", item.key);
        else if (!may_set(item.key, ns))
            rc = sw_err_set(
                err, SW_INVALID,
                "annotation " SW_ANN_READY_LABELS ": a recipe may not set the label '%s' on "
                "nodes: only " SW_READY_LABEL "%s.MODULE.ready (device-plugin-ready, dra-ready)",
                item.key, ns ? ns : "NAMESPACE");
    }
    item_done(&item);
    return rc;
}

char *sw_ready_label(struct json_object *metadata, const char *ns, const char *name,
                     const char *label)
{
    const char *text = items_of(metadata);
    struct item item = { 0 };
    char *key = NULL;
    while (!key && next_item(&text, &item))
        if ((sw_streq(item.state, name) || sw_streq(item.state, label)) && may_set(item.key, ns))
            key = SW_TAKE(item.key);
    item_done(&item);
    return key;
}
