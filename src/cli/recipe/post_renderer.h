#pragma once
/* post_renderer: a program that manifests go through, as Helm's --post-renderer: its standard input
 * is what was rendered, its standard output what is used instead. Helm's hooks do not go through
 * it. Source: Helm 3.21, pkg/postrender/exec.go. */
#include <stddef.h>

#include "base/base.h"

struct sw_list_arg;

/** Run @program, a path or a name in $PATH, with @args; it reads @text. What it says on standard
 * error is ours. @*out: its output, the caller's.
 * @return 0 | SW_NOTFOUND: there is no such program | SW_UNAVAILABLE: it failed */
int sw_post_render(const char *program, const struct sw_list_arg *args, const char *text,
                   size_t len, char **out, size_t *out_len, struct sw_err *err) SW_CHECKED;
