#include "data/cel/types.h"

#include <string.h>

#include "data/data.h"

/* The letters of signatures: "s.s>b" is a method of a string with a string, to a bool; "Ls.s>s" one
 * of a list of strings. */
static const struct {
    enum cel_kind kind;
    char letter;
    const char *name, *full; /* of messages; of type(), where that is another */
} rows[] = {
    { CEL_ERROR, 0, "*error*", NULL },
    { CEL_NULL, 'n', "null", "null_type" },
    { CEL_BOOL, 'b', "bool", NULL },
    { CEL_INT, 'i', "int", NULL },
    { CEL_UINT, 'u', "uint", NULL },
    { CEL_DOUBLE, 'd', "double", NULL },
    { CEL_STRING, 's', "string", NULL },
    { CEL_BYTES, 'y', "bytes", NULL },
    { CEL_LIST, 'L', "list", NULL },
    { CEL_MAP, 'M', "map", NULL },
    { CEL_TYPE, 't', "type", NULL },
    { CEL_TIMESTAMP, 'T', "timestamp", "google.protobuf.Timestamp" },
    { CEL_DURATION, 'D', "duration", "google.protobuf.Duration" },
    { CEL_OPTIONAL, 'O', "optional_type", NULL },
    { CEL_QUANTITY, 'q', "kubernetes.Quantity", NULL },
    { CEL_SEMVER, 'v', "kubernetes.Semver", NULL },
    { CEL_URL, 'U', "kubernetes.URL", NULL },
    { CEL_IP, 'P', "net.IP", NULL },
    { CEL_CIDR, 'C', "net.CIDR", NULL },
    { CEL_FORMAT, 'F', "kubernetes.NamedFormat", NULL },
    { CEL_AUTHORIZER, 'a', "kubernetes.authorization.Authorizer", NULL },
    { CEL_PATH_CHECK, 'p', "kubernetes.authorization.PathCheck", NULL },
    { CEL_GROUP_CHECK, 'g', "kubernetes.authorization.GroupCheck", NULL },
    { CEL_RESOURCE_CHECK, 'r', "kubernetes.authorization.ResourceCheck", NULL },
    { CEL_DECISION, 'x', "kubernetes.authorization.Decision", NULL },
    { CEL_MESSAGE, 0, "", NULL },
    { CEL_DYN, '*', "dyn", NULL },
    { CEL_OBJECT, 0, "object", NULL },
    { CEL_PARAM, 0, "", NULL },
};

static const struct cel_type plain[] = {
    [CEL_ERROR] = { .kind = CEL_ERROR },
    [CEL_NULL] = { .kind = CEL_NULL },
    [CEL_BOOL] = { .kind = CEL_BOOL },
    [CEL_INT] = { .kind = CEL_INT },
    [CEL_UINT] = { .kind = CEL_UINT },
    [CEL_DOUBLE] = { .kind = CEL_DOUBLE },
    [CEL_STRING] = { .kind = CEL_STRING },
    [CEL_BYTES] = { .kind = CEL_BYTES },
    [CEL_LIST] = { .kind = CEL_LIST, .a = &plain[CEL_DYN] },
    [CEL_MAP] = { .kind = CEL_MAP, .a = &plain[CEL_DYN], .b = &plain[CEL_DYN] },
    [CEL_TYPE] = { .kind = CEL_TYPE },
    [CEL_TIMESTAMP] = { .kind = CEL_TIMESTAMP },
    [CEL_DURATION] = { .kind = CEL_DURATION },
    [CEL_OPTIONAL] = { .kind = CEL_OPTIONAL, .a = &plain[CEL_DYN] },
    [CEL_QUANTITY] = { .kind = CEL_QUANTITY },
    [CEL_SEMVER] = { .kind = CEL_SEMVER },
    [CEL_URL] = { .kind = CEL_URL },
    [CEL_IP] = { .kind = CEL_IP },
    [CEL_CIDR] = { .kind = CEL_CIDR },
    [CEL_FORMAT] = { .kind = CEL_FORMAT },
    [CEL_AUTHORIZER] = { .kind = CEL_AUTHORIZER },
    [CEL_PATH_CHECK] = { .kind = CEL_PATH_CHECK },
    [CEL_GROUP_CHECK] = { .kind = CEL_GROUP_CHECK },
    [CEL_RESOURCE_CHECK] = { .kind = CEL_RESOURCE_CHECK },
    [CEL_DECISION] = { .kind = CEL_DECISION },
    [CEL_MESSAGE] = { .kind = CEL_MESSAGE, .name = "" },
    [CEL_DYN] = { .kind = CEL_DYN },
    [CEL_OBJECT] = { .kind = CEL_OBJECT },
    [CEL_PARAM] = { .kind = CEL_PARAM },
};

const struct cel_type *sw_cel_type(enum cel_kind kind)
{
    return &plain[kind];
}

const struct cel_type *sw_cel_type_of(struct sw_arena *arena, enum cel_kind kind,
                                      const struct cel_type *a, const struct cel_type *b)
{
    struct cel_type *type = sw_arena_alloc(arena, sizeof *type);
    *type = (struct cel_type){ .kind = kind, .a = a, .b = b };
    return type;
}

const struct cel_type *sw_cel_message_type(struct sw_arena *arena, const char *name)
{
    struct cel_type *type = sw_arena_alloc(arena, sizeof *type);
    *type = (struct cel_type){ .kind = CEL_MESSAGE, .name = name };
    return type;
}

const struct cel_type *sw_cel_unbound(void)
{
    static const struct cel_type unbound = { .kind = CEL_DYN, .param = '?' };
    return &unbound;
}

static bool is_unbound(const struct cel_type *type)
{
    return type->kind == CEL_DYN && type->param == '?';
}

const struct cel_type *sw_cel_joined_type(struct sw_arena *arena, const struct cel_type *a,
                                          const struct cel_type *b)
{
    if (is_unbound(a) || a->kind == CEL_NULL)
        return b;
    if (is_unbound(b) || b->kind == CEL_DYN || b->kind == CEL_ERROR)
        return is_unbound(b) ? a : b;
    if (a->kind != b->kind || !a->a || !b->a)
        return a;
    const bool two = a->b && b->b;
    return sw_cel_type_of(arena, a->kind, sw_cel_joined_type(arena, a->a, b->a),
                          two ? sw_cel_joined_type(arena, a->b, b->b) : NULL);
}

const char *sw_cel_kind_name(enum cel_kind kind)
{
    return rows[kind].full ? rows[kind].full : rows[kind].name;
}

const char *sw_cel_type_text(struct sw_arena *arena, const struct cel_type *type)
{
    const char *name = type->name ? type->name : rows[type->kind].name;
    if (type->kind == CEL_MAP)
        return sw_arena_printf(arena, "map(%s, %s)", sw_cel_type_text(arena, type->a),
                               sw_cel_type_text(arena, type->b));
    return type->a ? sw_arena_printf(arena, "%s(%s)", name, sw_cel_type_text(arena, type->a))
                   : name;
}

/* ---- schemas ------------------------------------------------------------------------------------
 */

static const struct cel_type *object_type(struct sw_arena *arena, json_object *schema)
{
    json_object *others = sw_json_get(schema, "additionalProperties");
    if (json_object_is_type(others, json_type_object)) {
        const struct cel_type *value = sw_cel_schema_type(arena, others);
        return value ? sw_cel_type_of(arena, CEL_MAP, sw_cel_type(CEL_STRING), value) : NULL;
    }
    struct cel_type *type = sw_arena_alloc(arena, sizeof *type);
    *type = (struct cel_type){ .kind = CEL_OBJECT, .schema = schema };
    if (sw_json_bool(schema, false, "x-kubernetes-embedded-resource", NULL))
        type->root = CEL_ROOT_OBJECT;
    return type;
}

const struct cel_type *sw_cel_schema_type(struct sw_arena *arena, json_object *schema)
{
    static const struct {
        const char *type;
        enum cel_kind kind;
    } scalars[] = { { "boolean", CEL_BOOL }, { "integer", CEL_INT }, { "number", CEL_DOUBLE } };
    const char *type = sw_json_str(schema, "", "type", NULL);
    if (sw_json_bool(schema, false, "x-kubernetes-int-or-string", NULL))
        return sw_cel_type(CEL_DYN);
    for (size_t i = 0; i < SW_COUNT(scalars); i++)
        if (sw_streq(scalars[i].type, type))
            return sw_cel_type(scalars[i].kind);
    if (sw_streq(type, "string"))
        return sw_cel_type(sw_cel_format_kind(schema));
    if (sw_streq(type, "object"))
        return object_type(arena, schema);
    const struct cel_type *item = sw_streq(type, "array")
                                      ? sw_cel_schema_type(arena, sw_json_get(schema, "items"))
                                      : NULL;
    return item ? sw_cel_type_of(arena, CEL_LIST, item, NULL) : NULL;
}

const struct cel_type *sw_cel_root_type(struct sw_arena *arena, json_object *schema)
{
    struct cel_type *type = sw_arena_alloc(arena, sizeof *type);
    *type = (struct cel_type){ .kind = CEL_OBJECT, .schema = schema, .root = CEL_ROOT_OBJECT };
    return type;
}

/* The fields that each Kubernetes object has, and of its metadata those that rules may see. */
static const struct cel_type *root_field(const struct cel_type *object, const char *name)
{
    static const struct cel_type metadata = { .kind = CEL_OBJECT, .root = CEL_ROOT_METADATA };
    if (object->root == CEL_ROOT_METADATA)
        return sw_streq(name, "name") || sw_streq(name, "generateName") ? sw_cel_type(CEL_STRING)
                                                                        : NULL;
    if (object->root == CEL_ROOT_OBJECT && sw_streq(name, "metadata"))
        return &metadata;
    return object->root == CEL_ROOT_OBJECT &&
                   (sw_streq(name, "apiVersion") || sw_streq(name, "kind"))
               ? sw_cel_type(CEL_STRING)
               : NULL;
}

const struct cel_type *sw_cel_field_type(struct sw_arena *arena, const struct cel_type *object,
                                         const char *name)
{
    const struct cel_type *own = root_field(object, name);
    if (own || object->root == CEL_ROOT_METADATA)
        return own;
    char plain_name[256];
    sw_cel_unescape(name, plain_name, sizeof plain_name);
    json_object *property = sw_json_find(object->schema, "properties", plain_name, NULL);
    return property ? sw_cel_schema_type(arena, property) : NULL;
}

/* ---- signatures ---------------------------------------------------------------------------------
 */

const struct cel_type *sw_cel_signature_type(struct sw_arena *arena, const char **at)
{
    const char letter = *(*at)++;
    if (letter == 'A' || letter == 'B') {
        struct cel_type *type = sw_arena_alloc(arena, sizeof *type);
        *type = (struct cel_type){ .kind = CEL_PARAM, .param = letter };
        return type;
    }
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        if (rows[i].letter != letter)
            continue;
        const enum cel_kind kind = rows[i].kind;
        if (kind != CEL_LIST && kind != CEL_MAP && kind != CEL_OPTIONAL)
            return sw_cel_type(kind);
        const struct cel_type *a = sw_cel_signature_type(arena, at);
        return sw_cel_type_of(arena, kind, a,
                              kind == CEL_MAP ? sw_cel_signature_type(arena, at) : NULL);
    }
    return sw_cel_type(CEL_DYN);
}

static bool is_any(const struct cel_type *type)
{
    return type->kind == CEL_DYN || type->kind == CEL_ERROR;
}

/* What has no values of its own is null where null may be. */
static bool may_be_null(enum cel_kind kind)
{
    return kind == CEL_OBJECT || kind == CEL_TIMESTAMP || kind == CEL_DURATION ||
           kind >= CEL_QUANTITY;
}

bool sw_cel_same_type(const struct cel_type *a, const struct cel_type *b)
{
    if (is_any(a) || is_any(b))
        return true;
    if (a->kind != b->kind)
        return (a->kind == CEL_NULL && may_be_null(b->kind)) ||
               (b->kind == CEL_NULL && may_be_null(a->kind));
    if (a->kind == CEL_MESSAGE)
        return sw_streq(a->name, b->name);
    if (a->kind == CEL_OBJECT)
        return a->schema == b->schema || !a->schema || !b->schema;
    return (!a->a || !b->a || sw_cel_same_type(a->a, b->a)) &&
           (!a->b || !b->b || sw_cel_same_type(a->b, b->b));
}

/* What A and B stand for. */
struct bound {
    const struct cel_type *a, *b;
};

static bool fits(const struct cel_type *formal, const struct cel_type *actual, struct bound *bound)
{
    if (formal->kind == CEL_PARAM) {
        const struct cel_type **is = formal->param == 'A' ? &bound->a : &bound->b;
        if (!*is || is_unbound(*is)) {
            *is = actual;
            return true;
        }
        return is_any(*is) || sw_cel_same_type(*is, actual);
    }
    if (is_any(actual)) /* lets A and B stay unknown */
        return true;
    if (formal->kind != actual->kind)
        return formal->kind == CEL_DYN || sw_cel_same_type(formal, actual);
    return (!formal->a || !actual->a || fits(formal->a, actual->a, bound)) &&
           (!formal->b || !actual->b || fits(formal->b, actual->b, bound));
}

static const struct cel_type *filled(struct sw_arena *arena, const struct cel_type *type,
                                     const struct bound *bound)
{
    if (type->kind == CEL_PARAM) {
        const struct cel_type *is = type->param == 'A' ? bound->a : bound->b;
        return is ? is : sw_cel_type(CEL_DYN);
    }
    if (!type->a)
        return type;
    return sw_cel_type_of(arena, type->kind, filled(arena, type->a, bound),
                          type->b ? filled(arena, type->b, bound) : NULL);
}

bool sw_cel_signature_fits(struct sw_arena *arena, const char *signature,
                           const struct cel_type *const *args, size_t n,
                           const struct cel_type **result)
{
    struct bound bound = { 0 };
    const char *at = signature;
    for (size_t i = 0; *at != '>'; i++) {
        at += *at == '.';
        if (*at == '>')
            break;
        if (i == n)
            return false;
        if (!fits(sw_cel_signature_type(arena, &at), args[i], &bound))
            return false;
    }
    at++;
    *result = filled(arena, sw_cel_signature_type(arena, &at), &bound);
    return true;
}

/* Move behind one type. */
static enum cel_kind skip_type(const char **at)
{
    const char letter = *(*at)++;
    enum cel_kind kind = CEL_DYN;
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        if (rows[i].letter == letter)
            kind = rows[i].kind;
    if (kind == CEL_LIST || kind == CEL_MAP || kind == CEL_OPTIONAL)
        (void)skip_type(at);
    if (kind == CEL_MAP)
        (void)skip_type(at);
    return kind;
}

size_t sw_cel_signature_kinds(const char *signature, enum cel_kind *kinds, size_t room)
{
    size_t n = 0;
    for (const char *at = signature; *at != '>';) {
        at += *at == '.';
        if (*at == '>')
            break;
        const enum cel_kind kind = skip_type(&at);
        if (n < room)
            kinds[n] = kind;
        n++;
    }
    return n;
}
