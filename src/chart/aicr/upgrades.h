#pragma once
/* upgrades: what AICR's records (components/<name>/upgrades.yaml, ComponentUpgrades) say of the
 * step of a component from one version to another: safe, manual (with steps), blocked; where no
 * record speaks of it unknown, and where versions cannot be compared unversioned. Pure. Source:
 * NVIDIA/aicr, docs/design/021-component-upgrade-safety.md, pkg/upgrade. Pinned by
 * test/unit/chart/aicr_upgrades_test.c. */
#include <stddef.h>

#include "base/base.h"

struct json_object;
struct sw_aicr_catalog;

/** Of a chart that was made of AICR's recipe: the records of its components, in YAML
 * ({<component>: <record>}). */
#define SW_ANN_UPGRADES "slipway.dev/upgrades"

/** Read a record of @component; @*out is the caller's. @file: for messages.
 * @return 0 | SW_INVALID: a field, a version or a verdict that is not known, a range */
int sw_aicr_upgrades_read(const char *file, const char *component, const char *text, size_t len,
                          struct json_object **out, struct sw_err *err) SW_CHECKED;
/** The step of a component from version @from to @to: {from, to, verdict, why} and, where one
 * transition of @record (NULL: there is none) describes it, its summary, precondition, reversible
 * and steps ({description, reason}). The caller's. */
struct json_object *sw_aicr_upgrade(struct json_object *record, const char *from,
                                    const char *to) SW_CHECKED;
/** The component that the one of @record (NULL: there is none) takes the place of, borrowed; NULL:
 * of none. */
const char *sw_aicr_replaces(struct json_object *record);
/** The step from that component to the one of @record, in version @to: as of sw_aicr_upgrade(),
 * with `replaces` instead of `from`. The caller's. */
struct json_object *sw_aicr_replacement(struct json_object *record, const char *to) SW_CHECKED;
/** What @step asks of people, the caller's: the summary of its transition (else why it was decided
 * so), then, each after @between, the precondition with @before in front, and the numbered steps.
 */
char *sw_aicr_upgrade_text(struct json_object *step, const char *between,
                           const char *before) SW_CHECKED;
/** The record of @component in the catalogue into @*out, the caller's; NULL: it has none.
 * @return 0 | SW_INVALID */
int sw_aicr_upgrades_of(const struct sw_aicr_catalog *catalog, const char *component,
                        struct json_object **out, struct sw_err *err) SW_CHECKED;
/** The steps of all components of @result that @facts (see recommend.h) have in another version, or
 * of which they have the one that it replaces: a list, each with its component; @*out is the
 * caller's. @return 0 | SW_INVALID: a record */
int sw_aicr_upgrades(const struct sw_aicr_catalog *catalog, struct json_object *result,
                     struct json_object *facts, struct json_object **out,
                     struct sw_err *err) SW_CHECKED;
