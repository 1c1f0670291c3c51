#!/usr/bin/env python3
"""compare.py: weir beside the real Apache Fluss, in one run with one client; writes docs/performance.md.

usage: bench/compare.py [--rows N] [--keys N] [--parts log,kv,lookup,ack,start,lake,disk] [--peer DIR] [--out FILE]

Each measurement is made on one server and at once on the other, so that what else the machine does falls on both. What
counts is processor time of the server; both clients and servers share the machine, so rates say little. The goals are ratios
for that reason. The peer is the folder of the real Fluss and its benchmarks (default: $WEIR_PEER, else ../shared/peer);
needs Java 17 and Maven for the client, build/weir and the programs of this folder for the rest.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from servers import ROOT, Client, Fluss, Weir, cpu_seconds, resident_mb, say, settle

QUICK = ["--conf", "client.lookup.batch-timeout=10micro", "--seconds", "20"]
TURNS = 3  # of a measurement of latencies; the best of each percentile counts


@dataclasses.dataclass
class Row:
    part: str
    what: str
    arguments: list
    goal: float | tuple | None = None  # weir / peer at most; of latencies p50 and p99
    latency: bool = False
    page_cache: bool = False  # weir answers as Fluss does, before the row is on disk


def rows_of(rows, keys):
    """Later ones read what earlier ones wrote."""
    append1 = ["append", "--table", "bench.log1", "--buckets", 1, "--rows", rows]
    append4 = ["append", "--table", "bench.log4", "--buckets", 4, "--rows", rows]
    return [
        Row("log", f"append {rows} rows, 1 bucket", append1, 0.27),
        Row("log", "the same, to the page cache", append1, 0.27, page_cache=True),
        Row("log", "scan them", ["scan", "--table", "bench.log1"], 0.20),
        Row("log", "scan one column of them", ["scan", "--table", "bench.log1", "--project"], 0.28),
        Row("log", f"append {rows} rows, 4 buckets", append4, 0.25),
        Row("log", "the same, to the page cache", append4, 0.25, page_cache=True),
        Row("log", "scan them, 4 buckets", ["scan", "--table", "bench.log4"], 0.20),
        Row("kv", f"upsert {keys} new keys", ["upsert", "--keys", keys], 0.27),
        Row("kv", "read their changelog", ["scan", "--table", "bench.pk"]),
        Row("kv", f"upsert {keys} existing keys, random order",
            ["upsert", "--keys", keys, "--keep", "--salt", 1, "--shuffle"], 0.27),
        Row("lookup", "20000 look-ups, one in flight",
            ["lookup", "--keys", keys, "--rows", 20000, "--warmup", 1000, *QUICK], (0.50, 0.27), latency=True),
        Row("lookup", "500000 look-ups, 64 in flight",
            ["lookup", "--keys", keys, "--rows", 500000, "--warmup", 0, "--inflight", 64, *QUICK], 0.36),
        Row("lookup", "upsert 300000 rows, 10 of each prefix", ["prefix-load", "--keys", 30000]),
        Row("lookup", "10000 prefix look-ups of 10 rows, one in flight",
            ["prefix", "--keys", 30000, "--rows", 10000, "--warmup", 1000, *QUICK], latency=True),
        Row("lookup", "200000 prefix look-ups of 10 rows, 64 in flight",
            ["prefix", "--keys", 30000, "--rows", 200000, "--warmup", 0, "--inflight", 64, *QUICK], 0.40),
        Row("ack", "3000 appended rows, each awaited", ["ack", "--rows", 3000], latency=True),
        Row("ack", "the same, to the page cache", ["ack", "--rows", 3000], (0.38, 0.11), latency=True, page_cache=True),
        Row("ack", "3000 upserted rows, each awaited", ["ack", "--rows", 3000, "--pk"], latency=True),
    ]


# ---- weir and Fluss in turns ----

def cost(result):
    return 1e6 * result["server_cpu_s"] / (result.get("lookups") or result.get("rows") or 1)


def best(results):
    """Of the turns of one measurement on one server."""
    kept = min(results, key=lambda r: r["server_cpu_s"])
    if "p50_ms" in kept:
        kept = {**kept, **{p: min(r[p] for r in results) for p in ("p50_ms", "p99_ms")}}
    return kept


def run_row(row, servers, client):
    """[weir's result, the peer's]"""
    results = [[], []]
    for _ in range(TURNS if row.latency else 1):
        for taken, server in zip(results, servers):
            say(f"{server.name}: {row.what}")
            taken.append(client.run(server, *row.arguments))
            settle(server)
    return [best(taken) for taken in results]


def measure_clients(options, folder, client):
    """[(row, weir's result, the peer's)]; what weir's own client sees of both ways to be durable; memory of both at the end."""
    wanted = [row for row in rows_of(options.rows, options.keys) if row.part in options.parts]
    places = {name: folder / name for name in ("weir", "page-cache", "fluss")}
    for place in places.values():
        place.mkdir()
    servers = []
    try:
        servers += [Weir(places["weir"]), Weir(places["page-cache"], "weir.log.flush=async"),
                    Fluss(places["fluss"], options.peer, options.port)]
        durable, page_cache, fluss = servers
        done = [(row, *run_row(row, (page_cache if row.page_cache else durable, fluss), client)) for row in wanted]
        own = [own_latencies(server, folder) for server in (durable, page_cache)] if "ack" in options.parts else None
        return done, own, resident_mb(durable.pids), resident_mb(fluss.pids)
    finally:
        for server in servers:
            server.stop()


def own_latencies(server, folder):
    """By weir's own client, {what: (p50, p99)} in microseconds, and "fdatasync" of the disk."""
    say(f"{server.name}: latencies by its own client")
    bench = [ROOT / "build" / "release" / "bench_latency", server.bootstrap.rsplit(":", 1)[1]]
    done = subprocess.run(bench, check=True, stdout=subprocess.PIPE, text=True)
    found = {r["what"]: (r["p50_us"], r["p99_us"]) for r in map(json.loads, done.stdout.splitlines())}
    found["fdatasync"] = disk_latency(folder)
    return found


def mark(reached):
    return "reached" if reached else "**not reached**"


def cost_line(row, weir, peer):
    ratio = cost(weir) / cost(peer)
    goal = f"{row.goal:.2f} | {mark(ratio <= row.goal)}" if row.goal else " | "
    return (f"| {row.what} | {cost(weir):.2f} | {cost(peer):.2f} | {ratio:.2f} | {goal} | {weir.get('rows_per_s', weir.get('lookups_per_s', 0)):,}"
            f" | {peer.get('rows_per_s', peer.get('lookups_per_s', 0)):,} |")


def latency_line(row, weir, peer):
    ratios = [weir[p] / peer[p] for p in ("p50_ms", "p99_ms")]
    goal = " | "
    if row.goal:
        goal = f"{row.goal[0]:.2f} / {row.goal[1]:.2f} | {mark(all(r <= g for r, g in zip(ratios, row.goal)))}"
    text = [f"{r['p50_ms']:.2f} / {r['p99_ms']:.2f}" for r in (weir, peer)]
    return (f"| {row.what} | {text[0]} | {text[1]} | {ratios[0]:.2f} / {ratios[1]:.2f} | {goal} | {cost(weir):.0f} | {cost(peer):.0f} |")


def client_pages(done):
    costs = [cost_line(*d) for d in done if not d[0].latency]
    latencies = [latency_line(*d) for d in done if d[0].latency]
    if costs:
        yield from ["## Processor time of the server", "",
                    "Microseconds for each row or look-up. The last two columns are the client's rate, in rows or look-ups a second.", "",
                    "| what | weir | peer | weir / peer | goal | | weir's rate | peer's rate |", "|---|---|---|---|---|---|---|---|", *costs, ""]
    if latencies:
        yield from ["## Latency", "", f"p50 / p99 in milliseconds, as the client sees it: the best of {TURNS} turns. The last two columns are processor time"
                    " of the server, in microseconds for each.", "",
                    "| what | weir | peer | weir / peer | goal | | weir's time | peer's time |", "|---|---|---|---|---|---|---|---|", *latencies, ""]


def own_pages(done, own):
    """What is compared with itself, with the disk, or with an echo."""
    of = {(row.part, row.what, row.page_cache): weir for row, weir, _ in done}
    lines = []
    one, four = of.get(("log", "scan them", False)), of.get(("log", "scan them, 4 buckets", False))
    if one and four:
        ratio = one["rows_per_s"] / four["rows_per_s"]
        lines.append(f"- scan of 4 buckets beside that of 1, by the clock: {ratio:.2f} (goal 1.20, {mark(ratio <= 1.2)})")
    if own:
        durable, page_cache = own
        look_up, awaited, cached = durable["look-up"], durable["append"], page_cache["append"]
        ratio = awaited[0] / durable["fdatasync"][0]
        lines += ["", "By weir's own client (`bench_latency`), one after the other, p50 / p99 in microseconds:", "",
                  f"- an echo of 100 bytes over the same loopback: {pair(durable['echo'])}",
                  f"- a look-up: {pair(look_up)} (goal 100 / 250, {mark(look_up[0] <= 100 and look_up[1] <= 250)})",
                  f"- an awaited row: {pair(awaited)}, beside fdatasync of 200 bytes more at the end of a file: {pair(durable['fdatasync'])};"
                  f" {ratio:.2f} in the middle (goal 1.20, {mark(ratio <= 1.2)})",
                  f"- an awaited row, to the page cache: {pair(cached)} (goal 150 / 500, {mark(cached[0] <= 150 and cached[1] <= 500)})"]
    return ["## Beside itself and the disk", "", *lines, ""] if lines else []


def pair(percentiles):
    return f"{percentiles[0]:.0f} / {percentiles[1]:.0f}"


def disk_latency(folder, count=1000):
    """Microseconds of a small write at the end of a file and its fdatasync, p50 and p99."""
    times = []
    with open(folder / "fdatasync", "wb", buffering=0) as file:
        for _ in range(count):
            began = time.monotonic()
            file.write(b"x" * 200)
            os.fdatasync(file.fileno())
            times.append(1e6 * (time.monotonic() - began))
    times.sort()
    return times[count // 2], times[count * 99 // 100]


# ---- weir alone ----

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


def stripped_mb(folder):
    subprocess.run(["strip", "-o", folder / "stripped", ROOT / "build" / "weir"], check=True)
    return (folder / "stripped").stat().st_size / 1e6


def start_page(folder):
    ready, row, memory = measure_start(folder)
    size = stripped_mb(folder)
    return ["## Start, rest, size", "",
            f"- ready line after {ready:.0f} ms, first acknowledged row (a table made, one row put, by `weir`) after {row:.0f} ms: the best"
            f" of 5 (goal 50 ms, {mark(row <= 50)})",
            f"- resident at rest, tiering included: {memory:.0f} MB (goal 30 MB, {mark(memory <= 30)})",
            f"- the stripped binary: {size:.1f} MB (goal 15 MB, {mark(size <= 15)})", ""]


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


def lake_page(options, folder, client):
    backlogs, lag = measure_lake(options, folder, client)
    return ["## Lake", "", *(f"- {what}: {cpu:.1f} s of processor time of the whole server, {wall:.1f} s" for what, cpu, wall in backlogs),
            f"- lag at freshness 1 s, from the acknowledgement of a row to the snapshot that holds it: {lag['p50_ms']:.0f} ms in the middle,"
            f" {lag['p99_ms']:.0f} ms in the 99th percentile of {lag['rows']} rows in {lag['snapshots']} snapshots (goal 1000 / 1500,"
            f" {mark(lag['p50_ms'] <= 1000 and lag['p99_ms'] <= 1500)})", ""]


def measure_disk(folder):
    """weir's log beside plain fdatasync group commit: bench_log_append prints both."""
    program = ROOT / "build" / "release" / "bench_log_append"
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
    client = Client(options.peer)
    subprocess.run(["cmake", "--build", "--preset", "release", "--target", "bench_log_append", "bench_latency"], cwd=ROOT, check=True,
                   stdout=subprocess.DEVNULL)
    page = ["# Performance, beside Apache Fluss", "", f"Made by `make bench` on {time.strftime('%Y-%m-%d')}: {machine()}.",
            "Rows of 84 bytes (bigint, int, double, 64 letters); both servers with their defaults, the Java client 0.9.1 of the",
            "peer's benchmarks, each measurement on one server and at once on the other. For Fluss ZooKeeper, coordinator and tablet",
            "server count together. weir answers when a write is on disk (fdatasync), Fluss when it is in the page cache; rows \"to the",
            "page cache\" are weir with `weir.log.flush` = `async`. What stands in the way of goals that are not reached:",
            "[performance-notes.md](performance-notes.md).", ""]
    try:
        if {"start"} & set(options.parts):
            page += start_page(folder)
        if {"log", "kv", "lookup", "ack"} & set(options.parts):
            done, own, weir_mb, fluss_mb = measure_clients(options, folder, client)
            page += [*client_pages(done), f"Resident after it: weir {weir_mb:.0f} MB, Fluss {fluss_mb:.0f} MB.", "", *own_pages(done, own)]
        if "lake" in options.parts:
            page += lake_page(options, folder, client)
        if "disk" in options.parts:
            page += ["## Durable appends", "", "```", measure_disk(folder).rstrip(), "```", ""]
        options.out.write_text("\n".join(page))
        say(f"wrote {options.out}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
