"""The README's first ten minutes, as they stand there: its commands beside the demo, its Python against a server. Only
addresses and directories are those of the test."""
import contextlib
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import threading
import time

import pytest

from harness.server import BINARY, ROOT, SLACK
from harness.weir import Weir

README = (ROOT / "README.md").read_text()
COMMANDS = [shlex.split(c, comments=True)[1:] for c in re.findall(r"^    build/(weir .*)$", README, re.M)]
PYTHON = re.findall(r"^```python\n(.*?)^```$", README, re.M | re.S)
DEMO_SECONDS = 60
pytestmark = [pytest.mark.own, pytest.mark.timeout(240)]


@contextlib.contextmanager
def demo_on_a_terminal(directory):
    """The demo where it goes on until Ctrl-C: gives its address once it has proved itself."""
    mine, theirs = pty.openpty()
    command = [BINARY, "demo", "--data-dir", str(directory / "data"), "--listen", "127.0.0.1:0", "-D", "weir.http.listen=127.0.0.1:0"]
    demo = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=directory, start_new_session=True)
    os.close(theirs)
    seen = bytearray()

    def read():
        with contextlib.suppress(OSError):  # the terminal is gone
            while part := os.read(mine, 1 << 16):
                seen.extend(part)
    reader = threading.Thread(target=read)
    reader.start()
    try:
        deadline = time.monotonic() + DEMO_SECONDS
        while b"until Ctrl-C" not in seen:
            assert demo.poll() is None and time.monotonic() < deadline, seen.decode(errors="replace")
            time.sleep(0.1)
        yield re.search(rb"clients (\S+)", seen)[1].decode()
        demo.send_signal(signal.SIGINT)
        assert demo.wait(5 * SLACK) == 0
    finally:
        demo.kill()
        demo.wait()
        reader.join()
        os.close(mine)


def test_the_commands_run_beside_the_demo(tmp_path):
    beside = [c for c in COMMANDS if c[0] not in ("demo", "server", "help")]
    assert {"tables", "tail", "get", "scan", "verify"} <= {c[0] for c in beside}
    with demo_on_a_terminal(tmp_path) as address:
        for command in beside:
            run = subprocess.Popen([BINARY, *command, "--bootstrap", address], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            if command[0] == "tail":  # until Ctrl-C: a line, then that
                first = run.stdout.readline()
                run.send_signal(signal.SIGINT)
            out, errors = run.communicate(timeout=60)
            assert run.returncode == 0 and (out or first), (command, run.returncode, out, errors)


def test_the_python_runs_against_a_server(server):
    server.start()
    write, read = (p.replace("127.0.0.1:9123", server.bootstrap).replace("weir-data/lake", server.warehouse) for p in PYTHON)
    assert server.bootstrap in write and server.warehouse in read, "the README has other addresses now"
    wrote = subprocess.run([sys.executable, "-c", write], capture_output=True, text=True, timeout=60)
    assert wrote.stdout == "{'id': 42, 'name': 'Ada'}\n", wrote
    Weir(server.bootstrap).run("wait", "people", "--deadline", "60s")
    seen = subprocess.run([sys.executable, "-c", read], capture_output=True, text=True, timeout=60)
    assert re.search(r"^\[\{'id': 42, 'name': 'Ada', ", seen.stdout, re.M), seen
