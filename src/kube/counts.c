/* counts: counts requests by verb, resource and status. Each try counts, and each start of a watch.
 */
#include <stdio.h>
#include <stdlib.h>

#include "data/text/metrics.h"
#include "kube/internal.h"

/** Requests with the same verb, resource and status. */
struct count {
    char *verb;      /* get list watch create update patch delete; raw: the method, lower case */
    char *resource;  /* "pods", "pods/log", "nodes/status"; raw: "" */
    int http_status; /* 0: no answer */
    uint64_t n;
};

struct sw_kube_counts {
    struct count *rows; /* a few dozen: searched from the start */
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
        free(c->rows[i].verb);
        free(c->rows[i].resource);
    }
    free(c->rows);
    free(c);
}

void kube_counts_add(struct sw_kube_counts *c, const char *verb, const char *resource,
                     int http_status)
{
    for (size_t i = 0; i < c->n_rows; i++) {
        struct count *row = &c->rows[i];
        if (row->http_status == http_status && sw_streq(row->verb, verb) &&
            sw_streq(row->resource, resource)) {
            row->n++;
            return;
        }
    }
    SW_GROW(c->rows, c->n_rows, c->cap);
    c->rows[c->n_rows++] = (struct count){
        .verb = sw_strdup(verb), .resource = sw_strdup(resource), .http_status = http_status, .n = 1
    };
}

void sw_kube_put_counts(const struct sw_kube *k, struct sw_metrics *out, const char *name)
{
    for (size_t i = 0; i < k->counts->n_rows; i++) {
        const struct count *row = &k->counts->rows[i];
        char code[12];
        (void)snprintf(code, sizeof code, "%d", row->http_status);
        sw_metrics_add(out, name, row->n, "verb", row->verb, "resource", row->resource, "code",
                       code, NULL);
    }
}
