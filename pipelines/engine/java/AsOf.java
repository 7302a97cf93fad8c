package retail.dimension;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.api.java.UDF2;

/**
 * The version of a dimension that held for a key at a moment, in milliseconds; null where none did.
 *
 * The driver adds versions before each batch; a task gets those that were added before it was sent. Each
 * Java that runs tasks keeps what it has got, so that only new versions go there.
 */
public final class AsOf implements UDF2<String, Long, Row> {
    private static final long serialVersionUID = 1;

    /** Of more parts one is made: each goes with every task. */
    private static final int PARTS_MAX = 16;
    /** The dimensions that a Java keeps: more than the queries that run in one have. */
    private static final int INDEXES_MAX = 64;

    private static final Map<String, Index> INDEXES = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Index> eldest) {
            return size() > INDEXES_MAX;
        }
    };

    private final String name = UUID.randomUUID().toString().replace("-", "");
    private final long neverMs;
    private final transient JavaSparkContext context;
    private List<Part> parts = List.of();
    private transient Index index;

    /** From `neverMs` on no version holds. */
    public AsOf(JavaSparkContext context, long neverMs) {
        this.context = context;
        this.neverMs = neverMs;
    }

    /** Add versions: a list in JSON, of a list each of key, beginning, partition, offset and values. */
    public void add(String json) throws JsonProcessingException {
        List<Version> added = new ArrayList<>();
        for (Object[] each : new ObjectMapper().readValue(json, Object[][].class)) {
            added.add(Version.of(each));
        }
        List<Part> longer = new ArrayList<>(parts);
        if (longer.size() == PARTS_MAX) {
            List<Version> all = new ArrayList<>();
            longer.forEach(part -> all.addAll(Arrays.asList(part.versions.value())));
            all.addAll(added);
            longer.clear();
            added = all;
        }
        Version[] versions = added.toArray(Version[]::new);
        longer.add(new Part(context.broadcast(versions), versions.length));
        parts = List.copyOf(longer);
        index = null;
    }

    @Override
    public Row call(String key, Long momentMs) {
        if (key == null || momentMs == null || momentMs >= neverMs) {
            return null;
        }
        if (index == null) {
            index = find(name);
            index.extend(parts);
        }
        return index.find(key, momentMs);
    }

    /** A name that no other one has. */
    public String name() {
        return name;
    }

    private static Index find(String name) {
        synchronized (INDEXES) {
            return INDEXES.computeIfAbsent(name, absent -> new Index());
        }
    }

    /** Versions that were added together. */
    private record Part(Broadcast<Version[]> versions, int count) implements Serializable {}

    /** The values that hold for the key from a moment on. */
    private record Version(String key, long sinceMs, int partition, long offset, Row values)
            implements Serializable {
        /** Of two from one moment on, the last published comes last and holds. */
        static final Comparator<Version> ORDER = Comparator.comparingLong(Version::sinceMs)
            .thenComparingInt(Version::partition)
            .thenComparingLong(Version::offset);

        static Version of(Object[] each) {
            Object[] values = ((List<?>) each[4]).stream().map(Version::widen).toArray();
            return new Version(
                (String) each[0],
                ((Number) each[1]).longValue(),
                ((Number) each[2]).intValue(),
                ((Number) each[3]).longValue(),
                RowFactory.create(values));
        }

        private static Object widen(Object value) {
            return value instanceof Integer number ? Long.valueOf(number) : value;
        }
    }

    /** All versions, by key, in the order in which they hold. */
    private static final class Index {
        private final Map<String, Version[]> byKey = new ConcurrentHashMap<>();
        private int count = 0;

        synchronized void extend(List<Part> parts) {
            Map<String, List<Version>> added = new HashMap<>();
            int skipped = count;
            for (Part part : parts) {
                if (skipped < part.count()) {
                    Version[] versions = part.versions().value();
                    for (Version version : Arrays.asList(versions).subList(skipped, versions.length)) {
                        added.computeIfAbsent(version.key(), key -> new ArrayList<>()).add(version);
                    }
                    count += versions.length - skipped;
                }
                skipped = Math.max(0, skipped - part.count());
            }
            added.forEach(this::add);
        }

        private void add(String key, List<Version> versions) {
            List<Version> all = new ArrayList<>(Arrays.asList(byKey.getOrDefault(key, new Version[0])));
            all.addAll(versions);
            all.sort(Version.ORDER);
            byKey.put(key, all.toArray(Version[]::new));
        }

        Row find(String key, long momentMs) {
            Version[] versions = byKey.get(key);
            if (versions == null) {
                return null;
            }
            int from = 0;
            int to = versions.length;
            while (from < to) {
                int middle = (from + to) >>> 1;
                if (versions[middle].sinceMs() <= momentMs) {
                    from = middle + 1;
                } else {
                    to = middle;
                }
            }
            return from == 0 ? null : versions[from - 1].values();
        }
    }
}
