package retail.plan;

import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.metric.SQLMetric;
import retail.Lists;
import scala.PartialFunction;

/** What the states of a plan have dropped, once its tasks have ended. */
public final class Drops {
    private static final String DROPPED = "numRowsDroppedByWatermark";

    private Drops() {}

    /** The number of rows that came behind the watermark. */
    public static long count(SparkPlan plan) {
        PartialFunction<String, SQLMetric> metrics = plan.metrics();
        long dropped = metrics.isDefinedAt(DROPPED) ? Math.max(0, metrics.apply(DROPPED).value()) : 0;
        for (SparkPlan child : Lists.toJava(plan.children())) {
            dropped += count(child);
        }
        return dropped;
    }
}
