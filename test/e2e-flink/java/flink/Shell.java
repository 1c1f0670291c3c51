import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.CloseableIterator;
import org.apache.fluss.flink.tiering.LakeTieringJobBuilder;

/**
 * One Flink cluster in this process, told what to do by lines of JSON on standard input; each gets one line of JSON as its
 * answer on standard output. An error is {"error": text}.
 *
 * <pre>
 * {"sql": text, "streaming": bool}                 a statement, to its end; {"columns": [..], "rows": [[kind, value, ..], ..]}
 * {"sql": text, "name": n, "streaming": true}      a query that goes on; {}. With "set": {..} the job has these options of Flink
 * {"more": n, "rows": at most, "seconds": quiet}   its next rows, until so many came or none for so long
 * {"close": n}                                     ends it
 * {"tier": n, "fluss": {..}, "lake": {..}}         Fluss's tiering job, until it is closed as a query is
 * </pre>
 *
 * fail_once(value, at) is a function of queries that go on: see FailOnce. Statements before the first query, and CREATE CATALOG and USE in any mode, are for batch and streaming alike.
 */
public class Shell {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int SLOTS = 12;

    private final MiniCluster cluster;
    private final Configuration config;
    private final TableEnvironment batch;
    private final TableEnvironment streaming;
    private final Map<String, Query> queries = new HashMap<>();

    /** A job that goes on, and its rows if it has any. */
    private static final class Query {
        JobClient job;
        CloseableIterator<Row> rows;
        Future<Boolean> waiting; // for the next row
        final ExecutorService reader = Executors.newSingleThreadExecutor(Shell::daemon);
    }

    public static void main(String[] args) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        Shell shell = new Shell();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Map<String, Object> answer;
            try {
                answer = shell.run(JSON.readTree(line));
            } catch (Throwable e) {
                answer = Map.of("error", text(e));
            }
            byte[] bytes = (JSON.writeValueAsString(answer) + "\n").getBytes(StandardCharsets.UTF_8);
            answers.write(bytes, 0, bytes.length);
            answers.flush();
        }
        Runtime.getRuntime().halt(0); // nobody needs an orderly end
    }

    private Shell() throws Exception {
        Configuration c = new Configuration();
        c.set(RestOptions.ADDRESS, "127.0.0.1");
        c.set(RestOptions.BIND_PORT, "0");
        c.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(128));
        c.setString("restart-strategy.type", "none");
        c.setString("parallelism.default", "2");
        cluster = new MiniCluster(new MiniClusterConfiguration.Builder()
                .setConfiguration(c).setNumTaskManagers(1).setNumSlotsPerTaskManager(SLOTS).build());
        cluster.start();
        config = new Configuration(c);
        config.setString("execution.target", "remote");
        config.set(RestOptions.ADDRESS, cluster.getRestAddress().get().getHost());
        config.set(RestOptions.PORT, cluster.getRestAddress().get().getPort());
        batch = TableEnvironment.create(EnvironmentSettings.newInstance().withConfiguration(config).inBatchMode().build());
        streaming = TableEnvironment.create(EnvironmentSettings.newInstance().withConfiguration(config).inStreamingMode().build());
        streaming.createTemporarySystemFunction("fail_once", FailOnce.class);
    }

    private Map<String, Object> run(JsonNode ask) throws Exception {
        if (ask.has("tier")) return tier(ask);
        if (ask.has("more")) return more(queries.get(ask.get("more").asText()), ask);
        if (ask.has("close")) return close(queries.remove(ask.get("close").asText()));
        String sql = ask.get("sql").asText();
        String head = sql.trim().toLowerCase();
        if (head.startsWith("create catalog") || head.startsWith("use ")) {
            batch.executeSql(sql);
            streaming.executeSql(sql);
            return Map.of();
        }
        TableResult result = execute(ask.path("streaming").asBoolean() ? streaming : batch, sql, ask.path("set"));
        if (ask.has("name")) return keep(ask.get("name").asText(), result);
        Map<String, Object> answer = new LinkedHashMap<>();
        List<Object> rows = new ArrayList<>();
        try (CloseableIterator<Row> it = result.collect()) {
            while (it.hasNext()) rows.add(values(it.next()));
        }
        answer.put("columns", result.getResolvedSchema().getColumnNames());
        answer.put("rows", rows);
        return answer;
    }

    private static TableResult execute(TableEnvironment in, String sql, JsonNode set) {
        Configuration options = in.getConfig().getConfiguration();
        Configuration before = new Configuration(options);
        set.fields().forEachRemaining(f -> options.setString(f.getKey(), f.getValue().asText()));
        try {
            return in.executeSql(sql);
        } finally {
            set.fieldNames().forEachRemaining(name -> {
                options.removeKey(name);
                if (before.containsKey(name)) options.setString(name, before.getString(name, null));
            });
        }
    }

    private Map<String, Object> keep(String name, TableResult result) {
        Query query = new Query();
        query.job = result.getJobClient().get();
        query.rows = result.collect();
        queries.put(name, query);
        return Map.of("columns", result.getResolvedSchema().getColumnNames());
    }

    private Map<String, Object> more(Query query, JsonNode ask) throws Exception {
        List<Object> rows = new ArrayList<>();
        int most = ask.get("rows").asInt();
        long quiet = (long) (1000 * ask.get("seconds").asDouble());
        while (rows.size() < most) {
            if (query.waiting == null) query.waiting = query.reader.submit(query.rows::hasNext);
            try {
                boolean there = query.waiting.get(quiet, TimeUnit.MILLISECONDS);
                query.waiting = null;
                if (!there) break;
            } catch (TimeoutException e) {
                break;
            }
            rows.add(values(query.rows.next()));
        }
        return Map.of("rows", rows);
    }

    private Map<String, Object> close(Query query) throws Exception {
        try {
            query.job.cancel().get(30, TimeUnit.SECONDS);
            query.job.getJobExecutionResult().get(30, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            // the end of a cancelled job; one that had failed by itself says why
            if (!text(e).contains("Cancel")) throw e;
        } finally {
            query.reader.shutdownNow();
        }
        return Map.of();
    }

    /** The job of the tiering entry point, on this cluster. */
    private Map<String, Object> tier(JsonNode ask) throws Exception {
        Configuration c = new Configuration(config);
        c.setString("jobmanager.execution.failover-strategy", "full");
        c.setString("restart-strategy.type", "fixed-delay");
        c.setString("restart-strategy.fixed-delay.attempts", "1000");
        c.setString("restart-strategy.fixed-delay.delay", "1 s");
        Query query = new Query();
        query.job = LakeTieringJobBuilder.newBuilder(new StreamExecutionEnvironment(c), fluss(ask.get("fluss")),
                fluss(ask.get("lake")), new org.apache.fluss.config.Configuration(), "paimon").build();
        queries.put(ask.get("tier").asText(), query);
        return Map.of();
    }

    private static org.apache.fluss.config.Configuration fluss(JsonNode options) {
        Map<String, String> map = new HashMap<>();
        options.fields().forEachRemaining(f -> map.put(f.getKey(), f.getValue().asText()));
        return org.apache.fluss.config.Configuration.fromMap(map);
    }

    /** The kind ("+I", "-U", ..) and what JSON can hold of each value; the rest as its text. */
    private static List<Object> values(Row row) {
        List<Object> out = new ArrayList<>();
        out.add(row.getKind() == null ? RowKind.INSERT.shortString() : row.getKind().shortString());
        for (int i = 0; i < row.getArity(); i++) out.add(plain(row.getField(i)));
        return out;
    }

    private static Object plain(Object o) {
        if (o == null || o instanceof Boolean || o instanceof Integer || o instanceof Long) return o;
        if (o instanceof Byte || o instanceof Short) return ((Number) o).longValue();
        if (o instanceof byte[]) {
            StringBuilder hex = new StringBuilder();
            for (byte b : (byte[]) o) hex.append(String.format("%02x", b));
            return hex.toString();
        }
        if (o instanceof Object[]) {
            List<Object> out = new ArrayList<>();
            for (Object v : (Object[]) o) out.add(plain(v));
            return out;
        }
        if (o instanceof Map) {
            List<Object> out = new ArrayList<>();
            ((Map<?, ?>) o).forEach((k, v) -> {
                List<Object> pair = new ArrayList<>();
                pair.add(plain(k));
                pair.add(plain(v));
                out.add(pair);
            });
            return out;
        }
        if (o instanceof Row) return values((Row) o).subList(1, ((Row) o).getArity() + 1);
        if (o instanceof java.math.BigDecimal) return ((java.math.BigDecimal) o).toPlainString();
        return o.toString();
    }

    private static String text(Throwable e) {
        StringBuilder all = new StringBuilder(e.toString());
        for (Throwable t = e.getCause(); t != null; t = t.getCause()) all.append(" <- ").append(t);
        return all.toString();
    }

    private static Thread daemon(Runnable run) {
        Thread thread = new Thread(run);
        thread.setDaemon(true);
        return thread;
    }
}
