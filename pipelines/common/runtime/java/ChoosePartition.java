package retail.kafka;

import org.apache.kafka.common.utils.Utils;
import org.apache.spark.sql.api.java.UDF2;

/** The partition that Kafka's own clients choose for a key, of so many; null without a key. */
public class ChoosePartition implements UDF2 {
    public Object call(Object key, Object partitions) {
        return key == null
            ? null
            : Integer.valueOf(
                Utils.toPositive(Utils.murmur2((byte[]) key)) % ((Integer) partitions).intValue());
    }
}
