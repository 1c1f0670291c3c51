"""servers.py: weir and the real Fluss as processes, and the Java client of the peer's folder that measures them."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


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


def settle(server, seconds=20):
    """Work that a measurement left behind (compaction, flushes) ends before the next one begins."""
    for _ in range(seconds):
        before = cpu_seconds(server.pids)
        time.sleep(1)
        if cpu_seconds(server.pids) - before < 0.05:
            return
