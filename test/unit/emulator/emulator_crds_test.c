/* slipway's definitions accept all that those of the Special Resource Operator and of the Dynamic
 * Accelerator Slicer accept, and keep the fields that those keep. crds/theirs.yaml has their
 * schemas, crds/samples.yaml resources; each is changed at random. */
#include "emulator/schema/schema.h"
#include "emulator/store/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "data/data.h"

#define HERE SW_SOURCE_DIR "/test/unit/emulator/crds/"

enum { N_MUTANTS = 1000, N_OLDEST = 1 }; /* of each definition; those of SRO 4.8 */

static const char *const ours[] = {
    "deploy/crds/sro.openshift.io_specialresources.yaml",
    "deploy/crds/sro.openshift.io_specialresourcemodules.yaml",
    "deploy/crds/sro.openshift.io_preflightvalidations.yaml",
    "deploy/crds/inference.redhat.com_dasoperators.yaml",
    "states/scheduler/crds/allocationclaims.yaml",
    "states/scheduler/crds/nodeaccelerators.yaml",
};

static uint32_t seed = 1;

static size_t below(size_t n)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % n;
}

static void read_all(const char *path, struct sw_yaml_docs *out)
{
    SW_ERR(err);
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    assert_int_equal(sw_file_read(path, 1 << 20, &text, &len, &err), 0);
    if (sw_yaml_parse_all(text, len, NULL, out, &err) < 0)
        fail_msg("%s: %s", path, sw_err_text(&err));
}

/* The definition of @kind; the caller's. */
static json_object *definition(const char *kind)
{
    for (size_t i = 0; i < SW_COUNT(ours); i++) {
        struct sw_yaml_docs docs = { 0 };
        SW_AUTO_CHARS *path = sw_printf(SW_SOURCE_DIR "/%s", ours[i]);
        read_all(path, &docs);
        json_object *crd = json_object_get(docs.docs[0].object);
        sw_yaml_docs_done(&docs);
        if (sw_streq(sw_json_str(crd, "", "spec", "names", "kind", NULL), kind))
            return crd;
        json_object_put(crd);
    }
    fail_msg("no definition of %s", kind);
    return NULL;
}

static json_object *schema_of(json_object *crd)
{
    json_object *version = sw_json_at(sw_json_find(crd, "spec", "versions", NULL), 0);
    return sw_json_find(version, "schema", "openAPIV3Schema", NULL);
}

/* ---- changes at random -------------------------------------------------------------------------
 */

static json_object *any_value(void)
{
    switch (below(9)) {
    case 0:
        return NULL;
    case 1:
        return json_object_new_string("");
    case 2:
        return json_object_new_string("Managed");
    case 3:
        return json_object_new_int(-1);
    case 4:
        return json_object_new_int(7);
    case 5:
        return json_object_new_boolean(true);
    case 6:
        return json_object_new_array();
    case 7:
        return json_object_new_object();
    default:
        return json_object_new_string("not one of them");
    }
}

static void mutate(json_object *at)
{
    size_t n = sw_json_len(at), pick = n ? below(n) : 0;
    if (json_object_is_type(at, json_type_array) && n) {
        json_object *item = sw_json_at(at, pick);
        if (sw_json_len(item) && below(3))
            mutate(item);
        else if (below(2))
            (void)json_object_array_add(at, sw_json_copy(item));
        else
            json_object_array_put_idx(at, pick, any_value());
        return;
    }
    if (!json_object_is_type(at, json_type_object) || !n)
        return;
    size_t i = 0;
    json_object_object_foreach(at, key, value)
    {
        if (i++ != pick)
            continue;
        if (sw_json_len(value) && below(4)) {
            mutate(value);
            return;
        }
        SW_AUTO_CHARS *copy = sw_strdup(key);
        if (below(2))
            json_object_object_del(at, copy);
        else
            json_object_object_add(at, copy, any_value());
        return;
    }
}

/* ---- the comparison ----------------------------------------------------------------------------
 */

/* @doc as it is stored, the caller's; NULL: it is refused, and why is in @why (heap). */
static json_object *stored(json_object *doc, json_object *schema, char **why)
{
    json_object *copy = sw_json_copy(doc);
    SW_FIELD_ERRORS(errors);
    sw_structural_prune(copy, schema, NULL, NULL);
    sw_structural_default(copy, schema);
    sw_structural_validate(copy, schema, "", &errors);
    if (!errors.n)
        return copy;
    if (why)
        *why = sw_printf("%s: %s", errors.items[0].field, errors.items[0].body);
    json_object_put(copy);
    return NULL;
}

/* Has @ours all that @theirs has, but for what their schema fills in (in @doc it is not)? */
static bool keeps(json_object *ours_kept, json_object *theirs_kept, json_object *doc)
{
    if (json_object_is_type(theirs_kept, json_type_object)) {
        json_object_object_foreach(theirs_kept, key, value)
        {
            json_object *said = NULL;
            if (json_object_object_get_ex(doc, key, &said) && said &&
                !keeps(sw_json_get(ours_kept, key), value, said))
                return false;
        }
        return ours_kept != NULL;
    }
    for (size_t i = 0;
         json_object_is_type(theirs_kept, json_type_array) && i < sw_json_len(theirs_kept); i++)
        if (!keeps(sw_json_at(ours_kept, i), sw_json_at(theirs_kept, i), sw_json_at(doc, i)))
            return false;
    return json_object_is_type(theirs_kept, json_type_array) ||
           json_object_equal(ours_kept, theirs_kept);
}

struct counts {
    unsigned accepted, refused;
};

/* @old: fields that nothing reads any more need not be kept */
static void compare(json_object *doc, json_object *mine, json_object *theirs, bool old,
                    struct counts *counts)
{
    char *why = NULL;
    SW_AUTO_JSON *there = stored(doc, theirs, NULL);
    counts->accepted += there != NULL;
    counts->refused += there == NULL;
    if (!there)
        return;
    SW_AUTO_JSON *here = stored(there, mine, &why); /* as it lies there when slipway comes */
    if (!here)
        fail_msg("%s of %s", why, json_object_to_json_string(there));
    if (!old && !keeps(here, there, doc))
        fail_msg("not kept: %s of %s", json_object_to_json_string(here),
                 json_object_to_json_string(there));
}

static void what_theirs_accept_is_accepted(void **state)
{
    (void)state;
    struct sw_yaml_docs theirs = { 0 }, samples = { 0 };
    read_all(HERE "theirs.yaml", &theirs);
    read_all(HERE "samples.yaml", &samples);
    for (size_t t = 0; t < theirs.n_docs; t++) {
        json_object *row = theirs.docs[t].object;
        const char *kind = sw_obj_kind(row);
        SW_AUTO_JSON *crd = definition(kind);
        json_object *their_schema = sw_json_get(row, "schema");
        struct counts counts = { 0 };
        assert_string_equal(sw_json_str(crd, "", "spec", "scope", NULL),
                            sw_json_str(row, "", "scope", NULL));
        for (size_t i = 0; i < samples.n_docs + N_MUTANTS; i++) { /* first as they are */
            size_t pick = i < samples.n_docs ? i : below(samples.n_docs);
            json_object *sample = samples.docs[pick].object;
            while (!sw_streq(sw_obj_kind(sample), kind))
                sample = samples.docs[pick = (pick + 1) % samples.n_docs].object;
            SW_AUTO_JSON *doc = sw_json_copy(sample);
            for (size_t n = i < samples.n_docs ? 0 : 1 + below(3); n > 0; n--)
                mutate(doc);
            if (json_object_is_type(sw_json_get(doc, "metadata"), json_type_object))
                compare(doc, schema_of(crd), their_schema, t < N_OLDEST, &counts);
        }
        if (counts.accepted < N_MUTANTS / 10 || counts.refused < N_MUTANTS / 20)
            fail_msg("%s: %u accepted, %u refused", sw_json_str(row, "", "of", NULL),
                     counts.accepted, counts.refused);
    }
    sw_yaml_docs_done(&theirs);
    sw_yaml_docs_done(&samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_theirs_accept_is_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
