"""The Rust client: the integration tests of its own release, file by file. Nothing of it is changed but the server."""
import os
import re
import subprocess

import pytest

from harness.server import ROOT, Server

# Their cluster: a listener for SASL beside the plain one, small segments that soon go to the remote storage.
OPTIONS = {
    "bind.listeners": "FLUSS://127.0.0.1:0,CLIENT://127.0.0.1:0", "security.protocol.map": "CLIENT:SASL",
    "security.sasl.enabled.mechanisms": "PLAIN", "security.sasl.plain.credentials": "admin:admin-secret,alice:alice-secret",
    "log.segment.file-size": "120b"}
FILES = {"admin": 13, "batch_scanner": 9, "dynamic_batch_size": 4, "kv_changelog": 1, "kv_table": 13, "log_table": 25, "record_batch_log_reader": 10,
         "sasl_auth": 5, "table_remote_scan": 1}  # and how many tests each has at least


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    """file -> a finished run of its tests."""
    program = subprocess.run([ROOT / "tools/rust_tests.sh"], check=True, capture_output=True, text=True).stdout.strip()
    if not program:
        pytest.skip("no cargo here: the Rust client is left out")
    directory = tmp_path_factory.mktemp("rust")
    server = Server(directory / "server", OPTIONS).start()
    env = {**os.environ, "WEIR_RUST_BOOTSTRAP": server.bootstrap, "WEIR_RUST_SASL_BOOTSTRAP": server.listeners["CLIENT"]}
    yield lambda file: subprocess.run([program, f"integration::{file}::"], env=env, cwd=directory, capture_output=True, text=True)
    server.finish()


@pytest.mark.parametrize("file", FILES)
def test_integration_tests_of_the_crate(suite, file):
    run = suite(file)
    told = re.search(r"^test result: (\w+)\. (\d+) passed; (\d+) failed; (\d+) ignored", run.stdout, re.M)
    assert run.returncode == 0 and told and int(told[2]) >= FILES[file] and told[4] == "0", run.stdout[-6000:] + run.stderr[-2000:]
