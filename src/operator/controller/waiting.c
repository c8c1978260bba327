/* Plans that wait for facts go on. */
#include "operator/controller/private.h"

void plan_resume(struct resource *r)
{
    if (r->own->resume_plan)
        r->own->resume_plan(r);
}

void plan_resume_all(struct sw_controller *c)
{
    for (struct resource *r = c->resources, *next; r; r = next) {
        next = r->next;
        plan_resume(r);
    }
}
