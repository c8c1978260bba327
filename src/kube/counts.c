/* counts: how many requests of each sort were sent. */
#include <stdio.h>
#include <stdlib.h>

#include "data/text/metrics.h"
#include "kube/internal.h"

struct sw_kube_counts {
    struct sw_kube_count *rows; /* few dozens: searched from the start */
    size_t n_rows;
    size_t cap;
};

struct sw_kube_counts *kube_counts_new(void)
{
    return sw_zalloc(1, sizeof(struct sw_kube_counts));
}

void kube_counts_free(struct sw_kube_counts *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n_rows; i++) {
        free((char *)c->rows[i].verb);
        free((char *)c->rows[i].resource);
    }
    free(c->rows);
    free(c);
}

void kube_counts_add(struct sw_kube_counts *c, const char *verb, const char *resource,
                     int http_status)
{
    for (size_t i = 0; i < c->n_rows; i++) {
        struct sw_kube_count *row = &c->rows[i];
        if (row->http_status == http_status && sw_streq(row->verb, verb) &&
            sw_streq(row->resource, resource)) {
            row->n++;
            return;
        }
    }
    SW_GROW(c->rows, c->n_rows, c->cap);
    c->rows[c->n_rows++] = (struct sw_kube_count){
        .verb = sw_strdup(verb), .resource = sw_strdup(resource), .http_status = http_status, .n = 1
    };
}

void sw_kube_each_count(const struct sw_kube *k,
                        void (*each)(const struct sw_kube_count *count, void *arg), void *arg)
{
    for (size_t i = 0; i < k->counts->n_rows; i++)
        each(&k->counts->rows[i], arg);
}

void sw_kube_put_counts(const struct sw_kube *k, struct sw_metrics *out, const char *name)
{
    for (size_t i = 0; i < k->counts->n_rows; i++) {
        const struct sw_kube_count *row = &k->counts->rows[i];
        char code[12];
        (void)snprintf(code, sizeof code, "%d", row->http_status);
        sw_metrics_add(out, name, row->n, "verb", row->verb, "resource", row->resource, "code",
                       code, NULL);
    }
}

uint64_t sw_kube_n_requests(const struct sw_kube *k, const char *verb, const char *resource)
{
    uint64_t n = 0;
    for (size_t i = 0; i < k->counts->n_rows; i++) {
        const struct sw_kube_count *row = &k->counts->rows[i];
        if ((!verb || sw_streq(verb, row->verb)) &&
            (!resource || sw_streq(resource, row->resource)))
            n += row->n;
    }
    return n;
}
