/* A request's body as a client might send it: as an object to create, a patch to apply and a CRD,
 * on a store of its own. The first byte chooses the kind; the second has no meaning. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/loop.h"
#include "data/data.h"
#include "emulator/store/status.h"
#include "emulator/write/crds.h"
#include "emulator/write/gc.h"
#include "emulator/write/seed.h"
#include "emulator/write/write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
    const char *group, *kind, *ns;
} kinds[] = {
    { "", "ConfigMap", "default" },
    { "", "Pod", "default" },
    { "", "Service", "default" },
    { "", "Namespace", NULL },
    { "apps", "Deployment", "default" },
    { "apps", "DaemonSet", "default" },
    { "batch", "Job", "default" },
    { "apiextensions.k8s.io", "CustomResourceDefinition", NULL },
    { "admissionregistration.k8s.io", "ValidatingWebhookConfiguration", NULL },
    { "ex.io", "Widget", NULL },
};

static void settle(struct sw_loop *loop)
{
    for (int i = 0; i < 6; i++)
        sw_loop_step(loop, 0);
}

/* A kind of one's own, if the input is no CRD itself. */
static void install_widgets(struct sw_store *store, struct sw_loop *loop)
{
    static const char crd[] =
        "{metadata: {name: widgets.ex.io}, spec: {group: ex.io, scope: Cluster, names: {plural: "
        "widgets, kind: Widget}, versions: [{name: v1, served: true, storage: true, schema: "
        "{openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {a: "
        "{type: string, pattern: '^[a-z-]+$'}, l: {type: array, x-kubernetes-list-type: map, "
        "x-kubernetes-list-map-keys: [id], items: {type: object, properties: {id: {type: string}, "
        "c: {type: integer, default: 3}}}}}}}}}}]}}";
    json_object *doc = NULL;
    if (sw_yaml_parse(crd, sizeof crd - 1, NULL, &doc, NULL) < 0)
        abort();
    const struct sw_emu_kind *kind = sw_store_kind(store, "apiextensions.k8s.io",
                                                   "CustomResourceDefinition");
    if (sw_store_create(store, kind, NULL, doc, NULL, NULL, NULL) < 0)
        abort();
    json_object_put(doc);
    settle(loop);
}

static void write(struct sw_store *store, size_t row, json_object *doc)
{
    const struct sw_emu_kind *kind = sw_store_kind(store, kinds[row].group, kinds[row].kind);
    const char *ns = kinds[row].ns;
    static const enum sw_patch_type types[] = { SW_PATCH_APPLY, SW_PATCH_MERGE, SW_PATCH_STRATEGIC,
                                                SW_PATCH_JSON, SW_PATCH_APPLY };
    struct sw_store_opts opts = { .manager = "fuzz", .field_validation = "Warn" };
    if (!kind)
        return;
    (void)sw_store_create(store, kind, ns, doc, &opts, NULL, NULL);
    for (size_t i = 0; i < SW_COUNT(types); i++) {
        SW_STATUS(status);
        opts.force = i > 0;
        (void)sw_store_patch(store, kind, ns, sw_obj_name(doc), types[i], doc, &opts, NULL,
                             &status);
        if (status.code)
            json_object_put(sw_status_doc(&status));
    }
    (void)sw_store_delete(store, kind, ns, sw_obj_name(doc), NULL, NULL, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const char *bytes = (const char *)data + 2;
    size_t len = size - 2, row = data[0] % SW_COUNT(kinds);
    json_object *doc = NULL;
    if (sw_yaml_parse(bytes, len, NULL, &doc, NULL) < 0)
        return 0;
    struct sw_loop *loop = sw_loop_new(&(struct sw_loop_opts){ .virtual_clock = true });
    struct sw_store *store = sw_store_new(loop, 29, 3);
    struct sw_crds *crds = sw_crds_new(store);
    struct sw_gc *gc = sw_gc_new(store);
    sw_seed(store);
    settle(loop);
    if (strcmp(kinds[row].kind, "Widget") == 0)
        install_widgets(store, loop);
    write(store, row, doc);
    settle(loop);
    json_object_put(doc);
    sw_gc_free(gc);
    sw_crds_free(crds);
    sw_store_free(store);
    sw_loop_free(loop);
    return 0;
}
