/* The messages of mutations: Object{...} with any fields, and JSONPatch{...}. Source: Kubernetes
 * "Mutating Admission Policy". */
#include <string.h>

#include "data/cel/ast.h"
#include "data/data.h"

static const char *const patch_fields[] = { "op", "path", "from", "value" };
enum { N_TEXTS = 3 }; /* of these are texts */

static bool is_patch(const struct cel_type *type)
{
    return sw_streq(type->name, "JSONPatch");
}

enum cel_kind sw_cel_message_field(const char *message, const char *field)
{
    if (!sw_streq(message, "JSONPatch"))
        return CEL_DYN;
    for (size_t i = 0; i < SW_COUNT(patch_fields); i++)
        if (sw_streq(patch_fields[i], field))
            return i < N_TEXTS ? CEL_STRING : CEL_DYN;
    return CEL_ERROR;
}

static const struct cel_value *field_of(const struct cel_message *message, const char *name)
{
    for (size_t i = message->n; i-- > 0;)
        if (sw_streq(message->names[i], name))
            return &message->values[i];
    return NULL;
}

bool sw_cel_message_find(struct cel_run *x, const struct cel_message *message, const char *name,
                         struct cel_value *out)
{
    const struct cel_value *found = field_of(message, name);
    (void)x;
    /* an Object cannot be read, and an empty text of a patch counts as not set */
    if (!is_patch(message->type) || !found || (found->kind == CEL_STRING && !found->s.len))
        return false;
    *out = *found;
    return true;
}

/* What Go calls the kind of a value. */
static const char *go_type(enum cel_kind kind)
{
    static const char *const names[CEL_N_VALUES] = {
        [CEL_BOOL] = "bool",
        [CEL_INT] = "int64",
        [CEL_UINT] = "uint64",
        [CEL_DOUBLE] = "float64",
    };
    return names[kind] ? names[kind] : sw_cel_kind_name(kind);
}

struct cel_value sw_cel_message_make(struct cel_run *x, const struct cel_type *type,
                                     const char *const *names, const struct cel_value *values,
                                     size_t n)
{
    struct cel_message *message = sw_arena_alloc(x->arena, sizeof *message);
    for (size_t i = 0; i < n && is_patch(type); i++) {
        const enum cel_kind kind = sw_cel_message_field("JSONPatch", names[i]);
        if (kind == CEL_ERROR)
            return sw_cel_fail(x, "unexpected JSONPatchType field: %s", names[i]);
        if (kind == CEL_STRING && values[i].kind != CEL_STRING)
            return sw_cel_fail(x, "unexpected type %s for JSONPatchType '%s' field",
                               go_type(values[i].kind), names[i]);
    }
    *message = (struct cel_message){ .type = type, .n = n, .names = names, .values = values };
    return (struct cel_value){ .kind = CEL_MESSAGE, .message = message };
}

bool sw_cel_message_equal(struct cel_run *x, const struct cel_message *a,
                          const struct cel_message *b)
{
    if (!sw_streq(a->type->name, b->type->name))
        return false;
    for (size_t i = 0; i < a->n + b->n; i++) {
        const char *name = i < a->n ? a->names[i] : b->names[i - a->n];
        const struct cel_value *one = field_of(a, name), *other = field_of(b, name);
        const bool text = sw_cel_message_field(a->type->name, name) == CEL_STRING;
        const struct cel_value none = sw_cel_static("");
        if (text) /* one that is not set is empty */
            one = one ? one : &none, other = other ? other : &none;
        if (!one || !other || !sw_cel_equal(x, *one, *other))
            return false;
    }
    return true;
}

bool sw_cel_message_json(struct cel_run *x, const struct cel_message *message, json_object **out)
{
    SW_AUTO_JSON *object = json_object_new_object();
    if (is_patch(message->type)) {
        json_object_object_add(object, "op", json_object_new_string(""));
        json_object_object_add(object, "path", json_object_new_string(""));
    }
    for (size_t i = 0; i < message->n; i++) {
        json_object *item = NULL;
        if (!sw_cel_to_json(x, message->values[i], &item))
            return false;
        json_object_object_add(object, message->names[i], item);
    }
    *out = SW_TAKE(object);
    return true;
}

/* ---- names of types -----------------------------------------------------------------------------
 */

/* Add what is wrong below @v, which is to have the type @name. */
static void check_names(struct cel_run *x, struct cel_value v, const char *name, const char **wrong)
{
    if (!sw_cel_charge(x, 1) || !sw_stack_has_room())
        return;
    if (v.kind == CEL_LIST && !v.list->json)
        for (size_t i = 0; i < v.list->n; i++)
            check_names(x, v.list->items[i], name, wrong);
    if (v.kind == CEL_MAP && !v.map->json)
        for (size_t i = 0; i < v.map->n; i++)
            check_names(x, v.map->entries[2 * i + 1], name, wrong);
    if (v.kind != CEL_MESSAGE)
        return;
    if (!sw_streq(v.message->type->name, name))
        *wrong = sw_arena_printf(x->arena,
                                 "%s%sunexpected type name \"%s\", expected \"%s\", which matches "
                                 "field name path from root Object type",
                                 *wrong ? *wrong : "", *wrong ? "\n" : "", v.message->type->name,
                                 name);
    for (size_t i = 0; i < v.message->n; i++)
        check_names(x, v.message->values[i],
                    sw_arena_printf(x->arena, "%s.%s", name, v.message->names[i]), wrong);
}

const char *sw_cel_misnamed(struct cel_run *x, struct cel_value v)
{
    const char *wrong = NULL;
    if (v.kind == CEL_MESSAGE && !is_patch(v.message->type))
        check_names(x, v, v.message->type->name, &wrong);
    for (size_t i = 0; v.kind == CEL_LIST && !v.list->json && i < v.list->n && !wrong; i++) {
        const struct cel_value item = v.list->items[i];
        const struct cel_value *value = item.kind == CEL_MESSAGE && is_patch(item.message->type)
                                            ? field_of(item.message, "value")
                                            : NULL;
        if (value)
            wrong = sw_cel_misnamed(x, *value);
    }
    return wrong;
}

/* ---- jsonpatch ----------------------------------------------------------------------------------
 */

/* A key as a step of a JSON pointer. */
static struct cel_value escape_key(struct cel_run *x, const struct cel_value *args, int variant)
{
    char *text = NULL;
    (void)variant;
    for (size_t i = 0; i < args[0].s.len; i++) {
        const char c = args[0].s.p[i], plain[] = { c, '\0' };
        sw_append(&text, "%s", c == '/' ? "~1" : c == '~' ? "~0" : plain);
    }
    SW_AUTO_CHARS *all = text;
    return sw_cel_text(x, all ? all : "", all ? strlen(all) : 0);
}

const struct cel_function sw_cel_patches[] = {
    { "jsonpatch.escapeKey", "s>s", escape_key, 0 },
    { 0 },
};
