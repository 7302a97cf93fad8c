package retail.context;

import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;

/**
 * A context that takes each function as it is.
 *
 * Before Spark runs a function of Scala, it reads and parses the bytes of the class around it, to look for
 * what a shell leaves in such functions, and serializes it once to try whether it can be. Ours are all Spark's
 * own, in plans without a shell, and are serialized for their tasks anyway.
 */
public class LeanContext extends SparkContext {
    public LeanContext(SparkConf conf) {
        super(conf);
    }

    public Object clean(Object function, boolean checkSerializable) {
        return function;
    }
}
