package retail.plan;

import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateMode;
import org.apache.spark.sql.catalyst.expressions.aggregate.Partial$;
import org.apache.spark.sql.catalyst.expressions.aggregate.PartialMerge$;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.CoalesceExec;
import org.apache.spark.sql.execution.ColumnarRule;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec;
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec;
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperator;
import scala.Function1;
import scala.collection.Iterator;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Nil$;
import scala.runtime.AbstractFunction1;
import scala.runtime.AbstractPartialFunction;
import scala.runtime.BoxedUnit;

/**
 * A batch's plan without what a small batch pays for and does not need.
 *
 * A shuffle from one partition to one is left out. Spark shuffles before each stateful operator, since
 * state is partitioned by hash. Where one task reads a batch and state has one partition, every row
 * goes to partition 0 either way. Without its shuffles a batch is one stage and one task, where it was
 * three stages: each is serialized, scheduled and deserialized, which costs more than its twenty rows.
 *
 * Nor are partial sums merged where nothing was shuffled. Spark merges those of several tasks before it reads
 * their state, and merges again with that; right above the one task that made them each key has one.
 *
 * What is below a stateful operator is not serialized with the operator's function: see Boundary. Each task
 * of a query with state, before a shuffle and after it, reads the session's options once: see TaskOptions.
 *
 * The session's option spark.sql.extensions names this class.
 */
public class LeanPlan extends AbstractFunction1 {
    public Object apply(Object extensions) {
        ((SparkSessionExtensions) extensions).injectColumnar(new Builder());
        return BoxedUnit.UNIT;
    }

    public static class Builder extends AbstractFunction1 {
        public Object apply(Object session) {
            return new Preparation();
        }
    }

    /** Spark asks for it when every shuffle is in the plan. */
    public static class Preparation extends ColumnarRule {
        public Rule preColumnarTransitions() {
            return new Lean();
        }
    }

    public static class Lean extends Rule {
        public TreeNode apply(TreeNode plan) {
            SparkPlan lean = (SparkPlan) ((SparkPlan) plan).transformUp(new Replacement());
            return hasState(lean) ? new TaskOptions((SparkPlan) lean.transformUp(new Shuffled())) : lean;
        }
    }

    /** Of a shuffle in the plan: one whose writing tasks read the session's options once. */
    public static class Shuffled extends AbstractPartialFunction {
        public boolean isDefinedAt(Object node) {
            return node instanceof ShuffleExchangeExec;
        }

        public Object applyOrElse(Object node, Function1 otherwise) {
            if (!isDefinedAt(node)) {
                return otherwise.apply(node);
            }
            SparkPlan shuffle = (SparkPlan) node;
            SparkPlan written = (SparkPlan) shuffle.children().head();
            return shuffle.withNewChildren(Nil$.MODULE$.$colon$colon(new TaskOptions(written)));
        }
    }

    /** Of a node in the plan: what stands there instead. */
    public static class Replacement extends AbstractPartialFunction {
        public boolean isDefinedAt(Object node) {
            return isNeedless(node) || mergesNothing(node) || node instanceof StatefulOperator;
        }

        public Object applyOrElse(Object node, Function1 otherwise) {
            if (isNeedless(node)) {
                return ((ShuffleExchangeExec) node).child();
            }
            if (mergesNothing(node)) {
                return ((SparkPlan) node).children().head();
            }
            if (node instanceof StatefulOperator) {
                SparkPlan operator = (SparkPlan) node;
                SparkPlan child = (SparkPlan) operator.children().head();
                return operator.withNewChildren(Nil$.MODULE$.$colon$colon(new Boundary(child)));
            }
            return otherwise.apply(node);
        }
    }

    static boolean isNeedless(Object node) {
        // Its own numPartitions() would execute what is shuffled to find out.
        return node instanceof ShuffleExchangeExec
            && ((ShuffleExchangeExec) node).outputPartitioning().numPartitions() == 1
            && hasOnePartition(((ShuffleExchangeExec) node).child());
    }

    /** Whether it merges partial sums right above the operator that made them, of which each key has one. */
    static boolean mergesNothing(Object node) {
        if (!hasMode(node, PartialMerge$.MODULE$)) {
            return false;
        }
        SparkPlan below = (SparkPlan) ((SparkPlan) node).children().head();
        return hasMode(below, Partial$.MODULE$) && ((SparkPlan) node).output().equals(below.output());
    }

    /** Whether the node aggregates, with all of its functions in this mode. */
    static boolean hasMode(Object node, AggregateMode mode) {
        if (!(node instanceof BaseAggregateExec)) {
            return false;
        }
        Iterator functions = ((BaseAggregateExec) node).aggregateExpressions().iterator();
        boolean found = functions.hasNext();
        while (functions.hasNext()) {
            found &= ((AggregateExpression) functions.next()).mode() == mode;
        }
        return found;
    }

    static boolean hasState(SparkPlan plan) {
        boolean found = plan instanceof StatefulOperator;
        Iterator children = plan.children().iterator();
        while (!found && children.hasNext()) {
            found = hasState((SparkPlan) children.next());
        }
        return found;
    }

    /** Whether the plan is known to have one: it comes from one coalesced source, child by child. */
    static boolean hasOnePartition(SparkPlan plan) {
        if (plan instanceof CoalesceExec) {
            return ((CoalesceExec) plan).numPartitions() == 1;
        }
        return !(plan instanceof ShuffleExchangeExec)
            && plan.children().size() == 1
            && hasOnePartition((SparkPlan) plan.children().head());
    }

    /**
     * A plan as it is, which is not serialized with its parent.
     *
     * Spark serializes a stateful operator's function once to try whether it can be, and that takes
     * along the operator and all that is below it. A task needs no more of that than which columns
     * come out of it: what is below has functions of its own.
     */
    public static class Boundary extends PassesOn {
        public Boundary(SparkPlan child) {
            super(child);
        }

        public RDD doExecute() {
            return child.execute();
        }

        public SparkPlan withNewChildrenInternal(IndexedSeq children) {
            return new Boundary((SparkPlan) children.head());
        }
    }
}
