#pragma once
/* metrics: how metrics are written in Prometheus' text format. */

struct printbuf;

/** The HELP and TYPE lines of the metric @name. */
void metric_head(struct printbuf *out, const char *name, const char *type, const char *help);
/** name="value", with backslash, quote and newline of @value escaped. */
void metric_label(struct printbuf *out, const char *name, const char *value);
