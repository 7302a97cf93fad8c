package retail.state;

import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.streaming.state.KeyStateEncoderSpec;
import org.apache.spark.sql.execution.streaming.state.ReadStateStore;
import org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import org.apache.spark.sql.execution.streaming.state.StateStoreCheckpointInfo;
import org.apache.spark.sql.execution.streaming.state.StateStoreConf;
import org.apache.spark.sql.execution.streaming.state.StateStoreId;
import org.apache.spark.sql.execution.streaming.state.StateStoreIterator;
import org.apache.spark.sql.execution.streaming.state.StateSchemaProvider;
import org.apache.spark.sql.execution.streaming.state.StateStoreMetrics;
import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.Iterator;
import scala.collection.Iterator$;
import scala.collection.immutable.Set;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Spark's RocksDB state, walked from end to end in one batch of many.
 *
 * Update-mode aggregates and deduplication free what the watermark has passed by reading every key
 * of their state in every batch, due or not: some two seconds per million keys. No answer depends
 * on when that happens. So the walk finds nothing but in one batch of so many, by an option of
 * the session: what is due stays that much longer, and a batch costs what its records cost.
 * Whoever walks for anything else, for an answer that is, is shown all of it.
 */
public class AmortizedEviction extends RocksDBStateStoreProvider {
    static final String BATCHES_PER_WALK = "spark.sql.streaming.stateStore.batchesPerWalk";

    /** Whether it is to be known which keys a state may hold: it pays where batches are large. */
    static final String KNOWS_KEYS = "spark.sql.streaming.stateStore.knowsKeys";

    /** Of the states that are asked for keys which mostly are not there; the value's only column. */
    private static final String REMEMBERED_UNTIL = "expiresAtMicros";

    /** The functions of Spark's operators that walk to free what the watermark has passed. */
    private static final List<String> EVICTIONS =
        List.of("removeKeysOlderThanWatermark", "evictDupInfoFromState");

    /** How far from a walk the function is that asks for it. */
    private static final int FRAMES_MAX = 20;

    private static final StackWalker CALLERS = StackWalker.getInstance();

    private int batchesPerWalk;
    private boolean knowsKeys;
    private KnownKeys knownKeys = null;
    private int batchesSinceWalk = 0;

    public void init(
            StateStoreId id,
            StructType keys,
            StructType values,
            KeyStateEncoderSpec encoding,
            boolean hasFamilies,
            StateStoreConf conf,
            Configuration hadoop,
            boolean multipleValues,
            Option<StateSchemaProvider> schemas) {
        super.init(
            id, keys, values, encoding, hasFamilies, conf, hadoop, multipleValues, schemas);
        Map<String, String> options = CollectionConverters.asJava(conf.sqlConfs());
        knowsKeys = options.get(KNOWS_KEYS).equals("true")
            && values.length() == 1
            && values.fieldNames()[0].equals(REMEMBERED_UNTIL);
        batchesPerWalk = Integer.parseInt(options.get(BATCHES_PER_WALK));
    }

    public StateStore getStore(
            long version, Option<String> stateStoreCkptId, boolean forceSnapshot, boolean loadEmpty) {
        return store(version, super.getStore(version, stateStoreCkptId, forceSnapshot, loadEmpty));
    }

    public StateStore upgradeReadStoreToWriteStore(
            ReadStateStore store, long version, Option<String> stateStoreCkptId, boolean forceSnapshot) {
        return store(
            version,
            super.upgradeReadStoreToWriteStore(store, version, stateStoreCkptId, forceSnapshot));
    }

    private Store store(long version, StateStore whole) {
        knownKeys = knowsKeys ? KnownKeys.of(version, knownKeys) : null;
        return new Store(whole, knownKeys);
    }

    static boolean isEviction() {
        return CALLERS.walk(
            frames -> frames.limit(FRAMES_MAX)
                .anyMatch(frame -> EVICTIONS.stream().anyMatch(frame.getMethodName()::contains)));
    }

    synchronized boolean isTimeToWalk() {
        batchesSinceWalk = (batchesSinceWalk + 1) % batchesPerWalk;
        return batchesSinceWalk == 0;
    }

    /** The store itself, but for its walk. */
    class Store implements StateStore {
        private final StateStore whole;

        private final KnownKeys knownKeys;

        Store(StateStore whole, KnownKeys knownKeys) {
            this.whole = whole;
            this.knownKeys = knownKeys;
        }

        public StateStoreIterator<UnsafeRowPair> iterator(String family) {
            if (!isEviction() || isTimeToWalk()) {
                return whole.iterator(family);
            }
            return new StateStoreIterator<>(
                Iterator$.MODULE$.<UnsafeRowPair>empty(),
                StateStoreIterator.$lessinit$greater$default$2());
        }

        public StateStoreId id() {
            return whole.id();
        }

        public long version() {
            return whole.version();
        }

        public UnsafeRow get(UnsafeRow key, String family) {
            return knownKeys == null || knownKeys.mayHold(key) ? whole.get(key, family) : null;
        }

        public Iterator<UnsafeRow> valuesIterator(UnsafeRow key, String family) {
            return whole.valuesIterator(key, family);
        }

        public StateStoreIterator<UnsafeRowPair> prefixScan(UnsafeRow prefix, String family) {
            return whole.prefixScan(prefix, family);
        }

        public StateStoreIterator<UnsafeRowPair> prefixScanWithMultiValues(UnsafeRow prefix, String family) {
            return whole.prefixScanWithMultiValues(prefix, family);
        }

        public StateStoreIterator<UnsafeRowPair> iteratorWithMultiValues(String family) {
            return whole.iteratorWithMultiValues(family);
        }

        public void abort() {
            whole.abort();
        }

        public void release() {
            whole.release();
        }

        public Set<String> allColumnFamilyNames() {
            return whole.allColumnFamilyNames();
        }

        public boolean removeColFamilyIfExists(String family) {
            return whole.removeColFamilyIfExists(family);
        }

        public void createColFamilyIfAbsent(
                String family,
                StructType keys,
                StructType values,
                KeyStateEncoderSpec encoding,
                boolean multipleValues,
                boolean isInternal) {
            whole.createColFamilyIfAbsent(
                family, keys, values, encoding, multipleValues, isInternal);
        }

        public void put(UnsafeRow key, UnsafeRow value, String family) {
            if (knownKeys != null) {
                knownKeys.add(key);
            }
            whole.put(key, value, family);
        }

        public void putList(UnsafeRow key, UnsafeRow[] values, String family) {
            whole.putList(key, values, family);
        }

        public void remove(UnsafeRow key, String family) {
            whole.remove(key, family);
        }

        public void deleteRange(UnsafeRow from, UnsafeRow until, String family) {
            whole.deleteRange(from, until, family);
        }

        public void merge(UnsafeRow key, UnsafeRow value, String family) {
            whole.merge(key, value, family);
        }

        public void mergeList(UnsafeRow key, UnsafeRow[] values, String family) {
            whole.mergeList(key, values, family);
        }

        public long commit() {
            long newest = whole.commit();
            if (knownKeys != null) {
                knownKeys.committed(newest);
            }
            return newest;
        }

        public StateStoreMetrics metrics() {
            return whole.metrics();
        }

        public StateStoreCheckpointInfo getStateStoreCheckpointInfo() {
            return whole.getStateStoreCheckpointInfo();
        }

        public boolean hasCommitted() {
            return whole.hasCommitted();
        }
    }
}
