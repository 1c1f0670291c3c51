"""A Flink cluster in one process of Java, as a child: statements go in as lines of JSON (java/flink/Shell.java)."""
import collections
import contextlib
import itertools
import json
import pathlib
import selectors
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/flink"
ANSWER_SECONDS_MAX = 120
# Flink, Arrow and Kryo look into the JDK.
OPENS = [f"--add-opens=java.base/{p}=ALL-UNNAMED" for p in
         ("java.nio", "java.lang", "java.util", "java.net", "java.util.concurrent", "java.io", "sun.nio.ch")]


def java(jars, main, *args, heap="512m", log):
    """A started program of build/flink/JARS, whose standard error goes to a file."""
    command = ["java", f"-Xmx{heap}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *OPENS,
               f"-Dlog4j.configurationFile={pathlib.Path(__file__).parent / 'log4j2.properties'}",
               "-cp", f"{BUILD / jars / 'classes'}:{BUILD / jars / 'jars'}/*", main, *args]
    with open(log, "ab") as err:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err)


class FlinkError(Exception):
    """What Flink said, causes and all."""


class Flink:
    def __init__(self, log):
        self.log = pathlib.Path(log)
        self.process = java("flink", "Shell", heap="1200m", log=log)
        self.names = map("q{}".format, itertools.count())

    def ask(self, **fields):
        self.process.stdin.write((json.dumps(fields) + "\n").encode())
        self.process.stdin.flush()
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            if not selector.select(ANSWER_SECONDS_MAX):
                self.process.kill()
                self.process.wait()
                raise AssertionError(f"no answer within {ANSWER_SECONDS_MAX} s to {fields}")
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError("Flink has ended")
        answer = json.loads(line)
        if "error" in answer:
            raise FlinkError(answer["error"])
        return answer

    def sql(self, text, streaming=False):
        """The rows of a statement to its end, as tuples. Statements with semicolons between: the rows of the last."""
        rows = []
        for statement in filter(str.strip, text.split(";")):
            rows = self.ask(sql=statement.strip(), streaming=streaming).get("rows", [])
        return [tuple(r[1:]) for r in rows]

    def catalog(self, name, server):
        self.sql(f"CREATE CATALOG {name} WITH ('type'='fluss', 'bootstrap.servers'='{server.bootstrap}')")

    @contextlib.contextmanager
    def query(self, text, options=None):
        """A streaming query or INSERT that goes on, with options of Flink for its job: a Query, closed at the end."""
        name = next(self.names)
        self.ask(sql=text, streaming=True, name=name, set=options or {})
        try:
            yield Query(self, name)
        finally:
            self.ask(close=name)

    @contextlib.contextmanager
    def tiering(self, server, poll="1 s"):
        """Fluss's own tiering job, at this server, until the end."""
        name = next(self.names)
        self.ask(tier=name, fluss={"bootstrap.servers": server.bootstrap, "tiering.poll.table.interval": poll},
                 lake={"metastore": "filesystem", "warehouse": f"file://{server.warehouse}"})
        try:
            yield
        finally:
            self.ask(close=name)

    def running(self):
        return self.process.poll() is None

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def tail(self, lines=30):
        return "Flink's log:\n" + "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


class Query:
    def __init__(self, flink, name):
        self.flink, self.name, self.rows = flink, name, []

    def take(self, count, seconds=60):
        """Its next count rows as (kind, value, ..); fewer only if none comes for so long."""
        rows = [tuple(r) for r in self.flink.ask(more=self.name, rows=count, seconds=seconds)["rows"]]
        self.rows += rows
        return rows

    def until(self, done, seconds=60):
        """Reads on until done(all rows so far); gives them."""
        end = time.monotonic() + seconds
        while not done(self.rows):
            assert time.monotonic() < end, f"after {seconds} s: {self.rows}"
            self.take(1, 1)
        return self.rows

    def quiet(self, seconds=1.0):
        """Fails if another row comes."""
        assert self.take(1, seconds) == []


def same(got, want):
    """Fails unless both have the same rows, each as often, in whatever order."""
    key = lambda row: json.dumps(row, default=str)
    missing = collections.Counter(map(key, want)) - collections.Counter(map(key, got))
    too_many = collections.Counter(map(key, got)) - collections.Counter(map(key, want))
    assert not missing and not too_many, f"missing {sorted(missing.elements())[:10]}, too many {sorted(too_many.elements())[:10]}"


def folded(changes, keys=1):
    """The rows that a changelog leaves, by its first columns."""
    state = {}
    for kind, *row in changes:
        if kind in ("+I", "+U"):
            state[tuple(row[:keys])] = tuple(row)
        else:
            state.pop(tuple(row[:keys]), None)
    return list(state.values())
