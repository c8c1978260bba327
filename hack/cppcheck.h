/* cppcheck.h: read before every source by cppcheck, which reads no header of the system: what
 * <sys/queue.h> and base.h define in a way that it has to know. */
#define SW_AUTO(x) struct x
#define LIST_FOREACH(v, head, field) for ((v) = (head)->lh_first; (v); (v) = (v)->field.le_next)
#define STAILQ_FOREACH(v, head, field)                                                             \
    for ((v) = (head)->stqh_first; (v); (v) = (v)->field.stqe_next)
