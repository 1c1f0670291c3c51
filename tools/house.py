"""What the checks of tools/check_*.py share: which files there are, and C text without comments and strings."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
BESIDE = re.compile(r"_(test|fuzz)\.[ch]$")  # tests and fuzz targets that stand beside the code


def is_beside(path):
    return bool(BESIDE.search(path.name))


def tracked():
    """Files that git knows or would take: committed, staged or new, without what .gitignore names."""
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, check=True, capture_output=True)
    return [p for p in (ROOT / n for n in sorted(out.stdout.decode().split("\0")) if n) if p.is_file()]


def source(suffixes=(".c", ".h")):
    return sorted(p for p in SRC.rglob("*") if p.suffix in suffixes)


def relative(path):
    return path.relative_to(ROOT).as_posix()


_TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)


def bare(text):
    """C text with comments and the insides of literals blanked, line numbers kept; #include lines keep their names."""
    def blank(match):
        token = match.group()
        if token.startswith("/"):
            return re.sub(r"[^\n]", " ", token)
        return token[0] + " " * (len(token) - 2) + token[-1]
    return _TOKEN.sub(blank, text)


def finish(name, faults, good):
    """Prints the faults, or one line that says what was looked at; gives the exit code of the check."""
    for fault in faults:
        print(fault)
    if faults:
        print(f"{name}: {len(faults)} faults", file=sys.stderr)
        return 1
    print(f"{name}: {good}")
    return 0
