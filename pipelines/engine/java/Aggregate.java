package retail.aggregate;

import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.aggregate.ImperativeAggregate;
import org.apache.spark.sql.catalyst.expressions.aggregate.TypedImperativeAggregate;
import retail.Lists;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/** What Spark asks of an aggregate that is none of its own: its arguments, and where its buffers are. */
public abstract class Aggregate<B> extends TypedImperativeAggregate<B> implements Serializable {
    protected final Seq<Expression> arguments;
    private final int mutableOffset;
    private final int inputOffset;

    protected Aggregate(Seq<Expression> arguments, int mutableOffset, int inputOffset) {
        this.arguments = arguments;
        this.mutableOffset = mutableOffset;
        this.inputOffset = inputOffset;
    }

    /** The same aggregate, with other arguments or offsets. */
    protected abstract Aggregate<B> with(Seq<Expression> arguments, int mutableOffset, int inputOffset);

    protected final Object evaluate(int argument, InternalRow row) {
        return Lists.toJava(arguments).get(argument).eval(row);
    }

    public boolean nullable() {
        return false;
    }

    public Seq<Expression> children() {
        return arguments;
    }

    public Expression withNewChildrenInternal(IndexedSeq<Expression> children) {
        return with(children, mutableOffset, inputOffset);
    }

    public int mutableAggBufferOffset() {
        return mutableOffset;
    }

    public int inputAggBufferOffset() {
        return inputOffset;
    }

    public ImperativeAggregate withNewMutableAggBufferOffset(int offset) {
        return with(arguments, offset, inputOffset);
    }

    public ImperativeAggregate withNewInputAggBufferOffset(int offset) {
        return with(arguments, mutableOffset, offset);
    }

    public int productArity() {
        return 3;
    }

    public Object productElement(int index) {
        return new Object[] {arguments, mutableOffset, inputOffset}[index];
    }

    public boolean canEqual(Object other) {
        return other != null && other.getClass() == getClass();
    }

    public boolean equals(Object other) {
        return canEqual(other)
            && arguments.equals(((Aggregate<?>) other).arguments)
            && mutableOffset == ((Aggregate<?>) other).mutableOffset
            && inputOffset == ((Aggregate<?>) other).inputOffset;
    }

    public int hashCode() {
        return arguments.hashCode() * 31 * 31 + mutableOffset * 31 + inputOffset;
    }
}
