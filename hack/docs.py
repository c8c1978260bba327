#!/usr/bin/env python3
"""Hold the documentation against the tree it speaks of.

usage: hack/docs.py [--root DIR]

Reads README.md, CONTRIBUTING.md and docs/*.md. Prints one line a fault and exits 1, or prints one
line of figures and exits 0. A fault is
  - a path of the tree that is not there: `src/...`, `test/...`, `name.c`, a link to a file,
    and, in docs/architecture.md, a path below src/
  - a test, "name_test", in docs/compatibility.md that is not in test/
  - a function, `name()`, in docs/architecture.md and docs/engine.md that no C file has; where the text says
    `name()` (`file.c`), or `name` in `file.c`, one that this file does not have
  - a term in **bold** that is not in docs/glossary.md
  - a line of the glossary without a link, a term that stands twice or not in its place
  - `make TARGET` where `make help` does not list TARGET; here the other .md files of the tree are read, too
  - a page of docs/ or of the top whose first line below its title is no sentence: it says what the page is for
"""
import argparse
import glob
import os
import re
import sys

TOPS = "src|test|hack|docs|deploy|charts|recipes|states|make"
PATH = re.compile(rf"(?<![\w/.:<>-])((?:{TOPS})/[\w./*<>-]*[\w*>])")
FILE = re.compile(r"`([\w-]+\.(?:c|h|py))`")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
FUNCTION = re.compile(r"`([a-z_][a-z0-9_]*)\(\)`")
CALL = re.compile(r"\b([a-z_]\w*)\(")
IN_FILE = re.compile(r"`([a-z_][a-z0-9_]*)(?:\(\))?`\s(?:in\s|\()`([\w/.-]+\.[ch])`")
MAKE = re.compile(r"`make ([^`]*)`")
TARGET = re.compile(r"^([a-z][a-z0-9_.-]*):.*## ", re.M)
SOURCES = ("docs/architecture.md", "docs/engine.md")


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def is_there(root, path):
    return bool(glob.glob(os.path.join(root, path)))


def check_paths(root, name, text, files, faults):
    n = 0
    for m in PATH.finditer(text):
        if m.start() >= 2 and text[m.start() - 2 : m.start()] == "](":
            continue  # a link: from the file's folder
        n += 1
        if not is_there(root, re.sub(r"<\w+>", "*", m.group(1))):
            faults.append(f"{name}:{line_of(text, m.start())}: {m.group(1)} is not there")
    for m in LINK.finditer(text):
        target = m.group(1)
        if re.match(r"[a-z]+:", target):
            continue
        n += 1
        if not is_there(root, os.path.join(os.path.dirname(name), target)):
            faults.append(f"{name}:{line_of(text, m.start())}: the link to {target} leads nowhere")
    for m in FILE.finditer(text):
        n += 1
        if m.group(1) not in files:
            faults.append(f"{name}:{line_of(text, m.start())}: no file {m.group(1)} is in src/, test/ or hack/")
    if name == "docs/architecture.md":
        districts = sorted(os.listdir(os.path.join(root, "src")))
        below = re.compile(rf"`((?:{'|'.join(districts)})/[\w./*-]+)`")
        for m in below.finditer(text):
            n += 1
            if not is_there(root, "src/" + m.group(1)):
                faults.append(f"{name}:{line_of(text, m.start())}: src/{m.group(1)} is not there")
    return n


def check_tests(root, name, text, faults):
    there = set()
    for _, _, files in os.walk(os.path.join(root, "test")):
        there.update(f.rsplit(".", 1)[0] for f in files)
    for m in re.finditer(r"\b\w+_test\b", text):
        if m.group() not in there:
            faults.append(f"{name}:{line_of(text, m.start())}: there is no test {m.group()}")


def check_functions(name, text, code, called, faults):
    for m in FUNCTION.finditer(text):
        if m.group(1) not in called:
            faults.append(f"{name}:{line_of(text, m.start())}: no function {m.group(1)}() in src/")
    for m in IN_FILE.finditer(text):
        word, path = m.groups()
        path = path.removeprefix("src/")
        if "/" in path and path in code and not re.search(rf"\b{word}\b", code[path]):
            faults.append(f"{name}:{line_of(text, m.start())}: src/{path} has no {word}")


def read_glossary(path, faults):
    """@return {term in lower case}; "**state**, **states**" are two terms of one line"""
    terms, last = set(), ""
    if not os.path.exists(path):
        faults.append("docs/glossary.md is not there")
        return terms
    for number, line in enumerate(read(path).splitlines(), 1):
        if not line.startswith("- "):
            continue
        where = f"docs/glossary.md:{number}"
        head = line.split(":", 1)[0]
        names = [t.lower() for t in re.findall(r"\*\*([^*]+)\*\*", head)]
        if not names:
            faults.append(f"{where}: a line begins with its term: - **term**: ...")
            continue
        if "](" not in line:
            faults.append(f"{where}: {names[0]} has no link")
        if names[0] < last:
            faults.append(f"{where}: {names[0]} stands after {last}")
        for name in names:
            if name in terms:
                faults.append(f"{where}: {name} stands here twice")
        last = names[0]
        terms.update(names)
    return terms


def check_terms(name, text, terms, faults):
    text = re.sub(r"```.*?```", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)
    for m in re.finditer(r"\*\*([^*\n]+)\*\*", text):
        term = m.group(1).strip(" .:,").lower()
        if term not in terms and term.removesuffix("s") not in terms:
            faults.append(f"{name}:{line_of(text, m.start())}: **{m.group(1)}** is not in docs/glossary.md")


def check_targets(name, text, targets, faults):
    for m in MAKE.finditer(text):
        for target in re.findall(r"(?:^|\s)([a-z][a-z0-9-]*)(?=\s|$)", m.group(1)):
            if target not in targets:
                faults.append(f"{name}:{line_of(text, m.start())}: make help does not list {target}")


def check_purpose(name, text, faults):
    lines = text.splitlines()
    if len(lines) < 3 or lines[1] or not re.match(r"[A-Za-z`*\[]", lines[2]) or lines[2].startswith("```"):
        faults.append(f"{name}:3: a page begins with what it is for")


def documents(root):
    """@return every .md file of the tree"""
    tops = ["*.md", ".github/**/*.md"] + [f"{top}/**/*.md" for top in TOPS.split("|")]
    found = {p for top in tops for p in glob.glob(os.path.join(root, top), recursive=True)}
    return sorted(os.path.relpath(p, root) for p in found)


def main():
    arguments = argparse.ArgumentParser(description="Hold the documentation against the tree.")
    arguments.add_argument("--root", default=".")
    root = arguments.parse_args().root
    faults, n_paths = [], 0
    names = ["README.md", "CONTRIBUTING.md"] + sorted(
        os.path.relpath(p, root) for p in glob.glob(os.path.join(root, "docs/*.md"))
    )
    code = {}
    for folder, _, files in os.walk(os.path.join(root, "src")):
        for f in files:
            if f.endswith((".c", ".h")):
                path = os.path.join(folder, f)
                code[os.path.relpath(path, os.path.join(root, "src"))] = read(path)
    files = {f for top in ("src", "test", "hack") for _, _, found in os.walk(os.path.join(root, top)) for f in found}
    called = {name for c in code.values() for name in CALL.findall(c)}
    terms = read_glossary(os.path.join(root, "docs/glossary.md"), faults)
    for name in names:
        if not os.path.exists(os.path.join(root, name)):
            continue
        text = read(os.path.join(root, name))
        n_paths += check_paths(root, name, text, files, faults)
        if name == "docs/compatibility.md":
            check_tests(root, name, text, faults)
        if name in SOURCES:
            check_functions(name, text, code, called, faults)
        if name != "docs/glossary.md":
            check_terms(name, text, terms, faults)
    makefiles = [os.path.join(root, "Makefile")] + glob.glob(os.path.join(root, "make/*.mk"))
    targets = {t for f in makefiles if os.path.exists(f) for t in TARGET.findall(read(f))}
    for name in documents(root):
        text = read(os.path.join(root, name))
        check_targets(name, text, targets, faults)
        if name.startswith("docs/") or "/" not in name:
            check_purpose(name, text, faults)
    for fault in faults:
        print(fault)
    if not faults:
        print(f"{len(names)} documents, {n_paths} paths and links, {len(terms)} terms")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
