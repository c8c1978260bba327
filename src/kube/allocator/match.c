#include "data/cel/cel.h"
#include "kube/allocator/internal.h"

#include <assert.h>
#include <string.h>

/* ---- CEL ----------------------------------------------------------------------------------------
 */

/* The value of an attribute: {"string": "gpu"} is "gpu". New. */
static json_object *plain(json_object *attribute)
{
    const char *version = sw_json_str(attribute, NULL, "version", NULL);
    if (version)
        return sw_cel_semver(version);
    if (json_object_is_type(attribute, json_type_object)) {
        json_object_object_foreach(attribute, type, value)
        {
            (void)type;
            return json_object_get(value);
        }
    }
    return NULL;
}

/* Sort what has names like "domain/id" into maps by domain; a name without one is the driver's. */
static json_object *by_domain(json_object *named, const char *driver,
                              json_object *(*value_of)(json_object *value))
{
    json_object *domains = sw_cel_open_map();
    (void)sw_json_need_map(domains, driver, NULL);
    if (!json_object_is_type(named, json_type_object))
        return domains;
    json_object_object_foreach(named, name, value)
    {
        const char *slash = strchr(name, '/');
        SW_AUTO_CHARS *domain = slash ? sw_strndup(name, (size_t)(slash - name))
                                      : sw_strdup(driver);
        sw_json_set(domains, value_of(value), domain, slash ? slash + 1 : name, NULL);
    }
    return domains;
}

static json_object *amount(json_object *capacity)
{
    return sw_cel_quantity(sw_json_str(capacity, "0", "value", NULL));
}

static json_object *as_cel(const struct sw_alloc_device *d)
{
    const char *driver = d->slice->driver;
    json_object *device = json_object_new_object();
    json_object_object_add(device, "driver", json_object_new_string(driver));
    json_object_object_add(device, "allowMultipleAllocations",
                           json_object_new_boolean(d->multiple));
    json_object_object_add(device, "attributes",
                           by_domain(sw_json_get(d->doc, "attributes"), driver, plain));
    json_object_object_add(device, "capacity",
                           by_domain(sw_json_get(d->doc, "capacity"), driver, amount));
    return device;
}

/* What `device` is. */
static const char device_schema[] =
    "{\"type\":\"object\",\"properties\":{\"driver\":{\"type\":\"string\"},"
    "\"allowMultipleAllocations\":{\"type\":\"boolean\"},"
    "\"attributes\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"object\","
    "\"additionalProperties\":{\"x-kubernetes-int-or-string\":true}}},"
    "\"capacity\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"object\","
    "\"additionalProperties\":{\"type\":\"string\",\"format\":\"quantity\"}}}}}";

int sw_allocator_compile(json_object *expression, const struct sw_cel **out, struct sw_err *err)
{
    static json_object *schema; /* a constant, read once */
    SW_ERR(ignored);
    const int rc = schema ? 0
                          : sw_json_parse(device_schema, sizeof device_schema - 1, NULL, &schema,
                                          &ignored);
    assert(rc == 0);
    (void)rc;
    const struct sw_cel_variable device = { "device", SW_CEL_TYPED, schema };
    const struct sw_cel_env env = { .variables = &device, .n_variables = 1 };
    SW_ERR(why);
    if (sw_cel_keep(expression, &env, out, &why) < 0)
        return sw_err_set(err, SW_INVALID, "compilation failed: %s", sw_err_text(&why));
    return sw_cel_may_be(*out, "bool")
               ? 0
               : sw_err_set(err, SW_INVALID, "must evaluate to bool or the unknown type, not %s",
                            sw_cel_type_name(*out));
}

/* @of: "class gpu" or "claim ns/name". @return 1 | 0 | SW_INVALID */
static int selected(struct sw_allocator *a, struct sw_alloc_device *d, json_object *selectors,
                    const char *of)
{
    for (size_t i = 0; i < sw_json_len(selectors); i++) {
        SW_ERR(err);
        const struct sw_cel *selector = NULL;
        json_object *text = sw_json_find(sw_json_at(selectors, i), "cel", "expression", NULL);
        if (sw_allocator_compile(text, &selector, &err) < 0)
            return sw_err_set(a->err, SW_INVALID, "%s: selector #%zu: CEL compile error: %s", of, i,
                              sw_err_text(&err));
        if (!d->cel)
            d->cel = as_cel(d);
        const struct sw_cel_input input = { .values = &d->cel };
        const int rc = sw_cel_holds(selector, &input, NULL, &err);
        if (rc < 0)
            return sw_err_set(a->err, SW_INVALID, "%s: selector #%zu: CEL runtime error: %s", of, i,
                              sw_err_text(&err));
        if (!rc)
            return 0;
    }
    return 1;
}

static int selects(struct sw_allocator *a, json_object *claim, struct sw_alloc_wish *wish,
                   struct sw_alloc_device *d)
{
    SW_AUTO_CHARS *class = sw_printf("class %s",
                                     sw_json_str(wish->class, "", "metadata", "name", NULL));
    SW_AUTO_CHARS *own = sw_printf("claim %s/%s",
                                   sw_json_str(claim, "", "metadata", "namespace", NULL),
                                   sw_json_str(claim, "", "metadata", "name", NULL));
    int rc = selected(a, d, sw_json_find(wish->class, "spec", "selectors", NULL), class);
    if (rc == 1)
        rc = selected(a, d, sw_json_get(wish->doc, "selectors"), own);
    if (rc == 1 && sw_json_bool(d->slice->spec, false, "perDeviceNodeSelection", NULL))
        rc = sw_alloc_is_place(d->doc, a->node);
    return rc;
}

int sw_alloc_selects(struct sw_allocator *a, json_object *claim, struct sw_alloc_wish *wish,
                     struct sw_alloc_device *device)
{
    if (!wish->matches)
        wish->matches = sw_zalloc(a->n_numbers + 1, 1);
    if (wish->matches[device->number])
        return wish->matches[device->number] > 0;
    const int rc = selects(a, claim, wish, device);
    if (rc >= 0)
        wish->matches[device->number] = rc ? 1 : -1;
    return rc;
}

/* ---- taints -------------------------------------------------------------------------------------
 */

static bool tolerates(json_object *toleration, json_object *taint)
{
    const char *effect = sw_json_str(toleration, "", "effect", NULL);
    const char *key = sw_json_str(toleration, "", "key", NULL);
    const char *op = sw_json_str(toleration, "Equal", "operator", NULL);
    if (*effect && !sw_streq(effect, sw_json_str(taint, "", "effect", NULL)))
        return false;
    if (*key && !sw_streq(key, sw_json_str(taint, "", "key", NULL)))
        return false;
    return sw_streq(op, "Exists") ||
           (sw_streq(op, "Equal") && sw_streq(sw_json_str(toleration, "", "value", NULL),
                                              sw_json_str(taint, "", "value", NULL)));
}

bool sw_alloc_is_tainted(const struct sw_alloc_device *device, json_object *wish)
{
    json_object *taints = sw_json_get(device->doc, "taints");
    json_object *tolerations = sw_json_get(wish, "tolerations");
    for (size_t i = 0; i < sw_json_len(taints); i++) {
        json_object *taint = sw_json_at(taints, i);
        const char *effect = sw_json_str(taint, "", "effect", NULL);
        bool tolerated = !sw_streq(effect, "NoSchedule") && !sw_streq(effect, "NoExecute");
        for (size_t k = 0; !tolerated && k < sw_json_len(tolerations); k++)
            tolerated = tolerates(sw_json_at(tolerations, k), taint);
        if (!tolerated)
            return true;
    }
    return false;
}

/* ---- constraints --------------------------------------------------------------------------------
 */

static bool concerns(const struct sw_alloc_constraint *c, const struct sw_alloc_request *request,
                     const struct sw_alloc_wish *wish)
{
    SW_AUTO_CHARS *full = sw_alloc_request_name(request, wish);
    for (size_t i = 0; i < sw_json_len(c->requests); i++) {
        const char *name = json_object_get_string(sw_json_at(c->requests, i));
        if (sw_streq(name, request->name) || sw_streq(name, full))
            return true;
    }
    return sw_json_len(c->requests) == 0;
}

static json_object *attribute_of(const struct sw_alloc_device *d, const char *name)
{
    json_object *attributes = sw_json_get(d->doc, "attributes");
    json_object *found = sw_json_get(attributes, name);
    const char *slash = strchr(name, '/');
    if (found || !slash)
        return found;
    SW_AUTO_CHARS *domain = sw_strndup(name, (size_t)(slash - name));
    return sw_streq(domain, d->slice->driver) ? sw_json_get(attributes, slash + 1) : NULL;
}

/* Of several devices of one request, the last one's value is what others must differ from. */
static bool differs(struct sw_alloc_constraint *c, const char *request, json_object *value)
{
    if (!c->values)
        c->values = json_object_new_object();
    json_object_object_foreach(c->values, name, other)
    {
        (void)name;
        if (c->n_devices && sw_json_equal(other, value))
            return false;
    }
    json_object_object_add(c->values, request, json_object_get(value));
    return true;
}

bool sw_alloc_constraint_add(struct sw_alloc_constraint *c, const struct sw_alloc_request *request,
                             const struct sw_alloc_wish *wish, const struct sw_alloc_device *device)
{
    if (!concerns(c, request, wish))
        return true;
    json_object *value = attribute_of(device, c->attribute);
    if (!value)
        return false;
    if (c->distinct ? !differs(c, request->name, value)
                    : c->n_devices && !sw_json_equal(c->value, value))
        return false;
    if (!c->n_devices)
        c->value = value;
    c->n_devices++;
    return true;
}

void sw_alloc_constraint_remove(struct sw_alloc_constraint *c,
                                const struct sw_alloc_request *request,
                                const struct sw_alloc_wish *wish)
{
    if (!concerns(c, request, wish))
        return;
    c->n_devices--;
    if (c->values)
        json_object_object_del(c->values, request->name);
}
