package retail.validation;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.apache.kafka.common.utils.Utils;

/** A contract, ready to read and to judge records: contracts/validation.py, function by function. */
final class Topic {
    static final String UNDECODABLE = "undecodable";
    private static final String WRONG_KEY = "wrong-key";
    private static final String WRONG_PARTITION = "wrong-partition";
    private static final String LATE = "late";
    private static final String FUTURE = "future";
    private static final int FRAME_BYTES = 5;

    final Description.Topic described;
    private final List<Check> checks;

    Topic(Description.Topic described) {
        this.described = described;
        this.checks = described.rules().stream().map(Check::of).toList();
    }

    /** The event in a value; null where it does not decode. */
    Object[] read(byte[] value) {
        if (value == null || value.length < FRAME_BYTES || value[0] != 0) {
            return null;
        }
        int id = (value[1] & 255) << 24 | (value[2] & 255) << 16 | (value[3] & 255) << 8 | value[4] & 255;
        List<Description.Step> steps = described.writers().get(id);
        if (steps == null) {
            return null;
        }
        try {
            return new Body(value, FRAME_BYTES).read(steps, described.fields());
        } catch (Body.Undecodable noValue) {
            return null;
        }
    }

    /** The first fault that does not depend on the time of publication; null: none. */
    String findFirstFault(byte[] key, Object[] event) {
        if (key == null || !Arrays.equals(key, encodeKey(event))) {
            return WRONG_KEY;
        }
        for (Check check : checks) {
            if (!check.holds().test(event)) {
                return check.reason();
            }
        }
        return null;
    }

    /** The fault of a record that is not in the partition of its key; null: none. */
    String findPlaceFault(byte[] key, int partition) {
        int expected = Utils.toPositive(Utils.murmur2(key)) % described.partitions();
        return partition == expected ? null : WRONG_PARTITION;
    }

    /** The fault of an event that is late or ahead; null: none. */
    String findTimingFault(Object[] event, long publishedMs) {
        long delayMs = publishedMs - timeMs(event);
        if (described.horizonMs() != null && delayMs > described.horizonMs()) {
            return LATE;
        }
        return described.skewMs() != null && -delayMs > described.skewMs() ? FUTURE : null;
    }

    String eventId(Object[] event) {
        return (String) event[described.eventId()];
    }

    long timeMs(Object[] event) {
        return (Long) event[described.eventTime()];
    }

    private byte[] encodeKey(Object[] event) {
        List<Integer> key = described.key();
        String text = String.valueOf(event[key.get(0)]);
        for (int part = 1; part < key.size(); part++) {
            text += "/" + event[key.get(part)];
        }
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
