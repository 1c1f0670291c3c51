"""The lake, read by pypaimon and asked by SQL: reads that end, by a deadline."""
import pathlib
import queue
import re
import threading
import time

DEADLINE_SECONDS = 30.0
DEFAULT_DATABASE = "fluss"
SYSTEM_COLUMNS = ("__bucket", "__offset", "__timestamp")


class DeadlineExceeded(TimeoutError):
    pass


def _load():
    """The readers, before a clock runs: loading them the first time takes seconds."""
    import polars  # noqa: F401
    import pypaimon  # noqa: F401


def _by_deadline(work, deadline, what):
    """work() in a thread of its own. A read that hangs is left behind when its time is over; it never holds the test."""
    answer = queue.Queue()

    def run():
        try:
            answer.put((work(), None))
        except BaseException as e:  # told to the caller
            answer.put((None, e))

    threading.Thread(target=run, daemon=True, name="paimon_sql").start()
    try:
        value, error = answer.get(timeout=max(deadline - time.monotonic(), 0.001))
    except queue.Empty:
        raise DeadlineExceeded(f"no answer in time: {what}") from None
    if error is not None:
        raise error
    return value


# A name of a table in SQL: database.table, or table behind FROM or JOIN. Texts in quotes are passed over.
_TEXT = r"'(?:[^']|'')*'"
_PART = r'(?:"[^"]+"|[A-Za-z_][\w-]*)'
_NAME = re.compile(rf"{_TEXT}|(?P<from>\b(?:FROM|JOIN)\s+)?(?P<name>{_PART}(?:\.{_PART})?)", re.I)


def _names(sql, tables):
    """(the SQL with each table's name as one quoted word, {that word: (database, table)})."""
    used = {}

    def one(match):
        if not match["name"]:
            return match[0]
        parts = [p.strip('"') for p in re.findall(_PART, match["name"])]
        path = tuple(parts) if len(parts) == 2 else (DEFAULT_DATABASE, parts[0]) if match["from"] else None
        if path not in tables:
            return match[0]
        word = ".".join(path) if len(parts) == 2 else parts[0]
        used[word] = path
        return f'{match["from"] or ""}"{word}"'

    return _NAME.sub(one, sql), used


class PaimonSql:
    """The tables of one Paimon warehouse in a local directory."""

    def __init__(self, warehouse, system_columns=False):
        """system_columns: whether `*` has __bucket, __offset and __timestamp, which Fluss's lake tables end with."""
        self.warehouse = pathlib.Path(warehouse)
        self.system_columns = system_columns

    def tables(self):
        """{(database, table)}: what is in the warehouse."""
        return {(d.name.removesuffix(".db"), t.name) for d in self.warehouse.glob("*.db") for t in d.iterdir() if (t / "schema").is_dir()}

    def table(self, name, deadline=DEADLINE_SECONDS):
        """The newest snapshot of "database.table" as a pyarrow.Table; without rows where there is none yet."""
        _load()
        return _by_deadline(lambda: self._read(name), time.monotonic() + deadline, name)

    def _read(self, name):
        import pyarrow
        from pypaimon import CatalogFactory

        table = CatalogFactory.create({"warehouse": f"file://{self.warehouse}"}).get_table(name)
        builder = table.new_read_builder()
        read = builder.new_read()
        rows = read.to_arrow(builder.new_scan().plan().splits())
        if rows is None:
            from pypaimon.schema.data_types import PyarrowFieldParser
            rows = PyarrowFieldParser.from_paimon_schema(table.fields).empty_table()
        assert isinstance(rows, pyarrow.Table)
        return rows if self.system_columns else rows.drop_columns([c for c in rows.column_names if c in SYSTEM_COLUMNS])

    def batch(self, sql, deadline=DEADLINE_SECONDS):
        """The rows of a SELECT as tuples. Tables are named database.table, or table for those of the database `fluss`; each is
        read at its newest snapshot. deadline: seconds; DeadlineExceeded after that. The SQL is that of polars."""
        _load()
        return _by_deadline(lambda: self._select(sql), time.monotonic() + deadline, sql)

    def _select(self, sql):
        import polars

        sql, used = _names(sql, self.tables())
        frames = {word: polars.from_arrow(self._read(".".join(path))) for word, path in used.items()}
        return polars.SQLContext(frames).execute(sql, eager=True).rows()

    def until(self, sql, want, deadline=DEADLINE_SECONDS, ordered=False):
        """Asks again and again until the answer is `want` (rows in any order, unless ordered); gives it. AssertionError with
        the last answer when the time is over."""
        _load()
        end, last, pause = time.monotonic() + deadline, None, 0.05
        want = [tuple(row) for row in want]
        while True:
            try:
                last = _by_deadline(lambda: self._select(sql), end, sql)
                if last == want or (not ordered and sorted(map(repr, last)) == sorted(map(repr, want))):
                    return last
            except DeadlineExceeded as e:
                last = e if last is None else last
            except Exception as e:  # the table is not there yet, or a file expired under the reader
                last = e
            if time.monotonic() + pause > end:
                raise AssertionError(f"after {deadline} s the lake answers {last!r}, not {want!r}: {sql}")
            time.sleep(pause)
            pause = min(pause * 1.5, 0.5)
