package retail.plan;

import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.execution.SparkPlan;
import retail.Lists;
import scala.collection.immutable.Seq;

/** A node of a plan whose rows are those of its only child, as they are. */
public abstract class PassesOn extends SparkPlan {
    protected final transient SparkPlan child;
    private final Seq<Attribute> output;

    protected PassesOn(SparkPlan child) {
        this.child = child;
        this.output = child.output();
    }

    public Seq<Attribute> output() {
        return output;
    }

    public Partitioning outputPartitioning() {
        return child.outputPartitioning();
    }

    public Seq<SortOrder> outputOrdering() {
        return child.outputOrdering();
    }

    public Seq<SparkPlan> children() {
        return Lists.toScala(child);
    }

    public int productArity() {
        return 1;
    }

    public Object productElement(int index) {
        return child;
    }

    public boolean canEqual(Object other) {
        return other != null && other.getClass() == getClass();
    }
}
