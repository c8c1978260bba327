#include "cli/recipe/kmm_check.h"

#include <json-c/json.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "data/go/regex.h"

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

static int __attribute__((format(printf, 3, 4)))
bad(const struct kmm_reader *r, const char *field, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *text = sw_vprintf(fmt, ap);
    va_end(ap);
    return sw_err_set(r->err, SW_INVALID, "%s: Module '%s': spec%s: %s", r->file, r->name, field,
                      text);
}

/* A single value is a text, save for these. */
static bool is_of_type(const char *path, struct json_object *value)
{
    static const char *const flags[] = { ".insecure", ".insecureSkipTLSVerify",
                                         ".automountServiceAccountToken" };
    enum json_type type = json_type_string;
    for (size_t i = 0; i < SW_COUNT(flags); i++)
        if (sw_ends_with(path, flags[i]))
            type = json_type_boolean;
    if (sw_streq(path, ".imageRebuildTriggerGeneration"))
        type = json_type_int;
    return json_object_is_type(value, type);
}

/* @path: the field as in @fields; @shown: with the numbers of items. */
static int check_fields(const struct kmm_reader *r, struct json_object *doc, const char *path,
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
    if (found == LEAF && !is_of_type(path, doc))
        return bad(r, shown, "'%s' is of another type than in a Module; a text may need quotes",
                   json_object_get_string(doc));
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
static int check_text(const struct kmm_reader *r, const char *field, const char *text)
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

/* What nodes are selected by. */
static int check_labels(const struct kmm_reader *r, const char *field, struct json_object *labels)
{
    if (!labels)
        return 0;
    if (!json_object_is_type(labels, json_type_object))
        return bad(r, field, "expected a map");
    json_object_object_foreach(labels, key, value)
    {
        SW_AUTO_CHARS *place = sw_printf("%s[%s]", field, key);
        const char *fault = sw_label_key_fault(key);
        if (!fault && !json_object_is_type(value, json_type_string))
            return bad(r, place, "'%s' is no text; it may need quotes",
                       json_object_get_string(value));
        fault = fault ? fault : sw_label_value_fault(json_object_get_string(value));
        if (fault)
            return bad(r, place, "%s", fault);
    }
    return 0;
}

static int check_image(const struct kmm_reader *r, const char *field, const char *image)
{
    if (!strchr(image, ':') && !strchr(image, '@'))
        return bad(r, field, "'%s' has neither a tag nor a digest", image);
    return check_text(r, field, image);
}

static void need(const struct kmm_reader *r, const char *kind, const char *name)
{
    SW_AUTO_CHARS *text = sw_printf("%s %s", kind, name);
    for (size_t i = 0; i < sw_json_len(r->out->needs); i++)
        if (sw_streq(sw_json_str(sw_json_at(r->out->needs, i), "", NULL), text))
            return;
    (void)json_object_array_add(r->out->needs, json_object_new_string(text));
}

static void note(const struct kmm_reader *r, const char *text)
{
    (void)json_object_array_add(r->out->notes, json_object_new_string(text));
}

/* A field "name" of @doc that has to be there: of the object of @kind that is needed. */
static int need_named(const struct kmm_reader *r, struct json_object *doc, const char *field,
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
static int check_build(const struct kmm_reader *r, struct json_object *doc,
                       struct json_object *usual, const char *field)
{
    if (!doc && !usual)
        return 0;
    struct json_object *both[] = { usual, doc };
    bool has_file = sw_json_get(doc, "dockerfileConfigMap");
    SW_AUTO_CHARS *selector_at = sw_printf("%s.selector", field);
    int rc = check_labels(r, selector_at, sw_json_get(doc, "selector"));
    if (rc < 0)
        return rc;
    for (size_t b = 0; b < SW_COUNT(both); b++) {
        struct json_object *secrets = sw_json_get(both[b], "secrets");
        for (size_t i = 0; i < sw_json_len(secrets); i++) {
            SW_AUTO_CHARS *place = sw_printf("%s.secrets[%zu]", field, i);
            const char *name = sw_json_str(sw_json_at(secrets, i), "", "name", NULL);
            if (!*name)
                return bad(r, place, "it has no name");
            need(r, "Secret", name);
        }
        if (sw_json_get(both[b], "kanikoParams") && sw_json_len(r->out->notes) == 0)
            note(r, "build.kanikoParams is left out: images are built with buildah");
    }
    return need_named(r, has_file || !usual ? doc : usual, field, "dockerfileConfigMap",
                      "ConfigMap");
}

static int check_files(const struct kmm_reader *r, struct json_object *sign, const char *field,
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

static int check_sign(const struct kmm_reader *r, struct json_object *doc,
                      struct json_object *usual, const char *field, bool is_built)
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

/* One in-tree module has an older field of its own. @usual: the container, or NULL. */
static int check_in_tree(const struct kmm_reader *r, const char *field, struct json_object *doc,
                         struct json_object *usual)
{
    bool one = *sw_json_str(doc, "", "inTreeModuleToRemove", NULL) ||
               *sw_json_str(usual, "", "inTreeModuleToRemove", NULL),
         several = sw_json_get(doc, "inTreeModulesToRemove") ||
                   sw_json_get(usual, "inTreeModulesToRemove");
    SW_AUTO_CHARS *place = sw_printf("%s.inTreeModuleToRemove", field);
    return one && several ? bad(r, place, "it and inTreeModulesToRemove exclude each other") : 0;
}

static int check_mapping(const struct kmm_reader *r, struct json_object *container, size_t i)
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
        rc = check_in_tree(r, field, m, container);
    if (rc == 0)
        rc = check_build(r, build, usual_build, build_at);
    if (rc == 0)
        rc = check_sign(r, sign, usual_sign, sign_at, build || usual_build);
    return rc;
}

static int check_path(const struct kmm_reader *r, struct json_object *modprobe, const char *key)
{
    struct json_object *path = sw_json_get(modprobe, key);
    SW_AUTO_CHARS *place = sw_printf(MODPROBE ".%s", key);
    return !path || *json_object_get_string(path) == '/'
               ? 0
               : bad(r, place, "'%s' is no absolute path", json_object_get_string(path));
}

static int check_args(const struct kmm_reader *r, struct json_object *modprobe)
{
    static const char *const keys[] = { "args", "rawArgs" }, *const lists[] = { "load", "unload" };
    for (size_t i = 0; i < SW_COUNT(keys) * SW_COUNT(lists); i++) {
        const char *key = keys[i / SW_COUNT(lists)], *which = lists[i % SW_COUNT(lists)];
        struct json_object *list = sw_json_find(modprobe, key, which, NULL);
        SW_AUTO_CHARS *place = sw_printf(MODPROBE ".%s.%s", key, which);
        if (list && !sw_json_len(list))
            return bad(r, place, "it has none");
    }
    return 0;
}

static int check_order(const struct kmm_reader *r, struct json_object *order, const char *name)
{
    if (sw_json_len(order) < 2)
        return bad(r, MODPROBE ".modulesLoadingOrder", "expected two modules at least");
    if (!sw_streq(sw_json_str(sw_json_at(order, 0), "", NULL), name))
        return bad(r, MODPROBE ".modulesLoadingOrder", "its first one has to be moduleName");
    for (size_t i = 0; i < sw_json_len(order); i++) {
        const char *module = sw_json_str(sw_json_at(order, i), "", NULL);
        SW_AUTO_CHARS *place = sw_printf(MODPROBE ".modulesLoadingOrder[%zu]", i);
        if (!*module)
            return bad(r, place, "it is empty");
        for (size_t k = 0; k < i; k++)
            if (sw_streq(sw_json_str(sw_json_at(order, k), "", NULL), module))
                return bad(r, place, "'%s' is there twice", module);
    }
    return 0;
}

static int check_modprobe(const struct kmm_reader *r, struct json_object *modprobe)
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
    int rc = order ? check_order(r, order, name) : 0;
    if (rc == 0)
        rc = check_args(r, modprobe);
    if (rc == 0)
        rc = check_path(r, modprobe, "dirName");
    return rc == 0 ? check_path(r, modprobe, "firmwarePath") : rc;
}

static int check_pull_policy(const struct kmm_reader *r, const char *field,
                             struct json_object *container)
{
    const char *policy = sw_json_str(container, "", "imagePullPolicy", NULL);
    SW_AUTO_CHARS *place = sw_printf("%s.imagePullPolicy", field);
    return !*policy || sw_streq(policy, "Always") || sw_streq(policy, "IfNotPresent") ||
                   sw_streq(policy, "Never")
               ? 0
               : bad(r, place, "'%s' is none of Always, IfNotPresent and Never", policy);
}

static int check_loader(const struct kmm_reader *r)
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
    if (rc == 0)
        rc = check_pull_policy(r, LOADER, container);
    if (rc == 0)
        rc = check_in_tree(r, LOADER, container, NULL);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = check_mapping(r, container, i);
    return rc;
}

static int check_toleration(const struct kmm_reader *r, size_t i, struct json_object *one)
{
    const char *key = sw_json_str(one, "", "key", NULL),
               *value = sw_json_str(one, "", "value", NULL),
               *operator= sw_json_str(one, "Equal", "operator", NULL),
               *effect = sw_json_str(one, "", "effect", NULL);
    bool exists = sw_streq(operator, "Exists");
    const char *key_fault = *key ? sw_label_key_fault(key) : NULL,
               *value_fault = sw_label_value_fault(value);
    SW_AUTO_CHARS *field = sw_printf(".tolerations[%zu]", i);
    if (!json_object_is_type(one, json_type_object))
        return bad(r, field, "expected a map");
    if (key_fault)
        return bad(r, field, "key '%s': %s", key, key_fault);
    if (*operator&& !exists && !sw_streq(operator, "Equal"))
        return bad(r, field, "operator '%s' is neither Equal nor Exists", operator);
    if (!*key && !exists)
        return bad(r, field, "without a key its operator has to be Exists");
    if (exists && *value)
        return bad(r, field, "with the operator Exists it has no value");
    if (value_fault)
        return bad(r, field, "value '%s': %s", value, value_fault);
    if (*effect && !sw_streq(effect, "NoSchedule") && !sw_streq(effect, "PreferNoSchedule") &&
        !sw_streq(effect, "NoExecute"))
        return bad(r, field,
                   "effect '%s' is none of NoSchedule, PreferNoSchedule and "
                   "NoExecute",
                   effect);
    if (sw_json_get(one, "tolerationSeconds") && !sw_streq(effect, "NoExecute"))
        return bad(r, field, "with tolerationSeconds its effect has to be NoExecute");
    return 0;
}

static int check_tolerations(const struct kmm_reader *r)
{
    struct json_object *list = sw_json_get(r->spec, "tolerations");
    int rc = !list || json_object_is_type(list, json_type_array)
                 ? 0
                 : bad(r, ".tolerations", "expected a list");
    for (size_t i = 0; rc == 0 && i < sw_json_len(list); i++)
        rc = check_toleration(r, i, sw_json_at(list, i));
    return rc;
}

/* ---- the plugins -------------------------------------------------------------------------------
 */

/* The first folder of an absolute path, when "." and ".." are gone; *@len: 0 for "/". */
static const char *first_folder(const char *path, size_t *len)
{
    const char *first = path;
    size_t depth = 0;
    *len = 0;
    while (*path) {
        path += strspn(path, "/");
        size_t n = strcspn(path, "/");
        bool up = n == 2 && !memcmp(path, "..", 2), here = n == 0 || (n == 1 && *path == '.');
        if (up && depth)
            depth--;
        else if (!up && !here && depth++ == 0) {
            first = path;
            *len = n;
        }
        path += n;
    }
    *len = depth ? *len : 0;
    return first;
}

/* Of the node a plugin gets what is below these folders. */
static bool may_mount(const char *path)
{
    static const char *const folders[] = { "dev", "sys", "var", "opt" };
    size_t len;
    const char *first = first_folder(path, &len);
    for (size_t i = 0; i < SW_COUNT(folders); i++)
        if (*path == '/' && len == strlen(folders[i]) && !memcmp(first, folders[i], len))
            return true;
    return false;
}

static int check_volumes(const struct kmm_reader *r)
{
    struct json_object *volumes = sw_json_find(r->spec, "devicePlugin", "volumes", NULL);
    for (size_t i = 0; i < sw_json_len(volumes); i++) {
        struct json_object *host = sw_json_get(sw_json_at(volumes, i), "hostPath");
        const char *path = sw_json_str(host, "", "path", NULL);
        SW_AUTO_CHARS *place = sw_printf(".devicePlugin.volumes[%zu].hostPath.path", i);
        if (host && !may_mount(path))
            return bad(r, place, "'%s' is not below /dev, /sys, /var or /opt", path);
    }
    return 0;
}

static int check_dra(const struct kmm_reader *r)
{
    struct json_object *dra = sw_json_get(r->spec, "dra"),
                       *classes = sw_json_get(dra, "deviceClasses");
    const char *driver = sw_json_str(dra, "", "driverName", NULL),
               *fault = dra ? sw_dns_subdomain_fault(driver) : NULL;
    if (fault)
        return bad(r, ".dra.driverName", "'%s': %s", driver, fault);
    for (size_t i = 0; i < sw_json_len(classes); i++) {
        const char *name = sw_json_str(sw_json_at(classes, i), "", "name", NULL);
        SW_AUTO_CHARS *place = sw_printf(".dra.deviceClasses[%zu].name", i);
        fault = sw_dns_subdomain_fault(name);
        if (fault)
            return bad(r, place, "'%s': %s", name, fault);
        for (size_t k = 0; k < i; k++)
            if (sw_streq(sw_json_str(sw_json_at(classes, k), "", "name", NULL), name))
                return bad(r, place, "'%s' is there twice", name);
    }
    return 0;
}

static int check_plugins(const struct kmm_reader *r)
{
    static const char *const plugins[] = { ".devicePlugin", ".dra" }, *const containers[] = {
        "container", "initContainer"
    };
    int rc = check_volumes(r);
    if (rc == 0)
        rc = check_dra(r);
    for (size_t i = 0; rc == 0 && i < SW_COUNT(plugins) * SW_COUNT(containers); i++) {
        const char *at = plugins[i / SW_COUNT(containers)],
                   *key = containers[i % SW_COUNT(containers)];
        struct json_object *plugin = sw_json_get(r->spec, at + 1), *one = sw_json_get(plugin, key);
        SW_AUTO_CHARS *field = sw_printf("%s.%s", at, key);
        bool is_needed = plugin && sw_streq(key, "container");
        if ((one || is_needed) && !*sw_json_str(one, "", "image", NULL))
            rc = bad(r, field, "image is missing");
        if (rc == 0)
            rc = check_pull_policy(r, field, one);
    }
    return rc;
}

/* ---- all of it ---------------------------------------------------------------------------------
 */

/* KMM makes labels of both names. */
enum { NAMES_BYTES = 40 };

static int check_spec(const struct kmm_reader *r)
{
    struct json_object *spec = r->spec;
    int rc = check_fields(r, spec, "", "");
    if (rc == 0 && !sw_json_len(sw_json_get(spec, "selector")))
        rc = bad(r, ".selector", "it is missing");
    if (rc == 0)
        rc = check_labels(r, ".selector", sw_json_get(spec, "selector"));
    if (rc == 0)
        rc = check_tolerations(r);
    if (rc == 0 && sw_json_get(spec, "devicePlugin") && sw_json_get(spec, "dra"))
        rc = bad(r, ".dra", "devicePlugin and dra exclude each other");
    if (rc == 0 && !sw_json_get(spec, "moduleLoader") && !sw_json_get(spec, "devicePlugin") &&
        !sw_json_get(spec, "dra"))
        rc = bad(r, ".moduleLoader", "there is nothing to load, and no plugin");
    if (rc == 0)
        rc = check_plugins(r);
    if (rc == 0)
        rc = check_loader(r);
    if (rc == 0 && sw_json_get(spec, "imageRepoSecret"))
        rc = need_named(r, spec, "", "imageRepoSecret", "Secret");
    return rc;
}

static int check_names(const struct kmm_reader *r)
{
    const char *name_fault = sw_dns_subdomain_fault(r->name),
               *ns_fault = sw_dns_label_fault(r->out->ns);
    size_t len = strlen(r->name) + strlen(r->out->ns);
    if (!*r->name)
        return sw_err_set(r->err, SW_INVALID, "%s: the Module has no name", r->file);
    if (name_fault)
        return sw_err_set(r->err, SW_INVALID, "%s: Module '%s': metadata.name: %s", r->file,
                          r->name, name_fault);
    if (ns_fault)
        return sw_err_set(r->err, SW_INVALID, "%s: Module '%s': its namespace '%s': %s", r->file,
                          r->name, r->out->ns, ns_fault);
    if (len > NAMES_BYTES)
        return sw_err_set(r->err, SW_INVALID,
                          "%s: Module '%s': metadata.name and its namespace '%s' have %zu "
                          "characters together, %d are allowed: nodes have labels of both",
                          r->file, r->name, r->out->ns, len, NAMES_BYTES);
    return 0;
}

int kmm_check(const struct kmm_reader *r)
{
    int rc = check_names(r);
    return rc == 0 ? check_spec(r) : rc;
}
