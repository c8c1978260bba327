#include "cli/commands/explain_topic.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/explain_annotations.h"
#include "cli/lint/lint.h"
#include "cli/lint/own_kinds.h"
#include "data/data.h"
#include "data/text/nearest.h"
#include "data/yaml/yaml.h"
#include "operator/engine/engine.h"
#include "operator/manifests/hooks.h"

/* ---- text ---------------------------------------------------------------------------------------
 */

/* Add @text, each line of it behind @margin blanks, and long lines broken at blanks; what is broken
 * off is @hanging deeper. */
static void add_lines(char **out, int margin, int hanging, const char *text)
{
    enum { WIDTH = 80 };
    for (bool is_first = true; *text; is_first = false) {
        size_t len = strcspn(text, "\n"), n = len;
        const size_t room = (size_t)(WIDTH - margin);
        if (n > room)
            for (n = room; n > room / 2 && text[n] != ' ';)
                n--;
        if (n < len && text[n] != ' ')
            n = len; /* no blank to break at */
        sw_append(out, "%*s%.*s\n", margin, "", (int)n, text);
        text += n;
        text += *text == ' ' || *text == '\n';
        margin += is_first ? hanging : 0;
    }
}

static void add_text(char **out, int margin, const char *text)
{
    add_lines(out, margin, 0, text);
}

/* Add @yaml as it is, behind blanks. */
static void add_example(char **out, const char *yaml)
{
    sw_append(out, "\nexample:\n");
    for (const char *end; *yaml; yaml = end) {
        const char *nl = strchr(yaml, '\n');
        end = nl ? nl + 1 : yaml + strlen(yaml);
        sw_append(out, "    %.*s\n", (int)((nl ? nl : end) - yaml), yaml);
    }
}

static void add_annotation_example(char **out, const char *name, const char *value, bool is_chart)
{
    SW_AUTO_JSON *doc = json_object_new_object();
    if (is_chart)
        sw_json_set_str(doc, value, "annotations", name, NULL);
    else
        sw_json_set_str(doc, value, "metadata", "annotations", name, NULL);
    SW_AUTO_CHARS *yaml = sw_yaml_text(doc, NULL);
    add_example(out, yaml);
}

/* ---- annotations and hooks ----------------------------------------------------------------------
 */

/* Whether @name is @full, or all of it behind the slash. */
static bool is_called(const char *full, const char *name)
{
    const char *slash = strchr(full, '/');
    return sw_streq(full, name) || (slash && sw_streq(slash + 1, name));
}

static int not_found(const char *what, const char *name, const char *const *names,
                     const char *lists, struct sw_err *err)
{
    const char *meant = sw_text_nearest(name, names), *shorter[128] = { NULL };
    size_t n = 0;
    for (size_t i = 0; !meant && names[i] && n + 1 < SW_COUNT(shorter); i++)
        shorter[n++] = strchr(names[i], '/') ? strchr(names[i], '/') + 1 : names[i];
    if (!meant)
        meant = sw_text_nearest(name, shorter);
    return meant
               ? sw_err_set(err, SW_NOTFOUND, "there is no %s '%s'; is it '%s'?", what, name, meant)
               : sw_err_set(err, SW_NOTFOUND, "there is no %s '%s'; %s", what, name, lists);
}

static void add_hook(char **out, const struct sw_hook *h)
{
    const bool is_annotation = strchr(h->name, '/') != NULL;
    sw_append(out, "%s\n", h->name);
    add_text(out, 4, h->doc);
    SW_AUTO_CHARS *of = sw_printf(
        "%s; %s: %s", is_annotation ? "an annotation of manifests" : "done without being asked for",
        h->phase == SW_HOOK_BEFORE_APPLY ? "it changes the manifest before that is applied, of"
                                         : "it says when the object is finished, or what may be "
                                           "done with it, of",
        sw_streq(h->kinds, "*") ? "any kind" : h->kinds);
    add_text(out, 4, of);
    if (is_annotation)
        add_annotation_example(out, h->name, h->example, false);
    else
        add_example(out, h->example);
}

static void add_chart_annotation(char **out, const struct sw_chart_annotation *a)
{
    sw_append(out, "%s%s\n", **out ? "\n" : "", a->name);
    add_text(out, 4, a->doc);
    add_text(out, 4, "an annotation of a chart, in its Chart.yaml");
    add_annotation_example(out, a->name, a->example, true);
}

static void add_explained(char **out, const struct explained_annotation *a)
{
    sw_append(out, "%s%s\n", **out ? "\n" : "", a->name);
    add_text(out, 4, a->doc);
    add_text(out, 4, a->of);
    if (a->value)
        add_annotation_example(out, a->name, a->value, false);
}

static int explain_annotation(const char *name, char **out, struct sw_err *err)
{
    for (const struct sw_hook *h = sw_hooks; h->name; h++)
        if (strchr(h->name, '/') && is_called(h->name, name)) {
            if (**out)
                sw_append(out, "\n");
            add_hook(out, h);
        }
    for (const struct sw_chart_annotation *a = sw_chart_annotations; a->name; a++)
        if (is_called(a->name, name))
            add_chart_annotation(out, a);
    for (const struct explained_annotation *a = explained_annotations; a->name; a++)
        if (is_called(a->name, name))
            add_explained(out, a);
    if (**out)
        return 0;
    const char *names[128] = { NULL };
    size_t n = 0;
    for (const char *const *a = sw_hook_annotations(); *a && n + 1 < SW_COUNT(names); a++)
        names[n++] = *a;
    for (const char *const *a = sw_chart_annotation_names(); *a && n + 1 < SW_COUNT(names); a++)
        names[n++] = *a;
    for (const struct explained_annotation *a = explained_annotations;
         a->name && n + 1 < SW_COUNT(names); a++)
        names[n++] = a->name;
    return not_found("annotation", name, names, "'slipway hooks' and docs/annotations.md list them",
                     err);
}

/* Does @text name @word, "pre-install"? */
static bool names_it(const char *text, const char *word)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz-";
    const size_t len = strlen(word);
    for (const char *at = text; len && (at = strstr(at, word)); at++)
        if ((at == text || !strchr(letters, at[-1])) && (!at[len] || !strchr(letters, at[len])))
            return true;
    return false;
}

/* Helm's hooks: annotations whose values are "pre-install", "post-delete", ... */
static void add_helm_hooks(const char *name, char **out)
{
    static const char key[] = "helm.sh/hook";
    for (const struct explained_annotation *a = explained_annotations; a->name; a++)
        if (sw_starts_with(a->name, key) &&
            (is_called(a->name, name) || (sw_streq(a->name, key) && names_it(a->doc, name))))
            add_explained(out, a);
}

static int explain_hook(const char *name, char **out, struct sw_err *err)
{
    const char *names[128] = { "pre-install", "post-install", "helm.sh/hook" };
    size_t n = 3;
    add_helm_hooks(name, out);
    for (const struct sw_hook *h = sw_hooks; h->name && n + 1 < SW_COUNT(names); h++) {
        names[n++] = h->name;
        if (!is_called(h->name, name))
            continue;
        if (**out)
            sw_append(out, "\n");
        add_hook(out, h);
    }
    return **out ? 0 : not_found("hook", name, names, "'slipway hooks' lists them", err);
}

/* ---- fields -------------------------------------------------------------------------------------
 */

/* What holds the fields below @schema: itself, or that of a list's items. */
static struct json_object *fields_of(struct json_object *schema)
{
    struct json_object *items = sw_json_get(schema, "items");
    return sw_json_get(items ? items : schema, "properties");
}

/* A value that @schema allows; the caller's. Of a map that requires fields it has only these. */
static struct json_object *example_of(struct json_object *schema, const char *name)
{
    const char *type = sw_json_str(schema, "", "type", NULL);
    const char *pattern = sw_json_str(schema, "", "pattern", NULL);
    struct json_object *list = sw_json_get(schema, "enum"), *least = sw_json_get(schema, "minimum");
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (*json_object_get_string(sw_json_at(list, i)))
            return json_object_get(sw_json_at(list, i));
    if (sw_streq(type, "boolean"))
        return json_object_new_boolean(true);
    if (sw_streq(type, "integer") ||
        sw_json_bool(schema, false, "x-kubernetes-int-or-string", NULL))
        return json_object_new_int64(
            least && json_object_get_int64(least) > 1 ? json_object_get_int64(least) : 1);
    if (sw_streq(type, "array")) {
        struct json_object *out = json_object_new_array();
        (void)json_object_array_add(out, example_of(sw_json_get(schema, "items"), name));
        return out;
    }
    if (strstr(pattern, "ms|h|m|s")) /* a duration */
        return json_object_new_string("30m");
    if (sw_starts_with(pattern, "^("))
        return json_object_new_string_len(pattern + 2, (int)strcspn(pattern + 2, "|)"));
    struct json_object *fields = sw_json_get(schema, "properties");
    if (!fields && !sw_streq(type, "object")) {
        SW_AUTO_CHARS *text = sw_printf("<%s>", name);
        return json_object_new_string(text);
    }
    struct json_object *out = json_object_new_object();
    if (!fields) {
        json_object_object_add(out, "<key>", json_object_new_string("<value>"));
        return out;
    }
    struct json_object *required = sw_json_get(schema, "required");
    json_object_object_foreach(fields, key, field)
    {
        if (!sw_json_len(required) || sw_json_has_text(required, key))
            json_object_object_add(out, key, example_of(field, key));
    }
    return out;
}

static const char *type_of(struct json_object *schema)
{
    const char *type = sw_json_str(schema, "", "type", NULL);
    return sw_json_bool(schema, false, "x-kubernetes-int-or-string", NULL) ? "a number or text"
           : sw_streq(type, "string")                                      ? "text"
           : sw_streq(type, "array")                                       ? "a list"
           : sw_streq(type, "object")                                      ? "a map"
           : sw_streq(type, "boolean")                                     ? "true or false"
           : sw_streq(type, "integer")                                     ? "an integer"
           : *type                                                         ? type
                                                                           : "any value";
}

/* Add the paths below @schema whose last name is @name to @found. */
static void find_paths(struct json_object *schema, const char *path, const char *name, char **found)
{
    struct json_object *fields = fields_of(schema);
    if (!fields)
        return;
    json_object_object_foreach(fields, key, field)
    {
        SW_AUTO_CHARS *below = sw_printf("%s%s%s", path, *path ? "." : "", key);
        if (strcasecmp(key, name) == 0)
            sw_append(found, "%s%s", **found ? ", " : "", below);
        find_paths(field, below, name, found);
    }
}

/* Why @name is none of @fields. */
static int no_field(struct json_object *schema, struct json_object *fields, const char *parent,
                    const char *name, struct sw_err *err)
{
    const char *names[256] = { NULL };
    size_t n = 0;
    SW_AUTO_CHARS *elsewhere = sw_strdup("");
    if (fields) {
        json_object_object_foreach(fields, key, field)
        {
            (void)field;
            if (n + 1 < SW_COUNT(names))
                names[n++] = key;
        }
    }
    const char *meant = sw_text_nearest(name, names);
    find_paths(schema, "", name, &elsewhere);
    const char *dot = *parent ? "." : "";
    if (meant)
        return sw_err_set(err, SW_NOTFOUND, "there is no field '%s%s%s'; is it '%s%s%s'?", parent,
                          dot, name, parent, dot, meant);
    return *elsewhere
               ? sw_err_set(err, SW_NOTFOUND, "there is no field '%s%s%s', but %s", parent, dot,
                            name, elsewhere)
               : sw_err_set(err, SW_NOTFOUND, "there is no field '%s%s%s'", parent, dot, name);
}

static void add_limits(char **out, struct json_object *schema)
{
    struct json_object *list = sw_json_get(schema, "enum");
    SW_AUTO_CHARS *text = sw_strdup("");
    for (size_t i = 0; i < sw_json_len(list); i++)
        sw_append(&text, "%s%s", *text ? ", " : "one of ",
                  *json_object_get_string(sw_json_at(list, i))
                      ? json_object_get_string(sw_json_at(list, i))
                      : "\"\"");
    if (sw_json_get(schema, "minimum"))
        sw_append(&text, "%sat least %s", *text ? "; " : "",
                  json_object_get_string(sw_json_get(schema, "minimum")));
    if (sw_json_get(schema, "maximum"))
        sw_append(&text, "%sat most %s", *text ? "; " : "",
                  json_object_get_string(sw_json_get(schema, "maximum")));
    if (sw_json_get(schema, "default"))
        sw_append(&text, "%sdefault %s", *text ? "; " : "",
                  json_object_get_string(sw_json_get(schema, "default")));
    if (*sw_json_str(schema, "", "pattern", NULL))
        sw_append(&text, "%sas %s", *text ? "; " : "", sw_json_str(schema, "", "pattern", NULL));
    if (*text)
        add_text(out, 4, text);
}

/* The fields below, each with the first sentence of its description. */
static void add_fields(char **out, struct json_object *schema)
{
    struct json_object *fields = fields_of(schema);
    if (!fields)
        return;
    sw_append(out, "\nfields:\n");
    json_object_object_foreach(fields, key, field)
    {
        const char *doc = sw_json_str(field, "", "description", NULL), *stop = strstr(doc, ". ");
        SW_AUTO_CHARS *first = sw_strndup(doc, stop ? (size_t)(stop - doc) : strcspn(doc, "\n"));
        SW_AUTO_CHARS *line = sw_printf("%-20s %s", key, first);
        add_lines(out, 4, 21, line);
    }
}

/* An example of the field at the path of @names, within what it is in; the caller's. A list on the
 * way gets one item. */
static struct json_object *wrap(struct json_object *schema, const char *const *names, size_t n)
{
    struct json_object *field = sw_json_get(fields_of(schema), names[0]);
    struct json_object *value = n == 1 ? example_of(field, names[0])
                                       : wrap(field, names + 1, n - 1);
    struct json_object *map = json_object_new_object();
    if (n > 1 && sw_json_get(field, "items")) {
        struct json_object *list = json_object_new_array();
        (void)json_object_array_add(list, value);
        value = list;
    }
    json_object_object_add(map, names[0], value);
    return map;
}

static int explain_path(struct json_object *crd, char *path, char **out, struct sw_err *err)
{
    const char *version, *kind = sw_json_str(crd, "", "spec", "names", "kind", NULL);
    const char *names[32];
    size_t n = 0;
    struct json_object *whole = sw_own_kinds_schema(crd, &version), *schema = whole;
    SW_AUTO_CHARS *at = sw_strdup("");
    char *next = path;
    for (char *name; (name = strsep(&next, ".")) && n < SW_COUNT(names);) {
        name[strcspn(name, "[")] = '\0'; /* of a list all items are alike */
        struct json_object *fields = fields_of(schema), *field = sw_json_get(fields, name);
        if (!field && n == 0 && *name &&
            sw_json_find(whole, "properties", "spec", "properties", name, NULL)) {
            names[n++] = "spec"; /* the beginning may be left out */
            sw_append(&at, "spec");
            schema = sw_json_find(whole, "properties", "spec", NULL);
            field = sw_json_get(fields_of(schema), name);
        }
        if (!field)
            return no_field(whole, fields, at, name, err);
        sw_append(&at, "%s%s", *at ? "." : "", name);
        names[n++] = name;
        schema = field;
    }
    sw_append(out, "%s: %s, of %s (%s/%s)\n", at, type_of(schema), kind,
              sw_json_str(crd, "", "spec", "group", NULL), version);
    add_text(out, 4, sw_json_str(schema, "", "description", NULL));
    add_limits(out, schema);
    SW_AUTO_JSON *example = wrap(whole, names, n);
    SW_AUTO_CHARS *yaml = sw_yaml_text(example, NULL);
    add_example(out, yaml);
    add_fields(out, schema);
    return 0;
}

static int explain_field(const char *name, char **out, struct sw_err *err)
{
    name += strspn(name, "."); /* as in a JSONPath */
    SW_AUTO(sw_own_kinds) *kinds = sw_own_kinds_new();
    SW_AUTO_CHARS *path = sw_strdup(name), *first = sw_strndup(name, strcspn(name, "."));
    struct json_object *crd = sw_own_kinds_find(kinds, first);
    if (!crd)
        return explain_path(sw_own_kinds_find(kinds, "SpecialResource"), path, out, err);
    const char *rest = name + strlen(first) + (name[strlen(first)] == '.');
    SW_AUTO_CHARS *below = sw_strdup(*rest ? rest : "spec");
    return explain_path(crd, below, out, err);
}

/* ---- phases of states ---------------------------------------------------------------------------
 */

struct moves {
    const char *phase;
    char **out;
    bool is_from; /* the ways out of the phase, else those into it */
};

static void on_move(const char *from, const char *to, const char *event, const char *why, void *arg)
{
    const struct moves *m = arg;
    if (!sw_streq(m->is_from ? from : to, m->phase))
        return;
    SW_AUTO_CHARS *line = sw_printf("%-10s %s%s%s%s", m->is_from ? to : from, why,
                                    event ? " (Event " : "", event ? event : "", event ? ")" : "");
    add_lines(m->out, 4, 11, line);
}

static int explain_state(const char *name, char **out, struct sw_err *err)
{
    const char *names[32] = { NULL };
    size_t n = 0;
    for (const struct sw_state_phase *p = sw_engine_state_phases(); p->name; p++) {
        if (n + 1 < SW_COUNT(names))
            names[n++] = p->name;
        if (strcasecmp(p->name, name) != 0)
            continue;
        sw_append(out, "%s", p->name);
        if (!sw_streq(p->name, p->shown))
            sw_append(out, ", shown as %s", p->shown);
        sw_append(out, "\n");
        add_text(out, 4, p->doc);
        sw_append(out, "\nit comes from:\n");
        sw_engine_each_move(on_move, &(struct moves){ p->name, out, false });
        sw_append(out, "\nit goes to:\n");
        sw_engine_each_move(on_move, &(struct moves){ p->name, out, true });
        SW_AUTO_CHARS *line = sw_printf("1000  %s  %s", p->shown, p->example);
        while (line[strlen(line) - 1] == ' ')
            line[strlen(line) - 1] = '\0';
        add_example(out, line);
        return 0;
    }
    SW_AUTO_CHARS *all = sw_strdup("a state is");
    for (size_t i = 0; i < n; i++)
        sw_append(&all, "%s %s", i == 0 ? "" : i + 1 == n ? " or" : ",", names[i]);
    sw_append(&all, "; why one of a resource is not Ready says 'slipway explain NAME STATE'");
    return not_found("state", name, names, all, err);
}

/* ---- topics -------------------------------------------------------------------------------------
 */

static const struct {
    const char *topic;
    int (*explain)(const char *name, char **out, struct sw_err *err);
} topics[] = { { "annotation", explain_annotation },
               { "field", explain_field },
               { "hook", explain_hook },
               { "state", explain_state } };

const char *const *explain_topics(void)
{
    static const char *names[SW_COUNT(topics) + 1];
    for (size_t i = 0; i < SW_COUNT(topics); i++)
        names[i] = topics[i].topic;
    return names;
}

/* A name of a topic, on a line of its own; @doc's first sentence beside it where that is wanted. */
static void add_name(char **out, bool with_doc, const char *name, const char *doc)
{
    enum { COLUMN = 30 };
    if (!with_doc) {
        sw_append(out, "%s\n", name);
        return;
    }
    const char *stop = strstr(doc, ". ");
    SW_AUTO_CHARS *first = sw_strndup(doc, stop ? (size_t)(stop - doc) : strcspn(doc, "\n"));
    if (strlen(name) > COLUMN) {
        sw_append(out, "%s\n", name);
        add_text(out, COLUMN + 1, first);
        return;
    }
    SW_AUTO_CHARS *line = sw_printf("%-*s %s", COLUMN, name, first);
    add_lines(out, 0, COLUMN + 1, line);
}

static char *list_names(const char *topic, bool with_docs)
{
    char *out = sw_strdup("");
    if (sw_streq(topic, "annotation")) {
        for (const struct sw_hook *h = sw_hooks; h->name; h++)
            if (strchr(h->name, '/'))
                add_name(&out, with_docs, h->name, h->doc);
        for (const struct sw_chart_annotation *a = sw_chart_annotations; a->name; a++)
            add_name(&out, with_docs, a->name, a->doc);
        for (const struct explained_annotation *a = explained_annotations; a->name; a++)
            add_name(&out, with_docs, a->name, a->doc);
    } else if (sw_streq(topic, "hook")) {
        for (const struct sw_hook *h = sw_hooks; h->name; h++)
            add_name(&out, with_docs, h->name, h->doc);
    } else if (sw_streq(topic, "state")) {
        for (const struct sw_state_phase *p = sw_engine_state_phases(); p->name; p++)
            add_name(&out, with_docs, p->name, p->doc);
    } else if (sw_streq(topic, "field")) {
        SW_AUTO(sw_own_kinds) *kinds = sw_own_kinds_new();
        const char *version;
        struct json_object *schema = sw_own_kinds_schema(
            sw_own_kinds_find(kinds, "SpecialResource"), &version);
        json_object_object_foreach(sw_json_find(schema, "properties", "spec", "properties", NULL),
                                   key, field)
        {
            SW_AUTO_CHARS *path = sw_printf("spec.%s", key);
            add_name(&out, with_docs, path, sw_json_str(field, "", "description", NULL));
        }
    }
    return out;
}

char *explain_topic_names(const char *topic)
{
    return list_names(topic, false);
}

char *explain_topic_list(const char *topic)
{
    char *out = list_names(topic, true);
    sw_append(&out, "\n'slipway explain %s NAME' says more, with an example.\n", topic);
    return out;
}

bool explain_is_topic(const char *word)
{
    for (size_t i = 0; i < SW_COUNT(topics); i++)
        if (sw_streq(topics[i].topic, word))
            return true;
    return false;
}

int explain_topic(const char *topic, const char *name, char **text, struct sw_err *err)
{
    char *out = sw_strdup("");
    int rc = SW_NOTFOUND;
    for (size_t i = 0; i < SW_COUNT(topics); i++)
        if (sw_streq(topics[i].topic, topic))
            rc = topics[i].explain(name, &out, err);
    if (rc == 0)
        *text = out;
    else
        free(out);
    return rc;
}
