/* What an expression may cost at most, by the limits in the schemas of what it names. Each node is
 * estimated with its size and, where it is part of a document, its schema there. Source: cel-go
 * checker/cost.go; Kubernetes "Resource use by validation functions". */
#include <math.h>
#include <string.h>

#include "data/cel/ast.h"
#include "data/data.h"

enum { MOST_BYTES = 3 << 20, LIST_COST = 10, MAP_COST = 30, MESSAGE_COST = 40 };

/* ---- numbers ------------------------------------------------------------------------------------
 */

static uint64_t sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t product(uint64_t a, uint64_t b)
{
    return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* A share of a size, rounded up: what going through a text costs. */
static uint64_t share_of(uint64_t n, double factor)
{
    const double all = ceil((double)n * factor);
    return all >= 18446744073709551616.0 ? UINT64_MAX : (uint64_t)all;
}

static uint64_t walk_text(uint64_t n)
{
    return share_of(n, 0.1);
}

/* ---- schemas ------------------------------------------------------------------------------------
 */

static bool is_int_or_string(json_object *schema)
{
    return sw_json_bool(schema, false, "x-kubernetes-int-or-string", NULL);
}

static bool is_of(json_object *schema, const char *type)
{
    return sw_streq(sw_json_str(schema, "", "type", NULL), type);
}

static json_object *values_of(json_object *schema)
{
    json_object *values = sw_json_get(schema, "additionalProperties");
    return json_object_is_type(values, json_type_object) ? values : NULL;
}

/* The bytes that a text of a format has as JSON: at least, at most; 0: as any text. */
static bool format_bytes(json_object *schema, uint64_t *least, uint64_t *greatest)
{
    static const struct {
        const char *format;
        uint64_t least, most;
    } rows[] = { { "duration", 3, 32 }, { "date", 12, 12 }, { "date-time", 21, 32 } };
    const char *format = sw_json_str(schema, "", "format", NULL);
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        if (sw_streq(rows[i].format, format)) {
            *least = rows[i].least;
            *greatest = rows[i].most;
            return true;
        }
    return false;
}

uint64_t sw_cel_least_bytes(json_object *schema)
{
    uint64_t least = 2, greatest;
    json_object *properties = sw_json_get(schema, "properties");
    json_object *required = sw_json_get(schema, "required");
    if (is_int_or_string(schema) || is_of(schema, "integer") || is_of(schema, "number"))
        return 1;
    if (is_of(schema, "boolean"))
        return 4;
    if (is_of(schema, "string"))
        return format_bytes(schema, &least, &greatest) ? least : 2;
    for (size_t i = 0; is_of(schema, "object") && !values_of(schema) && i < sw_json_len(required);
         i++) {
        const char *name = json_object_get_string(sw_json_at(required, i));
        json_object *property = sw_json_get(properties, name);
        if (property && !json_object_object_get_ex(property, "default", NULL))
            least += strlen(name) + sw_cel_least_bytes(property) + 4;
    }
    return least;
}

static uint64_t limit_of(json_object *schema, const char *key, uint64_t otherwise)
{
    const int64_t limit = sw_json_int(schema, -1, key, NULL);
    if (!sw_json_get(schema, key))
        return otherwise;
    return limit < 0 ? 0 : (uint64_t)limit;
}

static uint64_t longest_choice(json_object *schema)
{
    json_object *choices = sw_json_get(schema, "enum");
    uint64_t longest = 0;
    for (size_t i = 0; i < sw_json_len(choices); i++)
        if (json_object_is_type(sw_json_at(choices, i), json_type_string))
            longest = most(longest, (uint64_t)json_object_get_string_len(sw_json_at(choices, i)));
    return sw_json_len(choices) ? longest : MOST_BYTES - 2;
}

/* How many elements or bytes a value of the schema has at most. */
static uint64_t most_elements(json_object *schema)
{
    uint64_t least, greatest;
    json_object *values = values_of(schema);
    const bool bytes = sw_streq(sw_json_str(schema, "", "format", NULL), "byte");
    if (is_of(schema, "array"))
        return limit_of(schema, "maxItems",
                        (MOST_BYTES - 2) / (sw_cel_least_bytes(sw_json_get(schema, "items")) + 1));
    if (values)
        return limit_of(schema, "maxProperties",
                        (MOST_BYTES - 2) / (sw_cel_least_bytes(values) + 6));
    if (is_of(schema, "string") && format_bytes(schema, &least, &greatest))
        return greatest;
    if (!is_of(schema, "string") && !is_int_or_string(schema))
        return 0;
    if (sw_json_get(schema, "maxLength")) /* of runes, which are up to four bytes */
        return product(limit_of(schema, "maxLength", 0), bytes ? 1 : 4);
    return bytes || is_int_or_string(schema) ? MOST_BYTES - 2 : longest_choice(schema);
}

/* ---- estimates ----------------------------------------------------------------------------------
 */

/* A size, where it is known. */
struct size {
    bool known;
    uint64_t least, most;
};

/* What is known of a node. */
struct estimate {
    uint64_t cost;
    struct size size;
    struct size item, key; /* of what is in it, where that was made by the expression */
    bool placed;           /* it is part of a document: */
    json_object *schema;   /* there; NULL: none */
    bool is_key;           /* of a map */
};

struct coster {
    const struct sw_cel *cel;
    struct estimate *locals; /* by slot */
};

static struct estimate estimate(struct coster *c, const struct cel_node *node);

static struct size exactly(uint64_t n)
{
    return (struct size){ true, n, n };
}

static struct size joined(struct size a, struct size b)
{
    return (struct size){ a.known && b.known, a.least < b.least ? a.least : b.least,
                          most(a.most, b.most) };
}

static uint64_t most_of(struct size size)
{
    return size.known ? size.most : UINT64_MAX;
}

static bool is_scalar(const struct cel_type *type)
{
    return type &&
           (type->kind == CEL_BOOL || type->kind == CEL_INT || type->kind == CEL_UINT ||
            type->kind == CEL_DOUBLE || type->kind == CEL_DURATION || type->kind == CEL_TIMESTAMP);
}

/* Fill in the size by the place in the document, else by the type. */
static struct estimate sized(struct estimate e, const struct cel_type *type)
{
    if (e.size.known)
        return e;
    if (e.placed && e.is_key)
        e.size = (struct size){ true, 0, 0 };
    else if (e.placed && e.schema)
        e.size = (struct size){ true, 0, most_elements(e.schema) };
    else if (is_scalar(type))
        e.size = exactly(1);
    return e;
}

/* The characters of a text. */
static uint64_t runes_of(const char *text, size_t len)
{
    uint64_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

static struct estimate of_constant(const struct cel_node *node)
{
    const struct cel_value *v = &node->value;
    struct estimate e = { .size = exactly(1) };
    if (v->kind == CEL_STRING)
        e.size = exactly(runes_of(v->s.p, v->s.len));
    if (v->kind == CEL_BYTES)
        e.size = exactly(v->s.len);
    return e;
}

static struct estimate of_name(struct coster *c, const struct cel_node *node)
{
    struct estimate e = { .placed = true };
    if (node->local)
        e = c->locals[node->slot];
    else
        e.schema = c->cel->env->variables[node->slot].schema;
    e.cost = 1;
    return sized(e, node->type);
}

/* The schema of a field; of each object's own, that of a text. */
static json_object *field_schema(json_object *schema, const char *name)
{
    static json_object *text, *metadata;
    char plain[256];
    sw_cel_unescape(name, plain, sizeof plain);
    json_object *found = sw_json_find(schema, "properties", plain, NULL);
    if (!text) {
        text = json_object_new_object();
        metadata = json_object_new_object();
        json_object_object_add(text, "type", json_object_new_string("string"));
        json_object_object_add(metadata, "type", json_object_new_string("object"));
        sw_json_set(metadata, json_object_get(text), "properties", "name", NULL);
        sw_json_set(metadata, json_object_get(text), "properties", "generateName", NULL);
    }
    if (sw_streq(name, "metadata") && !sw_json_get(found, "properties"))
        return metadata;
    return found ? found : sw_streq(name, "apiVersion") || sw_streq(name, "kind") ? text : NULL;
}

static struct estimate of_field(struct coster *c, const struct cel_node *node)
{
    const struct estimate of = estimate(c, node->args[0]);
    const struct cel_type *type = node->args[0]->type;
    struct estimate e = { .cost = of.cost };
    if (node->has)
        return sized(e, node->type);
    if (node->optional || !type || type->kind == CEL_MAP || type->kind == CEL_OBJECT ||
        type->kind == CEL_OPTIONAL)
        e.cost = sum(e.cost, 1);
    e.placed = of.placed && !node->optional;
    e.schema = field_schema(of.schema, node->name);
    return sized(e, node->type);
}

static struct estimate of_list(struct coster *c, const struct cel_node *node)
{
    struct estimate e = { .cost = LIST_COST,
                          .size = exactly(node->n),
                          .item = { true, node->n ? UINT64_MAX : 0, 0 },
                          .key = exactly(1) };
    for (size_t i = 0; i < node->n; i++) {
        const struct estimate one = estimate(c, node->args[i]);
        e.cost = sum(e.cost, one.cost);
        e.item = joined(e.item, one.size);
    }
    return e;
}

static struct estimate of_map(struct coster *c, const struct cel_node *node)
{
    struct estimate e = { .cost = MAP_COST, .size = exactly(node->n / 2) };
    e.key = e.item = (struct size){ true, node->n ? UINT64_MAX : 0, 0 };
    for (size_t i = 0; i < node->n; i++) {
        const struct estimate one = estimate(c, node->args[i]);
        struct size *of = i % 2 ? &e.item : &e.key;
        e.cost = sum(e.cost, one.cost);
        *of = joined(*of, one.size);
    }
    return e;
}

static struct estimate of_message(struct coster *c, const struct cel_node *node)
{
    struct estimate e = { .cost = MESSAGE_COST };
    for (size_t i = 0; i < node->n; i++)
        e.cost = sum(e.cost, estimate(c, node->args[i]).cost);
    return e;
}

static struct estimate of_choice(struct coster *c, const struct cel_node *node)
{
    const struct estimate a = estimate(c, node->args[1]), b = estimate(c, node->args[2]);
    return (struct estimate){ .cost = sum(estimate(c, node->args[0]).cost, most(a.cost, b.cost)),
                              .size = joined(a.size, b.size),
                              .item = joined(a.item, b.item),
                              .key = joined(a.key, b.key) };
}

/* ---- calls --------------------------------------------------------------------------------------
 */

/* Functions that go through their first argument, so often. */
static const struct {
    const char *name;
    double factor;
    bool same_size; /* the result is as large */
} walks[] = {
    { "url", 0.1, true },
    { "jsonpatch.escapeKey", 0.1, true },
    { "lowerAscii", 0.1, true },
    { "upperAscii", 0.1, true },
    { "substring", 0.1, true },
    { "trim", 0.1, true },
    { "replace", 0.2, true },
    { "split", 0.2, true },
    { "cidr", 0.1, false },
    { "isIP", 0.1, false },
    { "isCIDR", 0.1, false },
    { "ip", 0.1, false },
    { "ip.isCanonical", 0.2, false },
    { "quantity", 0.1, false },
    { "isQuantity", 0.1, false },
    { "semver", 0.1, false },
    { "isSemver", 0.1, false },
    { "bytes", 0.1, true },
    { "format", 0.1, false },
    { "strings.quote", 0.1, true },
    { "isURL", 0.1, false },
};

static bool is_text(const struct cel_node *node)
{
    return node->type && (node->type->kind == CEL_STRING || node->type->kind == CEL_BYTES);
}

/* What replacing gives at most: the most of the shortest is replaced by the longest. */
static struct size replaced(const struct estimate *args)
{
    const uint64_t n = most_of(args[0].size), with = most_of(args[2].size);
    const uint64_t from = args[1].size.known ? args[1].size.least : 0;
    if (from == 0)
        return (struct size){ true, 0, sum(n, product(sum(n, 1), with)) };
    if (with <= from)
        return (struct size){ true, 0, n };
    return (struct size){ true, 0, product(n / from + (n % from != 0), with) };
}

/* Functions over the elements of a list. */
static bool of_elements(const struct cel_node *node, const struct estimate *args,
                        struct estimate *e)
{
    static const char *const names[] = {
        "isSorted", "sum", "min", "max", "indexOf", "lastIndexOf"
    };
    const struct cel_type *type = node->args[0]->type;
    for (size_t i = 0; i < SW_COUNT(names); i++) {
        if (!node->method || !sw_streq(names[i], node->name))
            continue;
        const bool list = type && type->kind == CEL_LIST;
        const bool texts = list && type->a &&
                           (type->a->kind == CEL_STRING || type->a->kind == CEL_BYTES);
        struct estimate item = { .size = args[0].item, .placed = args[0].placed };
        item.schema = sw_json_get(args[0].schema, "items");
        const uint64_t each = texts ? sum(1, walk_text(most_of(sized(item, NULL).size))) : 1;
        e->cost = sum(e->cost, list ? product(most_of(args[0].size), each)
                                    : walk_text(most_of(args[0].size)));
        return true;
    }
    return false;
}

/* Texts that are compared, searched and added. @return whether it is such a call */
static bool of_texts(const struct cel_node *node, const struct estimate *args, struct estimate *e)
{
    static const char *const comparisons[] = { "_<_", "_>_", "_<=_", "_>=_" };
    const char *name = node->name;
    const uint64_t a = most_of(args[0].size), b = node->n > 1 ? most_of(args[1].size) : 0;
    bool compares = sw_streq(name, "_==_") || sw_streq(name, "_!=_");
    for (size_t i = 0; i < SW_COUNT(comparisons); i++)
        compares = compares || (sw_streq(comparisons[i], name) && is_text(node->args[0]));
    if (node->n == 2 && compares) {
        e->cost = sum(e->cost, walk_text(a < b ? a : b));
    } else if (node->n == 2 && (sw_streq(name, "startsWith") || sw_streq(name, "endsWith"))) {
        e->cost = sum(e->cost, walk_text(b));
    } else if (node->n == 2 && sw_streq(name, "contains")) {
        e->cost = sum(e->cost, product(walk_text(a), walk_text(b)));
    } else if (node->n > 1 &&
               (sw_streq(name, "matches") || sw_streq(name, "find") || sw_streq(name, "findAll"))) {
        e->cost = sum(e->cost, product(walk_text(sum(a, 1)), share_of(b, 0.25)));
        if (!sw_streq(name, "matches"))
            e->size = (struct size){ true, 0, a };
    } else if (node->n == 2 && sw_streq(name, "@in") && node->args[1]->type &&
               node->args[1]->type->kind == CEL_LIST) {
        e->cost = sum(e->cost, b);
    } else if (node->n == 2 && sw_streq(name, "_+_") &&
               (is_text(node->args[0]) ||
                (node->args[0]->type && node->args[0]->type->kind == CEL_LIST))) {
        const bool known = args[0].size.known && args[1].size.known;
        e->size = (struct size){ known, sum(args[0].size.least, args[1].size.least), sum(a, b) };
        e->item = joined(args[0].item, args[1].item);
        e->key = joined(args[0].key, args[1].key);
        e->cost = sum(e->cost, is_text(node->args[0]) ? walk_text(sum(a, b)) : 1);
    } else {
        return false;
    }
    return true;
}

/* A text of the elements of a list. */
static void of_join(const struct cel_node *node, const struct estimate *args, struct estimate *e)
{
    const uint64_t n = most_of(args[0].size);
    struct estimate item = { .size = args[0].item, .placed = args[0].placed };
    item.schema = sw_json_get(args[0].schema, "items");
    uint64_t all = product(n, most_of(sized(item, NULL).size));
    if (node->n > 1)
        all = sum(all, product(most_of(args[1].size), n ? n - 1 : 0));
    e->size = (struct size){ true, 0, all };
    e->cost = sum(e->cost, walk_text(all));
}

static struct estimate of_index(const struct cel_node *node, const struct estimate *args,
                                struct estimate e)
{
    const struct cel_type *type = node->args[0]->type;
    const bool list = type && type->kind == CEL_LIST;
    e.cost = sum(e.cost, 1);
    if (!list && !(type && type->kind == CEL_MAP))
        return sized(e, node->type);
    e.size = args[0].item;
    e.placed = args[0].placed;
    e.schema = list ? sw_json_get(args[0].schema, "items") : values_of(args[0].schema);
    return sized(e, node->type);
}

static struct estimate of_call(struct coster *c, const struct cel_node *node)
{
    struct estimate e = { 0 };
    struct estimate *args = sw_arena_alloc(c->cel->arena, (node->n + 1) * sizeof *args);
    for (size_t i = 0; i < node->n; i++) {
        args[i] = estimate(c, node->args[i]);
        e.cost = sum(e.cost, args[i].cost);
    }
    if (sw_streq(node->name, "dyn") && node->n == 1) {
        args[0].cost = sum(args[0].cost, 1);
        return args[0];
    }
    if (sw_streq(node->name, "_[_]"))
        return of_index(node, args, e);
    if (node->n && (of_elements(node, args, &e) || of_texts(node, args, &e)))
        return sized(e, node->type);
    if (sw_streq(node->name, "join") && node->method) {
        of_join(node, args, &e);
        return e;
    }
    if (node->n == 2 && sw_starts_with(node->name, "sets.")) {
        e.cost = sum(e.cost, sum(1, product(most_of(args[0].size), most_of(args[1].size))));
        return sized(e, node->type);
    }
    for (size_t i = 0; node->n && i < SW_COUNT(walks); i++) {
        if (!sw_streq(walks[i].name, node->name))
            continue;
        e.cost = sum(e.cost, share_of(most_of(args[0].size), walks[i].factor));
        if (sw_streq(node->name, "replace") && node->n > 2)
            e.size = replaced(args);
        else if (walks[i].same_size)
            e.size = (struct size){ args[0].size.known, 0, most_of(args[0].size) };
        return sized(e, node->type);
    }
    e.cost = sum(e.cost, 1);
    return sized(e, node->type);
}

/* ---- loops --------------------------------------------------------------------------------------
 */

/* What each turn costs besides the macro's own expressions: to look whether it goes on, and to keep
 * what came of it. */
static uint64_t turn_cost(enum cel_loop loop)
{
    switch (loop) {
    case CEL_ALL:
        return 3; /* not_strictly_false(so_far), so_far && ... */
    case CEL_EXISTS:
        return 4; /* not_strictly_false(!so_far), so_far || ... */
    case CEL_EXISTS_ONE:
        return 2; /* so_far + 1 */
    default:
        return 2 + LIST_COST; /* so_far + [...] */
    }
}

static struct estimate of_loop(struct coster *c, const struct cel_node *node)
{
    const struct estimate range = estimate(c, node->args[0]);
    const struct cel_type *type = node->args[0]->type;
    const bool list = type && type->kind == CEL_LIST,
               optional = node->loop == CEL_OPT_MAP || node->loop == CEL_OPT_FLAT_MAP;
    struct estimate item = { .size = range.item, .placed = range.placed };
    struct estimate key = { .size = range.key, .placed = range.placed && !list, .is_key = true };
    item.schema = optional ? range.schema
                  : list   ? sw_json_get(range.schema, "items")
                           : values_of(range.schema);
    if (list && node->vars[1])
        key.size = exactly(1);
    c->locals[node->slot] = list && !node->vars[1] ? item : optional ? item : key;
    if (node->vars[1])
        c->locals[node->slot + 1] = item;
    struct estimate result = estimate(c, node->result);
    uint64_t turn = result.cost;
    if (node->condition)
        turn = sum(turn, estimate(c, node->condition).cost);
    if (optional)
        return (struct estimate){ .cost = sum(range.cost, sum(turn, 2)) };
    const bool truth = node->loop == CEL_ALL || node->loop == CEL_EXISTS ||
                       node->loop == CEL_EXISTS_ONE;
    if (node->loop == CEL_FILTER)
        turn = sum(turn, 1); /* the element itself */
    turn = sum(turn, turn_cost(node->loop));
    const uint64_t ends = node->loop == CEL_EXISTS_ONE ? 2 : truth ? 1 : 1 + LIST_COST;
    struct estimate e = { .cost = sum(sum(range.cost, ends), product(most_of(range.size), turn)) };
    e.size = truth ? exactly(1) : range.size;
    if (!truth) {
        e.key = exactly(1);
        e.item = joined((struct size){ true, 0, 0 }, node->loop == CEL_FILTER
                                                         ? sized(c->locals[node->slot], NULL).size
                                                         : result.size);
    }
    return e;
}

static struct estimate estimate(struct coster *c, const struct cel_node *node)
{
    struct estimate a, b;
    switch (node->kind) {
    case CEL_CONST:
        return of_constant(node);
    case CEL_IDENT:
        return of_name(c, node);
    case CEL_SELECT:
        return of_field(c, node);
    case CEL_CALL:
        return of_call(c, node);
    case CEL_AND:
    case CEL_OR:
        a = estimate(c, node->args[0]);
        b = estimate(c, node->args[1]);
        return (struct estimate){ .cost = sum(a.cost, b.cost), .size = exactly(1) };
    case CEL_CHOICE:
        return of_choice(c, node);
    case CEL_NEW_LIST:
        return of_list(c, node);
    case CEL_NEW_MAP:
        return of_map(c, node);
    case CEL_NEW_MESSAGE:
        return of_message(c, node);
    case CEL_LOOP:
        return of_loop(c, node);
    case CEL_COMPOSED:
        break;
    }
    return (struct estimate){ .cost = 1 };
}

uint64_t sw_cel_most_cost(const struct sw_cel *cel)
{
    struct coster c = { .cel = cel };
    c.locals = sw_arena_alloc(cel->arena, (cel->n_locals + 2) * sizeof *c.locals);
    return estimate(&c, cel->root).cost;
}
