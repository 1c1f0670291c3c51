"""The Java clients, both generations of them, without Flink: java/client/RoundTrip.java."""
import pytest

from flink import java

CHECKS = ["admin", "append_and_scan", "upsert_delete_and_look_up", "partial_update", "prefix_look_up", "limit_scan", "partitions",
          "snapshots_and_leases"]


@pytest.fixture(scope="module")
def told(shared, tmp_path_factory):
    """version -> what its round trip said, line by line."""
    said = {}

    def of(version):
        if version not in said:
            log = tmp_path_factory.mktemp("client") / "log"
            process = java(f"client-{version}", "RoundTrip", shared.bootstrap, log=log)
            try:
                out, _ = process.communicate(timeout=200)
            finally:
                process.kill()
            assert process.returncode == 0, log.read_text(errors="replace")[-2000:]
            said[version] = out.decode().splitlines()
        return said[version]
    return of


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("version", ["0.9.1-incubating", "1.0.0"])
def test_round_trip(told, version, check):
    lines = [line for line in told(version) if line.split(":")[0].split()[-1] == check]
    assert lines == [f"ok {check}"]
