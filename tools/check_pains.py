#!/usr/bin/env python3
"""check_pains.py: test/e2e/pains.tsv says which test stands for which row of the list of what users of such systems report
(stock-N: where Apache Fluss 0.9.1 goes wrong), or why there is none. Each test it names must exist."""
import re
import sys

import house

TABLE = house.ROOT / "test/e2e/pains.tsv"


def fault_of(row, what):
    if not re.fullmatch(r"(stock-)?\d+", row):
        return f"'{row}' is no row"
    if re.fullmatch(r"reason: \S.*", what):
        return None
    name = re.fullmatch(r"((?:src|test)/[\w/]+\.(?:py|c))::(\w+)", what)
    if not name:
        return "neither FILE::TEST nor 'reason: ...'"
    path = house.ROOT / name[1]
    if not path.exists():
        return f"there is no file {name[1]}"
    form = rf"^(?:async )?def {name[2]}\(" if name[1].endswith(".py") else rf"^static void {name[2]}\(void \*\*state\)"
    return None if re.search(form, path.read_text(), re.M) else f"{name[1]} has no test {name[2]}"


def main():
    faults, lines = [], TABLE.read_text().splitlines()
    for number, line in enumerate(lines[1:], 2):
        cells = line.split("\t")
        fault = fault_of(*cells) if len(cells) == 2 else "two columns, with a tab between"
        if fault:
            faults.append(f"test/e2e/pains.tsv:{number}: {fault}")
    return house.finish("pains", faults, f"{len(lines) - 1} rows")


sys.exit(main())
