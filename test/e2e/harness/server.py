"""A weir server as a child process: start, stop, kill, start again on the same directory and port."""
import os
import pathlib
import re
import selectors
import signal
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
BINARY = os.environ.get("WEIR_E2E_BINARY", str(ROOT / "build/asan/weir"))
READY_SECONDS_MAX = 20
STOP_SECONDS_MAX = 5  # design: a clean stop within 5 s of SIGTERM
SLACK = 4  # how much longer than that a build with sanitizers on a busy machine may take


class Process:
    """What can be asked of a running server from outside."""

    pid = None

    def resident_bytes(self):
        return self._status("VmRSS")

    def peak_bytes(self):
        return self._status("VmHWM")

    def forget_peak(self):
        """peak_bytes() counts from here on."""
        pathlib.Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def _status(self, key):
        text = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(rf"{key}:\s+(\d+) kB", text)[1]) * 1024

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def files_open(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))


class Server(Process):
    """log is where its standard error goes; it grows over restarts. After start() host and port stay the same."""

    def __init__(self, directory, options=None, flags=()):
        self.directory = pathlib.Path(directory)
        self.data = self.directory / "data"
        self.warehouse = str(self.data / "lake")
        self.log = self.directory / "weir.log"
        self.options = {"weir.http.listen": "127.0.0.1:0", **(options or {})}
        self.flags = list(flags)
        self.bootstrap = None
        self.http = None
        self.process = None

    def start(self, prefix=(), env=None):
        self.directory.mkdir(parents=True, exist_ok=True)
        command = [*prefix, BINARY, "server", "--data-dir", str(self.data), "--listen", self.bootstrap or "127.0.0.1:0", *self.flags]
        for key, value in self.options.items():
            command += ["-D", f"{key}={value}"]
        begin = time.monotonic()
        # Freed memory that the sanitizer holds back (256 MB by itself) would drown every bound that the tests look at.
        env = {"ASAN_OPTIONS": "quarantine_size_mb=16", **os.environ, **(env or {})}
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, cwd=self.directory, env=env)
        self.pid = self.process.pid
        line = self._ready_line()
        names = dict(re.findall(r"(\w+)=(\S+)", line))
        if not line.startswith("ready ") or "FLUSS" not in names:
            raise AssertionError(f"the server said {line!r} instead of its ready line\n{self.tail()}")
        self.bootstrap, self.http, self.listeners = names["FLUSS"], names.get("HTTP"), names
        self.start_seconds = time.monotonic() - begin
        return self

    def _ready_line(self):
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            if not selector.select(READY_SECONDS_MAX):
                self.kill()
                raise AssertionError(f"no ready line within {READY_SECONDS_MAX} s\n{self.tail()}")
        return self.process.stdout.readline().decode()

    def kill(self):
        """SIGKILL: what is not on disk is gone with it."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        """SIGTERM; gives the seconds it took. Anything but a clean exit in time is a failure: leaks count as one."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(STOP_SECONDS_MAX * SLACK)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"no stop within {STOP_SECONDS_MAX * SLACK} s of SIGTERM\n{self.tail()}") from None
        self.process.stdout.close()
        assert code == 0, f"the server ended with {code}\n{self.tail()}"
        return time.monotonic() - begin

    def restart(self):
        self.kill()
        return self.start()

    def running(self):
        return self.process is not None and self.process.poll() is None

    def finish(self):
        """At the end of a test: the server must still be well."""
        if self.process is None:
            return
        if self.process.poll() is None:
            self.stop()
        elif self.process.returncode not in (0, -signal.SIGKILL):
            raise AssertionError(f"the server died with {self.process.returncode}\n{self.tail()}")

    def tail(self, lines=40):
        if not self.log.exists():
            return ""
        return "server log:\n" + "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


class External(Process):
    """A server that runs already: WEIR_E2E_BOOTSTRAP, WEIR_E2E_WAREHOUSE where its lake is, WEIR_E2E_PID its process."""

    def __init__(self):
        self.pid = os.environ.get("WEIR_E2E_PID")
        self.bootstrap = os.environ["WEIR_E2E_BOOTSTRAP"]
        self.warehouse = os.environ.get("WEIR_E2E_WAREHOUSE", "")

    def tail(self, lines=0):
        return ""
