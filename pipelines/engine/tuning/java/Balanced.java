package retail.plan;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.Partition;
import org.apache.spark.rdd.PartitionCoalescer;
import org.apache.spark.rdd.PartitionGroup;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.catalyst.plans.physical.UnknownPartitioning;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.v2.DataSourceRDDPartition;
import org.apache.spark.sql.kafka010.KafkaBatchInputPartition;
import retail.Lists;
import scala.Option;
import scala.collection.immutable.IndexedSeq;

/**
 * Kafka's partitions, read by so many tasks that have about as many records each.
 *
 * Spark's own coalescing gives each task as many partitions, in the order of their names' hashes: all of
 * a topic's are neighbours, so one task read every receipt. Each partition is still read by one task, as
 * a whole and in its order; of a task the partitions are in the order that they had.
 */
public class Balanced extends PassesOn {
    private final int tasks;

    public Balanced(SparkPlan child, int tasks) {
        super(child);
        this.tasks = tasks;
    }

    public Partitioning outputPartitioning() {
        return new UnknownPartitioning(tasks);
    }

    public RDD<InternalRow> doExecute() {
        RDD<InternalRow> rows = child.execute();
        Option<PartitionCoalescer> coalescer =
            isOfKafka(rows) ? Option.apply(new ByRecords()) : Option.empty();
        return rows.coalesce(tasks, false, coalescer, null);
    }

    public SparkPlan withNewChildrenInternal(IndexedSeq<SparkPlan> children) {
        return new Balanced(Lists.toJava(children).get(0), tasks);
    }

    private static boolean isOfKafka(RDD<InternalRow> rows) {
        return Arrays.stream(rows.partitions())
            .allMatch(each -> findRead(each) instanceof KafkaBatchInputPartition);
    }

    private static long countRecords(Partition partition) {
        return ((KafkaBatchInputPartition) findRead(partition)).offsetRange().size();
    }

    private static InputPartition findRead(Partition partition) {
        return partition instanceof DataSourceRDDPartition
            ? ((DataSourceRDDPartition) partition).inputPartition().getOrElse(() -> null)
            : null;
    }

    /** Groups of partitions: each, from the largest on, goes to the group with the fewest records. */
    static final class ByRecords implements PartitionCoalescer, Serializable {
        private static final long serialVersionUID = 1;

        public PartitionGroup[] coalesce(int groupsMax, RDD<?> rows) {
            Partition[] partitions = rows.partitions().clone();
            Arrays.sort(partitions, Comparator.comparingLong(Balanced::countRecords).reversed());
            int count = Math.min(groupsMax, partitions.length);
            List<List<Partition>> groups = new ArrayList<>();
            long[] records = new long[count];
            for (int group = 0; group < count; group++) {
                groups.add(new ArrayList<>());
            }
            for (Partition partition : partitions) {
                int least = 0;
                for (int group = 1; group < count; group++) {
                    least = records[group] < records[least] ? group : least;
                }
                groups.get(least).add(partition);
                records[least] += countRecords(partition);
            }
            return groups.stream().map(ByRecords::group).toArray(PartitionGroup[]::new);
        }

        private static PartitionGroup group(List<Partition> partitions) {
            PartitionGroup group = new PartitionGroup(Option.empty());
            partitions.stream()
                .sorted(Comparator.comparingInt(Partition::index))
                .forEach(each -> group.partitions().append(each));
            return group;
        }
    }
}
