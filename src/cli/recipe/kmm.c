#include "cli/recipe/kmm.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "chart/template/go/regex.h"
#include "data/data.h"
#include "operator/engine/nodes/node_set.h"

#define GROUP_VERSION "kmm.sigs.x-k8s.io/v1beta1"

/* ---- the fields of a Module --------------------------------------------------------------------
 */

#define TLS(path) path ".insecure", path ".insecureSkipTLSVerify"
#define BUILD(path)                                                                                \
    path ".buildArgs[].name", path ".buildArgs[].value", path ".dockerfileConfigMap.name",         \
        path ".secrets[].name", path ".kanikoParams.tag", path ".selector.*",                      \
        TLS(path ".baseImageRegistryTLS")
#define SIGN(path)                                                                                 \
    path ".unsignedImage", path ".keySecret.name", path ".certSecret.name", path ".filesToSign[]", \
        TLS(path ".unsignedImageRegistryTLS")
#define IMAGE(path)                                                                                \
    path ".containerImage", path ".inTreeModuleToRemove", path ".inTreeModulesToRemove[]",         \
        TLS(path ".registryTLS"), BUILD(path ".build"), SIGN(path ".sign")
#define CONTAINER(path)                                                                            \
    path ".command[]", path ".args[]", path ".env.*", path ".image", path ".imagePullPolicy",      \
        path ".resources.*", path ".volumeMounts.*"
#define PLUGIN(path)                                                                               \
    CONTAINER(path ".container"), CONTAINER(path ".initContainer"), path ".serviceAccountName",    \
        path ".volumes.*", path ".automountServiceAccountToken"
#define LOADER ".moduleLoader.container"
#define MODPROBE LOADER ".modprobe"

/* "[]": of each item; ".*": whatever is in it. */
static const char *const fields[] = {
    ".selector.*",
    ".tolerations.*",
    ".imageRepoSecret.name",
    ".imageRebuildTriggerGeneration",
    ".moduleLoader.serviceAccountName",
    IMAGE(LOADER),
    LOADER ".version",
    LOADER ".imagePullPolicy",
    LOADER ".kernelMappings[].literal",
    LOADER ".kernelMappings[].regexp",
    IMAGE(LOADER ".kernelMappings[]"),
    MODPROBE ".moduleName",
    MODPROBE ".parameters[]",
    MODPROBE ".dirName",
    MODPROBE ".args.load[]",
    MODPROBE ".args.unload[]",
    MODPROBE ".rawArgs.load[]",
    MODPROBE ".rawArgs.unload[]",
    MODPROBE ".firmwarePath",
    MODPROBE ".modulesLoadingOrder[]",
    PLUGIN(".devicePlugin"),
    PLUGIN(".dra"),
    ".dra.driverName",
    ".dra.deviceClasses[].name",
    ".dra.deviceClasses[].selectors.*",
    ".dra.deviceClasses[].config.*",
};

enum found { UNKNOWN, INNER, LEAF, ANYTHING };

static enum found find_field(const char *path)
{
    size_t len = strlen(path);
    for (size_t i = 0; i < SW_COUNT(fields); i++) {
        if (strncmp(fields[i], path, len) != 0)
            continue;
        if (sw_streq(fields[i] + len, ".*"))
            return ANYTHING;
        if (!fields[i][len])
            return LEAF;
        if (fields[i][len] == '.' || fields[i][len] == '[')
            return INNER;
    }
    return UNKNOWN;
}

/* What is read: places in messages are "FILE: Module NAME: spec.x[0].y". */
struct reader {
    const char *file;
    const char *name;
    struct json_object *spec;
    struct sw_kmm_recipe *out;
    struct sw_err *err;
};

static int __attribute__((format(printf, 3, 4)))
bad(const struct reader *r, const char *field, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *text = sw_vprintf(fmt, ap);
    va_end(ap);
    return sw_err_set(r->err, SW_INVALID, "%s: Module '%s': spec%s: %s", r->file, r->name, field,
                      text);
}

/* @path: the field as in @fields; @shown: with the numbers of items. */
static int check_fields(const struct reader *r, struct json_object *doc, const char *path,
                        const char *shown)
{
    enum found found = *path ? find_field(path) : INNER;
    int rc = 0;
    if (found == UNKNOWN)
        return bad(r, shown, "a recipe has nothing for this field");
    if (found == ANYTHING || !doc)
        return 0;
    bool is_map = json_object_is_type(doc, json_type_object),
         is_list = json_object_is_type(doc, json_type_array);
    if (found == LEAF && (is_map || is_list))
        return bad(r, shown, "expected a single value");
    if (found == INNER && !is_map && !is_list)
        return bad(r, shown, "expected a map or a list");
    for (size_t i = 0; is_list && rc == 0 && i < sw_json_len(doc); i++) {
        SW_AUTO_CHARS *inner = sw_printf("%s[]", path);
        SW_AUTO_CHARS *place = sw_printf("%s[%zu]", shown, i);
        rc = check_fields(r, sw_json_at(doc, i), inner, place);
    }
    if (!is_map)
        return rc;
    json_object_object_foreach(doc, key, value)
    {
        SW_AUTO_CHARS *inner = sw_printf("%s.%s", path, key);
        SW_AUTO_CHARS *place = sw_printf("%s.%s", shown, key);
        rc = rc < 0 ? rc : check_fields(r, value, inner, place);
    }
    return rc;
}

/* ---- what they may say -------------------------------------------------------------------------
 */

/* "$NAME" and "${NAME}" stand for what is known of a kernel and of the Module. */
static int check_text(const struct reader *r, const char *field, const char *text)
{
    static const char *const words[] = { "KERNEL_FULL_VERSION",
                                         "KERNEL_VERSION",
                                         "KERNEL_XYZ",
                                         "KERNEL_X",
                                         "KERNEL_Y",
                                         "KERNEL_Z",
                                         "MOD_NAME",
                                         "MOD_NAMESPACE" };
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    for (const char *at = text; (at = strchr(at, '$')); at++) {
        bool braces = at[1] == '{';
        const char *word = at + 1 + braces;
        size_t len = strspn(word, letters), i = 0;
        while (i < SW_COUNT(words) && (strlen(words[i]) != len || memcmp(words[i], word, len) != 0))
            i++;
        if (i == SW_COUNT(words) || (braces && word[len] != '}'))
            return bad(r, field,
                       "'%.*s' is none of ${KERNEL_FULL_VERSION}, ${KERNEL_VERSION}, "
                       "${KERNEL_XYZ}, ${KERNEL_X}, ${KERNEL_Y}, ${KERNEL_Z}, ${MOD_NAME} and "
                       "${MOD_NAMESPACE}",
                       (int)(braces ? strcspn(at, "}") + 1 : len + 1), at);
    }
    return 0;
}

static int check_image(const struct reader *r, const char *field, const char *image)
{
    if (!strchr(image, ':') && !strchr(image, '@'))
        return bad(r, field, "'%s' has neither a tag nor a digest", image);
    return check_text(r, field, image);
}

static void need(const struct reader *r, const char *kind, const char *name)
{
    SW_AUTO_CHARS *text = sw_printf("%s %s", kind, name);
    for (size_t i = 0; i < sw_json_len(r->out->needs); i++)
        if (sw_streq(sw_json_str(sw_json_at(r->out->needs, i), "", NULL), text))
            return;
    (void)json_object_array_add(r->out->needs, json_object_new_string(text));
}

static void note(const struct reader *r, const char *text)
{
    (void)json_object_array_add(r->out->notes, json_object_new_string(text));
}

/* A field "name" of @doc that has to be there: of the object of @kind that is needed. */
static int need_named(const struct reader *r, struct json_object *doc, const char *field,
                      const char *key, const char *kind)
{
    const char *name = sw_json_str(doc, "", key, "name", NULL);
    SW_AUTO_CHARS *place = sw_printf("%s.%s.name", field, key);
    if (!*name)
        return bad(r, place, "it is missing");
    need(r, kind, name);
    return 0;
}

/* @usual: the container's own, whose fields count where @doc has none; or NULL. */
static int check_build(const struct reader *r, struct json_object *doc, struct json_object *usual,
                       const char *field)
{
    if (!doc && !usual)
        return 0;
    struct json_object *both[] = { usual, doc };
    bool has_file = sw_json_get(doc, "dockerfileConfigMap");
    for (size_t b = 0; b < SW_COUNT(both); b++) {
        struct json_object *secrets = sw_json_get(both[b], "secrets");
        for (size_t i = 0; i < sw_json_len(secrets); i++)
            need(r, "Secret", sw_json_str(sw_json_at(secrets, i), "", "name", NULL));
        if (sw_json_get(both[b], "kanikoParams") && sw_json_len(r->out->notes) == 0)
            note(r, "build.kanikoParams is left out: images are built with buildah");
    }
    return need_named(r, has_file || !usual ? doc : usual, field, "dockerfileConfigMap",
                      "ConfigMap");
}

static int check_files(const struct reader *r, struct json_object *sign, const char *field,
                       const char *dir)
{
    struct json_object *files = sw_json_get(sign, "filesToSign");
    SW_AUTO_CHARS *below = sw_printf("%s/", dir);
    int rc = 0;
    if (sign && !sw_json_len(files))
        return bad(r, field, "filesToSign is missing");
    for (size_t i = 0; rc == 0 && i < sw_json_len(files); i++) {
        const char *file = sw_json_str(sw_json_at(files, i), "", NULL);
        SW_AUTO_CHARS *place = sw_printf("%s.filesToSign[%zu]", field, i);
        rc = sw_starts_with(file, below) ? check_text(r, place, file)
                                         : bad(r, place, "'%s' is not below '%s'", file, dir);
    }
    return rc;
}

static int check_sign(const struct reader *r, struct json_object *doc, struct json_object *usual,
                      const char *field, bool is_built)
{
    static const char *const secrets[] = { "keySecret", "certSecret" };
    struct json_object *modprobe = sw_json_find(r->spec, "moduleLoader", "container", "modprobe",
                                                NULL);
    const char *dir = sw_json_str(modprobe, "/opt", "dirName", NULL);
    const char *image = sw_json_str(doc, sw_json_str(usual, "", "unsignedImage", NULL),
                                    "unsignedImage", NULL);
    if (!doc && !usual)
        return 0;
    int rc = check_files(r, doc ? doc : usual, field, dir);
    for (size_t i = 0; rc == 0 && i < SW_COUNT(secrets); i++)
        rc = need_named(r, sw_json_get(doc, secrets[i]) || !usual ? doc : usual, field, secrets[i],
                        "Secret");
    if (rc < 0 || is_built)
        return rc;
    SW_AUTO_CHARS *place = sw_printf("%s.unsignedImage", field);
    return *image ? check_image(r, place, image)
                  : bad(r, place, "it is missing: nothing is built that could be signed");
}

static int check_mapping(const struct reader *r, struct json_object *container, size_t i)
{
    struct json_object *m = sw_json_at(sw_json_get(container, "kernelMappings"), i);
    SW_AUTO_CHARS *field = sw_printf(LOADER ".kernelMappings[%zu]", i);
    SW_AUTO_CHARS *image_at = sw_printf("%s.containerImage", field);
    SW_AUTO_CHARS *build_at = sw_printf("%s.build", field);
    SW_AUTO_CHARS *sign_at = sw_printf("%s.sign", field);
    const char *regexp = sw_json_str(m, "", "regexp", NULL),
               *literal = sw_json_str(m, "", "literal", NULL);
    const char *image = sw_json_str(m, sw_json_str(container, "", "containerImage", NULL),
                                    "containerImage", NULL);
    struct json_object *build = sw_json_get(m, "build"), *sign = sw_json_get(m, "sign"),
                       *usual_build = sw_json_get(container, "build"),
                       *usual_sign = sw_json_get(container, "sign");
    SW_AUTO(sw_regex) *re = NULL;
    SW_ERR(why);
    if (!*regexp == !*literal)
        return bad(r, field, "expected either literal or regexp");
    if (*regexp && sw_regex_compile(regexp, strlen(regexp), &re, &why) < 0)
        return bad(r, field, "regexp: %s", sw_err_text(&why));
    int rc = *image ? check_image(r, image_at, image) : bad(r, image_at, "it is missing");
    if (rc == 0)
        rc = check_build(r, build, usual_build, build_at);
    if (rc == 0)
        rc = check_sign(r, sign, usual_sign, sign_at, build || usual_build);
    return rc;
}

static int check_modprobe(const struct reader *r, struct json_object *modprobe)
{
    const char *name = sw_json_str(modprobe, "", "moduleName", NULL);
    struct json_object *order = sw_json_get(modprobe, "modulesLoadingOrder");
    bool has_load = sw_json_len(sw_json_find(modprobe, "rawArgs", "load", NULL)),
         has_unload = sw_json_len(sw_json_find(modprobe, "rawArgs", "unload", NULL));
    if (*name && (has_load || has_unload))
        return bad(r, MODPROBE, "rawArgs and moduleName exclude each other");
    if (!*name && !(has_load && has_unload))
        return bad(r, MODPROBE ".moduleName",
                   "it is missing, and rawArgs has not both load and "
                   "unload");
    if (order && sw_json_len(order) < 2)
        return bad(r, MODPROBE ".modulesLoadingOrder", "expected two modules at least");
    if (order && !sw_streq(sw_json_str(sw_json_at(order, 0), "", NULL), name))
        return bad(r, MODPROBE ".modulesLoadingOrder", "its first one has to be moduleName");
    return 0;
}

static int check_loader(const struct reader *r)
{
    struct json_object *container = sw_json_find(r->spec, "moduleLoader", "container", NULL);
    size_t n = sw_json_len(sw_json_get(container, "kernelMappings"));
    if (!sw_json_get(r->spec, "moduleLoader"))
        return 0;
    if (!container)
        return bad(r, LOADER, "it is missing");
    if (n == 0)
        return bad(r, LOADER ".kernelMappings", "it has none");
    int rc = check_modprobe(r, sw_json_get(container, "modprobe"));
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = check_mapping(r, container, i);
    return rc;
}

static int check_spec(const struct reader *r)
{
    struct json_object *spec = r->spec;
    int rc = check_fields(r, spec, "", "");
    if (rc == 0 && !sw_json_len(sw_json_get(spec, "selector")))
        rc = bad(r, ".selector", "it is missing");
    if (rc == 0 && sw_json_get(spec, "devicePlugin") && sw_json_get(spec, "dra"))
        rc = bad(r, ".dra", "devicePlugin and dra exclude each other");
    if (rc == 0 && !sw_json_get(spec, "moduleLoader") && !sw_json_get(spec, "devicePlugin") &&
        !sw_json_get(spec, "dra"))
        rc = bad(r, ".moduleLoader", "there is nothing to load, and no plugin");
    if (rc == 0)
        rc = check_loader(r);
    if (rc == 0 && sw_json_get(spec, "imageRepoSecret"))
        rc = need_named(r, spec, "", "imageRepoSecret", "Secret");
    return rc;
}

/* ---- the recipe --------------------------------------------------------------------------------
 */

/* What follows this line in the values of states/kmm-module is no field of a Module. */
#define REST "# ---- "

static const char *other_values(void)
{
    const struct sw_embedded *f = sw_kmm_module;
    while (f->name && !sw_streq(f->name, "values.yaml"))
        f++;
    const char *rest = f->name ? strstr(f->text, "\n" REST) : NULL;
    return rest ? rest + 1 : "";
}

static char *values_of(const struct sw_kmm_recipe *recipe, struct json_object *spec)
{
    SW_AUTO_JSON *doc = json_object_new_object();
    size_t len;
    sw_json_set_str(doc, recipe->name, "name", NULL);
    sw_json_set_str(doc, recipe->ns, "namespace", NULL);
    sw_json_set(doc, json_object_get(spec), "module", NULL);
    SW_AUTO_CHARS *text = sw_yaml_text(doc, &len);
    return sw_printf("# The Module: its name and namespace, and its spec.\n%s%s", text,
                     other_values());
}

/* KMM's own labels of nodes, by which others find them. */
static char *annotations_of(const struct sw_kmm_recipe *recipe, struct json_object *spec)
{
    static const struct {
        const char *field, *state, *suffix;
    } rows[] = { { "moduleLoader", "1000", "ready" },
                 { "devicePlugin", "2000", "device-plugin-ready" },
                 { "dra", "2000", "dra-ready" } };
    char *text = sw_strdup("  slipway.dev/wait: all\n  slipway.dev/ready-labels: >-\n");
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        if (sw_json_get(spec, rows[i].field))
            sw_append(&text, "    %s=" SW_READY_LABEL "%s.%s.%s\n", rows[i].state, recipe->ns,
                      recipe->name, rows[i].suffix);
    return text;
}

static int check_names(const struct reader *r)
{
    SW_AUTO_CHARS *label = sw_printf(SW_READY_LABEL "version-module.%s.%s", r->out->ns, r->name);
    const char *fault = sw_label_key_fault(label);
    if (!*r->name)
        return sw_err_set(r->err, SW_INVALID, "%s: the Module has no name", r->file);
    if (fault)
        return sw_err_set(r->err, SW_INVALID, "%s: Module '%s': the label '%s': %s", r->file,
                          r->name, label, fault);
    return 0;
}

void sw_kmm_recipe_done(struct sw_kmm_recipe *recipe)
{
    free(recipe->name);
    free(recipe->ns);
    free(recipe->annotations);
    free(recipe->values);
    json_object_put(recipe->needs);
    json_object_put(recipe->notes);
    *recipe = (struct sw_kmm_recipe){ 0 };
}

/* The one Module among @docs, borrowed. */
static int find_module(const char *file, const struct sw_yaml_docs *docs, struct json_object **out,
                       struct sw_err *err)
{
    size_t n = 0;
    for (size_t i = 0; i < docs->n_docs; i++) {
        struct json_object *doc = docs->docs[i].object, *items = sw_json_get(doc, "items");
        size_t n_items = items ? sw_json_len(items) : 1;
        for (size_t k = 0; k < n_items; k++) {
            struct json_object *one = items ? sw_json_at(items, k) : doc;
            if (sw_streq(sw_obj_kind(one), "ManagedClusterModule"))
                return sw_err_set(err, SW_INVALID,
                                  "%s:%d: ManagedClusterModule '%s': spec.selector, "
                                  "spec.spokeNamespace: a recipe is walked on one cluster; make "
                                  "one of spec.moduleSpec as a Module, and walk it on each spoke",
                                  file, docs->docs[i].line, sw_obj_name(one));
            if (!sw_streq(sw_obj_kind(one), "Module"))
                continue;
            if (!sw_streq(sw_json_str(one, "", "apiVersion", NULL), GROUP_VERSION))
                return sw_err_set(err, SW_INVALID, "%s:%d: Module of '%s': expected " GROUP_VERSION,
                                  file, docs->docs[i].line,
                                  sw_json_str(one, "", "apiVersion", NULL));
            *out = one;
            n++;
        }
    }
    if (n == 1)
        return 0;
    return sw_err_set(err, SW_INVALID, "%s: expected one Module of " GROUP_VERSION ", found %zu",
                      file, n);
}

int sw_kmm_read(const char *file, const char *text, size_t len, const char *ns,
                struct sw_kmm_recipe *out, struct sw_err *err)
{
    struct sw_yaml_docs docs = { 0 };
    struct json_object *module = NULL;
    *out = (struct sw_kmm_recipe){ 0 };
    int rc = sw_yaml_parse_all(text, len, &(struct sw_yaml_opts){ .file = file }, &docs, err);
    if (rc == 0)
        rc = find_module(file, &docs, &module, err);
    if (rc == 0) {
        const char *own_ns = sw_json_str(module, ns ? ns : "default", "metadata", "namespace",
                                         NULL);
        *out = (struct sw_kmm_recipe){ .name = sw_strdup(
                                           sw_json_str(module, "", "metadata", "name", NULL)),
                                       .ns = sw_strdup(own_ns),
                                       .needs = json_object_new_array(),
                                       .notes = json_object_new_array() };
        const struct reader r = { file, out->name, sw_json_get(module, "spec"), out, err };
        rc = ns && !sw_streq(ns, own_ns)
                 ? sw_err_set(err, SW_INVALID, "%s: Module '%s' is in namespace '%s', not in '%s'",
                              file, out->name, own_ns, ns)
                 : check_names(&r);
        if (rc == 0)
            rc = check_spec(&r);
        if (rc == 0) {
            out->annotations = annotations_of(out, r.spec);
            out->values = values_of(out, r.spec);
        }
    }
    sw_yaml_docs_done(&docs);
    if (rc < 0)
        sw_kmm_recipe_done(out);
    return rc;
}
