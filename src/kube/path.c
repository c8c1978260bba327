/* path: request paths and their queries. */
#include <json-c/printbuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/text/percent.h"
#include "kube/internal.h"

static void append_escaped(struct printbuf *pb, const char *text)
{
    SW_AUTO_CHARS *escaped = sw_percent_encode(text, SW_PERCENT_UNRESERVED);
    (void)printbuf_memappend(pb, escaped, (int)strlen(escaped));
}

static char *printbuf_take(struct printbuf *pb)
{
    char *text = sw_strndup(pb->buf, (size_t)pb->bpos);
    printbuf_free(pb);
    return text;
}

static void append_segment(struct printbuf *pb, const char *text)
{
    (void)printbuf_memappend(pb, "/", 1);
    append_escaped(pb, text);
}

char *kube_path(const struct sw_kind *kind, const char *ns, const char *name, const char *sub)
{
    struct printbuf *pb = printbuf_new();
    if (kind->group[0]) {
        printbuf_strappend(pb, "/apis");
        append_segment(pb, kind->group);
    } else {
        printbuf_strappend(pb, "/api");
    }
    append_segment(pb, kind->version);
    if (kind->namespaced && ns && ns[0]) {
        printbuf_strappend(pb, "/namespaces");
        append_segment(pb, ns);
    }
    append_segment(pb, kind->plural);
    if (name)
        append_segment(pb, name);
    if (sub) {
        (void)printbuf_memappend(pb, "/", 1);
        (void)printbuf_memappend(pb, sub, (int)strlen(sub)); /* may be "proxy/path" */
    }
    return printbuf_take(pb);
}

void kube_path_add(char **path, const char *key, const char *value)
{
    if (!value)
        return;
    struct printbuf *pb = printbuf_new();
    (void)sprintbuf(pb, "%s%c%s=", *path, strchr(*path, '?') ? '&' : '?', key);
    append_escaped(pb, value);
    free(*path);
    *path = printbuf_take(pb);
}

void kube_path_add_int(char **path, const char *key, long long value)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%lld", value);
    if (value)
        kube_path_add(path, key, text);
}

char *kube_resource_name(const struct sw_kind *kind, const char *sub)
{
    return sw_printf("%s%s%s%s%s", kind->plural, kind->group[0] ? "." : "", kind->group,
                     sub ? "/" : "", sub ? sub : "");
}
