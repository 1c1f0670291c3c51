"""Random programs: a table of random types, rounds of random operations, and a model of what every reader must see.

All of a program follows from its seed. program.py chooses the table and what is written in each round; features.py adds
what else there is to a table and its readers, each by a random source of its own, so that a new feature leaves the rows of
old seeds as they are. The model (model.py) is a list of rows for a log table; for a primary-key table the row under each
key and, for each key, the changes that its writes make, by the rules of engines.py: merge engines, writes of some columns,
deletes that are ignored, changelogs without old rows, columns that are added between rounds. writing.py writes with
pyfluss, or with `weir put` what pyfluss does not write; after each round reading.py compares what scanners, look-ups and
weir's own readers give, and at the end run.py what pypaimon reads in the lake and what `weir verify` says of it.

A program has one writer, or five at a time, each a client of its own with its own operations. The keys of a primary-key
table are shared out among them, so that what happens to a key is one writer's and the model knows the order.
"""
from .program import Program
from .run import run

__all__ = ["Program", "run"]
