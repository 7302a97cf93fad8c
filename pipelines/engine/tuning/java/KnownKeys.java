package retail.state;

import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * Which keys a state may hold: a Bloom filter of all that was put into it since it was empty.
 *
 * Deduplication asks the state for each event, and mostly it is not there; RocksDB takes longest to
 * say so. A key that is not among these was never put. One that is among them may be there: then the
 * state is asked. What is removed stays among them, which costs a question and changes no answer.
 *
 * It says something of a version only if every put up to it came by here: of a state that was loaded
 * from a checkpoint nothing is known.
 */
final class KnownKeys {
    private static final int BITS_LOG2 = 27;
    /** 16 MiB. Of four million keys a third of a percent is taken for known that is not. */
    private final long[] bits = new long[1 << (BITS_LOG2 - 6)];
    /** The newest version of which all puts are known. */
    private long version = 0;

    /** What is known of a version of a state that was loaded, after what was known before. */
    static KnownKeys of(long loaded, KnownKeys before) {
        if (loaded == 0) {
            return new KnownKeys();
        }
        return before != null && loaded <= before.version ? before : null;
    }

    void committed(long newest) {
        version = newest;
    }

    void add(UnsafeRow key) {
        int first = key.hashCode();
        set(first * 0x9E3779B97F4A7C15L);
        set(second(key, first));
    }

    boolean mayHold(UnsafeRow key) {
        int first = key.hashCode();
        return isSet(first * 0x9E3779B97F4A7C15L) && isSet(second(key, first));
    }

    private static long second(UnsafeRow key, int seed) {
        int hash = org.apache.spark.unsafe.hash.Murmur3_x86_32.hashUnsafeWords(
            key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes(), seed);
        return (hash ^ ((long) seed << 32)) * 0xC2B2AE3D27D4EB4FL;
    }

    private void set(long hash) {
        int bit = (int) (hash >>> (64 - BITS_LOG2));
        bits[bit >>> 6] |= 1L << (bit & 63);
    }

    private boolean isSet(long hash) {
        int bit = (int) (hash >>> (64 - BITS_LOG2));
        return (bits[bit >>> 6] & 1L << (bit & 63)) != 0;
    }
}
