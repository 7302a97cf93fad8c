package retail.plan;

import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.internal.ReadOnlySQLConf;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.internal.SQLConf$;
import scala.Function0;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.collection.immutable.IndexedSeq;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction0;

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

    public RDD doExecute() {
        return new Tasks(child.execute());
    }

    public SparkPlan withNewChildrenInternal(IndexedSeq children) {
        return new TaskOptions((SparkPlan) children.head());
    }

    /** The rows of an RDD, computed with options that were read once. */
    static final class Tasks extends RDD {
        private static final ClassTag ROW = ClassTag$.MODULE$.apply(InternalRow.class);

        Tasks(RDD rows) {
            super(rows, ROW);
        }

        public Partition[] getPartitions() {
            return firstParent(ROW).partitions();
        }

        public Iterator compute(final Partition partition, final TaskContext task) {
            SQLConf options = new Options(task);
            final RDD rows = firstParent(ROW);
            // To make the iterator may take longest: an aggregate then reads all of its input.
            Object begun = SQLConf$.MODULE$.withExistingConf(options, new AbstractFunction0() {
                public Object apply() {
                    return rows.iterator(partition, task);
                }
            });
            return new Rows((Iterator) begun, options);
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

    static final class Rows extends AbstractIterator {
        private final SQLConf options;
        private final Function0 ask;
        private final Function0 take;

        Rows(final Iterator rows, SQLConf options) {
            this.options = options;
            this.ask = new AbstractFunction0() {
                public Object apply() {
                    return Boolean.valueOf(rows.hasNext());
                }
            };
            this.take = new AbstractFunction0() {
                public Object apply() {
                    return rows.next();
                }
            };
        }

        public boolean hasNext() {
            return ((Boolean) SQLConf$.MODULE$.withExistingConf(options, ask)).booleanValue();
        }

        public Object next() {
            return SQLConf$.MODULE$.withExistingConf(options, take);
        }
    }
}
