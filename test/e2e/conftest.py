"""The fixtures: one server for most tests, servers of their own for those that kill them, and a client for each.

Against a server that runs already: WEIR_E2E_BOOTSTRAP=HOST:PORT, WEIR_E2E_WAREHOUSE=DIR (README.md)."""
import asyncio
import inspect
import os
import shutil

import pytest

from harness import client as clients
from harness.server import External, Server

LONG = bool(os.environ.get("WEIR_LONG"))
KEEP = bool(os.environ.get("WEIR_E2E_KEEP"))  # leave the directories of servers behind


def pytest_collection_modifyitems(items):
    for item in items:
        if clients.EXTERNAL and item.get_closest_marker("own") and not os.environ.get("WEIR_E2E_OWN"):
            item.add_marker(pytest.mark.skip(reason="needs a server of its own"))
        if not LONG and item.get_closest_marker("long"):
            item.add_marker(pytest.mark.skip(reason="only with WEIR_LONG=1"))


@pytest.fixture(scope="session")
def loop():
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield loop
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Tests may be `async def`; they run on the one loop of the session."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    args = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    pyfuncitem.funcargs["loop"].run_until_complete(pyfuncitem.obj(**args))
    return True


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A failing test shows the end of the log of each server it used."""
    report = (yield).get_result()
    if report.failed:
        for name in ("shared", "server"):
            tail = getattr(item.funcargs.get(name), "tail", None)
            if tail:
                report.sections.append((f"fixture {name}", tail()))


@pytest.fixture(autouse=True)
def _with_loop(loop):
    return loop


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """The server that tests share. It must be well at the end."""
    if clients.EXTERNAL:
        yield External()
        return
    server = Server(tmp_path_factory.mktemp("shared")).start()
    yield server
    server.finish()
    if not KEEP:
        shutil.rmtree(server.directory, ignore_errors=True)


@pytest.fixture(scope="session")
def client(shared, loop):
    c = loop.run_until_complete(clients.connect(shared))
    yield c
    loop.run_until_complete(c.close())


@pytest.fixture
def server(tmp_path):
    """A server of the test's own, not started yet: server.start()."""
    s = Server(tmp_path)
    yield s
    try:
        s.finish()
    finally:
        if not KEEP:
            shutil.rmtree(s.directory, ignore_errors=True)


async def close(made):
    """Closes clients. One whose server has gone for ever, with rows on their way, would wait as long: it is left."""
    closing = [asyncio.ensure_future(c.close()) for c in made]
    if closing:
        _, late = await asyncio.wait(closing, timeout=5)
        for task in late:
            task.cancel()


@pytest.fixture
def connect(loop):
    """connect(server): a client of any server, closed after the test."""
    made = []

    async def make(server, **options):
        made.append(await clients.connect(server, **options))
        return made[-1]
    yield make
    loop.run_until_complete(close(made))
