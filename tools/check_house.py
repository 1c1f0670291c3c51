#!/usr/bin/env python3
"""check_house.py: the tree in figures, and its two limits: 800 lines of file, 70 lines of function.

Files: lines of .c files. Functions: from a brace in column 0 to its closing one. Prose: comment lines of headers.
The limit of files holds for tests, tools and Python too; that of functions for the code of the product.
"""
import re
import statistics
import sys

import house

FILE_LINES_MAX = 800
FUNCTION_LINES_MAX = 70


def lines(path):
    return path.read_text(errors="replace").splitlines()


def percent(part, whole):
    return f"{100 * part / whole:.0f} %" if whole else "-"


def functions(text):
    """(first line, lines) of each function."""
    start = None
    for n, line in enumerate(text):
        one_line_head = re.match(r"\w.*\)\s*\{$", line) and not line.startswith(("struct", "enum", "union", "typedef"))
        if line.startswith("{") or one_line_head:
            start = n
        elif line.startswith("}") and start is not None:
            yield start + 1, n - start + 1
            start = None


def main():
    code = [p for p in house.source((".c",)) if not house.is_beside(p)]
    heads = [p for p in house.source((".h",)) if not house.is_beside(p)]
    written = [p for p in house.tracked() if p.suffix in (".c", ".h", ".py", ".sh") and "golden" not in p.parts]
    tests = [p for p in written if house.is_beside(p) or p.is_relative_to(house.ROOT / "test")]
    sizes = sorted((len(lines(p)), p) for p in code)
    lengths = sorted((n, p, at) for p in code for at, n in functions(lines(p)))
    faults = [f"{house.relative(p)}: {n} lines, at most {FILE_LINES_MAX}" for p in written if (n := len(lines(p))) > FILE_LINES_MAX]
    faults += [f"{house.relative(p)}:{at}: a function of {n} lines, at most {FUNCTION_LINES_MAX}" for n, p, at in lengths if n > FUNCTION_LINES_MAX]
    prose = sum(bool(re.match(r"\s*(/?\*|//)", line)) for p in heads for line in lines(p))
    head_lines = sum(len(lines(p)) for p in heads)
    total = sum(n for n, _ in sizes) + head_lines
    tested = sum(len(lines(p)) for p in tests)
    largest = ", ".join(f"{p.relative_to(house.SRC)} {n}" for n, p in sizes[:-4:-1])
    print(f"files      {len(sizes)} .c, {len(heads)} .h, {total} lines; median {statistics.median(n for n, _ in sizes):.0f}; largest {largest}")
    only = [n for n, _, _ in lengths]
    print(f"functions  {len(only)}; median {statistics.median(only):.0f} lines, 95th percentile {only[int(len(only) * .95)]}")
    print(f"headers    {percent(prose, head_lines)} prose")
    print(f"tests      {tested} lines, {tested / total:.2f} of the source")
    return house.finish("sizes", faults, f"no file over {FILE_LINES_MAX} lines, no function over {FUNCTION_LINES_MAX}")


sys.exit(main())
