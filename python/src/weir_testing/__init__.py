"""An Apache Fluss cluster for tests, and its lake.

    from weir_testing import fluss_cluster

    with fluss_cluster(paimon_warehouse="/tmp/lake") as cluster:
        ...                                     # anything that speaks to Fluss, at cluster.bootstrap
        cluster.wait("orders")
        cluster.paimon_sql.batch("SELECT count(*) FROM fluss.orders")

With pytest the fixtures fluss_cluster and fluss_cluster_session make such clusters (weir_testing.plugin)."""
from .binary import BinaryNotFound, find_binary
from .cluster import Cluster, CommandFailed, fluss_cluster
from .lake import DeadlineExceeded, PaimonSql

__all__ = ["BinaryNotFound", "Cluster", "CommandFailed", "DeadlineExceeded", "PaimonSql", "find_binary", "fluss_cluster"]
