#include "operator/engine/owner.h"

#include <string.h>

#include "base/base.h"
#include "data/json/json.h"
#include "data/json/path.h"

#define ANN_RESOURCE "slipway.dev/resource"
#define ANN_KEPT "slipway.dev/kept" /* see operator/manifests/ownership.h */

bool sw_owner_is_predecessor(struct json_object *live, const char *predecessor)
{
    struct json_object *owners = sw_json_find(live, "metadata", "ownerReferences", NULL);
    return predecessor &&
           sw_streq(sw_json_str(sw_json_find_by(owners, "uid", predecessor), "", "kind", NULL),
                    "DASOperator");
}

/* Its shared release was handed over, though the owner's status does not say so yet. */
static bool is_handed_over(const struct sw_owner *owner, const char *mark)
{
    return owner->shared && mark && !sw_streq(mark, owner->name);
}

bool sw_owner_is_former(const struct sw_owner *owner, struct json_object *live)
{
    const char *mark = sw_obj_annotation(live, ANN_RESOURCE);
    return owner->shared && mark && !sw_obj_controller(live) &&
           sw_json_has_text(owner->former, mark) && !sw_streq(mark, owner->name);
}

/* Who says in its metadata that @live is of them: "Helm release a in namespace b"; heap, NULL:
 * nobody. */
static char *maker_of(struct json_object *live)
{
    const char *release = sw_obj_annotation(live, "meta.helm.sh/release-name");
    const char *ns = sw_obj_annotation(live, "meta.helm.sh/release-namespace");
    const char *argo = sw_obj_annotation(live, "argocd.argoproj.io/tracking-id");
    const char *by = sw_obj_label(live, "app.kubernetes.io/managed-by");
    struct json_object *owner = sw_json_at(sw_json_find(live, "metadata", "ownerReferences", NULL),
                                           0);
    if (owner)
        return sw_printf("owned by %s %s", sw_json_str(owner, "?", "kind", NULL),
                         sw_json_str(owner, "?", "name", NULL));
    if (release)
        return sw_printf("of Helm release %s%s%s", release, ns ? " in namespace " : "",
                         ns ? ns : "");
    if (argo)
        return sw_printf("of Argo CD application %.*s", (int)strcspn(argo, ":"), argo);
    return by ? sw_printf("managed by %s", by) : NULL;
}

/* "exists and is not slipway's (of Helm release a, written by helm)" */
static char *of_somebody(struct json_object *live)
{
    SW_AUTO_CHARS *maker = maker_of(live);
    const char *writer = sw_obj_writer(live);
    const bool any = maker || *writer;
    return sw_printf("exists and is not slipway's%s%s%s%s%s%s", any ? " (" : "", maker ? maker : "",
                     maker && *writer ? ", " : "", *writer ? "written by " : "", writer,
                     any ? ")" : "");
}

char *sw_owner_foreign(const struct sw_owner *owner, struct json_object *live)
{
    struct json_object *controller = sw_obj_controller(live);
    const char *mark = sw_obj_annotation(live, ANN_RESOURCE);
    if ((owner->uid && sw_obj_has_owner(live, owner->uid)) ||
        sw_owner_is_predecessor(live, owner->predecessor) || sw_owner_is_former(owner, live) ||
        (owner->object_uid && sw_streq(owner->object_uid, sw_obj_uid(live)) &&
         !is_handed_over(owner, mark)))
        return NULL;
    if (controller)
        return sw_printf("belongs to %s %s", sw_json_str(controller, "?", "kind", NULL),
                         sw_json_str(controller, "?", "name", NULL));
    const char *kept = mark ? NULL : sw_obj_annotation(live, ANN_KEPT);
    if ((mark && sw_streq(mark, owner->name)) || (kept && sw_streq(kept, owner->shared)))
        return NULL;
    return mark ? sw_printf("belongs to SpecialResource %s", mark) : of_somebody(live);
}

bool sw_owner_borrows(struct json_object *live)
{
    return sw_streq(sw_obj_kind(live), "Namespace") ||
           sw_streq(sw_obj_kind(live), "CustomResourceDefinition");
}

void sw_owner_spare(struct json_object *doc, bool adopted)
{
    const bool keep = sw_streq(sw_obj_annotation(doc, "helm.sh/resource-policy"), "keep");
    if (adopted || keep)
        (void)sw_json_del(doc, "metadata", "ownerReferences", NULL);
    if (!adopted)
        return;
    (void)sw_json_del(doc, "metadata", "annotations", "meta.helm.sh/release-name", NULL);
    (void)sw_json_del(doc, "metadata", "annotations", "meta.helm.sh/release-namespace", NULL);
    (void)sw_json_del(doc, "metadata", "labels", "app.kubernetes.io/managed-by", NULL);
    sw_json_set_str(doc, "true", "metadata", "annotations", SW_ANN_ADOPTED, NULL);
}
