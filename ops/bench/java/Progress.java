package retail.bench;

import java.util.concurrent.atomic.AtomicLong;

/** When a replay met its first record, and where it is to end. */
class Progress {
    private final long[] ends;
    private final AtomicLong beganNanos = new AtomicLong();

    Progress(long[] ends) {
        this.ends = ends;
    }

    /** The offset after the partition's last record. */
    long end(int partition) {
        return ends[partition];
    }

    long records() {
        long records = 0;
        for (int partition = 0; partition < ends.length; partition++) {
            records += ends[partition];
        }
        return records;
    }

    void begin() {
        if (beganNanos.get() == 0) {
            beganNanos.compareAndSet(0, System.nanoTime());
        }
    }

    /** Since the first record. */
    double seconds() {
        return (System.nanoTime() - beganNanos.get()) / 1e9;
    }
}
