package retail.plan;

import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.util.AccumulatorV2;
import scala.Option;
import scala.collection.Iterator;

/** What the states of a plan have dropped, once its tasks have ended. */
public class Drops {
    private static final String DROPPED = "numRowsDroppedByWatermark";

    /** The number of rows that came behind the watermark. */
    public static long count(SparkPlan plan) {
        Option metric = plan.metrics().get(DROPPED);
        long dropped = 0;
        if (metric.isDefined()) {
            Object value = ((AccumulatorV2) metric.get()).value();
            dropped = Math.max(dropped, ((Long) value).longValue());
        }
        Iterator children = plan.children().iterator();
        while (children.hasNext()) {
            dropped += count((SparkPlan) children.next());
        }
        return dropped;
    }
}
