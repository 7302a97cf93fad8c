package retail.aggregate;

import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import scala.Function1;
import scala.Tuple3;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/** The project's aggregates. The session's option spark.sql.extensions names this class. */
public class Functions extends AbstractFunction1 {
    public Object apply(Object extensions) {
        add((SparkSessionExtensions) extensions, SumBySlot.NAME, SumBySlot.class, new SumBySlot.Builder());
        add((SparkSessionExtensions) extensions, CollectFirst.NAME, CollectFirst.class, new CollectFirst.Builder());
        return BoxedUnit.UNIT;
    }

    private static void add(SparkSessionExtensions extensions, String name, Class of, Function1 builder) {
        extensions.injectFunction(
            new Tuple3(new FunctionIdentifier(name), new ExpressionInfo(of.getName(), name), builder));
    }
}
