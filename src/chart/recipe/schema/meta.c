#include "chart/recipe/schema/meta.h"

#include <stddef.h>

#include "base/base.h"

/* JSON in C: single quotes are made double ones when it is read. What all drafts say alike is said
 * once; SELF is how a draft's schema refers to itself. */
/* clang-format off */
#define TEXT "{'type':'string'}"
#define BOOL "{'type':'boolean'}"
#define NUMBER "{'type':'number'}"
#define TYPES "{'enum':['array','boolean','integer','null','number','object','string']}"
#define REF(name) "{'$ref':'#/definitions/" name "'}"
#define MAP_OF(schema) "{'type':'object','additionalProperties':" schema "}"
#define EITHER(a, b) "{'anyOf':[" a "," b "]}"
#define NAMES(more) "{'type':'array','items':" TEXT ",'uniqueItems':true" more "}"

#define TYPE_OLD EITHER(REF("simpleTypes"), "{'type':'array','items':" REF("simpleTypes") \
    ",'minItems':1," "'uniqueItems':true}")
#define COUNTS_OLD(most, least) "'maxLength':" REF(most) ",'minLength':" REF(least) \
    ",'maxItems':" REF(most) ",'minItems':" REF(least) ",'maxProperties':" REF(most) \
    ",'minProperties':" REF(least)
#define DEFINITIONS_OLD(count, count_0, names) \
    "'definitions':{'schemaArray':{'type':'array','minItems':1,'items':{'$ref':'#'}},'" count \
    "':{'type':'integer','minimum':0},'" count_0 "':{'allOf':[" REF(count) \
    ",{'default':0}]},'simpleTypes':" TYPES ",'stringArray':" names "}"
#define SELF_OLD "{'$ref':'#'}"
#define COMBINE_OLD "'definitions':" MAP_OF(SELF_OLD) ",'properties':" MAP_OF(SELF_OLD) \
    ",'items':" EITHER(SELF_OLD, REF("schemaArray")) ",'dependencies':" MAP_OF(EITHER(SELF_OLD, \
    REF("stringArray"))) ",'type':" TYPE_OLD ",'allOf':" REF("schemaArray") ",'anyOf':" \
    REF("schemaArray") ",'oneOf':" REF("schemaArray") ",'not':" SELF_OLD ",'required':" \
    REF("stringArray") ",'title':" TEXT ",'description':" TEXT \
    ",'pattern':{'type':'string','format':'regex'},'maximum':" NUMBER ",'minimum':" NUMBER \
    ",'uniqueItems':" BOOL

static const char draft_4[] =
    "{'$schema':'http://json-schema.org/draft-04/schema#','type':'object',"
    DEFINITIONS_OLD("positiveInteger", "positiveIntegerDefault0", NAMES(",'minItems':1"))
    ",'properties':{'id':{'format':'uriref','type':'string'},"
    "'$schema':{'type':'string','format':'uri'}," COMBINE_OLD "," COUNTS_OLD("positiveInteger",
    "positiveIntegerDefault0")
    ",'default':{},'multipleOf':{'type':'number','minimum':0,'exclusiveMinimum':true},'"
    "exclusiveMaximum':" BOOL ",'exclusiveMinimum':" BOOL ",'additionalItems':" EITHER(BOOL,
    SELF_OLD) ",'additionalProperties':" EITHER(BOOL, SELF_OLD) ",'patternProperties':"
    MAP_OF(SELF_OLD) ",'enum':{'type':'array','minItems':1,'uniqueItems':true},'format':" TEXT
    ",'$ref':" TEXT
    "},'dependencies':{'exclusiveMaximum':['maximum'],'exclusiveMinimum':['minimum']}}";

#define SINCE_6 \
    "'$id':{'type':'string','format':'uri-reference'},'$schema':{'type':'string','format':'uri'}," \
    "'$ref':{'type':'string','format':'uri-reference'}," COMBINE_OLD "," \
    COUNTS_OLD("nonNegativeInteger", "nonNegativeIntegerDefault0") \
    ",'multipleOf':{'type':'number','exclusiveMinimum':0},'exclusiveMaximum':" NUMBER \
    ",'exclusiveMinimum':" NUMBER ",'additionalItems':" SELF_OLD ",'contains':" SELF_OLD \
    ",'additionalProperties':" SELF_OLD ",'propertyNames':" SELF_OLD \
    ",'enum':{'type':'array','minItems':1,'uniqueItems':true},'format':" TEXT
#define HEAD_OLD(n) "{'$schema':'http://json-schema.org/draft-0" n \
    "/schema#','$id':'http://json-schema.org/draft-0" n "/schema#','type':['object','boolean']," \
    DEFINITIONS_OLD("nonNegativeInteger", "nonNegativeIntegerDefault0", NAMES("")) \
    ",'properties':{" SINCE_6

static const char draft_6[] = HEAD_OLD("6") ",'patternProperties':" MAP_OF(SELF_OLD) "}}";

static const char draft_7[] = HEAD_OLD("7")
    ",'patternProperties':{'type':'object','additionalProperties':" SELF_OLD
    ",'propertyNames':{'format':'regex'}},'examples':{'type':'array'},'$comment':" TEXT
    ",'readOnly':" BOOL ",'writeOnly':" BOOL ",'contentMediaType':" TEXT ",'contentEncoding':" TEXT
    ",'if':" SELF_OLD ",'then':" SELF_OLD ",'else':" SELF_OLD "}}";

/* From 2019-09 on: one schema for each group of keywords. */
#define KIND "'type':['object','boolean']"
#define GROUP(self, properties) "{" self KIND ",'properties':{" properties "}}"
#define DEFINED(name) "{'$ref':'#/$defs/" name "'}"
#define VALIDATION(dialect, count) "'validation':{'$id':'https://json-schema.org/draft/" dialect \
    "/meta/validation'," count KIND ",'properties':{'type':" EITHER(DEFINED("simpleTypes"), \
    "{'type':'array','items':" DEFINED("simpleTypes") ",'minItems':1,'uniqueItems':true}") \
    ",'enum':{'type':'array'},'multipleOf':{'type':'number','exclusiveMinimum':0},'maximum':" \
    NUMBER ",'exclusiveMaximum':" NUMBER ",'minimum':" NUMBER ",'exclusiveMinimum':" NUMBER \
    ",'maxLength':" DEFINED("n") ",'minLength':" DEFINED("n0") \
    ",'pattern':{'type':'string','format':'regex'},'maxItems':" DEFINED("n") ",'minItems':" \
    DEFINED("n0") ",'uniqueItems':" BOOL ",'maxContains':" DEFINED("n") ",'minContains':" \
    DEFINED("n") ",'maxProperties':" DEFINED("n") ",'minProperties':" DEFINED("n0") \
    ",'required':" DEFINED("stringArray") \
    ",'dependentRequired':{'type':'object','additionalProperties':" DEFINED("stringArray") \
    "}},'$defs':{'n':{'type':'integer','minimum':0},'n0':{'$ref':'#/$defs/n'},'simpleTypes':" \
    TYPES ",'stringArray':" NAMES("") "}}"
#define APPLICATOR(dialect, anchor, self, items) \
    "'applicator':{'$id':'https://json-schema.org/draft/" dialect "/meta/applicator'," anchor \
    KIND ",'properties':{" items ",'contains':" self ",'additionalProperties':" self \
    ",'properties':" MAP_OF(self) ",'patternProperties':{'type':'object','additionalProperties':" \
    self ",'propertyNames':{'format':'regex'}},'dependentSchemas':" MAP_OF(self) \
    ",'propertyNames':" self ",'if':" self ",'then':" self ",'else':" self ",'allOf':" \
    DEFINED("schemaArray") ",'anyOf':" DEFINED("schemaArray") ",'oneOf':" DEFINED("schemaArray") \
    ",'not':" self "},'$defs':{'schemaArray':{'type':'array','minItems':1,'items':" self "}}}"
#define META_DATA(dialect, anchor) "'meta-data':{'$id':'https://json-schema.org/draft/" dialect \
    "/meta/meta-data'," anchor KIND ",'properties':{'title':" TEXT ",'description':" TEXT \
    ",'deprecated':" BOOL ",'readOnly':" BOOL ",'writeOnly':" BOOL \
    ",'examples':{'type':'array'}}}"
#define FORMAT(dialect, anchor, name) "'" name "':{'$id':'https://json-schema.org/draft/" dialect \
    "/meta/" name "'," anchor KIND ",'properties':{'format':" TEXT "}}"
#define CONTENT(dialect, anchor, self) "'content':{'$id':'https://json-schema.org/draft/" dialect \
    "/meta/content'," anchor KIND ",'properties':{'contentMediaType':" TEXT ",'contentEncoding':" \
    TEXT ",'contentSchema':" self "}}"

#define SELF_2019 "{'$recursiveRef':'#'}"
#define AGAIN_2019 "'$recursiveAnchor':true,"
static const char draft_2019[] = "{'$schema':'https://json-schema.org/draft/2019-09/schema','$id':"
    "'https://json-schema.org/draft/2019-09/schema'," AGAIN_2019
    "'allOf':[{'$ref':'meta/core'},{'$ref':'meta/applicator'},{'$ref':'meta/validation'},"
    "{'$ref':'meta/meta-data'},{'$ref':'meta/format'},{'$ref':'meta/content'}]," KIND
    ",'properties':{'definitions':" MAP_OF(SELF_2019) ",'dependencies':" MAP_OF(EITHER(SELF_2019,
    "{'$ref':'meta/validation#/$defs/stringArray'}"))
    "},'$defs':{'core':{'$id':'https://json-schema.org/draft/2019-09/meta/core'," AGAIN_2019 KIND
    ",'properties':{'$id':{'type':'string','format':'uri-reference','pattern':'^[^#]"
    "*#?$'},'$schema':{'type':'string','format':'uri'},'$anchor':{'type':'string','"
    "pattern':'^[A-Za-z][-A-Za-z0-9.:_]*$'},'$ref':{'"
    "type':'string','format':'uri-reference'},'$recursiveRef':{'type':'string','"
    "format':'uri-reference'},'$recursiveAnchor':" BOOL
    ",'$vocabulary':{'type':'object','propertyNames':{'type':'string','format':'uri'},"
    "'additionalProperties':" BOOL "},'$comment':" TEXT ",'$defs':" MAP_OF(SELF_2019) "}},"
    APPLICATOR("2019-09", AGAIN_2019, SELF_2019, "'additionalItems':" SELF_2019
    ",'unevaluatedItems':" SELF_2019 ",'unevaluatedProperties':" SELF_2019 ",'items':"
    EITHER(SELF_2019, DEFINED("schemaArray"))) "," VALIDATION("2019-09", AGAIN_2019) ","
    META_DATA("2019-09", AGAIN_2019) "," FORMAT("2019-09", AGAIN_2019, "format") ","
    CONTENT("2019-09", AGAIN_2019, SELF_2019) "}}";

#define SELF_2020 "{'$dynamicRef':'#meta'}"
#define AGAIN_2020 "'$dynamicAnchor':'meta',"
static const char draft_2020[] = "{'$schema':'https://json-schema.org/draft/2020-12/schema','$id':"
    "'https://json-schema.org/draft/2020-12/schema'," AGAIN_2020
    "'allOf':[{'$ref':'meta/core'},{'$ref':'meta/applicator'},{'$ref':'meta/unevaluated'},"
    "{'$ref':'meta/validation'},{'$ref':'meta/meta-data'},{'$ref':'meta/format-annotation'},"
    "{'$ref':'meta/content'}]," KIND ",'properties':{'definitions':" MAP_OF(SELF_2020)
    ",'dependencies':" MAP_OF(EITHER(SELF_2020, "{'$ref':'meta/validation#/$defs/stringArray'}"))
    ",'$recursiveAnchor':{'$ref':'meta/core#/$defs/anchorString'},"
    "'$recursiveRef':{'$ref':'meta/core#/$defs/uriReferenceString'}},'$defs':{"
    "'core':{'$id':'https://json-schema.org/draft/2020-12/meta/core'," AGAIN_2020 KIND
    ",'properties':{'$id':{'$ref':'#/$defs/uriReferenceString','pattern':'^[^#]*#?$'},"
    "'$schema':{'$ref':'#/$defs/uriString'},'$ref':{'$ref':'#/$defs/uriReferenceString'},"
    "'$anchor':{'$ref':'#/$defs/anchorString'},'$dynamicRef':{'$ref':'#/$defs/"
    "uriReferenceString'},'$dynamicAnchor':{'$ref':'#/$defs/anchorString'},"
    "'$vocabulary':{'type':'object','propertyNames':{'$ref':'#/$defs/uriString'},"
    "'additionalProperties':" BOOL "},'$comment':" TEXT ",'$defs':" MAP_OF(SELF_2020)
    "},'$defs':{'anchorString':{'type':'string','pattern':'^[A-Za-z_][-A-Za-z0-9._]*$'},'"
    "uriString':{'type':'string','format':'uri'},'uriReferenceString':{'type':'"
    "string','format':'uri-reference'}}}," APPLICATOR("2020-12", AGAIN_2020, SELF_2020,
    "'prefixItems':" DEFINED("schemaArray") ",'items':" SELF_2020)
    ",'unevaluated':{'$id':'https://json-schema.org/draft/2020-12/meta/unevaluated'," AGAIN_2020
    KIND ",'properties':{'unevaluatedItems':" SELF_2020 ",'unevaluatedProperties':" SELF_2020 "}},"
    VALIDATION("2020-12", AGAIN_2020) "," META_DATA("2020-12", AGAIN_2020) "," FORMAT("2020-12",
    AGAIN_2020, "format-annotation") "," CONTENT("2020-12", AGAIN_2020, SELF_2020) "}}";
/* clang-format on */

static const struct {
    int draft;
    const char *text, *url;
} rows[] = {
    { 4, draft_4, "http://json-schema.org/draft-04/schema#" },
    { 6, draft_6, "http://json-schema.org/draft-06/schema#" },
    { 7, draft_7, "http://json-schema.org/draft-07/schema#" },
    { 2019, draft_2019, "https://json-schema.org/draft/2019-09/schema#" },
    { 2020, draft_2020, "https://json-schema.org/draft/2020-12/schema#" },
};

static size_t row_of(int draft)
{
    size_t i = 0;
    while (i + 1 < SW_COUNT(rows) && rows[i].draft != draft)
        i++;
    return i;
}

const char *sw_meta_text(int draft)
{
    return rows[row_of(draft)].text;
}

const char *sw_meta_url(int draft)
{
    return rows[row_of(draft)].url;
}
