"""The client side of weir as a command: what it prints, and the code it ends with."""
import asyncio
import json
import os
import subprocess

from .server import BINARY

YES, NO, UNKNOWN, USAGE, UNREACHABLE = 0, 1, 2, 64, 69


class Weir:
    def __init__(self, bootstrap, user=None, password=None):
        self.bootstrap = bootstrap
        self.login = ["--user", user] if user else []
        self.environment = {**os.environ, **({"WEIR_PASSWORD": password} if password else {})}

    def run(self, verb, *args, stdin="", code=YES):
        """What it printed; code None: it may end with any, which stays in self.code."""
        command = [BINARY, verb, "--bootstrap", self.bootstrap, *self.login, *args]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=120, env=self.environment)
        self.code = done.returncode
        assert code is None or done.returncode == code, (command, done.returncode, done.stdout, done.stderr)
        self.errors = done.stderr
        return done.stdout

    def rows(self, *args, **options):
        return [json.loads(line) for line in self.run(*args, **options).splitlines()]

    def verify(self, name, *args, code=YES):
        """The verdict of `weir verify`, as a dict."""
        return self.rows("verify", name, *args, code=code)[0]


async def verify(server, name):
    """Fails unless lake and stream hold the same; gives the verdict. Does not hold up the loop."""
    return await asyncio.to_thread(Weir(server.bootstrap).verify, name, "--deadline", "60s")
