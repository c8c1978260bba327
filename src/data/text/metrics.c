#include "data/text/metrics.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "data/text/number.h"

static void put(struct sw_metrics *m, const char *text)
{
    sw_buffer_put(&m->text, text, strlen(text));
}

static void put_label_value(struct sw_metrics *m, const char *value)
{
    for (; *value; value++) {
        if (*value == '\n') {
            put(m, "\\n");
            continue;
        }
        if (*value == '"' || *value == '\\')
            sw_buffer_char(&m->text, '\\');
        sw_buffer_char(&m->text, *value);
    }
}

void sw_metrics_head(struct sw_metrics *m, const char *name, const char *type, const char *help)
{
    SW_AUTO_CHARS *text = sw_printf("# HELP %s%s %s\n# TYPE %s%s %s\n", m->prefix, name, help,
                                    m->prefix, name, type);
    put(m, text);
}

/* "<prefix><name><suffix>{<labels>} " */
static void put_series(struct sw_metrics *m, const char *name, const char *suffix, va_list labels)
{
    const char *before = "{";
    put(m, m->prefix);
    put(m, name);
    put(m, suffix);
    for (const char *label; (label = va_arg(labels, const char *)); before = ",") {
        put(m, before);
        put(m, label);
        put(m, "=\"");
        put_label_value(m, va_arg(labels, const char *));
        put(m, "\"");
    }
    put(m, *before == '{' ? " " : "} ");
}

static void put_count(struct sw_metrics *m, uint64_t value)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64 "\n", value);
    put(m, text);
}

static void put_real(struct sw_metrics *m, int decimals, double value)
{
    SW_AUTO_CHARS *text = sw_printf("%.*f\n", decimals, value);
    put(m, text);
}

void sw_metrics_add(struct sw_metrics *m, const char *name, uint64_t value, ...)
{
    va_list labels;
    va_start(labels, value);
    put_series(m, name, "", labels);
    va_end(labels);
    put_count(m, value);
}

void sw_metrics_add_real(struct sw_metrics *m, const char *name, int decimals, double value, ...)
{
    va_list labels;
    va_start(labels, value);
    put_series(m, name, "", labels);
    va_end(labels);
    put_real(m, decimals, value);
}

void sw_metrics_one(struct sw_metrics *m, const char *name, const char *type, const char *help,
                    uint64_t value)
{
    sw_metrics_head(m, name, type, help);
    sw_metrics_add(m, name, value, NULL);
}

void sw_histogram_observe(struct sw_histogram *h, const struct sw_histogram_bounds *bounds,
                          double value)
{
    size_t i = 0;
    while (i < bounds->n && value > bounds->le[i])
        i++;
    h->buckets[i]++;
    h->sum += value;
}

__attribute__((sentinel)) static void series(struct sw_metrics *m, const char *name,
                                             const char *suffix, ...)
{
    va_list labels;
    va_start(labels, suffix);
    put_series(m, name, suffix, labels);
    va_end(labels);
}

void sw_metrics_add_histogram(struct sw_metrics *m, const char *name, const struct sw_histogram *h,
                              const struct sw_histogram_bounds *bounds, const char *label,
                              const char *label_value)
{
    uint64_t n = 0;
    for (size_t i = 0; i <= bounds->n; i++) {
        char le[SW_FLOAT_LEN] = "+Inf";
        n += h->buckets[i];
        if (i < bounds->n)
            (void)sw_float_json(bounds->le[i], le);
        series(m, name, "_bucket", label ? label : "le", label ? label_value : le,
               label ? "le" : NULL, le, NULL);
        put_count(m, n);
    }
    series(m, name, "_sum", label, label_value, NULL);
    put_real(m, bounds->sum_decimals, h->sum);
    series(m, name, "_count", label, label_value, NULL);
    put_count(m, n);
}

char *sw_metrics_names(const char *names, size_t most, size_t *n)
{
    size_t len = 0;
    *n = *names != '\0';
    for (const char *c = names; *c; c++)
        if (*c == ',' && (*n)++ == most)
            len = (size_t)(c - names);
    return len ? sw_printf("%.*s,...", (int)len, names) : sw_strdup(names);
}

char *sw_metrics_take(struct sw_metrics *m, size_t *len_bytes)
{
    return sw_buffer_take(&m->text, len_bytes);
}
