/* The table of template functions: complete, and each row described. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "chart/template/lang/template.h"

/* All that sprig 3.2.2 and Helm register, and what Go's text/template has itself. */
static const char names[] =
    "hello date date_in_zone date_modify now htmlDate htmlDateInZone dateInZone dateModify ago "
    "toDate mustToDate unixEpoch duration durationRound mustDateModify must_date_modify "
    "abbrev abbrevboth trunc trim upper lower title untitle substr repeat trimall trimAll "
    "trimSuffix trimPrefix nospace initials randAlphaNum randAlpha randAscii randNumeric swapcase "
    "shuffle snakecase camelcase kebabcase wrap wrapWith contains hasPrefix hasSuffix quote squote "
    "cat indent nindent replace plural sha1sum sha256sum adler32sum toString atoi int64 int "
    "float64 "
    "seq toDecimal split splitList splitn toStrings until untilStep add1 add sub div mod mul "
    "randInt "
    "add1f addf subf divf mulf biggest max min maxf minf ceil floor round join sortAlpha default "
    "empty coalesce all any compact mustCompact fromJson toJson toPrettyJson toRawJson "
    "mustFromJson "
    "mustToJson mustToPrettyJson mustToRawJson ternary deepCopy mustDeepCopy typeOf typeIs "
    "typeIsLike kindOf kindIs deepEqual base dir clean ext isAbs osBase osDir osClean osExt "
    "osIsAbs "
    "b64enc b64dec b32enc b32dec tuple list dict get set unset hasKey pluck keys pick omit merge "
    "mergeOverwrite mustMerge mustMergeOverwrite values append push mustAppend mustPush prepend "
    "mustPrepend first mustFirst rest mustRest last mustLast initial mustInitial reverse "
    "mustReverse "
    "uniq mustUniq without mustWithout has mustHas slice mustSlice concat dig chunk mustChunk "
    "bcrypt "
    "htpasswd genPrivateKey derivePassword buildCustomCert genCA genCAWithKey genSelfSignedCert "
    "genSelfSignedCertWithKey genSignedCert genSignedCertWithKey encryptAES decryptAES randBytes "
    "uuidv4 semver semverCompare fail regexMatch mustRegexMatch regexFindAll mustRegexFindAll "
    "regexFind mustRegexFind regexReplaceAll mustRegexReplaceAll regexReplaceAllLiteral "
    "mustRegexReplaceAllLiteral regexSplit mustRegexSplit regexQuoteMeta urlParse urlJoin "
    "getHostByName "
    "include tpl required lookup toYaml fromYaml fromYamlArray toToml fromToml fromJsonArray "
    "and or not len index print printf println html js urlquery call eq ne lt le gt ge";

static const struct sw_template_func_doc *find(const struct sw_template_func_doc *docs, size_t n,
                                               const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(docs[i].name, name) == 0)
            return &docs[i];
    }
    return NULL;
}

static void every_function_is_there(void **state)
{
    (void)state;
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    size_t n;
    const struct sw_template_func_doc *docs = sw_template_func_docs(arena, &n);
    SW_AUTO_CHARS *list = sw_strdup(names);
    char *rest = list;
    for (char *name; (name = strsep(&rest, " "));) {
        if (!find(docs, n, name))
            fail_msg("%s is missing", name);
    }
}

/* env and expandenv would let a chart read the environment of whoever renders it. */
static void helm_removed_two(void **state)
{
    (void)state;
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    size_t n;
    const struct sw_template_func_doc *docs = sw_template_func_docs(arena, &n);
    assert_null(find(docs, n, "env"));
    assert_null(find(docs, n, "expandenv"));
}

static void every_function_is_described_once(void **state)
{
    (void)state;
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    size_t n;
    const struct sw_template_func_doc *docs = sw_template_func_docs(arena, &n);
    for (size_t i = 0; i < n; i++) {
        if (!docs[i].doc || strlen(docs[i].doc) < 3 || strchr(docs[i].doc, '\n'))
            fail_msg("%s has no line of documentation", docs[i].name);
        assert_int_equal(docs[i].signature[0], '(');
        assert_null(strchr(docs[i].signature, '?'));
        if (find(docs, n, docs[i].name) != &docs[i])
            fail_msg("%s is there twice", docs[i].name);
    }
}

/* A row of docs/templates.md for each. */
static void the_documentation_is_up_to_date(void **state)
{
    (void)state;
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    SW_AUTO_CHARS *text = NULL;
    SW_ERR(err);
    size_t n, len;
    const struct sw_template_func_doc *docs = sw_template_func_docs(arena, &n);
    if (sw_file_read(SW_SOURCE_DIR "/docs/templates.md", 1 << 20, &text, &len, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    for (size_t i = 0; i < n; i++) {
        SW_AUTO_CHARS *row = sw_printf("| `%s` | `%s` | %s |\n", docs[i].name, docs[i].signature,
                                       docs[i].doc);
        if (!strstr(text, row))
            fail_msg("docs/templates.md lacks: %s", row);
    }
}

/* Each stands in the table of origins. */
static void where_it_comes_from_is_told(void **state)
{
    (void)state;
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    SW_AUTO_CHARS *text = NULL;
    SW_ERR(err);
    size_t n, len;
    const struct sw_template_func_doc *docs = sw_template_func_docs(arena, &n);
    if (sw_file_read(SW_SOURCE_DIR "/docs/compatibility.md", 1 << 20, &text, &len, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    const char *table = strstr(text, "| from | functions | here |");
    assert_non_null(table);
    for (size_t i = 0; i < n; i++) {
        SW_AUTO_CHARS *word = sw_printf("`%s`", docs[i].name);
        if (!strstr(table, word))
            fail_msg("docs/compatibility.md does not say where %s comes from", docs[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_is_there),
        cmocka_unit_test(helm_removed_two),
        cmocka_unit_test(every_function_is_described_once),
        cmocka_unit_test(the_documentation_is_up_to_date),
        cmocka_unit_test(where_it_comes_from_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
