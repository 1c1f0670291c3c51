#!/usr/bin/env python3
"""compare.py: weir beside the real Apache Fluss, in one run with one client; writes docs/performance.md.

usage: bench/compare.py [--rows N] [--keys N] [--parts log,kv,lookup,ack,start,lake,disk] [--peer DIR] [--out FILE]

Each measurement is made on one server and at once on the other, so that what else the machine does falls on both. What
counts is processor time of the server; both clients and servers share the machine, so rates say little. The peer is the
folder of the real Fluss and its benchmarks (default: $WEIR_PEER, else ../shared/peer); without it only weir is measured.
Needs Java 17 and Maven for the client, build/weir and build/release/bench_log_append for the rest.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
QUICK = ["--conf", "client.lookup.batch-timeout=10micro", "--seconds", "20"]


def say(text):
    print(text, file=sys.stderr, flush=True)


def cpu_seconds(pids):
    total = 0.0
    for pid in pids:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        total += (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
    return total


def resident_mb(pids):
    total = 0
    for pid in pids:
        total += int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text()).group(1))
    return total / 1024


class Weir:
    name = "weir"

    def __init__(self, folder, *options):
        self.folder = folder
        self.log = open(folder / "weir.err", "wb")
        command = [str(ROOT / "build" / "weir"), "server", "--data-dir", str(folder / "data"), "--listen", "127.0.0.1:0",
                   "-D", "weir.http.listen="]
        for option in options:
            command += ["-D", option]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True)
        ready = self.process.stdout.readline()
        if not ready.startswith("ready "):
            raise SystemExit(f"weir did not start: {(folder / 'weir.err').read_text()}")
        self.bootstrap = re.search(r"FLUSS=(\S+)", ready).group(1)
        self.pids = [self.process.pid]
        self.warehouse = folder / "data" / "lake"

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)


class Fluss:
    name = "Fluss 0.9.1"

    def __init__(self, folder, peer, port):
        self.folder, self.peer = folder, peer
        self.environment = dict(os.environ, FLUSS_PEER_PORT=str(port))
        subprocess.run([peer / "fluss" / "up", folder], check=True, env=self.environment, stdout=subprocess.DEVNULL)
        self.bootstrap = f"127.0.0.1:{port}"
        self.pids = [int((folder / f"{name}.pid").read_text()) for name in ("zk", "coordinator", "tablet")]

    def stop(self):
        subprocess.run([self.peer / "fluss" / "down", self.folder], env=self.environment, check=False)


class Client:
    """The Java client of the peer's folder; one JSON line for each run."""

    def __init__(self, peer):
        self.program = peer / "bench" / "bench"

    def run(self, server, *arguments):
        command = [str(self.program), *map(str, arguments), "--bootstrap", server.bootstrap, "--pids",
                   ",".join(map(str, server.pids))]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        if not lines:
            raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}"[-3000:])
        return json.loads(lines[-1])


def parts_of(rows, keys):
    """(part, what it is called, arguments of the client). Later ones read what earlier ones wrote."""
    return [
        ("log", f"append {rows} rows, 1 bucket", ["append", "--table", "bench.log1", "--buckets", 1, "--rows", rows]),
        ("log", "scan them", ["scan", "--table", "bench.log1"]),
        ("log", "scan one column of them", ["scan", "--table", "bench.log1", "--project"]),
        ("log", f"append {rows} rows, 4 buckets", ["append", "--table", "bench.log4", "--buckets", 4, "--rows", rows]),
        ("log", "scan them, 4 buckets", ["scan", "--table", "bench.log4"]),
        ("kv", f"upsert {keys} new keys", ["upsert", "--keys", keys]),
        ("kv", "read their changelog", ["scan", "--table", "bench.pk"]),
        ("kv", f"upsert {keys} existing keys, random order",
         ["upsert", "--keys", keys, "--keep", "--salt", 1, "--shuffle"]),
        ("lookup", "20000 look-ups, one in flight", ["lookup", "--keys", keys, "--rows", 20000, "--warmup", 1000, *QUICK]),
        ("lookup", "500000 look-ups, 64 in flight",
         ["lookup", "--keys", keys, "--rows", 500000, "--warmup", 0, "--inflight", 64, *QUICK]),
        ("lookup", "upsert 300000 rows, 10 of each prefix", ["prefix-load", "--keys", 30000]),
        ("lookup", "10000 prefix look-ups of 10 rows, one in flight",
         ["prefix", "--keys", 30000, "--rows", 10000, "--warmup", 1000, *QUICK]),
        ("lookup", "200000 prefix look-ups of 10 rows, 64 in flight",
         ["prefix", "--keys", 30000, "--rows", 200000, "--warmup", 0, "--inflight", 64, *QUICK]),
        ("ack", "3000 appended rows, each awaited", ["ack", "--rows", 3000]),
        ("ack", "3000 upserted rows, each awaited", ["ack", "--rows", 3000, "--pk"]),
    ]


def operations_of(result):
    return result.get("lookups") or result.get("rows") or 1


def rate_text(result):
    if "p50_ms" in result:
        return f"{result['p50_ms']:.2f} / {result['p99_ms']:.2f} ms"
    return f"{result.get('rows_per_s', 0):,} rows/s"


def settle(server, seconds=20):
    """Work that a measurement left behind (compaction, flushes) ends before the next one begins."""
    for _ in range(seconds):
        before = cpu_seconds(server.pids)
        time.sleep(1)
        if cpu_seconds(server.pids) - before < 0.05:
            return


def compare_clients(options, weir, fluss, client):
    lines = ["| what | weir, CPU µs each | peer, CPU µs each | weir / peer | weir | peer |", "|---|---|---|---|---|---|"]
    failed = []
    for part, title, arguments in parts_of(options.rows, options.keys):
        if part not in options.parts:
            continue
        cells, cost = [], []
        for server in (weir, fluss):
            if server is None:
                cost.append(None)
                cells.append("-")
                continue
            say(f"{server.name}: {title}")
            result = client.run(server, *arguments)
            cost.append(1e6 * result["server_cpu_s"] / operations_of(result))
            cells.append(rate_text(result))
            settle(server)
        ratio = "-" if cost[1] is None else f"{cost[0] / cost[1]:.2f}" if cost[1] else "-"
        if cost[1] is not None and cost[0] > cost[1]:
            failed.append(title)
        text = ["-" if c is None else f"{c:.2f}" for c in cost]
        lines.append(f"| {title} | {text[0]} | {text[1]} | {ratio} | {cells[0]} | {cells[1]} |")
    return lines, failed


def measure_start(folder):
    """Milliseconds until the ready line and until the first acknowledged row, by weir's own client; memory at rest."""
    best = None
    for i in range(5):
        place = folder / f"start{i}"
        place.mkdir()
        began = time.monotonic()
        weir = Weir(place)
        ready = 1000 * (time.monotonic() - began)
        tool = [str(ROOT / "build" / "weir")]
        subprocess.run([*tool, "sql", "CREATE TABLE t (a INT)", "--bootstrap", weir.bootstrap], check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run([*tool, "put", "t", '{"a":1}', "--bootstrap", weir.bootstrap], check=True, stdout=subprocess.DEVNULL)
        row = 1000 * (time.monotonic() - began)
        best = min(best, (row, ready)) if best else (row, ready)
        if i == 4:
            time.sleep(5)
            memory = resident_mb(weir.pids)
        weir.stop()
    return best[1], best[0], memory


def measure_lake(options, folder, client):
    """Backlogs by processor time of the whole server, tiering included; lag by the peer's client."""
    out = []
    for kind, count in (("log", options.rows), ("pk", options.keys)):
        place = folder / f"lake-{kind}"
        place.mkdir()
        weir = Weir(place, "weir.tier.enabled=false")
        table = "bench.back"
        properties = ["--props", "table.datalake.enabled=true", "--table", table]
        if kind == "log":
            client.run(weir, "append", "--buckets", 4, "--rows", count, *properties)
        else:
            client.run(weir, "upsert", "--keys", count, "--buckets", 4, *properties)
        weir.stop()
        weir = Weir(place, "weir.datalake.freshness=1 s")
        began = time.monotonic()
        say(f"weir: backlog of {count} {kind} rows")
        tool = [str(ROOT / "build" / "weir"), "wait", table, "--deadline", "300s", "--bootstrap", weir.bootstrap]
        subprocess.run(tool, check=True, stdout=subprocess.DEVNULL)
        out.append((f"backlog of {count} {kind} rows", cpu_seconds(weir.pids), time.monotonic() - began))
        weir.stop()
    place = folder / "lag"
    place.mkdir()
    weir = Weir(place)
    say("weir: lake lag at freshness 1 s")
    lag = client.run(weir, "lag", "--warehouse", weir.warehouse, "--freshness", "1s", "--seconds", "30")
    weir.stop()
    return out, lag


def measure_disk(folder):
    """weir's log beside plain fdatasync group commit: bench_log_append prints both."""
    program = ROOT / "build" / "release" / "bench_log_append"
    subprocess.run(["cmake", "--build", "--preset", "release", "--target", "bench_log_append"], cwd=ROOT, check=True,
                   stdout=subprocess.DEVNULL)
    say("durable appends of 64 writers to 64 logs")
    return subprocess.run([program, str(folder)], check=True, capture_output=True, text=True).stdout


def machine():
    model = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return f"{os.cpu_count()} x {model.group(1) if model else 'processor'}, load {os.getloadavg()[0]:.1f} at the start"


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--parts", default="log,kv,lookup,ack,start,lake,disk")
    parser.add_argument("--peer", type=pathlib.Path,
                        default=pathlib.Path(os.environ.get("WEIR_PEER", ROOT.parent / "shared" / "peer")))
    parser.add_argument("--port", type=int, default=19723, help="the peer's first port")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs" / "performance.md")
    options = parser.parse_args()
    options.parts = options.parts.split(",")
    return options


def main():
    options = read_arguments()
    if not (options.peer / "bench" / "bench").exists():
        raise SystemExit(f"{options.peer} has no benchmarks of Fluss: name their folder with --peer or WEIR_PEER")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-bench-"))
    client, servers = Client(options.peer), []
    page = ["# Performance, beside Apache Fluss", "", f"Made by `make bench` on {time.strftime('%Y-%m-%d')}: {machine()}.",
            "Rows of 84 bytes (bigint, int, double, 64 letters); both servers with their defaults, the Java client 0.9.1 of the",
            "peer's benchmarks, each measurement on one server and at once on the other. CPU is the server's (for Fluss ZooKeeper,",
            "coordinator and tablet server together); the last two columns are the client's view, on two cores shared by all.",
            "weir answers when a write is on disk (fdatasync), Fluss when it is in the page cache.", ""]
    failed = []
    try:
        if any(part in options.parts for part in ("log", "kv", "lookup", "ack")):
            (folder / "weir").mkdir()
            (folder / "fluss").mkdir()
            weir = Weir(folder / "weir")
            servers.append(weir)
            fluss = Fluss(folder / "fluss", options.peer, options.port)
            servers.append(fluss)
            lines, failed = compare_clients(options, weir, fluss, client)
            page += ["## Processor time", "", *lines, "",
                     f"Resident after it: weir {resident_mb(weir.pids):.0f} MB, Fluss {resident_mb(fluss.pids):.0f} MB.", ""]
            while servers:
                servers.pop().stop()
        if "start" in options.parts:
            ready, row, memory = measure_start(folder)
            page += ["## Start and rest", "", f"- ready line after {ready:.0f} ms, first acknowledged row (a table made, one row"
                     f" put, by `weir`) after {row:.0f} ms: the best of 5", f"- resident at rest, tiering included: {memory:.0f} MB", ""]
        if "lake" in options.parts:
            backlogs, lag = measure_lake(options, folder, client)
            page += ["## Lake", ""]
            page += [f"- {what}: {cpu:.1f} s of processor time of the whole server, {wall:.1f} s" for what, cpu, wall in backlogs]
            page += [f"- lag at freshness 1 s, from acknowledgement to the snapshot: `{json.dumps(lag)}`", ""]
        if "disk" in options.parts:
            page += ["## Durable appends", "", "```", measure_disk(folder).rstrip(), "```", ""]
        if failed:
            page += ["Dearer than the peer in this run: " + "; ".join(failed) + ".", ""]
        options.out.write_text("\n".join(page))
        say(f"wrote {options.out}")
    finally:
        for server in servers:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
