package retail.bench;

import java.time.Duration;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.Punctuator;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Units sold by shelf. Of the copies of a receipt the first counts, and any that is published when
 * it is forgotten again.
 */
class UnitsSold implements Processor, Punctuator {
    static final String IDS = "ids";
    static final String SHELVES = "units-sold";

    private final int schema;
    private final long memoryMs;
    private final Progress progress;

    private ProcessorContext context;
    private KeyValueStore ids;
    private KeyValueStore shelves;
    private long lastOffset;

    UnitsSold(int schema, long memoryMs, Progress progress) {
        this.schema = schema;
        this.memoryMs = memoryMs;
        this.progress = progress;
    }

    public void init(ProcessorContext context) {
        this.context = context;
        ids = (KeyValueStore) context.getStateStore(IDS);
        shelves = (KeyValueStore) context.getStateStore(SHELVES);
        lastOffset = progress.end(context.taskId().partition()) - 1;
        context.schedule(Duration.ofMillis(memoryMs), PunctuationType.STREAM_TIME, this);
    }

    public void process(Record record) {
        progress.begin();
        Receipt receipt = Receipt.read((byte[]) record.value(), schema);
        if (receipt != null && isFirst(receipt.id, record.timestamp())) {
            for (int line = 0; line < receipt.lines; line++) {
                add(shelf(receipt.store, receipt.skus[line]), receipt.units[line]);
            }
        }
        if (((RecordMetadata) context.recordMetadata().get()).offset() == lastOffset) {
            context.commit(); // now, and not when its interval is over
        }
    }

    private boolean isFirst(byte[] id, long published) {
        Long first = (Long) ids.get(id);
        if (first != null && published - first.longValue() <= memoryMs) {
            return false;
        }
        ids.put(id, Long.valueOf(published));
        return true;
    }

    private void add(byte[] shelf, int units) {
        Long sold = (Long) shelves.get(shelf);
        shelves.put(shelf, Long.valueOf(sold == null ? units : sold.longValue() + units));
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
        KeyValueIterator known = ids.all();
        try {
            while (known.hasNext()) {
                KeyValue id = (KeyValue) known.next();
                if (published - ((Long) id.value).longValue() > memoryMs) {
                    ids.delete(id.key);
                }
            }
        } finally {
            known.close();
        }
    }
}
