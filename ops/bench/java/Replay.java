package retail.bench;

import java.time.Duration;
import java.util.Properties;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.TaskMetadata;
import org.apache.kafka.streams.ThreadMetadata;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.state.Stores;

/** One application that replays a topic of receipts. */
class Replay
        implements ProcessorSupplier<byte[], byte[], Void, Void>, StreamsUncaughtExceptionHandler {
    private static final int LOOK_MS = 5;
    private static final int SECONDS_MAX = 300;
    private static final int CLOSE_SECONDS_MAX = 60;

    private final int schema;
    private final long memoryMs;
    private final Progress progress;
    private final KafkaStreams streams;

    Replay(Properties config, String topic, int schema, long memoryMs, Progress progress) {
        this.schema = schema;
        this.memoryMs = memoryMs;
        this.progress = progress;
        streams = new KafkaStreams(topology(topic), config);
        streams.setUncaughtExceptionHandler(this);
    }

    public Processor<byte[], byte[], Void, Void> get() {
        return new UnitsSold(schema, memoryMs, progress);
    }

    private Topology topology(String topic) {
        Topology topology = new Topology();
        Deserializer<byte[]> bytes = Serdes.ByteArray().deserializer();
        topology.addSource("receipts", bytes, bytes, new String[] {topic});
        topology.addProcessor("sum", this, new String[] {"receipts"});
        topology.addStateStore(
            Stores.keyValueStoreBuilder(
                Stores.persistentKeyValueStore(UnitsSold.IDS), Serdes.ByteArray(), Serdes.Long()),
            new String[] {"sum"});
        topology.addStateStore(
            Stores.keyValueStoreBuilder(
                Stores.persistentKeyValueStore(UnitsSold.SHELVES), Serdes.ByteArray(), Serdes.Long())
            .withCachingEnabled(),
            new String[] {"sum"});
        return topology;
    }

    /** Have partitions assigned to each thread, and read none yet. */
    void start() {
        streams.pause();
        streams.start();
    }

    /** Read everything; the seconds from the first record until all are committed. */
    double finish() throws InterruptedException {
        streams.resume();
        long deadline = System.nanoTime() + SECONDS_MAX * 1000000000L;
        while (committed() < progress.records()) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("It should be through in " + SECONDS_MAX + " s");
            }
            Thread.sleep(LOOK_MS);
        }
        double seconds = progress.seconds();
        streams.close(Duration.ofSeconds(CLOSE_SECONDS_MAX));
        return seconds;
    }

    private long committed() {
        long records = 0;
        for (ThreadMetadata thread : streams.metadataForLocalThreads()) {
            for (TaskMetadata task : thread.activeTasks()) {
                for (long end : task.committedOffsets().values()) {
                    records += Math.max(0, end); // -1: no record yet
                }
            }
        }
        return records;
    }

    /** What has failed once would only be measured wrong. */
    public StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse handle(Throwable failure) {
        failure.printStackTrace();
        Runtime.getRuntime().halt(1);
        return StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
    }
}
