#!/usr/bin/env python3
"""check_text.py [--new]: words that do not belong into files and commit texts of the project.

Files and commits speak of the project only: no places of one machine, no trailers of tools, no notes to oneself.
--new looks at the commits that main does not have yet, their subject lines included; without it at the whole history.
"""
import re
import subprocess
import sys

import house

SUBJECT_MAX = 72
# Written in pieces so that this file passes its own check.
WORDS = [
    ("a place of one machine", re.compile(r"(?<![\w.])/(?:wor" r"k|hom" r"e|roo" r"t|User" r"s)/\w")),
    ("a note to oneself", re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b(?!\.)")),
    ("a trailer of a tool", re.compile(r"^(?:co-authored-" r"by|generated (?:wi" r"th|b" r"y)\b.*\b(?:code|tool|assist\w*))", re.I | re.M)),
    ("a page outside of the tree", re.compile(r"\bfac" r"ts:? (?:\w+\.md|BinaryRow)")),
    ("not about the project", re.compile(r"\b(?:language mod" r"el|chat" r"bot|A" r"I assist\w*|as an A" r"I)\b", re.I)),
]
SKIPPED = ("test/golden/", "test/corpus/", "LICENSE")


def faults_in(name, text):
    return [f"{name}:{text.count(chr(10), 0, m.start()) + 1}: {m[0].strip()!r} is {what}" for what, p in WORDS for m in p.finditer(text)]


def commits(new):
    """(short id, text) of each commit to look at; none where there is no history or no main."""
    span = ["main..HEAD"] if new else ["HEAD"]
    out = subprocess.run(["git", "log", "--no-merges", "--format=%h%x00%B%x01", *span], cwd=house.ROOT, capture_output=True, text=True)
    return [tuple(c.strip("\n").split("\0")) for c in out.stdout.split("\1") if "\0" in c]


def main():
    new = "--new" in sys.argv[1:]
    faults, files = [], 0
    for path in house.tracked():
        name = house.relative(path)
        if name.startswith(SKIPPED):
            continue
        data = path.read_bytes()
        if b"\0" not in data:
            files += 1
            faults += faults_in(name, data.decode(errors="replace"))
    looked_at = commits(new)
    for short, text in looked_at:
        faults += faults_in(f"commit {short}", text)
        subject = text.split("\n")[0]
        if new and (len(subject) > SUBJECT_MAX or not re.match(r"[\w./, -]+: \S", subject)):
            faults.append(f"commit {short}: {subject!r} is not 'area: do the thing' of at most {SUBJECT_MAX} letters")
    return house.finish("text", faults, f"{files} files, {len(looked_at)} commits")


sys.exit(main())
