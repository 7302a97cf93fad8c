package retail.bench;

import java.time.Duration;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.Punctuator;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Units sold by shelf. Of the copies of a receipt the first counts, and any that is published when
 * it is forgotten again.
 */
class UnitsSold implements Processor<byte[], byte[], Void, Void>, Punctuator {
    static final String IDS = "ids";
    static final String SHELVES = "units-sold";

    private final int schema;
    private final long memoryMs;
    private final Progress progress;

    private ProcessorContext<Void, Void> context;
    private KeyValueStore<byte[], Long> ids;
    private KeyValueStore<byte[], Long> shelves;
    private long lastOffset;

    UnitsSold(int schema, long memoryMs, Progress progress) {
        this.schema = schema;
        this.memoryMs = memoryMs;
        this.progress = progress;
    }

    public void init(ProcessorContext<Void, Void> context) {
        this.context = context;
        ids = context.getStateStore(IDS);
        shelves = context.getStateStore(SHELVES);
        lastOffset = progress.end(context.taskId().partition()) - 1;
        context.schedule(Duration.ofMillis(memoryMs), PunctuationType.STREAM_TIME, this);
    }

    public void process(Record<byte[], byte[]> record) {
        progress.begin();
        Receipt receipt = Receipt.read(record.value(), schema);
        if (receipt != null && isFirst(receipt.id, record.timestamp())) {
            for (int line = 0; line < receipt.lines; line++) {
                add(shelf(receipt.store, receipt.skus[line]), receipt.units[line]);
            }
        }
        if (context.recordMetadata().get().offset() == lastOffset) {
            context.commit(); // now, and not when its interval is over
        }
    }

    private boolean isFirst(byte[] id, long published) {
        Long first = ids.get(id);
        if (first != null && published - first <= memoryMs) {
            return false;
        }
        ids.put(id, published);
        return true;
    }

    private void add(byte[] shelf, int units) {
        Long sold = shelves.get(shelf);
        shelves.put(shelf, sold == null ? units : sold + units);
    }

    private static byte[] shelf(byte[] store, byte[] sku) {
        byte[] key = new byte[store.length + 1 + sku.length];
        System.arraycopy(store, 0, key, 0, store.length);
        key[store.length] = '/';
        System.arraycopy(sku, 0, key, store.length + 1, sku.length);
        return key;
    }

    /** Forget ids: each is met twice at the most. */
    public void punctuate(long published) {
        try (KeyValueIterator<byte[], Long> known = ids.all()) {
            while (known.hasNext()) {
                KeyValue<byte[], Long> id = known.next();
                if (published - id.value > memoryMs) {
                    ids.delete(id.key);
                }
            }
        }
    }
}
