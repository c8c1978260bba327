/* slipway's definitions accept all that those of the Special Resource Operator and of the Dynamic
 * Accelerator Slicer accept, and keep the fields that those keep. crds/theirs.yaml has their
 * schemas, crds/samples.yaml resources; where ../shared is, what both left on clusters is taken,
 * too. Each is changed at random, the same way each time. */
#include "emulator/schema/schema.h"
#include "emulator/store/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "data/data.h"

#define HERE SW_SOURCE_DIR "/test/unit/emulator/crds/"

enum {
    N_MUTANTS = 1000, /* of each definition */
    N_OLDEST = 1,     /* definitions of SRO 4.8 */
    LONG = 5000,
};

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
    switch (below(11)) {
    case 0:
        return NULL;
    case 9: {
        SW_AUTO_CHARS *text = sw_zalloc(LONG + 1, 1);
        memset(text, 'x', LONG);
        return json_object_new_string(text);
    }
    case 10:
        return json_object_new_double(0.5);
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

static void mutate_map(json_object *at);

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
    } else if (json_object_is_type(at, json_type_object) && n) {
        mutate_map(at);
    }
}

static void mutate_map(json_object *at)
{
    size_t pick = below(sw_json_len(at)), i = 0;
    if (below(8) == 0) {
        json_object_object_add(at, "another", any_value());
        return;
    }
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

/* Add the objects of @kind in the file at @path to @out, an array. */
static void add_samples(json_object *out, const char *path, const char *kind)
{
    struct sw_yaml_docs docs = { 0 };
    read_all(path, &docs);
    for (size_t i = 0; i < docs.n_docs; i++)
        if (sw_streq(sw_obj_kind(docs.docs[i].object), kind))
            (void)json_object_array_add(out, json_object_get(docs.docs[i].object));
    sw_yaml_docs_done(&docs);
}

/* The resources of @kind, an array, the caller's. */
static json_object *samples_of(const char *kind)
{
    static const char *const left[] = { "sro-simple-kmod", "sro-rolling", "sro-acm-ice", "das" };
    const char *shared = getenv("SW_SHARED");
    json_object *out = json_object_new_array();
    add_samples(out, HERE "samples.yaml", kind);
    for (size_t i = 0; shared && *shared && i < SW_COUNT(left); i++) {
        SW_AUTO_CHARS *path = sw_printf("%s/takeover/%s.yaml", shared, left[i]);
        if (access(path, R_OK) == 0)
            add_samples(out, path, kind);
    }
    return out;
}

/* Compare @row, a definition of theirs, with ours of that kind: the samples, and mutants of them.
 */
static void compare_definition(json_object *row, bool old)
{
    SW_AUTO_JSON *crd = definition(sw_obj_kind(row));
    SW_AUTO_JSON *samples = samples_of(sw_obj_kind(row));
    size_t n = sw_json_len(samples);
    struct counts counts = { 0 };
    assert_string_equal(sw_json_str(crd, "", "spec", "scope", NULL),
                        sw_json_str(row, "", "scope", NULL));
    for (size_t i = 0; i < n + N_MUTANTS; i++) { /* first as they are */
        SW_AUTO_JSON *doc = sw_json_copy(sw_json_at(samples, i < n ? i : below(n)));
        for (size_t m = i < n ? 0 : 1 + below(3); m > 0; m--)
            mutate(doc);
        if (json_object_is_type(sw_json_get(doc, "metadata"), json_type_object))
            compare(doc, schema_of(crd), sw_json_get(row, "schema"), old, &counts);
    }
    print_message("%s: %u accepted, %u refused\n", sw_json_str(row, "", "of", NULL),
                  counts.accepted, counts.refused);
    assert_true(counts.accepted >= N_MUTANTS / 10 && counts.refused >= N_MUTANTS / 20);
}

static void what_theirs_accept_is_accepted(void **state)
{
    (void)state;
    struct sw_yaml_docs theirs = { 0 };
    read_all(HERE "theirs.yaml", &theirs);
    for (size_t t = 0; t < theirs.n_docs; t++)
        compare_definition(theirs.docs[t].object, t < N_OLDEST);
    sw_yaml_docs_done(&theirs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_theirs_accept_is_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
