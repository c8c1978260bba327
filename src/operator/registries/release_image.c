/* Reading a release image: three files of two images, one after another. */
#include "operator/registries/release_image.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "data/json/stream.h"
#include "operator/facts/facts.h"
#include "operator/registries/registries.h"

enum { MAX_DOC_BYTES = 2 << 20, MAX_TREE_BYTES = 16 << 20 };

struct sw_release_image_read {
    struct sw_registries *registries;
    sw_release_image_fn *fn;
    void *arg;
    char *image, *platform;
    struct sw_image_question *question;
    struct json_object *metadata, *references, *toolkit;
    char *toolkit_image;
};

void sw_release_image_close(struct sw_release_image_read *l)
{
    if (!l)
        return;
    sw_image_question_close(l->question);
    json_object_put(l->metadata);
    json_object_put(l->references);
    json_object_put(l->toolkit);
    free(l->toolkit_image);
    free(l->image);
    free(l->platform);
    free(l);
}

static struct json_object *tag_of(const struct sw_release_image_read *l, const char *name)
{
    return sw_json_find_by(sw_json_find(l->references, "spec", "tags", NULL), "name", name);
}

static void answer(struct sw_release_image_read *l, int code, const char *message)
{
    static const char *const names[] = { "machine-os-content", "rhel-coreos" };
    const char *os_at = NULL; /* in "machine-os=410.84.202205191234-0,other=1" */
    for (size_t i = 0; !os_at && i < SW_COUNT(names); i++)
        os_at = strstr(sw_json_str(tag_of(l, names[i]), "", "annotations",
                                   "io.openshift.build.versions", NULL),
                       "machine-os=");
    SW_AUTO_CHARS *os = os_at ? sw_strndup(os_at + 11, strcspn(os_at + 11, ", ")) : sw_strdup("");
    SW_AUTO_CHARS *copy = sw_strdup(message);
    struct sw_release_image p = {
        .version = sw_json_str(l->metadata, "", "version", NULL),
        .os_version = os,
        .toolkit_image = l->toolkit_image ? l->toolkit_image : "",
        .kernel = sw_json_str(l->toolkit, "", "KERNEL_VERSION", NULL),
        .rt_kernel = sw_json_str(l->toolkit, "", "RT_KERNEL_VERSION", NULL),
        .rhel_version = sw_json_str(l->toolkit, "", "RHEL_VERSION", NULL),
    };
    l->fn(code, copy, code == 0 ? &p : NULL, l->arg); /* may close l */
}

/* ---- steps -------------------------------------------------------------------------------------
 */

static void open_file(struct sw_release_image_read *l, const char *image, const char *path,
                      bool last_only, sw_image_fn *fn)
{
    l->question = sw_registries_ask(l->registries,
                                    &(struct sw_image_ask){ .image = image,
                                                            .platform = l->platform,
                                                            .scope = SW_ACCESS_ALL,
                                                            .path = path,
                                                            .last_layer_only = last_only,
                                                            .max_bytes = MAX_DOC_BYTES },
                                    fn, l);
}

static int keep(void *arg, const char *type SW_UNUSED, struct json_object *object,
                struct sw_err *err SW_UNUSED)
{
    *(struct json_object **)arg = json_object_get(object);
    return 0;
}

/* Whoever names the image wrote it: a text of 1 MiB may be a tree of 200. */
static int parse(const struct sw_image_answer *a, const char *path, struct json_object **to,
                 struct sw_err *err)
{
    SW_AUTO_JSON *doc = NULL;
    SW_AUTO(sw_stream) *stream = sw_stream_new(
        &(struct sw_stream_opts){ .kind = SW_STREAM_OBJECT, .max_tree_bytes = MAX_TREE_BYTES },
        keep, &doc);
    int rc = sw_stream_feed(stream, a->bytes, a->len, err);
    if (rc == 0)
        rc = sw_stream_end(stream, err);
    if (rc < 0)
        return sw_err_wrap(err, SW_INVALID, "%s", path);
    if (sw_stream_is_stripped(doc))
        return sw_err_set(err, SW_INVALID, "%s: it takes more than %d MiB of memory", path,
                          MAX_TREE_BYTES >> 20);
    *to = SW_TAKE(doc);
    return 0;
}

static bool take(struct sw_release_image_read *l, const struct sw_image_answer *a, const char *path,
                 struct json_object **to)
{
    SW_ERR(err);
    l->question = NULL;
    int rc = a->code;
    if (rc < 0)
        (void)sw_err_set(&err, rc, "%s", a->message);
    else
        rc = parse(a, path, to, &err);
    if (rc < 0)
        answer(l, rc, sw_err_text(&err));
    return rc == 0;
}

static void on_toolkit(const struct sw_image_answer *a, void *arg)
{
    struct sw_release_image_read *l = arg;
    if (take(l, a, SW_TOOLKIT_FILE, &l->toolkit))
        answer(l, 0, NULL);
}

#define METADATA "release-manifests/release-metadata"
#define REFERENCES "release-manifests/image-references"

static void on_metadata(const struct sw_image_answer *a, void *arg)
{
    struct sw_release_image_read *l = arg;
    if (!take(l, a, METADATA, &l->metadata))
        return;
    const char *image = sw_json_str(tag_of(l, "driver-toolkit"), "", "from", "name", NULL);
    l->toolkit_image = sw_strdup(image);
    if (*image) {
        open_file(l, image, SW_TOOLKIT_FILE, true, on_toolkit);
        return;
    }
    SW_AUTO_CHARS *message = sw_printf("%s: its image-references name no driver-toolkit", l->image);
    answer(l, SW_NOTFOUND, message);
}

static void on_references(const struct sw_image_answer *a, void *arg)
{
    struct sw_release_image_read *l = arg;
    if (take(l, a, REFERENCES, &l->references))
        open_file(l, l->image, METADATA, false, on_metadata);
}

static struct sw_release_image_read *new_read(struct sw_registries *registries, const char *image,
                                              const char *arch, sw_release_image_fn *fn, void *arg)
{
    struct sw_release_image_read *l = sw_zalloc(1, sizeof *l);
    *l = (struct sw_release_image_read){ .registries = registries,
                                         .fn = fn,
                                         .arg = arg,
                                         .image = sw_strdup(image),
                                         .platform = sw_printf("linux/%s", arch ? arch : "amd64") };
    return l;
}

struct sw_release_image_read *sw_release_image_open(struct sw_registries *registries,
                                                    const char *image, const char *arch,
                                                    sw_release_image_fn *fn, void *arg)
{
    struct sw_release_image_read *l = new_read(registries, image, arch, fn, arg);
    open_file(l, l->image, REFERENCES, false, on_references);
    return l;
}

struct sw_release_image_read *sw_release_image_open_toolkit(struct sw_registries *registries,
                                                            const char *image, const char *arch,
                                                            sw_release_image_fn *fn, void *arg)
{
    struct sw_release_image_read *l = new_read(registries, image, arch, fn, arg);
    l->toolkit_image = sw_strdup(image);
    open_file(l, l->image, SW_TOOLKIT_FILE, true, on_toolkit);
    return l;
}

/* ---- as facts ----------------------------------------------------------------------------------
 */

/* ".el8_4" in a kernel's name is RHEL 8.4. The caller's; "" where it does not say. */
static char *os_of_kernel(const char *kernel)
{
    const char *el = strstr(kernel, ".el");
    if (!el)
        return sw_strdup("");
    const char *at = el + 3;
    size_t major = strspn(at, "0123456789");
    size_t minor = at[major] == '_' ? strspn(at + major + 1, "0123456789") : 0;
    return sw_printf("%.*s%s%.*s", (int)major, at, minor ? "." : "", (int)minor, at + major + 1);
}

static void put_node(struct sw_facts *facts, const char *kernel, const char *os, const char *arch)
{
    SW_AUTO_JSON *doc = json_object_new_object();
    SW_AUTO_CHARS *image = sw_printf("Red Hat Enterprise Linux %s", os);
    sw_json_set_str(doc, "target", "metadata", "name", NULL);
    sw_json_set_str(doc, kernel, "status", "nodeInfo", "kernelVersion", NULL);
    sw_json_set_str(doc, arch, "status", "nodeInfo", "architecture", NULL);
    sw_json_set_str(doc, image, "status", "nodeInfo", "osImage", NULL);
    if (*os) {
        sw_json_set_str(doc, "rhel", "metadata", "labels",
                        "feature.node.kubernetes.io/system-os_release.ID", NULL);
        sw_json_set_str(doc, os, "metadata", "labels",
                        "feature.node.kubernetes.io/system-os_release.VERSION_ID", NULL);
    }
    struct sw_node *node = sw_node_parse(doc);
    (void)sw_facts_put_node(facts, node);
    sw_node_free(node);
}

static size_t source_of(const char *kind)
{
    size_t i = 0;
    while (sw_facts_sources[i].kind && !sw_streq(sw_facts_sources[i].kind, kind))
        i++;
    return i;
}

static void put_payload(struct sw_facts *facts, const struct sw_release_image *p)
{
    SW_AUTO_JSON *version = json_object_new_object(), *stream = json_object_new_object();
    sw_facts_set_openshift(facts, true);
    sw_json_set_str(version, p->version, "status", "desired", "version", NULL);
    (void)sw_facts_put_source(facts, source_of("ClusterVersion"), version);
    if (!*p->toolkit_image)
        return;
    struct json_object *tag = json_object_new_object(), *item = json_object_new_object();
    sw_json_set_str(tag, "latest", "tag", NULL);
    sw_json_set_str(item, p->toolkit_image, "dockerImageReference", NULL);
    (void)json_object_array_add(sw_json_need_list(tag, "items", NULL), item);
    (void)json_object_array_add(sw_json_need_list(stream, "status", "tags", NULL), tag);
    (void)sw_facts_put_source(facts, source_of("ImageStream"), stream);
    struct sw_toolkit toolkit = { p->kernel, p->rt_kernel, p->rhel_version };
    (void)sw_facts_put_toolkit(facts, p->toolkit_image, &toolkit, NULL);
}

struct sw_facts *sw_release_image_facts(const struct sw_release_image *payload, const char *kernel,
                                        const char *os, const char *arch)
{
    struct sw_facts *facts = sw_facts_new();
    const char *runs = kernel ? kernel : payload ? payload->kernel : "";
    SW_AUTO_CHARS *guess = os_of_kernel(runs);
    const char *said = payload ? payload->rhel_version : "";
    put_node(facts, runs, os ? os : *said ? said : guess, arch ? arch : "amd64");
    if (payload)
        put_payload(facts, payload);
    return facts;
}

struct json_object *sw_release_image_module_values(const struct sw_release_image *payload,
                                                   struct sw_facts *facts,
                                                   struct json_object *module)
{
    struct sw_groups groups;
    sw_facts_groups(facts, NULL, NULL, &groups);
    struct json_object *values = sw_facts_values(facts,
                                                 &(struct sw_facts_ask){ .groups = &groups });
    sw_groups_done(&groups);
    sw_json_set_str(values, payload->rhel_version, "operatingSystem", NULL);
    sw_json_set_str(values, payload->rt_kernel, "rtKernelFullVersion", NULL);
    sw_json_set_str(values, payload->version, "openShiftVersion", NULL);
    struct json_object *doc = sw_json_copy(module);
    (void)sw_json_del(doc, "status", NULL);
    (void)sw_json_del(doc, "metadata", "resourceVersion", NULL);
    (void)sw_json_del(doc, "metadata", "managedFields", NULL);
    sw_json_set(values, doc, "specialResourceModule", NULL);
    return values;
}
