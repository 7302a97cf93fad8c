package retail.aggregate;

import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import retail.Lists;
import scala.Tuple3;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/** The project's aggregates. The session's option spark.sql.extensions names this class. */
public class Functions extends AbstractFunction1<SparkSessionExtensions, BoxedUnit> {
    public BoxedUnit apply(SparkSessionExtensions extensions) {
        Seq<Expression> none = Lists.toScala();
        add(extensions, new SumBySlot(none, 0, 0));
        add(extensions, new CollectFirst(none, 0, 0));
        return BoxedUnit.UNIT;
    }

    private static void add(SparkSessionExtensions extensions, Aggregate<?> aggregate) {
        String name = aggregate.prettyName();
        extensions.injectFunction(
            new Tuple3<>(
                new FunctionIdentifier(name),
                new ExpressionInfo(aggregate.getClass().getName(), name),
                new Builder(aggregate)));
    }

    /** An aggregate of these arguments. */
    static final class Builder extends AbstractFunction1<Seq<Expression>, Expression> {
        private final Aggregate<?> aggregate;

        Builder(Aggregate<?> aggregate) {
            this.aggregate = aggregate;
        }

        public Expression apply(Seq<Expression> arguments) {
            return aggregate.with(arguments, 0, 0);
        }
    }
}
