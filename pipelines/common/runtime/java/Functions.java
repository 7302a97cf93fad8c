package retail.aggregate;

import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import scala.Tuple3;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/** The project's aggregates. The session's option spark.sql.extensions names this class. */
public class Functions extends AbstractFunction1 {
    public Object apply(Object extensions) {
        add((SparkSessionExtensions) extensions, new SumBySlot(Nil$.MODULE$, 0, 0));
        add((SparkSessionExtensions) extensions, new CollectFirst(Nil$.MODULE$, 0, 0));
        return BoxedUnit.UNIT;
    }

    private static void add(SparkSessionExtensions extensions, Aggregate aggregate) {
        String name = aggregate.prettyName();
        extensions.injectFunction(
            new Tuple3(
                new FunctionIdentifier(name),
                new ExpressionInfo(aggregate.getClass().getName(), name),
                new Builder(aggregate)));
    }

    /** An aggregate of these arguments. */
    static final class Builder extends AbstractFunction1 {
        private final Aggregate aggregate;

        Builder(Aggregate aggregate) {
            this.aggregate = aggregate;
        }

        public Object apply(Object arguments) {
            return aggregate.with((Seq) arguments, 0, 0);
        }
    }
}
