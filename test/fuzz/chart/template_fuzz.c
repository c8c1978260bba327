/* Any bytes as a template: it is refused, or executed within its limits. */
#include <stdint.h>

#include "chart/template/template.h"

static struct sw_value values(struct sw_arena *arena)
{
    static const char yaml[] = "{s: text, n: 3, f: 1.5, b: true, z: null, l: [1, two, {three: 3}], "
                               "m: {a: {b: c}, x: ''}}";
    struct sw_value v = sw_value_nil();
    SW_ERR(err);
    int rc = sw_value_from_yaml(arena, "values.yaml", yaml, sizeof yaml - 1, &v, &err);
    return rc < 0 ? sw_value_nil() : v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char name[] = "c/templates/t.yaml", partial[] = "c/templates/_h.tpl";
    static const char helpers[] = "{{ define \"h\" }}{{ . }}{{ end }}";
    static const struct sw_template_release release = { .name = "r", .namespace = "n" };
    static const struct sw_template_caps caps = { .kube_version = "v1.29.3" };
    static const struct sw_template_file files[] = { { "conf/a", "1\n2\n", 4 } };
    static const struct sw_template_opts opts = { .fuel = 20000,
                                                  .max_output_bytes = 1 << 16,
                                                  .max_memory_bytes = 8 << 20,
                                                  .now_ns = 1,
                                                  .seed = 1 };
    SW_AUTO(sw_template_set) *set = sw_template_set_new();
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    struct sw_template_out out = { 0 };
    SW_ERR(err);
    const struct sw_template_root root = {
        .values = values(arena),
        .chart = sw_value_map(sw_map_new(arena)),
        .is_root = true,
        .release = sw_template_release_value(arena, &release),
        .caps = sw_template_caps_value(arena, &caps),
        .files = files,
        .n_files = 1,
    };
    int rc = sw_template_add(set, partial, helpers, sizeof helpers - 1, &err);
    if (rc == 0)
        rc = sw_template_add(set, name, (const char *)data, size, &err);
    if (rc == 0 && sw_template_exec(set, name, sw_template_root_value(arena, &root), arena, &opts,
                                    &out, &err) < 0)
        out.len = 0;
    sw_template_out_done(&out);
    return 0;
}
