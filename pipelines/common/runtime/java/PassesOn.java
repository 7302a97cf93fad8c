package retail.plan;

import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.execution.SparkPlan;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;

/** A node of a plan whose rows are those of its only child, as they are. */
public abstract class PassesOn extends SparkPlan {
    protected final transient SparkPlan child;
    private final Seq output;

    protected PassesOn(SparkPlan child) {
        this.child = child;
        this.output = child.output();
    }

    public Seq output() {
        return output;
    }

    public Partitioning outputPartitioning() {
        return child.outputPartitioning();
    }

    public Seq outputOrdering() {
        return child.outputOrdering();
    }

    public Seq children() {
        return Nil$.MODULE$.$colon$colon(child);
    }

    public int productArity() {
        return 1;
    }

    public Object productElement(int at) {
        return child;
    }

    public boolean canEqual(Object other) {
        return other != null && other.getClass() == getClass();
    }
}
