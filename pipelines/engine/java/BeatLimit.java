package retail.beats;

import org.apache.spark.sql.api.java.UDF0;
import org.apache.spark.sql.expressions.UserDefinedFunction;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;

/**
 * The limit of heartbeats at this moment, in epoch milliseconds, by a clock: see pipelines/engine/beats.py.
 *
 * A function, since Spark writes a number into the code that it generates. A time that differs in each
 * batch would have Java compile the code of each batch anew.
 */
public final class BeatLimit implements UDF0<Long> {
    private static final long serialVersionUID = 1;

    private final long worldMs;
    private final long wallMs;
    private final long speedMilli;
    private final long leastMs;

    private BeatLimit(long worldMs, long wallMs, long speedMilli, long leastMs) {
        this.worldMs = worldMs;
        this.wallMs = wallMs;
        this.speedMilli = speedMilli;
        this.leastMs = leastMs;
    }

    /**
     * The function of a session.
     *
     * @param worldMs the limit when the wall showed `wallMs`
     * @param speedMilli by how many milliseconds it grows in a second
     * @param leastMs it is never less
     */
    public static UserDefinedFunction create(
            long worldMs, long wallMs, long speedMilli, long leastMs) {
        BeatLimit limit = new BeatLimit(worldMs, wallMs, speedMilli, leastMs);
        return functions.udf(limit, DataTypes.LongType).asNondeterministic();
    }

    @Override
    public Long call() {
        long passedMs = System.currentTimeMillis() - wallMs;
        return Math.max(leastMs, worldMs + Math.floorDiv(passedMs * speedMilli, 1000L));
    }
}
