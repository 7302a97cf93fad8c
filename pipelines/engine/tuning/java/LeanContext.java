package retail.context;

import java.io.DataOutput;
import java.io.IOException;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableUtils;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.util.SerializableConfiguration;
import scala.reflect.ClassTag;

/**
 * A context that takes each function as it is, and sends the options of Hadoop without their origins.
 *
 * Before Spark runs a function of Scala, it reads and parses the bytes of the class around it, to look for
 * what a shell leaves in such functions, and serializes it once to try whether it can be. Ours are all Spark's
 * own, in plans without a shell, and are serialized for their tasks anyway.
 *
 * Each access to state broadcasts the options of Hadoop anew in each batch: some hundred of them, and with
 * each a compressed list of where it was set, which took an eighth of a batch.
 */
public class LeanContext extends SparkContext {
    public LeanContext(SparkConf conf) {
        super(conf);
    }

    public <F> F clean(F function, boolean checkSerializable) {
        return function;
    }

    public <T> Broadcast<T> broadcast(T value, ClassTag<T> kind) {
        if (value instanceof SerializableConfiguration) {
            Configuration whole = ((SerializableConfiguration) value).value();
            @SuppressWarnings("unchecked") // T is this class
            T options = (T) new SerializableConfiguration(new WithoutOrigins(whole));
            return super.broadcast(options, kind);
        }
        return super.broadcast(value, kind);
    }

    /** A copy of the options. Hadoop reads them as any others, of which nobody knows who has set them. */
    public static class WithoutOrigins extends Configuration {
        public WithoutOrigins(Configuration options) {
            super(options);
        }

        public void write(DataOutput out) throws IOException {
            WritableUtils.writeVInt(out, size());
            for (Map.Entry<String, String> option : this) {
                Text.writeString(out, option.getKey());
                Text.writeString(out, option.getValue());
                WritableUtils.writeCompressedStringArray(out, null);
            }
        }
    }
}
