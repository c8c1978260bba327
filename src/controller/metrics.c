/* SRO's metrics under their names, read off the statuses at the moment of the question. */
#include "controller/internal.h"

#include <json-c/printbuf.h>
#include <stdlib.h>
#include <string.h>

/* Prometheus' label values: backslash, quote and newline are escaped. */
static void put_label(struct printbuf *out, const char *name, const char *value)
{
    sprintbuf(out, "%s=\"", name);
    for (; *value; value++) {
        if (*value == '\n')
            (void)printbuf_memappend(out, "\\n", 2);
        else if (*value == '"' || *value == '\\')
            sprintbuf(out, "\\%c", *value);
        else
            (void)printbuf_memappend(out, value, 1);
    }
    (void)printbuf_memappend(out, "\"", 1);
}

static void put_head(struct printbuf *out, const char *name, const char *type, const char *help)
{
    sprintbuf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static size_t count_resources(const struct sw_controller *c)
{
    size_t n = 0;
    for (const struct resource *r = c->resources; r; r = r->next)
        n++;
    return n;
}

static void put_states(struct printbuf *out, const char *resource, struct json_object *status)
{
    struct json_object *states = sw_json_get(status, "states");
    for (size_t i = 0; i < sw_json_len(states); i++) {
        struct json_object *s = sw_json_at(states, i);
        (void)printbuf_memappend(out, "sro_states_completed_info{", 26);
        put_label(out, "specialresource", resource);
        (void)printbuf_memappend(out, ",", 1);
        put_label(out, "state", sw_json_str(s, "", "name", NULL));
        sprintbuf(out, "} %d\n", sw_streq(sw_json_str(s, "", "phase", NULL), "Ready"));
    }
}

static bool state_is_ready(struct json_object *status, const char *name)
{
    struct json_object *s = sw_json_find_by(sw_json_get(status, "states"), "name", name);
    return !s || sw_streq(sw_json_str(s, "", "phase", NULL), "Ready");
}

/* The inventory, one series an object: what is of a Ready state is completed. */
static void put_objects(struct printbuf *out, const char *resource, struct json_object *status)
{
    struct json_object *list = sw_json_get(status, "inventory");
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *o = sw_json_at(list, i);
        (void)printbuf_memappend(out, "sro_kind_completed_info{", 24);
        put_label(out, "specialresource", resource);
        (void)printbuf_memappend(out, ",", 1);
        put_label(out, "kind", sw_json_str(o, "", "kind", NULL));
        (void)printbuf_memappend(out, ",", 1);
        put_label(out, "name", sw_json_str(o, "", "name", NULL));
        (void)printbuf_memappend(out, ",", 1);
        put_label(out, "namespace", sw_json_str(o, "", "namespace", NULL));
        sprintbuf(out, "} %d\n", state_is_ready(status, sw_json_str(o, "", "state", NULL)));
    }
}

static void put_request(const struct sw_kube_count *count, void *arg)
{
    struct printbuf *out = arg;
    (void)printbuf_memappend(out, "slipway_requests_total{", 23);
    put_label(out, "verb", count->verb);
    (void)printbuf_memappend(out, ",", 1);
    put_label(out, "resource", count->resource);
    sprintbuf(out, ",code=\"%d\"} %llu\n", count->http_status, (unsigned long long)count->n);
}

char *sw_controller_metrics(struct sw_controller *c)
{
    struct printbuf *out = printbuf_new(), *objects = printbuf_new();
    put_head(out, "sro_managed_resources_total", "gauge", "SpecialResources that are looked after");
    sprintbuf(out, "sro_managed_resources_total %zu\n", count_resources(c));
    put_head(out, "sro_states_completed_info", "gauge",
             "1 for a state that is Ready, 0 for others");
    put_head(objects, "sro_kind_completed_info", "gauge",
             "1 for an applied object whose state is Ready");
    for (struct resource *r = c->resources; r; r = r->next) {
        SW_AUTO_JSON *status = sw_controller_status(c, r->name);
        put_states(out, r->name, status);
        put_objects(objects, r->name, status);
    }
    (void)printbuf_memappend(out, objects->buf, objects->bpos);
    put_head(out, "slipway_nodes", "gauge", "Nodes of the cluster");
    sprintbuf(out, "slipway_nodes %zu\n", sw_roster_count(c->roster));
    put_head(out, "slipway_requests_total", "counter", "Requests sent to the API server");
    sw_kube_each_count(c->kube, put_request, out);
    char *text = sw_strndup(out->buf, (size_t)out->bpos);
    printbuf_free(out);
    printbuf_free(objects);
    return text;
}
