import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import org.apache.fluss.client.Connection;
import org.apache.fluss.client.ConnectionFactory;
import org.apache.fluss.client.admin.Admin;
import org.apache.fluss.client.lookup.Lookuper;
import org.apache.fluss.client.table.Table;
import org.apache.fluss.client.table.scanner.ScanRecord;
import org.apache.fluss.client.table.scanner.batch.BatchScanner;
import org.apache.fluss.client.table.scanner.log.LogScanner;
import org.apache.fluss.client.table.scanner.log.ScanRecords;
import org.apache.fluss.client.table.writer.AppendWriter;
import org.apache.fluss.client.table.writer.UpsertWriter;
import org.apache.fluss.config.ConfigOptions;
import org.apache.fluss.config.Configuration;
import org.apache.fluss.metadata.DatabaseDescriptor;
import org.apache.fluss.metadata.PartitionInfo;
import org.apache.fluss.metadata.PartitionSpec;
import org.apache.fluss.metadata.Schema;
import org.apache.fluss.metadata.TableBucket;
import org.apache.fluss.metadata.TableDescriptor;
import org.apache.fluss.metadata.TablePath;
import org.apache.fluss.row.BinaryString;
import org.apache.fluss.row.GenericRow;
import org.apache.fluss.row.InternalRow;
import org.apache.fluss.types.DataTypes;
import org.apache.fluss.utils.CloseableIterator;

/**
 * What a Java client does with a server: RoundTrip HOST:PORT. One line a check, "ok NAME" or "not ok NAME: what was there,
 * what was expected". Compiled and run against each generation of the client alike.
 */
public class RoundTrip {
    private static final Duration POLL = Duration.ofMillis(500);
    private static final String DATABASE = "java_client";

    private final Connection conn;
    private final Admin admin;

    public static void main(String[] args) throws Exception {
        Configuration conf = new Configuration();
        conf.set(ConfigOptions.BOOTSTRAP_SERVERS, Collections.singletonList(args[0]));
        try (Connection conn = ConnectionFactory.createConnection(conf)) {
            new RoundTrip(conn).run();
        }
    }

    private RoundTrip(Connection conn) {
        this.conn = conn;
        this.admin = conn.getAdmin();
    }

    private interface Check {
        void run(String name) throws Exception;
    }

    private void run() throws Exception {
        admin.dropDatabase(DATABASE, true, true).get();
        admin.createDatabase(DATABASE, DatabaseDescriptor.EMPTY, false).get();
        check("admin", this::admin);
        check("append_and_scan", this::appendAndScan);
        check("upsert_delete_and_look_up", this::upsertDeleteLookUp);
        check("partial_update", this::partialUpdate);
        check("prefix_look_up", this::prefixLookUp);
        check("limit_scan", this::limitScan);
        check("partitions", this::partitions);
        check("snapshots_and_leases", this::snapshots);
        admin.dropDatabase(DATABASE, false, true).get();
    }

    private static void check(String name, Check check) {
        try {
            check.run(name);
            System.out.println("ok " + name);
        } catch (Throwable e) {
            StringBuilder text = new StringBuilder(String.valueOf(e));
            for (Throwable t = e.getCause(); t != null; t = t.getCause()) text.append(" <- ").append(t);
            System.out.println("not ok " + name + ": " + text.toString().replace('\n', ' '));
        }
    }

    private static void equal(Object got, Object want) {
        if (!String.valueOf(got).equals(String.valueOf(want))) throw new AssertionError("got " + got + ", expected " + want);
    }

    private Table table(String name, Schema schema, int buckets, List<String> bucketKeys, String... partitions) throws Exception {
        TablePath path = TablePath.of(DATABASE, name);
        TableDescriptor.Builder table = TableDescriptor.builder().schema(schema);
        if (bucketKeys == null) table.distributedBy(buckets);
        else table.distributedBy(buckets, bucketKeys);
        if (partitions.length > 0) table.partitionedBy(partitions);
        admin.createTable(path, table.build(), false).get();
        return conn.getTable(path);
    }

    private static Schema users() {
        return Schema.newBuilder().column("id", DataTypes.INT()).column("name", DataTypes.STRING()).column("age", DataTypes.INT())
                .primaryKey("id").build();
    }

    private static GenericRow row(Object... values) {
        Object[] fields = new Object[values.length];
        for (int i = 0; i < values.length; i++) fields[i] = values[i] instanceof String ? BinaryString.fromString((String) values[i]) : values[i];
        return GenericRow.of(fields);
    }

    private static String user(InternalRow r) {
        if (r == null) return null;
        return r.getInt(0) + "/" + (r.isNullAt(1) ? null : r.getString(1)) + "/" + (r.isNullAt(2) ? null : r.getInt(2));
    }

    private static String pair(InternalRow r) {
        return r.getInt(0) + "/" + (r.isNullAt(1) ? null : r.getString(1));
    }

    /** count records of all buckets of a table from the start, sorted; each as its kind and the row's text. */
    private static List<String> scan(Table table, int buckets, int count, Function<InternalRow, String> text) throws Exception {
        try (LogScanner scanner = table.newScan().createLogScanner()) {
            for (int b = 0; b < buckets; b++) scanner.subscribeFromBeginning(b);
            return poll(scanner, count, text);
        }
    }

    private static List<String> poll(LogScanner scanner, int count, Function<InternalRow, String> text) {
        List<String> out = new ArrayList<>();
        for (int quiet = 0; out.size() < count && quiet < 40; quiet++) {
            ScanRecords records = scanner.poll(POLL);
            for (ScanRecord r : records) {
                out.add(r.getChangeType().shortString() + text.apply(r.getRow()));
                quiet = 0;
            }
        }
        Collections.sort(out);
        return out;
    }

    private void admin(String name) throws Exception {
        Table table = table(name, users(), 3, null);
        equal(admin.listDatabases().get().contains(DATABASE), true);
        equal(admin.databaseExists(DATABASE).get(), true);
        equal(admin.listTables(DATABASE).get(), "[admin]");
        equal(table.getTableInfo().getNumBuckets(), 3);
        equal(table.getTableInfo().getPrimaryKeys(), "[id]");
        equal(admin.getTableSchema(table.getTableInfo().getTablePath()).get().getSchema().getColumnNames(), "[id, name, age]");
        equal(admin.getServerNodes().get().size() > 0, true);
    }

    private void appendAndScan(String name) throws Exception {
        Schema schema = Schema.newBuilder().column("n", DataTypes.INT()).column("s", DataTypes.STRING()).build();
        Table table = table(name, schema, 2, null);
        AppendWriter writer = table.newAppend().createWriter();
        List<String> want = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            writer.append(row(i, i % 3 == 0 ? null : "s" + i));
            want.add("+A" + i + "/" + (i % 3 == 0 ? null : "s" + i));
        }
        writer.flush();
        Collections.sort(want);
        equal(scan(table, 2, 1000, RoundTrip::pair), want);
        try (LogScanner scanner = table.newScan().project(Collections.singletonList("s")).createLogScanner()) {
            for (int b = 0; b < 2; b++) scanner.subscribeFromBeginning(b);
            equal(poll(scanner, 1000, r -> r.isNullAt(0) ? "-" : r.getString(0).toString()).size(), 1000);
        }
    }

    private void upsertDeleteLookUp(String name) throws Exception {
        Table table = table(name, users(), 3, null);
        UpsertWriter writer = table.newUpsert().createWriter();
        for (int i = 0; i < 100; i++) writer.upsert(row(i, "n" + i, i));
        writer.flush();
        writer.upsert(row(1, "new", null));
        writer.delete(row(2, null, null));
        writer.delete(row(777, null, null));
        writer.flush();
        Lookuper lookuper = table.newLookup().createLookuper();
        equal(user(lookuper.lookup(row(1)).get().getSingletonRow()), "1/new/null");
        equal(user(lookuper.lookup(row(2)).get().getSingletonRow()), null);
        for (int i = 3; i < 100; i++) equal(user(lookuper.lookup(row(i)).get().getSingletonRow()), i + "/n" + i + "/" + i);
        List<String> changes = scan(table, 3, 103, RoundTrip::user);
        equal(changes.size(), 103);
        for (String change : new String[] {"-D2/n2/2", "-U1/n1/1", "+U1/new/null"}) equal(changes.contains(change), true);
    }

    private void partialUpdate(String name) throws Exception {
        Table table = table(name, users(), 1, null);
        table.newUpsert().createWriter().upsert(row(1, "ann", 30)).get();
        table.newUpsert().partialUpdate("id", "age").createWriter().upsert(row(1, null, 31)).get();
        table.newUpsert().partialUpdate("id", "name").createWriter().upsert(row(2, "bob", null)).get();
        Lookuper lookuper = table.newLookup().createLookuper();
        equal(user(lookuper.lookup(row(1)).get().getSingletonRow()), "1/ann/31");
        equal(user(lookuper.lookup(row(2)).get().getSingletonRow()), "2/bob/null");
    }

    private void prefixLookUp(String name) throws Exception {
        Schema schema = Schema.newBuilder().column("a", DataTypes.INT()).column("b", DataTypes.STRING()).column("n", DataTypes.INT())
                .primaryKey("a", "b").build();
        Table table = table(name, schema, 3, Collections.singletonList("a"));
        UpsertWriter writer = table.newUpsert().createWriter();
        for (int a = 0; a < 5; a++) for (int b = 0; b < a; b++) writer.upsert(row(a, "b" + b, 10 * a + b));
        writer.flush();
        Lookuper lookuper = table.newLookup().lookupBy("a").createLookuper();
        for (int a = 0; a < 6; a++) {
            List<String> got = new ArrayList<>(), want = new ArrayList<>();
            for (InternalRow r : lookuper.lookup(row(a)).get().getRowList()) got.add(user(r));
            for (int b = 0; b < a && a < 5; b++) want.add(a + "/b" + b + "/" + (10 * a + b));
            Collections.sort(got);
            equal(got, want);
        }
    }

    private void limitScan(String name) throws Exception {
        Table table = table(name, users(), 2, null);
        UpsertWriter writer = table.newUpsert().createWriter();
        for (int i = 0; i < 50; i++) writer.upsert(row(i, "n" + i, i));
        writer.flush();
        List<String> got = new ArrayList<>();
        for (int b = 0; b < 2; b++) {
            try (BatchScanner scanner = table.newScan().limit(10).createBatchScanner(new TableBucket(table.getTableInfo().getTableId(), b))) {
                for (CloseableIterator<InternalRow> it = scanner.pollBatch(POLL); it != null; it = scanner.pollBatch(POLL)) {
                    while (it.hasNext()) got.add(user(it.next()));
                    it.close();
                }
            }
        }
        equal(got.size(), 20);
        for (String r : got) {
            int id = Integer.parseInt(r.split("/")[0]);
            equal(r, id + "/n" + id + "/" + id);
        }
    }

    private void partitions(String name) throws Exception {
        Schema schema = Schema.newBuilder().column("n", DataTypes.INT()).column("day", DataTypes.STRING()).build();
        Table table = table(name, schema, 2, null, "day");
        TablePath path = table.getTableInfo().getTablePath();
        for (String day : Arrays.asList("1", "2")) admin.createPartition(path, new PartitionSpec(Collections.singletonMap("day", day)), false).get();
        AppendWriter writer = table.newAppend().createWriter();
        for (int i = 0; i < 20; i++) writer.append(row(i, i % 2 == 0 ? "1" : "2"));
        writer.flush();
        List<String> names = new ArrayList<>();
        for (PartitionInfo p : admin.listPartitionInfos(path).get()) {
            names.add(p.getPartitionName());
            try (LogScanner scanner = table.newScan().createLogScanner()) {
                for (int b = 0; b < 2; b++) scanner.subscribeFromBeginning(p.getPartitionId(), b);
                List<String> got = poll(scanner, 10, RoundTrip::pair);
                equal(got.size(), 10);
                for (String r : got) equal(r.endsWith("/" + p.getPartitionName()), true);
            }
        }
        Collections.sort(names);
        equal(names, "[1, 2]");
        admin.dropPartition(path, new PartitionSpec(Collections.singletonMap("day", "1")), false).get();
        equal(admin.listPartitionInfos(path).get().size(), 1);
    }

    private void snapshots(String name) throws Exception {
        Table table = table(name, users(), 2, null);
        TablePath path = table.getTableInfo().getTablePath();
        TableBucket bucket = new TableBucket(table.getTableInfo().getTableId(), 0);
        equal(admin.getLatestKvSnapshots(path).get().getSnapshotId(0).isPresent(), false);
        admin.createKvSnapshotLease("lease of a test", 1000).dropLease().get();
        try {
            admin.getKvSnapshotMetadata(bucket, 5).get();
            throw new AssertionError("a snapshot is there");
        } catch (java.util.concurrent.ExecutionException e) {
            equal(e.getCause().getClass().getSimpleName(), "KvSnapshotNotExistException");
        }
    }
}
