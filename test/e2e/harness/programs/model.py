"""What a table holds after what was written, and what its changelog tells of each key."""
import json


class Model:
    def __init__(self, program, table):
        self.program, self.table = program, table
        self.log, self.raw = [], []  # rows of a log table: canonical, and as they were written
        self.state, self.history = {}, {}  # key -> row as it was written, None where it went; key -> [(kind, canonical row)]

    def key(self, row):
        return json.dumps([row[c] for c in self.program.pk])

    def add(self, field):
        """What was written before is null in the new column."""
        self.program.schema = self.program.engine.schema = self.program.schema.append(field)
        told = [row for history in self.history.values() for _, row in history]
        for row in [*self.log, *self.raw, *told, *filter(None, self.state.values())]:
            row[field.name] = None

    def write(self, operation, rows, columns=None):
        if operation in ("append", "arrow"):
            self.log += self.table.rows(rows)
            self.raw += [dict(row) for row in rows]
            return
        engine, columns = self.program.engine, columns or self.program.written
        for raw, row in zip(rows, self.table.rows(rows)):
            key = self.key(row)
            old = self.state.get(key)
            if operation == "insert" and old is not None:
                continue
            changes, new = engine.delete(old, columns) if operation == "delete" else engine.write(old, raw, columns)
            if self.program.numbered and new and new[self.program.numbered] is None:
                new[self.program.numbered] = "?"  # learned from the changelog
            self.history.setdefault(key, []).extend((kind, self.table.rows([r])[0]) for kind, r in changes)
            self.state[key] = new

    def learn(self, column, seen):
        """The numbers that the server gave: each life of a key has one, which no other life has. seen: as history."""
        given = []
        for key, history in self.history.items():
            number = None
            for (kind, row), (_, told) in zip(history, seen.get(key, [])):
                if kind == "+I":
                    number = told[column]
                    given.append(number)
                row[column] = number
            if self.state[key] is not None:
                self.state[key][column] = number
        assert None not in given and len(set(given)) == len(given), f"numbers: {sorted(given, key=str)}"

    def rows(self):
        return self.table.rows([r for r in self.state.values() if r is not None]) if self.program.is_pk else self.log

    def change_count(self):
        return sum(map(len, self.history.values())) if self.program.is_pk else len(self.log)
