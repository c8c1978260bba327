#include "kube/allocator/internal.h"

/* ---- what a request policy makes of a request ---------------------------------------------------
 */

static bool read(json_object *value, struct sw_quantity *out)
{
    SW_ERR(err);
    return value && sw_quantity_from_json(value, out, &err) == 0;
}

/* At least the range's minimum, and whole steps above it. */
static struct sw_quantity in_range(struct sw_quantity asked, json_object *range)
{
    struct sw_quantity min, step;
    if (!read(sw_json_get(range, "min"), &min))
        return asked;
    if (sw_quantity_cmp(&asked, &min) < 0)
        return min;
    if (!read(sw_json_get(range, "step"), &step) || sw_quantity_value(&step) <= 0)
        return asked;
    const int64_t from = sw_quantity_value(&min), by = sw_quantity_value(&step);
    const int64_t above = sw_quantity_value(&asked) - from;
    struct sw_quantity q = sw_quantity_from_int(from + (above + by - 1) / by * by);
    q.format = SW_QUANTITY_BINARY_SI;
    return q;
}

/* The first of the values, which are sorted, that is not less. */
static struct sw_quantity of_values(struct sw_quantity asked, json_object *values)
{
    struct sw_quantity q;
    for (size_t i = 0; i < sw_json_len(values); i++)
        if (read(sw_json_at(values, i), &q) && sw_quantity_cmp(&asked, &q) <= 0)
            return q;
    return asked;
}

/* What is consumed of a capacity where @asked (NULL: nothing) is asked for. */
static struct sw_quantity consumed_of(json_object *capacity, json_object *asked)
{
    json_object *policy = sw_json_get(capacity, "requestPolicy");
    json_object *range = sw_json_get(policy, "validRange");
    json_object *values = sw_json_get(policy, "validValues");
    struct sw_quantity q = { 0 };
    if (!read(asked, &q)) {
        if (!read(sw_json_get(policy, "default"), &q) && !read(sw_json_get(capacity, "value"), &q))
            q = (struct sw_quantity){ 0 };
        return q;
    }
    if (sw_json_get(range, "min"))
        return in_range(q, range);
    return sw_json_len(values) ? of_values(q, values) : q;
}

static bool is_valid(const struct sw_quantity *q, json_object *policy)
{
    json_object *range = sw_json_get(policy, "validRange");
    json_object *values = sw_json_get(policy, "validValues");
    struct sw_quantity other;
    if (read(sw_json_get(policy, "default"), &other) && sw_quantity_cmp(q, &other) == 0)
        return true;
    if (range) {
        struct sw_quantity min = { 0 };
        if (read(sw_json_get(range, "max"), &other) && sw_quantity_cmp(q, &other) > 0)
            return false;
        if (!read(sw_json_get(range, "step"), &other) || sw_quantity_value(&other) <= 0)
            return true;
        (void)read(sw_json_get(range, "min"), &min);
        return (sw_quantity_value(q) - sw_quantity_value(&min)) % sw_quantity_value(&other) == 0;
    }
    for (size_t i = 0; i < sw_json_len(values); i++)
        if (read(sw_json_at(values, i), &other) && sw_quantity_cmp(q, &other) == 0)
            return true;
    return sw_json_len(values) == 0;
}

/* ---- devices ------------------------------------------------------------------------------------
 */

static void add_all(struct sw_quantity *sum, json_object *list, const char *name)
{
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct sw_quantity q;
        if (read(sw_json_get(sw_json_at(list, i), name), &q))
            sum->nano += q.nano;
    }
}

bool sw_alloc_capacity_fits(const struct sw_alloc_device *device, json_object *wish)
{
    json_object *asked = sw_json_find(wish, "capacity", "requests", NULL);
    json_object *has = sw_json_get(device->doc, "capacity");
    if (json_object_is_type(asked, json_type_object)) {
        json_object_object_foreach(asked, name, value)
        {
            (void)value;
            if (!sw_json_get(has, name))
                return false;
        }
    }
    if (!json_object_is_type(has, json_type_object))
        return true;
    json_object_object_foreach(has, name, capacity)
    {
        struct sw_quantity sum = consumed_of(capacity, sw_json_get(asked, name)), limit = { 0 };
        if (!is_valid(&sum, sw_json_get(capacity, "requestPolicy")))
            return false;
        add_all(&sum, device->consumed, name);
        add_all(&sum, device->allocating, name);
        if (read(sw_json_get(capacity, "value"), &limit) && sw_quantity_cmp(&sum, &limit) > 0)
            return false;
    }
    return true;
}

json_object *sw_alloc_capacity_of(const struct sw_alloc_device *device, json_object *wish)
{
    json_object *asked = sw_json_find(wish, "capacity", "requests", NULL);
    json_object *has = sw_json_get(device->doc, "capacity"), *map = json_object_new_object();
    if (!json_object_is_type(has, json_type_object))
        return map;
    json_object_object_foreach(has, name, capacity)
    {
        char text[64];
        struct sw_quantity q = consumed_of(capacity, sw_json_get(asked, name));
        json_object_object_add(map, name, json_object_new_string(sw_quantity_text(&q, text)));
    }
    return map;
}
