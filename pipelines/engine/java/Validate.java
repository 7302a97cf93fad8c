package retail.validation;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.api.java.UDF6;
import org.apache.spark.sql.expressions.UserDefinedFunction;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataType;

/**
 * A record's topic, partition, offset, publication in milliseconds, key and value → its event, or the
 * reason of its rejection: the columns of pipelines/common/transform/validate.py, then its lines if they
 * are asked for, then one for each topic that is read.
 */
public final class Validate implements UDF6<String, Integer, Long, Long, byte[], byte[], Row> {
    private static final long serialVersionUID = 1;

    private static final String UNRELEASABLE = "unreleasable";
    /** What is said of every record, before its event. */
    private static final int SAID = 6;
    /** As in pipelines/common/transform/validate.py. */
    private static final Instant NEVER = Instant.parse("9999-12-31T00:00:00Z");

    /** By description: a task gets a copy of this function, and Java knows the contracts already. */
    private static final Map<String, Contracts> KNOWN = new ConcurrentHashMap<>();

    private final String description;
    private final int columns;
    private transient Contracts contracts;

    private Validate(String description, int columns) {
        this.description = description;
        this.columns = columns;
    }

    /** The function of a session: by what Python says of the contracts, for so many more columns. */
    public static UserDefinedFunction create(String description, int columns, DataType result) {
        // Spark would evaluate it once more for a condition on its result.
        return functions.udf(new Validate(description, columns), result).asNondeterministic();
    }

    @Override
    public Row call(
            String name, Integer partition, Long offset, Long publishedMs, byte[] key, byte[] value) {
        if (contracts == null) {
            contracts = KNOWN.computeIfAbsent(description, Contracts::parse);
        }
        Topic topic = contracts.get(name);
        Object[] event = topic.read(value);
        String reason = findReason(topic, event, partition, publishedMs, key);
        Object[] row = new Object[SAID + columns];
        if (reason != null) {
            say(row, name, reason, offset.toString(), NEVER, null, Instant.EPOCH);
        } else if (topic == contracts.releases) {
            keep(row, topic, event);
            accept(row, unwrap(event), event);
        } else {
            Instant time = Instant.ofEpochMilli(topic.timeMs(event));
            boolean isBeat = topic == contracts.heartbeats;
            String identity = isBeat ? offset.toString() : topic.eventId(event);
            say(row, name, null, identity, time, time, isBeat ? time : Instant.EPOCH);
            keep(row, topic, event);
        }
        return RowFactory.create(row);
    }

    private String findReason(
            Topic topic, Object[] event, int partition, long publishedMs, byte[] key) {
        if (event == null) {
            return Topic.UNDECODABLE;
        }
        String reason = topic.findFirstFault(key, event);
        if (reason == null) {
            reason = topic.findPlaceFault(key, partition);
        }
        if (reason == null) {
            reason = topic.findTimingFault(event, publishedMs);
        }
        return reason == null && topic == contracts.releases && !wrapsAnEvent(event)
            ? UNRELEASABLE
            : reason;
    }

    private boolean wrapsAnEvent(Object[] release) {
        Topic original = unwrap(release);
        if (original == null || !original.described.releasable()) {
            return false;
        }
        Description.ReleasePlaces places = contracts.places;
        Object[] event = original.read((byte[]) release[places.value()]);
        byte[] key = ((String) release[places.key()]).getBytes(StandardCharsets.UTF_8);
        return event != null
            && original.findFirstFault(key, event) == null
            && original.eventId(event).equals(release[places.eventId()]);
    }

    private Topic unwrap(Object[] release) {
        return contracts.topics.get((String) release[contracts.places.topic()]);
    }

    /** Say of an accepted release what is said of the event that it wraps. */
    private void accept(Object[] row, Topic original, Object[] release) {
        Object[] event = original.read((byte[]) release[contracts.places.value()]);
        String name = original.described.name();
        Instant time = Instant.ofEpochMilli(original.timeMs(event));
        say(row, name, null, name + "/" + original.eventId(event), NEVER, time, Instant.EPOCH);
        keep(row, original, event);
    }

    private static void say(
            Object[] row, String of, String reason, String identity, Instant clock, Instant time, Instant beat) {
        row[0] = of;
        row[1] = reason;
        row[2] = identity;
        row[3] = clock;
        row[4] = time;
        row[5] = beat;
    }

    private void keep(Object[] row, Topic topic, Object[] event) {
        if (topic.described.column() >= 0) {
            row[SAID + topic.described.column()] = RowFactory.create(select(topic.described.kept(), event, 0));
        }
        if (topic.described.lines() != null) {
            row[SAID] = listLines(topic.described.lines(), event);
        }
    }

    /** The lines of an event, each with the marks of the keys of which it is the first; null: it has none. */
    private Object[] listLines(Description.Kept lines, Object[] event) {
        List<?> items = lines.at() < 0 ? Collections.singletonList(event) : (List<?>) event[lines.at()];
        if (items == null) {
            return null;
        }
        List<List<Integer>> keys = contracts.lineKeys;
        List<Set<Object>> seen = new ArrayList<>();
        for (int key = 0; key < keys.size(); key++) {
            seen.add(new HashSet<>());
        }
        Object[] rows = new Object[items.size()];
        for (int index = 0; index < rows.length; index++) {
            Object[] line = select(lines.items(), (Object[]) items.get(index), keys.size());
            for (int key = 0; key < keys.size(); key++) {
                line[lines.items().size() + key] = seen.get(key).add(pick(line, keys.get(key)));
            }
            rows[index] = RowFactory.create(line);
        }
        return rows;
    }

    private static Object pick(Object[] line, List<Integer> places) {
        return places.size() == 1 ? line[places.get(0)] : places.stream().map(place -> line[place]).toList();
    }

    /** The fields that are kept, before so many places for more. */
    private static Object[] select(List<Description.Kept> kept, Object[] values, int more) {
        Object[] selected = new Object[kept.size() + more];
        for (int index = 0; index < kept.size(); index++) {
            Description.Kept field = kept.get(index);
            selected[index] = field.at() < 0 ? null : convert(field, values[field.at()]);
        }
        return selected;
    }

    private static Object convert(Description.Kept field, Object value) {
        if (value == null) {
            return null;
        }
        if (field.type().equals("timestamp")) {
            return Instant.ofEpochMilli((Long) value);
        }
        if (!field.type().equals("array")) {
            return value;
        }
        List<?> items = (List<?>) value;
        Object[] rows = new Object[items.size()];
        for (int index = 0; index < rows.length; index++) {
            rows[index] = RowFactory.create(select(field.items(), (Object[]) items.get(index), 0));
        }
        return rows;
    }

    /** The contracts of a description. */
    private static final class Contracts {
        final Map<String, Topic> topics = new HashMap<>();
        final Topic releases;
        final Topic heartbeats;
        final Description.ReleasePlaces places;
        final List<List<Integer>> lineKeys;

        private Contracts(Description described) {
            described.topics().forEach((name, topic) -> topics.put(name, new Topic(topic)));
            releases = topics.get(described.releases());
            heartbeats = topics.get(described.heartbeats());
            places = described.releasePlaces();
            lineKeys = described.lineKeys();
        }

        static Contracts parse(String description) {
            try {
                return new Contracts(new ObjectMapper().readValue(description, Description.class));
            } catch (JsonProcessingException damaged) {
                throw new IllegalArgumentException("no description of contracts", damaged);
            }
        }

        Topic get(String name) {
            Topic topic = topics.get(name);
            if (topic == null) {
                throw new IllegalArgumentException("the query reads a topic that it did not name: " + name);
            }
            return topic;
        }
    }
}
