/* The tables of template functions: they are complete, and each row is documented. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "chart/template/funcs/funcs.h"
#include "chart/template/template.h"

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

/* The row of a function after @after in all tables, or the first one for NULL; NULL at the end. */
static const struct func *next_row(const struct func *after)
{
    const struct func_table *t = sw_func_tables;
    if (!after)
        return t->rows;
    if (after[1].name)
        return after + 1;
    for (;; t++) {
        const struct func *f = t->rows;
        while (f->name && f != after)
            f++;
        if (f == after)
            return t[1].rows;
    }
}

static const struct func *find(const char *name)
{
    const struct func *f = next_row(NULL);
    while (f && strcmp(f->name, name) != 0)
        f = next_row(f);
    return f;
}

/* "(string, ...interface {})" */
static char *signature(const struct func *f)
{
    bool variadic;
    size_t fixed = sw_func_arity(f, &variadic);
    char *s = sw_strdup("(");
    for (size_t i = 0; i < fixed + variadic; i++)
        sw_append(&s, "%s%s%s", i > 0 ? ", " : "", i == fixed ? "..." : "",
                  sw_func_params[(unsigned char)f->params[i]].name);
    sw_append(&s, ")");
    return s;
}

static void every_function_is_there(void **state)
{
    (void)state;
    SW_AUTO_CHARS *list = sw_strdup(names);
    char *rest = list;
    for (char *name; (name = strsep(&rest, " "));) {
        if (!find(name))
            fail_msg("%s is missing", name);
    }
}

/* env and expandenv would give a chart the environment of the process that renders it. */
static void helm_removed_two(void **state)
{
    (void)state;
    assert_null(find("env"));
    assert_null(find("expandenv"));
}

static void every_function_is_described_once(void **state)
{
    (void)state;
    for (const struct func *f = NULL; (f = next_row(f));) {
        if (!f->doc || strlen(f->doc) < 3 || strchr(f->doc, '\n'))
            fail_msg("%s has no line of documentation", f->name);
        SW_AUTO_CHARS *types = signature(f);
        assert_int_equal(types[0], '(');
        assert_null(strchr(types, '?'));
        if (find(f->name) != f || sw_func_find(sw_func_index(), f->name, strlen(f->name)) != f)
            fail_msg("%s is there twice", f->name);
    }
}

/* docs/templates.md has a row for each function. */
static void the_documentation_is_up_to_date(void **state)
{
    (void)state;
    SW_AUTO_CHARS *text = NULL;
    SW_ERR(err);
    size_t len;
    if (sw_file_read(SW_SOURCE_DIR "/docs/templates.md", 1 << 20, &text, &len, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    for (const struct func *f = NULL; (f = next_row(f));) {
        SW_AUTO_CHARS *types = signature(f);
        SW_AUTO_CHARS *row = sw_printf("| `%s` | `%s` | %s |\n", f->name, types, f->doc);
        if (!strstr(text, row))
            fail_msg("docs/templates.md lacks: %s", row);
    }
}

/* Each function is in the table of origins. */
static void the_origin_is_documented(void **state)
{
    (void)state;
    SW_AUTO_CHARS *text = NULL;
    SW_ERR(err);
    size_t len;
    if (sw_file_read(SW_SOURCE_DIR "/docs/compatibility.md", 1 << 20, &text, &len, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    const char *table = strstr(text, "| from | functions | here |");
    assert_non_null(table);
    for (const struct func *f = NULL; (f = next_row(f));) {
        SW_AUTO_CHARS *word = sw_printf("`%s`", f->name);
        if (!strstr(table, word))
            fail_msg("docs/compatibility.md does not say where %s comes from", f->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_is_there),
        cmocka_unit_test(helm_removed_two),
        cmocka_unit_test(every_function_is_described_once),
        cmocka_unit_test(the_documentation_is_up_to_date),
        cmocka_unit_test(the_origin_is_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
