package retail.plan;

import java.util.List;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateMode;
import org.apache.spark.sql.catalyst.expressions.aggregate.Partial$;
import org.apache.spark.sql.catalyst.expressions.aggregate.PartialMerge$;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.CoalesceExec;
import org.apache.spark.sql.execution.ColumnarRule;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec;
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec;
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperator;
import retail.Lists;
import scala.Function1;
import scala.collection.immutable.IndexedSeq;
import scala.runtime.AbstractFunction1;
import scala.runtime.AbstractPartialFunction;
import scala.runtime.BoxedUnit;

/**
 * A batch's plan without what a batch pays for and does not need.
 *
 * A shuffle from one partition to one is left out. Spark shuffles before each stateful operator, since
 * state is partitioned by hash. Where one task reads a batch and state has one partition, every row
 * goes to partition 0 either way. Without its shuffles a batch is one stage and one task, where it was
 * three stages: each is serialized, scheduled and deserialized, which costs more than its twenty rows.
 *
 * Nor are partial sums merged where nothing was shuffled. Spark merges those of several tasks before it reads
 * their state, and merges again with that; right above the one task that made them each key has one.
 *
 * Where several tasks share what is read, each has about as many records: see Balanced.
 *
 * What is below a stateful operator is not serialized with the operator's function: see Boundary. Each task
 * of a query with state, before a shuffle and after it, reads the session's options once: see TaskOptions.
 *
 * The session's option spark.sql.extensions names this class.
 */
public class LeanPlan extends AbstractFunction1<SparkSessionExtensions, BoxedUnit> {
    public BoxedUnit apply(SparkSessionExtensions extensions) {
        extensions.injectColumnar(new Builder());
        return BoxedUnit.UNIT;
    }

    public static class Builder extends AbstractFunction1<SparkSession, ColumnarRule> {
        public ColumnarRule apply(SparkSession session) {
            return new Preparation();
        }
    }

    /** Spark asks for it when every shuffle is in the plan. */
    public static class Preparation extends ColumnarRule {
        public Rule<SparkPlan> preColumnarTransitions() {
            return new Lean();
        }
    }

    public static class Lean extends Rule<SparkPlan> {
        public SparkPlan apply(SparkPlan plan) {
            SparkPlan lean = plan.transformUp(new Replacement());
            return hasState(lean) ? new TaskOptions(lean.transformUp(new Shuffled())) : lean;
        }
    }

    /** What stands in a plan instead of some of its nodes. */
    public abstract static class Substitution extends AbstractPartialFunction<SparkPlan, SparkPlan> {
        protected abstract SparkPlan replace(SparkPlan node);

        @SuppressWarnings("unchecked") // Scala's R is a class of plans, which Java cannot say
        public <N extends SparkPlan, R> R applyOrElse(N node, Function1<N, R> otherwise) {
            return isDefinedAt(node) ? (R) replace(node) : otherwise.apply(node);
        }
    }

    /** Of a shuffle in the plan: one whose writing tasks read the session's options once. */
    public static class Shuffled extends Substitution {
        public boolean isDefinedAt(SparkPlan node) {
            return node instanceof ShuffleExchangeExec;
        }

        protected SparkPlan replace(SparkPlan shuffle) {
            return shuffle.withNewChildren(Lists.toScala(new TaskOptions(child(shuffle))));
        }
    }

    /** Of a node in the plan: what stands there instead. */
    public static class Replacement extends Substitution {
        public boolean isDefinedAt(SparkPlan node) {
            return isNeedless(node)
                || mergesNothing(node)
                || node instanceof StatefulOperator
                || isShared(node);
        }

        protected SparkPlan replace(SparkPlan node) {
            SparkPlan child = child(node);
            if (isShared(node)) {
                return new Balanced(child, ((CoalesceExec) node).numPartitions());
            }
            return node instanceof StatefulOperator
                ? node.withNewChildren(Lists.toScala(new Boundary(child)))
                : child;
        }
    }

    /** Whether several tasks share what is read. */
    static boolean isShared(SparkPlan node) {
        return node instanceof CoalesceExec && ((CoalesceExec) node).numPartitions() > 1;
    }

    static boolean isNeedless(SparkPlan node) {
        // Its own numPartitions() would execute what is shuffled to find out.
        return node instanceof ShuffleExchangeExec
            && ((ShuffleExchangeExec) node).outputPartitioning().numPartitions() == 1
            && hasOnePartition(((ShuffleExchangeExec) node).child());
    }

    /** Whether it merges partial sums right above the operator that made them, of which each key has one. */
    static boolean mergesNothing(SparkPlan node) {
        if (!hasMode(node, PartialMerge$.MODULE$)) {
            return false;
        }
        SparkPlan below = child(node);
        return hasMode(below, Partial$.MODULE$) && node.output().equals(below.output());
    }

    /** Whether the node aggregates, with all of its functions in this mode. */
    static boolean hasMode(SparkPlan node, AggregateMode mode) {
        if (!(node instanceof BaseAggregateExec)) {
            return false;
        }
        List<AggregateExpression> functions =
            Lists.toJava(((BaseAggregateExec) node).aggregateExpressions());
        return !functions.isEmpty() && functions.stream().allMatch(each -> each.mode() == mode);
    }

    static SparkPlan child(SparkPlan plan) {
        return Lists.toJava(plan.children()).get(0);
    }

    static boolean hasState(SparkPlan plan) {
        return plan instanceof StatefulOperator
            || Lists.toJava(plan.children()).stream().anyMatch(LeanPlan::hasState);
    }

    /** Whether the plan is known to have one: it comes from one coalesced source, child by child. */
    static boolean hasOnePartition(SparkPlan plan) {
        if (plan instanceof CoalesceExec) {
            return ((CoalesceExec) plan).numPartitions() == 1;
        }
        return !(plan instanceof ShuffleExchangeExec)
            && Lists.toJava(plan.children()).size() == 1
            && hasOnePartition(child(plan));
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

        public RDD<InternalRow> doExecute() {
            return child.execute();
        }

        public SparkPlan withNewChildrenInternal(IndexedSeq<SparkPlan> children) {
            return new Boundary(Lists.toJava(children).get(0));
        }
    }
}
