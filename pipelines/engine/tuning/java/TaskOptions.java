package retail.plan;

import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.internal.ReadOnlySQLConf;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.internal.SQLConf$;
import retail.Lists;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.collection.immutable.IndexedSeq;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * A plan as it is, each of whose tasks reads the session's options once.
 *
 * Where Spark interprets, it asks the options at each value whether a new way to treat types is on. In a
 * task it makes an object of all options to ask; with 300 receipts a second these were half of all that a
 * pipeline's Java allocated, and a fifth of the CPU of its tasks.
 */
public class TaskOptions extends PassesOn {
    public TaskOptions(SparkPlan child) {
        super(child);
    }

    public RDD<InternalRow> doExecute() {
        return new Tasks(child.execute());
    }

    public SparkPlan withNewChildrenInternal(IndexedSeq<SparkPlan> children) {
        return new TaskOptions(Lists.toJava(children).get(0));
    }

    /** The rows of an RDD, computed with options that were read once. */
    static final class Tasks extends RDD<InternalRow> {
        private static final ClassTag<InternalRow> ROW = ClassTag$.MODULE$.apply(InternalRow.class);

        Tasks(RDD<InternalRow> rows) {
            super(rows, ROW);
        }

        public Partition[] getPartitions() {
            return rows().partitions();
        }

        public Iterator<InternalRow> compute(Partition partition, TaskContext task) {
            SQLConf options = new Options(task);
            // To make the iterator may take longest: an aggregate then reads all of its input.
            Iterator<InternalRow> begun = SQLConf$.MODULE$.withExistingConf(
                options, () -> rows().iterator(partition, task));
            return new Rows(begun, options);
        }

        private RDD<InternalRow> rows() {
            return firstParent(ROW);
        }
    }

    /** The task's options, as Spark reads them, with the one that it asks for at each value. */
    static final class Options extends ReadOnlySQLConf {
        private final boolean framework;

        Options(TaskContext task) {
            super(task);
            framework = super.typesFrameworkEnabled();
        }

        public boolean typesFrameworkEnabled() {
            return framework;
        }
    }

    static final class Rows extends AbstractIterator<InternalRow> {
        private final Iterator<InternalRow> rows;
        private final SQLConf options;

        Rows(Iterator<InternalRow> rows, SQLConf options) {
            this.rows = rows;
            this.options = options;
        }

        public boolean hasNext() {
            return SQLConf$.MODULE$.withExistingConf(options, rows::hasNext);
        }

        public InternalRow next() {
            return SQLConf$.MODULE$.withExistingConf(options, rows::next);
        }
    }
}
