#!/usr/bin/env python3
"""check_docs.py: what the documents name exists, and pages made from tables are fresh.

Paths: each `word/like/this` or `file.ext` between backquotes in README, HACKING, CHANGELOG and the pages of docs/
whose first part is a name at the top of the tree; `*` stands for any. What the build makes is left out. Links to
files lead somewhere.
Feature table: under "## Feature to file" in ARCHITECTURE.md, each row's last column names files.
Made pages: tools/gen_docs.py --check.
"""
import re
import subprocess
import sys

import house

PAGES = ["README.md", "HACKING.md", "CHANGELOG.md", "docs/*.md", "docs/*/*.md", "python/README.md"]
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
QUOTED = re.compile(r"`([\w./*{},-]+)`")
TOP_FILE = re.compile(r"[\w-]+\.(?:md|txt|json|toml)$|Makefile$|LICENSE$")


def tops():
    return {p.name for p in house.ROOT.iterdir()} - {"build", ".git"}


def looks_like_path(word, top):
    first = word.split("/")[0]
    return (first in top and "/" in word) or (TOP_FILE.match(word) and word[0].isupper())


def exists(word):
    names = [word]
    braces = re.match(r"(.*)\{([^}]*)\}(.*)$", word)
    if braces:
        names = [braces[1] + middle + braces[3] for middle in braces[2].split(",")]
    return all(any(house.ROOT.glob(n.rstrip("/"))) for n in names)


def page_faults(page, top):
    name = house.relative(page)
    for number, line in enumerate(page.read_text().splitlines(), 1):
        for word in QUOTED.findall(line):
            if looks_like_path(word, top) and not exists(word):
                yield f"{name}:{number}: `{word}` does not exist"
        for link in LINK.findall(line):
            if not (page.parent / link).exists():
                yield f"{name}:{number}: {link} does not exist"


def feature_faults():
    page = house.ROOT / "docs/ARCHITECTURE.md"
    if not page.exists():
        return
    inside, rows = False, 0
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("## "):
            inside = line == "## Feature to file"
        elif inside and line.startswith("|") and not re.match(r"\|[\s:-]+\||\| *[Ff]eature *\|", line):
            rows += 1
            files = QUOTED.findall(line.strip().strip("|").split("|")[-1])
            if not files or not all(exists(f) for f in files):
                yield f"docs/ARCHITECTURE.md:{number}: a feature whose files are not there"
    if rows == 0:
        yield "docs/ARCHITECTURE.md: no row under '## Feature to file'"


def main():
    top = tops()
    pages = [p for pattern in PAGES for p in sorted(house.ROOT.glob(pattern))]
    faults = [f for p in pages for f in page_faults(p, top)] + list(feature_faults())
    generated = house.ROOT / "tools/gen_docs.py"
    if generated.exists():
        out = subprocess.run([sys.executable, generated, "--check"], capture_output=True, text=True)
        if out.returncode:
            faults += out.stdout.splitlines() or [out.stderr]
    return house.finish("docs", faults, f"{len(pages)} pages")


sys.exit(main())
