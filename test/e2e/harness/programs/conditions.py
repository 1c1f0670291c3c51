"""Conditions of a scan: as pyfluss sends them to the server, and what a row must be to meet them."""
import math

import fluss

ORDER = {"==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b,
         ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}
TEXT = {"starts_with": str.startswith, "ends_with": str.endswith, "contains": str.__contains__}


def _is_nan(v):
    return isinstance(v, float) and math.isnan(v)


def _leaf(program, rows, r):
    name = r.choice(program.conditions)
    column, values = fluss.col(name), [row[name] for row in rows if row[name] is not None and not _is_nan(row[name])]
    x = r.random()
    if x < 0.15 or not values:
        null = r.random() < 0.5
        return f"{name} is{' not' * (not null)} null", column.is_null() if null else column.is_not_null(), lambda row: (row[name] is None) == null
    if x < 0.3:
        some, inside = r.sample(values, min(len(values), 3)), r.random() < 0.5
        meets = lambda row: row[name] is not None and (row[name] in some) == inside
        return f"{name}{' not' * (not inside)} in {some}", column.is_in(some) if inside else column.not_in(some), meets
    value = r.choice(values)
    if isinstance(value, str) and r.random() < 0.4:
        how, part = r.choice(list(TEXT)), value[:r.randrange(len(value) + 1)]
        return f"{name} {how} {part!r}", getattr(column, how)(part), lambda row: row[name] is not None and TEXT[how](row[name], part)
    how = r.choice(list(ORDER))
    meets = lambda row: row[name] is not None and ORDER[how](row[name], value)
    return f"{name} {how} {value!r}", {"==": column.equal, "!=": column.not_equal, "<": column.less_than, "<=": column.less_or_equal,
                                      ">": column.greater_than, ">=": column.greater_or_equal}[how](value), meets


def condition(program, rows, r, depth=2):
    """(text, pyfluss's predicate, function of a row as it was written) of the columns that have an order."""
    if depth == 0 or r.random() < 0.5:
        return _leaf(program, rows, r)
    (a, left, one), (b, right, other) = condition(program, rows, r, depth - 1), condition(program, rows, r, depth - 1)
    if r.random() < 0.5:
        return f"({a} and {b})", left & right, lambda row: one(row) and other(row)
    return f"({a} or {b})", left | right, lambda row: one(row) or other(row)


def nan_free(program, row):
    """What NaN equals, and where it is in the order, engines disagree on."""
    return not any(_is_nan(row[c]) for c in program.conditions)
