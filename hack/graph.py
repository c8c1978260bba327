"""What the tools of hack/ ask of graphs."""


def components(nodes, edges):
    """Strongly connected components (Tarjan), without recursion: a set of nodes each, those of one node
    too. @edges: {node: the nodes that it has an edge to}."""
    index, low, stack, on_stack, out = {}, {}, [], set(), []
    for start in nodes:
        if start in index:
            continue
        work = [(start, iter(edges.get(start, ())))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        while work:
            v, successors = work[-1]
            for w in successors:
                if w not in index:
                    index[w] = low[w] = len(index)
                    stack.append(w)
                    on_stack.add(w)
                    work.append((w, iter(edges.get(w, ()))))
                    break
                if w in on_stack:
                    low[v] = min(low[v], index[w])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[v])
                if low[v] == index[v]:
                    part = set()
                    while True:
                        w = stack.pop()
                        on_stack.discard(w)
                        part.add(w)
                        if w == v:
                            break
                    out.append(part)
    return out
