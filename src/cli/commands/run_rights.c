#include "cli/commands/run_rights.h"

#include <json-c/json.h>

#include "cli/recipe/rights.h"
#include "data/data.h"
#include "emulator/emulator.h"
#include "emulator/store/status.h"
#include "emulator/write/write.h"

extern const struct sw_embedded sw_deploy_rights[];

/* Create an object, as an administrator does. One that is there stays. */
static int create(struct sw_store *store, struct json_object *doc, struct sw_err *err)
{
    const struct sw_emu_kind *kind = sw_store_kind_of(store, doc);
    static const struct sw_store_opts opts = { .manager = "kubectl" };
    SW_STATUS(status);
    if (!kind)
        return sw_err_set(err, SW_NOTFOUND, "the embedded cluster has no kind %s",
                          sw_obj_kind(doc));
    const int rc = sw_store_create(store, kind, sw_obj_namespace(doc), doc, &opts, NULL, &status);
    if (rc < 0 && rc != SW_CONFLICT)
        return sw_err_set(err, rc, "%s %s: %s", sw_obj_kind(doc), sw_obj_name(doc), status.message);
    return 0;
}

static int create_all(struct sw_store *store, struct json_object *list, struct sw_err *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sw_json_len(list); i++)
        rc = create(store, sw_json_at(list, i), err);
    return rc;
}

static int grant_shipped(struct sw_store *store, struct sw_err *err)
{
    int rc = 0;
    for (const struct sw_embedded *f = sw_deploy_rights; rc == 0 && f->name; f++) {
        struct sw_yaml_docs docs = { 0 };
        rc = sw_yaml_parse_all(f->text, f->len_bytes, NULL, &docs, err);
        for (size_t i = 0; rc == 0 && i < docs.n_docs; i++)
            rc = create(store, docs.docs[i].object, err);
        sw_yaml_docs_done(&docs);
        if (rc < 0)
            sw_err_wrap(err, rc, "%s", f->name);
    }
    return rc;
}

int sw_run_grant(struct sw_emulator *emulator, const char *recipe, struct sw_recipe_flags *flags,
                 struct sw_err *err)
{
    struct sw_store *store = sw_emulator_store(emulator);
    struct sw_opened_recipe opened = { 0 };
    struct json_object *rights = NULL;
    struct sw_rbac_opts o = { .name = flags->name,
                              .ns = flags->namespace,
                              .operator_ns = SW_OPERATOR_ACCOUNT_NS,
                              .account = SW_OPERATOR_ACCOUNT };
    flags->sample = flags->own_resource = true;
    int rc = grant_shipped(store, err);
    if (rc == 0)
        rc = sw_recipe_flags_open(flags, recipe, false, &opened, err);
    if (rc == 0)
        rc = sw_recipe_rights(&o, &opened, &rights, err);
    SW_AUTO_JSON *list = rights;
    if (rc == 0)
        rc = create_all(store, list, err);
    sw_opened_recipe_done(&opened);
    return rc;
}
