#!/usr/bin/env python3
"""Names in src/ are the field's words: no file, type or function has one of WORDS in its name.

usage: hack/names.py [--src DIR] [--todo FILE]

A name's words are what stands between its underscores. FILE (hack/names.todo) lists names that still
have one, each once; it only shrinks. Prints one line a fault and exits 1: a name that has such a word
and is not in FILE, a name in FILE that is gone from src/. Otherwise prints one line of figures.
"""
import argparse
import os
import re
import sys

# what a Kubernetes developer would not search for: and what he would
WORDS = {
    "asking": "rendering",
    "bits": "bitset",
    "blame": "container logs",
    "draft": "preview, dry run",
    "farewell": "deletion, finalizer",
    "feed": "informer, watch",
    "gated": "waiting",
    "hub": "informer",
    "let_go": "release, close",
    "look": "check, lookup, observe, read",
    "looked": "observed",
    "looking": "observing",
    "looks": "checks",
    "making": "dependents",
    "part": "the thing's own name",
    "patience": "deadline, retries",
    "picture": "cache, snapshot",
    "roster": "node set",
    "seen": "observed",
    "shape": "list type, schema",
    "skeleton": "scaffold",
    "stay": "grace period, node affinity",
    "stays": "grace periods",
    "talk": "requests",
    "tape": "recording",
    "taped": "recorded",
    "trial": "simulation",
    "undeclared": "unknown fields",
    "verdict": "readiness",
    "wants": "request",
    "words": "message, reason, text",
}
NOT_OF_FUNCTIONS = {"feed"}  # bytes are fed to a parser
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
TYPE = re.compile(r"\b(?:struct|union|enum)\s+(\w+)\s*\{")
TYPEDEF = re.compile(r"^typedef\b[^;{]*?\b(\w+)\s*(?:\(|\[[^]]*\]|;)", re.M)
# at the begin of a line: what gives the type, the name, its parameters and a brace or a semicolon
FUNCTION = re.compile(r"^(?!typedef|return|else|static_assert)[A-Za-z_][\w \t*\n]*?\b(\w+)\((?:[^;{}()]|\([^()]*\))*\)[^;{}=]*[;{]", re.M)
NO_FUNCTION = {"if", "for", "while", "switch", "sizeof", "defined", "_Static_assert"}


def word_of(name, is_function=False):
    """@return the word of @name that is in WORDS, or None"""
    padded = f"_{name.lower()}_"
    words = WORDS.keys() - NOT_OF_FUNCTIONS if is_function else WORDS
    return next((w for w in WORDS if w in words and f"_{w}_" in padded), None)


def names_of(path, src):
    """@return [(name, where, whether it is a function)] of what @path is, declares and defines"""
    with open(path, encoding="utf-8", errors="replace") as f:
        text = NOT_CODE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), f.read())
    rel = os.path.relpath(path, os.path.dirname(src.rstrip("/")) or ".")
    found = [(os.path.splitext(os.path.basename(path))[0], rel, False)]
    for pattern in (TYPE, TYPEDEF, FUNCTION):
        for m in pattern.finditer(text):
            if m.group(1) not in NO_FUNCTION:
                where = f"{rel}:{text.count(chr(10), 0, m.start(1)) + 1}"
                found.append((m.group(1), where, pattern is FUNCTION))
    return found


def main():
    arguments = argparse.ArgumentParser(description="Names of src/ are the field's words.")
    arguments.add_argument("--src", default="src")
    arguments.add_argument("--todo", default="hack/names.todo")
    arguments.add_argument("--list", action="store_true", help="print the names that have such a word")
    options = arguments.parse_args()
    bad, n_names = {}, 0
    for folder, _, files in sorted(os.walk(options.src)):
        for file in sorted(files):
            if file.endswith((".c", ".h")):
                for name, where, is_function in names_of(os.path.join(folder, file), options.src):
                    n_names += 1
                    if word_of(name, is_function):
                        bad.setdefault(name, where)
    if options.list:
        print("\n".join(sorted(bad)))
        return 0
    todo = []
    if os.path.exists(options.todo):
        with open(options.todo, encoding="utf-8") as f:
            todo = [line.strip() for line in f if line.strip() and not line.startswith("#")]
    faults = [
        f"{where}: {name}: not '{word_of(name)}' but {WORDS[word_of(name)]}"
        for name, where in bad.items()
        if name not in todo
    ]
    faults += [f"{options.todo}: {name} is gone: take it out" for name in todo if name not in bad]
    for fault in faults:
        print(fault)
    if not faults:
        print(f"{n_names} names, {len(todo)} still to be changed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
