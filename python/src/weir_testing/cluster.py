"""A cluster: one weir server as a child process, with a directory and ports of its own."""
import contextlib
import json
import os
import pathlib
import re
import selectors
import shutil
import signal
import subprocess
import tempfile
import time

from .binary import find_binary
from .lake import PaimonSql

READY_SECONDS = 20.0
STOP_SECONDS = 20.0


class CommandFailed(AssertionError):
    """A command of weir said no, or could not tell."""

    def __init__(self, command, code, output):
        super().__init__(f"weir {' '.join(command)} ended with {code}\n{output}")
        self.code = code


class Cluster:
    """A running server.

    bootstrap   "127.0.0.1:PORT", for every client of Apache Fluss
    warehouse   the directory of the Paimon warehouse
    paimon_sql  the lake, by SQL (PaimonSql)
    http        "127.0.0.1:PORT" of /metrics, /healthz, /readyz
    log         the file with what the server says
    start_seconds  how long the start took
    """

    def __init__(self, directory, paimon_warehouse=None, options=None, freshness="1 s", binary=None):
        self.directory = pathlib.Path(directory).absolute()
        self.warehouse = pathlib.Path(str(paimon_warehouse or self.directory / "lake").removeprefix("file://")).absolute()
        self.binary = pathlib.Path(binary) if binary else find_binary()
        self.log = self.directory / "weir.log"
        self.options = {"weir.http.listen": "127.0.0.1:0", "datalake.paimon.warehouse": str(self.warehouse),
                        "weir.datalake.freshness": freshness, **(options or {})}
        self.paimon_sql = PaimonSql(self.warehouse)
        self.bootstrap = self.http = self.start_seconds = self._process = None

    # ---- the process ----

    def start(self):
        """Starts it, again on the same data and port after stop() or kill(). Returns when it serves."""
        assert not self.running, "it runs"
        self.directory.mkdir(parents=True, exist_ok=True)
        self.warehouse.mkdir(parents=True, exist_ok=True)
        command = [str(self.binary), "server", "--data-dir", str(self.directory / "data"), "--listen", self.bootstrap or "127.0.0.1:0"]
        for key, value in self.options.items():
            command += ["-D", f"{key}={value}"]
        begin = time.monotonic()
        with open(self.log, "ab") as log:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, stdin=subprocess.DEVNULL, cwd=self.directory)
        line = self._ready_line()
        addresses = dict(re.findall(r"(\w+)=(\S+)", line))
        if not line.startswith("ready ") or "FLUSS" not in addresses:
            self._end(signal.SIGKILL)
            raise RuntimeError(f"the server did not start: {line!r}\n{self.tail()}")
        self.start_seconds = time.monotonic() - begin
        self.bootstrap, self.http = addresses["FLUSS"], addresses.get("HTTP")
        return self

    def _ready_line(self):
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            if not selector.select(READY_SECONDS):
                return "(nothing)"
        return self._process.stdout.readline().decode(errors="replace")

    def _end(self, with_signal):
        if self._process is None:
            return 0
        if self._process.poll() is None:
            self._process.send_signal(with_signal)
        try:
            code = self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._process.stdout.close()
        self._process = None
        return code

    @property
    def running(self):
        return self._process is not None and self._process.poll() is None

    def stop(self):
        """Ends it cleanly. A server that died or could not stop is an error."""
        if self._process is None:
            return
        code = self._end(signal.SIGTERM)
        if code != 0:
            raise RuntimeError(f"the server ended with {code}\n{self.tail()}")

    def kill(self):
        """Ends it as a crash does: SIGKILL."""
        self._end(signal.SIGKILL)

    def tail(self, lines=40):
        """The end of the server's log."""
        if not self.log.exists():
            return ""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    # ---- weir's own commands ----

    def command(self, *arguments, stdin="", seconds=60):
        """`weir ARGUMENTS` against this cluster: its output. CommandFailed where it does not say yes."""
        run = subprocess.run([str(self.binary), arguments[0], "--bootstrap", self.bootstrap, *map(str, arguments[1:])], input=stdin, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=seconds, cwd=self.directory)
        if run.returncode != 0:
            raise CommandFailed(arguments, run.returncode, run.stdout + run.stderr)
        return run.stdout

    def sql(self, statement):
        """Statements of databases and tables, as Flink users know them: CREATE TABLE ... WITH (...), DROP ..., SHOW ..."""
        return self.command("sql", statement)

    def put(self, table, rows):
        """Writes rows (dicts), acknowledged when it returns."""
        self.command("put", table, stdin="".join(json.dumps(row) + "\n" for row in rows))

    def scan(self, table):
        """The rows of a table as dicts, lake and stream read as one; `table$lake` the lake alone."""
        return [json.loads(line) for line in self.command("scan", table, "-o", "jsonl").splitlines()]

    def wait(self, table, seconds=30):
        """Until the lake holds all rows that are in the table now."""
        self.command("wait", table, "--deadline", f"{seconds}s", seconds=seconds + 10)

    def verify(self, table, seconds=60):
        """Proves that the lake holds exactly the rows of the stream, at its offsets; CommandFailed names rows that differ."""
        return self.command("verify", table, "--deadline", f"{seconds}s", seconds=seconds + 10)


@contextlib.contextmanager
def fluss_cluster(paimon_warehouse=None, directory=None, options=None, freshness="1 s", binary=None):
    """A cluster for a `with` block.

    paimon_warehouse  where its lake is; without it, in the cluster's directory
    directory         of its data and log, kept; without it a temporary one, removed at the end
    options           of the server, {"max.partition.num": 10}
    freshness         how far the lake may be behind, for tables that do not say
    binary            the weir to use; without it that of find_binary()

    When the block fails, the end of the server's log is told with the error."""
    own = directory is None
    where = pathlib.Path(tempfile.mkdtemp(prefix="weir-testing-")) if own else pathlib.Path(directory)
    cluster = Cluster(where, paimon_warehouse, options, freshness, binary)
    try:
        cluster.start()
        yield cluster
        cluster.stop()
    except BaseException as e:
        note = f"the log of the server at {cluster.bootstrap}:\n{cluster.tail()}"
        if hasattr(e, "add_note"):
            e.add_note(note)
        else:
            e.args = (*e.args, note)
        raise
    finally:
        cluster.kill()
        if own and not os.environ.get("WEIR_TESTING_KEEP"):
            shutil.rmtree(where, ignore_errors=True)
