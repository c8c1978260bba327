#!/usr/bin/env python3
"""measure-code.py [TREE]: figures about the C code of a tree (default: this one).

    hack/measure-code.py                       tables
    hack/measure-code.py -o json               one JSON document
    hack/measure-code.py --list once           file:line of each finding of one figure
    hack/measure-code.py ../dqlite             another tree; its roots are src/ and include/
    hack/measure-code.py ../libgit2 --root src/libgit2

What is counted, and how:

  code         lines that hold more than blanks and comments
  functions    lines of a function: from the first line of its head to its closing brace
  once         static functions of a .c file that the file calls in one place, and mentions nowhere
               else; the share is of all functions
  tests-only   external functions that only tests mention
  unused       external functions that nothing mentions
  uncommented  declarations in headers (functions, variables, types with a body) without a comment:
               one on the lines above, or beside a function, or on the first line of a type
  circles      .c files in a circle of calls: an edge goes from a file to the one that defines an
               external function which it mentions (calls it, or has it in a table). A type's family
               is one node: thing_retry.c, which has no header of its own, belongs to thing.h, as
               thing.c does. A family is no circle
  tangles      .c files in a circle of calls and includes: the same, and an edge from a file to each
               header that it includes. A header and the .c file of its name are one node, except
               the header that bears its folder's name, which is a node by itself
  past         includes of another module's header that is not public. A module is a folder with
               sources; its public headers stand in src/modules.txt (module | headers | ...), or
               without that file its public header bears the folder's name

Tests are the folders test, tests, fuzz, fuzzers, bench, benchmarks, examples; they count as users
only. Nothing is preprocessed: sources are read as they are, with all branches of an #if. Functions
that a macro defines are not seen.
"""
import argparse
import bisect
import collections
import json
import os
import re
import sys

from graph import components

TOKEN = re.compile(
    r"""
  (?P<ws>(?:[ \t\r\f\v]|\\\r?\n)+)
| (?P<nl>\n)
| (?P<comment>/\*.*?(?:\*/|\Z)|//(?:\\\n|[^\n])*)
| (?P<str>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
| (?P<id>[A-Za-z_]\w*)
| (?P<num>\.?\d(?:[eEpP][+-]|[\w.])*)
| (?P<punct>->|\.\.\.|.)
""",
    re.S | re.X,
)
NOT_CODE = re.compile(r'/\*.*?(?:\*/|\Z)|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
IDENT = re.compile(r"[A-Za-z_]\w*")
TEST_DIRS = {"test", "tests", "fuzz", "bench", "benchmarks", "examples", "fuzzers"}
SKIP_DIRS = {"build", "deps", "third_party", "vendor", "node_modules", "out"}
KEYWORDS = set(
    "if for while switch return sizeof do else case default goto break continue typeof __typeof__"
    " _Alignof _Generic _Static_assert static_assert __attribute__ __declspec defined".split()
)
TYPE_WORDS = set(
    "void char short int long float double signed unsigned bool _Bool const volatile struct union"
    " enum static extern inline typedef register restrict".split()
)


class Token:
    __slots__ = ("kind", "text", "line", "end")

    def __init__(self, kind, text, line, end):
        self.kind, self.text, self.line, self.end = kind, text, line, end


class Function:
    """A function's definition: where it is and how long its body is."""

    def __init__(self, name, path, line, static):
        self.name, self.path, self.line, self.static = name, path, line, static
        self.lines = 0


class Declaration:
    def __init__(self, name, what, line, end):
        self.name, self.what, self.line, self.end = name, what, line, end
        self.commented = False


class Source:
    """One file, read once: its lines of code, includes, functions, declarations, and mentions."""

    def __init__(self, path, rel):
        self.path, self.rel = path, rel
        with open(path, encoding="utf-8", errors="replace") as f:
            self.text = f.read()
        self.raw_lines = self.text.count("\n") + (not self.text.endswith("\n") and bool(self.text))
        self.includes = []  # (line, name, in quotes)
        self.functions = []
        self.declarations = []  # at file level: functions, variables, types with a body
        self.mentions = collections.Counter()  # names anywhere, definitions and prototypes aside
        self.calls = collections.Counter()  # of these, those that a parenthesis follows
        self.static_macros = set()  # macros that begin a static function
        self.is_header = rel.endswith(".h")
        self._lex()

    # -- tokens ----------------------------------------------------------------------------------
    def _lex(self):
        line, fresh, directive = 1, True, None
        self.code_lines, self.comments, self.tokens = set(), [], []
        for m in TOKEN.finditer(self.text):
            kind, text = m.lastgroup, m.group()
            at = line
            newlines = text.count("\n")
            line += newlines
            if kind == "nl":
                fresh = True
                if directive is not None:
                    self._end_directive(directive)
                    directive = None
                continue
            if kind == "ws":
                continue
            if kind == "comment":
                self.comments.append((at, line, not fresh))
                continue
            for n in range(at, line + 1):
                self.code_lines.add(n)
            if fresh and text == "#" and directive is None:
                directive = [at]
            fresh = False
            token = Token(kind, text, at, line)
            if directive is not None:
                directive.append(token)
            else:
                self.tokens.append(token)
        if directive is not None:
            self._end_directive(directive)

    def _end_directive(self, directive):
        words = [t.text for t in directive[2:]]
        if not words:
            return
        if words[0] in ("if", "ifdef", "ifndef", "else", "elif", "endif"):
            self.tokens.append(Token("cond", words[0], directive[0], directive[0]))
        elif words[0] == "include":
            spec = "".join(words[1:])  # the lexer took "a/b.h" for a string, and <a/b.h> apart
            if len(spec) > 2 and spec[0] in '"<':
                self.includes.append((directive[0], spec[1:-1], spec[0] == '"'))
        elif words[0] == "define" and len(words) > 1:
            if "static" in words[2:]:
                self.static_macros.add(words[1])
            self._mention(directive[4:])

    def _mention(self, tokens):
        for i, t in enumerate(tokens):
            if t.kind != "id" or t.text in KEYWORDS or t.text in TYPE_WORDS:
                continue
            if i and tokens[i - 1].text in ("->", ".", "struct", "union", "enum", "goto"):
                continue
            self.mentions[t.text] += 1
            if i + 1 < len(tokens) and tokens[i + 1].text == "(":
                self.calls[t.text] += 1

    # -- file level ------------------------------------------------------------------------------
    def parse(self, static_macros):
        depth, decl, body, branches = 0, [], None, []
        in_init = False  # inside the braces of a type or an initializer
        for t in self.tokens:
            if t.kind == "cond":
                if t.text in ("if", "ifdef", "ifndef"):
                    branches.append((depth, list(decl), body, in_init))
                elif t.text in ("else", "elif") and branches:
                    depth, decl, body, in_init = branches[-1]
                    decl = list(decl)
                elif t.text == "endif" and branches:
                    branches.pop()
                continue
            if body is not None:  # inside a function
                if t.text == "{":
                    depth += 1
                elif t.text == "}":
                    depth -= 1
                    if depth == 0:
                        self._end_function(body, t)
                        body, decl = None, []
                        continue
                body[1].append(t)
                continue
            if in_init:
                decl.append(t)
                if t.text == "{":
                    depth += 1
                elif t.text == "}":
                    depth -= 1
                    in_init = depth > 0
                continue
            if t.text == "{":
                if [d.text for d in decl] == ["extern", '"C"']:
                    decl = []
                    continue
                head = self._head(decl, static_macros)
                if head and head[0] == "function" and not head[2]:
                    fn = Function(head[1].text, self.rel, head[1].line, head[3])
                    body, depth = (fn, [], decl), 1
                    continue
                in_init, depth = True, 1
                decl.append(t)
                continue
            if t.text == "}" and not decl:  # of extern "C"
                continue
            if t.text == ";":
                if decl:
                    self._end_declaration(decl, t, static_macros)
                decl = []
                continue
            if decl and self._lone_macro(decl, t):
                self._mention(decl)
                decl = []
            decl.append(t)
        self._mention(decl)  # a macro without a semicolon at the end
        self.tokens = None

    @staticmethod
    def _lone_macro(decl, following):
        """MACRO(...) or MACRO on lines of its own, without a semicolon."""
        if decl[0].kind != "id" or following.line == decl[-1].end:
            return False
        if not decl[0].text.isupper():
            return False
        if len(decl) == 1:
            return following.text != "("
        return decl[1].text == "(" and _closing(decl, 1) == len(decl) - 1 and following.kind == "id"

    def _head(self, decl, static_macros):
        """What a file-level declaration declares: its kind ("function", "variable", "type" or
        "typedef"), its name's token, whether it has an initializer, whether it is static. None
        where it declares no name."""
        texts = [t.text for t in decl]
        if not texts or texts[0] in ("_Static_assert", "static_assert", "__asm__", "asm"):
            return None
        static = "static" in texts or any(x in static_macros for x in texts)
        typedef = "typedef" in texts
        groups, i, braces, initializer, last_id = [], 0, None, False, None
        while i < len(decl):
            x = texts[i]
            if x == "=":
                initializer = True
                break
            if x == "{":
                braces = i
                i = _closing(decl, i, "{", "}") + 1
                continue
            if x == "[":
                i = _closing(decl, i, "[", "]") + 1
                continue
            if x == "(":
                close = _closing(decl, i)
                before = decl[i - 1] if i else None
                if i + 1 < len(decl) and texts[i + 1] == "*":
                    # (*name)(...): a pointer; (*name(...))(...): a function that returns one
                    inner = [k for k in range(i + 1, close) if texts[k] == "("]
                    name = next((k for k in range(i + 1, close) if decl[k].kind == "id"), None)
                    if name is not None:
                        if inner and inner[0] == name + 1:
                            return ("typedef" if typedef else "function", decl[name], False, static)
                        return ("typedef" if typedef else "variable", decl[name], "=" in texts, static)
                elif (
                    before is not None
                    and before.kind == "id"
                    and before.text not in KEYWORDS
                    and before.text not in TYPE_WORDS
                ):
                    groups.append(i - 1)
                i = close + 1
                continue
            if decl[i].kind == "id" and x not in TYPE_WORDS and x not in KEYWORDS:
                last_id = i
            i += 1
        names = [g for g in groups if not texts[g].isupper()] or groups[-1:]
        if names and braces is None and not typedef:
            return ("function", decl[names[0]], initializer, static)
        if typedef:
            return ("typedef", decl[last_id], False, static) if last_id is not None else None
        if braces is not None:
            names = [k for k in range(braces) if decl[k].kind == "id" and texts[k] not in TYPE_WORDS]
            if initializer or (last_id is not None and last_id > braces):
                names = [last_id]
            return ("type", decl[names[0] if names else 0], initializer, static)
        if len(decl) == 2 and texts[0] in ("struct", "union", "enum"):
            return None  # struct x;
        if len(decl) >= 2 and last_id is not None:
            return ("variable", decl[last_id], initializer, static)
        return None

    def _end_function(self, body, brace):
        fn, tokens, decl = body
        fn.lines = brace.line - decl[0].line + 1
        self.functions.append(fn)
        self._mention(tokens)
        self._mention_but(decl, fn.name)
        if self.is_header:
            self.declarations.append(Declaration(fn.name, "inline", decl[0].line, brace.line))

    def _end_declaration(self, decl, semicolon, static_macros):
        head = self._head(decl, static_macros)
        if not head:
            self._mention(decl)
            return
        what, name, _, _ = head
        self._mention_but(decl, name.text if what == "function" else None)
        self.declarations.append(Declaration(name.text, what, decl[0].line, semicolon.line))

    def _mention_but(self, decl, name):
        self._mention([t for t in decl if t.text != name])

    # -- comments --------------------------------------------------------------------------------
    def comment_declarations(self):
        """Decide which declarations have a comment."""
        above = {end for _, end, trailing in self.comments if not trailing}
        beside = sorted(at for at, _, trailing in self.comments if trailing)
        for d in self.declarations:
            last = d.end if d.what in ("function", "variable") else d.line
            i = bisect.bisect_left(beside, d.line)
            d.commented = d.line - 1 in above or (i < len(beside) and beside[i] <= last)


def _closing(tokens, i, opening="(", closing=")"):
    depth = 0
    for k in range(i, len(tokens)):
        if tokens[k].text == opening:
            depth += 1
        elif tokens[k].text == closing:
            depth -= 1
            if depth == 0:
                return k
    return len(tokens) - 1


# ---- a tree -------------------------------------------------------------------------------------
class Tree:
    def __init__(self, top, roots=None):
        self.top = os.path.abspath(top)
        if not os.path.isdir(self.top):
            sys.exit(f"measure-code.py: {top}: no such folder")
        self.roots = [r.strip("/") for r in roots or []]
        if not self.roots:
            self.roots = [r for r in ("src", "include") if os.path.isdir(os.path.join(self.top, r))] or ["."]
        self.sources, self.tests = [], []
        roots = [os.path.normpath(r) for r in self.roots]
        for rel in self._files("."):
            inside = next((r for r in roots if r == "." or rel.startswith(r + "/")), None)
            folders = os.path.dirname(rel).split("/")
            if TEST_DIRS & set(folders):
                self.tests.append(rel)
            elif inside is not None:
                self.sources.append(Source(os.path.join(self.top, rel), rel))
        if not self.sources:
            sys.exit(f"measure-code.py: {top}: no C sources below {', '.join(self.roots)}")
        macros = set().union(*(s.static_macros for s in self.sources))
        for s in self.sources:
            s.parse(macros)
            s.comment_declarations()
        self.by_rel = {s.rel: s for s in self.sources}
        self.by_end = collections.defaultdict(list)
        for rel in self.by_rel:
            parts = rel.split("/")
            for i in range(len(parts)):
                self.by_end["/".join(parts[i:])].append(rel)
        self.functions = [f for s in self.sources for f in s.functions]
        self.public = self._public_headers()

    def _files(self, root):
        for folder, names, files in os.walk(os.path.join(self.top, root)):
            names[:] = sorted(n for n in names if n not in SKIP_DIRS and not n.startswith("."))
            for name in sorted(files):
                if name.endswith((".c", ".h")):
                    yield os.path.relpath(os.path.join(folder, name), self.top)

    def below_root(self, rel):
        for root in self.roots:
            if rel.startswith(root + "/"):
                return rel[len(root) + 1 :]
        return rel

    def folder(self, rel):
        return os.path.dirname(self.below_root(rel)) or "."

    def district(self, rel):
        return self.folder(rel).split("/")[0]

    # -- modules ---------------------------------------------------------------------------------
    def _public_headers(self):
        """Headers that other modules may include."""
        public = set()
        for root in self.roots:
            table = os.path.join(self.top, root, "modules.txt")
            if os.path.exists(table):
                with open(table, encoding="utf-8") as f:
                    rows = [line.split("|") for line in f if "|" in line and not line.startswith("#")]
                public |= {f"{root}/{r[0].strip()}/{header.rstrip('-')}" for r in rows for header in r[1].split()}
        return public or {s.rel for s in self.sources if self.is_face(s.rel)}

    def is_face(self, rel):
        """A header with its folder's name: of the whole folder, not of one file in it."""
        return rel.endswith(".h") and os.path.basename(rel)[:-2] == os.path.basename(self.folder(rel))

    def resolve(self, source, name, quoted):
        """The file of this tree that an include means; None: none."""
        near = os.path.normpath(os.path.join(os.path.dirname(source.rel), name))
        if quoted and near in self.by_rel:
            return near
        for root in self.roots:
            if os.path.normpath(f"{root}/{name}") in self.by_rel:
                return os.path.normpath(f"{root}/{name}")
        found = self.by_end.get(name, []) if quoted else []  # another -I
        return found[0] if len(found) == 1 else None

    def past(self):
        """(includes of other modules, those that go past a public header)."""
        total, found = 0, []
        for s in self.sources:
            for line, name, quoted in s.includes:
                to = self.resolve(s, name, quoted)
                if to is None or self.folder(to) == self.folder(s.rel):
                    continue
                total += 1
                if to not in self.public:
                    found.append((s.rel, line, self.below_root(to)))
        return total, found

    # -- functions -------------------------------------------------------------------------------
    def once(self):
        return [
            (s.rel, f.line, f.name)
            for s in self.sources
            if not s.is_header
            for f in s.functions
            if f.static and s.calls[f.name] == 1 and s.mentions[f.name] == 1
        ]

    def external(self):
        found = [f for s in self.sources if not s.is_header for f in s.functions if not f.static]
        return [f for f in found if f.name != "main"]

    def unmentioned(self):
        """(external functions that tests alone mention, those that nothing mentions)."""
        used = collections.Counter()
        for s in self.sources:
            used.update(s.mentions)
        candidates = {f.name: f for f in self.external() if not used[f.name]}
        in_tests = set()
        for rel in self.tests:
            with open(os.path.join(self.top, rel), encoding="utf-8", errors="replace") as f:
                in_tests.update(candidates.keys() & set(IDENT.findall(NOT_CODE.sub(" ", f.read()))))
        rows = [(f.path, f.line, f.name) for f in candidates.values()]
        return [r for r in rows if r[2] in in_tests], [r for r in rows if r[2] not in in_tests]

    # -- comments --------------------------------------------------------------------------------
    def declared(self):
        rows = [(s.rel, d) for s in self.sources if s.is_header for d in s.declarations if d.what != "typedef"]
        return len(rows), [(rel, d.line, d.name) for rel, d in rows if not d.commented]

    # -- circles ---------------------------------------------------------------------------------
    def node(self, rel):
        """The family that a file belongs to: the header's path without its suffix."""
        if self.is_face(rel):
            return rel
        stem = rel[:-2]
        part = stem
        while True:
            if part + ".h" in self.by_rel and not self.is_face(part + ".h"):
                return part
            folder, name = os.path.split(part)
            if "_" not in name.strip("_"):
                return stem
            part = os.path.join(folder, name.rsplit("_", 1)[0])

    def circles(self, includes):
        """Circles of nodes, the largest first: lists of .c files (headers where there is none)."""
        owner, edges, members = {}, collections.defaultdict(dict), collections.defaultdict(list)
        for s in self.sources:
            members[self.node(s.rel)].append(s.rel)
        for f in self.external():
            owner[f.name] = f.path if f.name not in owner else None  # two programs' own
        for s in self.sources:
            a = self.node(s.rel)
            if includes:
                for line, name, quoted in s.includes:
                    to = self.resolve(s, name, quoted)
                    if to is not None and self.node(to) != a:
                        edges[a].setdefault(self.node(to), (s.rel, f"includes {name}"))
            if s.is_header:
                continue
            own = {f.name for f in s.functions}
            for name in s.mentions:
                to = owner.get(name)
                if to and name not in own and self.node(to) != a:
                    edges[a].setdefault(self.node(to), (s.rel, f"calls {name}"))
        out = []
        for part in components(sorted(members), edges):
            if len(part) < 2:
                continue
            files = sorted(f for n in part for f in members[n] if not f.endswith(".h"))
            within = sorted((a, b) + edges[a][b] for a in part for b in edges[a] if b in part)
            files = files or sorted(f for n in part for f in members[n])
            out.append({"files": files, "nodes": len(part), "edges": within})
        out.sort(key=lambda c: (-len(c["files"]), c["files"]))
        return out


# ---- figures ------------------------------------------------------------------------------------
def percentile(sorted_values, percent):
    """The smallest value that at least @percent of all do not exceed."""
    if not sorted_values:
        return 0
    return sorted_values[max(0, -(-len(sorted_values) * percent // 100) - 1)]


def share(part, whole):
    return round(100.0 * part / whole, 1) if whole else 0.0


def folders_of(tree, key):
    rows = {}
    for s in tree.sources:
        row = rows.setdefault(key(s.rel), {"files": 0, "lines": 0, "code": 0, "functions": 0})
        row["files"] += 1
        row["lines"] += s.raw_lines
        row["code"] += len(s.code_lines)
        row["functions"] += len(s.functions)
    return dict(sorted(rows.items()))


def circle_figures(tree, circles, n_files):
    files = sorted({f for c in circles for f in c["files"] if f.endswith(".c")})
    largest = circles[0]["files"] if circles else []
    return {
        "files": len(files),
        "of": n_files,
        "percent": share(len(files), n_files),
        "circles": len(circles),
        "largest": len(largest),
        "largest_in": tree.folder(largest[0]) if largest else "",
    }


def measure(tree):
    """All figures, as one document."""
    lengths = sorted(f.lines for f in tree.functions)
    once = tree.once()
    tests_only, unused = tree.unmentioned()
    declared, uncommented = tree.declared()
    crossing, past = tree.past()
    folders = folders_of(tree, tree.folder)
    n_files = sum(1 for s in tree.sources if not s.is_header)
    return {
        "code": sum(len(s.code_lines) for s in tree.sources),
        "lines": sum(s.raw_lines for s in tree.sources),
        "files": len(tree.sources),
        "districts": folders_of(tree, tree.district),
        "folders": folders,
        "functions": {
            "count": len(lengths),
            "middle": percentile(lengths, 50),
            "p90": percentile(lengths, 90),
            "p99": percentile(lengths, 99),
            "longest": lengths[-1] if lengths else 0,
        },
        "once": {"count": len(once), "of": len(lengths), "percent": share(len(once), len(lengths))},
        "external": {"count": len(tree.external()), "tests_only": len(tests_only), "unused": len(unused)},
        "declarations": {
            "count": declared,
            "commented": declared - len(uncommented),
            "percent": share(declared - len(uncommented), declared),
        },
        "circles": circle_figures(tree, tree.circles(False), n_files),
        "tangles": circle_figures(tree, tree.circles(True), n_files),
        "past": {"count": len(past), "of": crossing},
        "fullest": sorted(
            ({"folder": k, "files": v["files"], "lines": v["lines"]} for k, v in folders.items()),
            key=lambda r: (-r["files"], r["folder"]),
        )[:5],
    }


def print_tables(doc):
    def rows(title, table):
        width = max([len(title)] + [len(k) for k in table])
        print(f"{title:{width}}  {'FILES':>6}  {'LINES':>7}  {'CODE':>7}  {'FUNCTIONS':>9}")
        for name, r in table.items():
            print(f"{name:{width}}  {r['files']:6}  {r['lines']:7}  {r['code']:7}  {r['functions']:9}")

    rows("DISTRICT", doc["districts"])
    print(f"all: {doc['files']} files, {doc['lines']} lines, {doc['code']} of code\n")
    if list(doc["folders"]) != list(doc["districts"]):
        rows("FOLDER", doc["folders"])
        print()
    f, e, d = doc["functions"], doc["external"], doc["declarations"]

    def circle(c):
        text = f"{c['percent']:g} % ({c['files']} of {c['of']} .c files)"
        return text + (f", largest {c['largest']} ({c['largest_in']})" if c["largest"] else "")

    lengths = f"{f['middle']} / {f['p90']} / {f['p99']} (middle, 90 %, 99 %), longest {f['longest']}"
    for name, text in (
        ("lines of a function", f"{lengths}, {f['count']} functions"),
        ("static functions called from one place", f"{doc['once']['percent']:g} % ({doc['once']['count']})"),
        ("external functions", f"{e['count']}: {e['tests_only']} used by tests only, {e['unused']} by nothing"),
        ("declarations with a comment", f"{d['percent']:g} % ({d['commented']} of {d['count']})"),
        ("files in a circle of calls", circle(doc["circles"])),
        ("files in a circle of calls or includes", circle(doc["tangles"])),
        ("includes past a public header", f"{doc['past']['count']} of {doc['past']['of']}"),
        ("fullest folders", ", ".join(f"{r['folder']} {r['files']} files {r['lines']} lines" for r in doc["fullest"])),
    ):
        print(f"{name:40}{text}")


def long_functions(tree):
    limit = percentile(sorted(f.lines for f in tree.functions), 99)
    rows = [(f.path, f.line, f"{f.name} {f.lines} lines") for f in tree.functions if f.lines > limit]
    return sorted(rows, key=lambda r: -int(r[2].split()[1]))


def circle_list(circles):
    for n, c in enumerate(circles, 1):
        print(f"circle {n}: {len(c['files'])} files, {c['nodes']} nodes")
        for path in c["files"]:
            print(f"  {path}")
        for a, b, path, why in c["edges"]:
            print(f"    {path} -> {b}: {why}")


LISTS = {
    "once": lambda t: t.once(),
    "tests-only": lambda t: t.unmentioned()[0],
    "unused": lambda t: t.unmentioned()[1],
    "uncommented": lambda t: t.declared()[1],
    "past": lambda t: t.past()[1],
    "long": long_functions,
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n", 1)[0], epilog=__doc__.split("\n\n", 1)[1],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("tree", nargs="?", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    parser.add_argument("-o", "--output", choices=["table", "json"], default="table")
    parser.add_argument("--root", action="append", help="a folder of sources in the tree (again for more)")
    parser.add_argument("--list", choices=sorted(LISTS) + ["circles", "tangles"], help="the findings of one figure")
    args = parser.parse_args()
    tree = Tree(args.tree, args.root)
    if args.list in ("circles", "tangles"):
        circles = tree.circles(args.list == "tangles")
        if args.output == "json":
            print(json.dumps(circles, indent=2))
        else:
            circle_list(circles)
    elif args.list:
        rows = LISTS[args.list](tree)
        if args.output == "json":
            print(json.dumps([{"file": a, "line": b, "name": c} for a, b, c in rows], indent=2))
        else:
            for path, line, name in rows:
                print(f"{path}:{line}: {name}")
    elif args.output == "json":
        print(json.dumps(measure(tree), indent=2))
    else:
        print_tables(measure(tree))


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:  # ... | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
