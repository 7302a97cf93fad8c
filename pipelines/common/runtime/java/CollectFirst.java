package retail.aggregate;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.aggregate.ImperativeAggregate;
import org.apache.spark.sql.catalyst.expressions.aggregate.TypedImperativeAggregate;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/**
 * The aggregate collect_first(most, text): the first `most` of a group's texts, in the order of their
 * bytes, an array of string. Equal texts are kept each. A row whose text is null adds nothing.
 *
 * All rows of a group have the same `most`. A group takes the space of the texts that it has, where
 * Spark's collect_top_k takes that of `most` for each.
 */
public class CollectFirst extends TypedImperativeAggregate implements Serializable {
    static final String NAME = "collect_first";
    /** Where the arguments are. */
    private static final int MOST = 0, TEXT = 1;
    private static final DataType RESULT = new ArrayType(DataTypes.StringType, false);

    private final Seq arguments;
    private final int mutableOffset;
    private final int inputOffset;

    public CollectFirst(Seq arguments, int mutableOffset, int inputOffset) {
        this.arguments = arguments;
        this.mutableOffset = mutableOffset;
        this.inputOffset = inputOffset;
    }

    /** The first texts of a group, in order. */
    static final class Texts {
        int most = 0;
        int size = 0;
        UTF8String[] kept = new UTF8String[1];

        /** Whether the text is among the first now. Spark uses a row's bytes again: what is kept is a copy. */
        void add(UTF8String text, boolean ours) {
            if (size == most && (most == 0 || text.compareTo(kept[size - 1]) >= 0)) {
                return;
            }
            int at = size;
            if (size > 0 && text.compareTo(kept[size - 1]) < 0) {
                int found = Arrays.binarySearch(kept, 0, size, text);
                at = found < 0 ? -found - 1 : found;
            }
            if (size == most) {
                size--;
            }
            if (size == kept.length) {
                kept = (UTF8String[]) Arrays.copyOf(kept, Math.min(2 * size, most));
            }
            System.arraycopy(kept, at, kept, at + 1, size - at);
            kept[at] = ours ? text : text.copy();
            size++;
        }
    }

    public Object createAggregationBuffer() {
        return new Texts();
    }

    public Object update(Object buffer, InternalRow row) {
        Object text = evaluate(TEXT, row);
        if (text != null) {
            Texts texts = (Texts) buffer;
            texts.most = ((Integer) evaluate(MOST, row)).intValue();
            texts.add((UTF8String) text, false);
        }
        return buffer;
    }

    public Object merge(Object buffer, Object other) {
        Texts texts = (Texts) buffer;
        Texts added = (Texts) other;
        texts.most = Math.max(texts.most, added.most);
        for (int at = 0; at < added.size; at++) {
            texts.add(added.kept[at], true);
        }
        return texts;
    }

    public Object eval(Object buffer) {
        Texts texts = (Texts) buffer;
        return new GenericArrayData(Arrays.copyOf(texts.kept, texts.size, Object[].class));
    }

    /** `most` and the number of texts, and of each text its length and its bytes. */
    public byte[] serialize(Object buffer) {
        Texts texts = (Texts) buffer;
        int length = 2 * Integer.BYTES;
        for (int at = 0; at < texts.size; at++) {
            length += Integer.BYTES + texts.kept[at].numBytes();
        }
        ByteBuffer bytes = ByteBuffer.allocate(length).putInt(texts.most).putInt(texts.size);
        for (int at = 0; at < texts.size; at++) {
            bytes.putInt(texts.kept[at].numBytes()).put(texts.kept[at].getBytes());
        }
        return bytes.array();
    }

    public Object deserialize(byte[] state) {
        ByteBuffer bytes = ByteBuffer.wrap(state);
        Texts texts = new Texts();
        texts.most = bytes.getInt();
        texts.size = bytes.getInt();
        texts.kept = new UTF8String[Math.max(texts.size, 1)];
        for (int at = 0; at < texts.size; at++) {
            int length = bytes.getInt();
            texts.kept[at] = UTF8String.fromBytes(state, bytes.position(), length);
            bytes.position(bytes.position() + length);
        }
        return texts;
    }

    private Object evaluate(int argument, InternalRow row) {
        return ((Expression) arguments.apply(argument)).eval(row);
    }

    public Seq children() {
        return arguments;
    }

    public Expression withNewChildrenInternal(IndexedSeq children) {
        return new CollectFirst(children, mutableOffset, inputOffset);
    }

    public DataType dataType() {
        return RESULT;
    }

    public boolean nullable() {
        return false;
    }

    public String prettyName() {
        return NAME;
    }

    public int mutableAggBufferOffset() {
        return mutableOffset;
    }

    public int inputAggBufferOffset() {
        return inputOffset;
    }

    public ImperativeAggregate withNewMutableAggBufferOffset(int offset) {
        return new CollectFirst(arguments, offset, inputOffset);
    }

    public ImperativeAggregate withNewInputAggBufferOffset(int offset) {
        return new CollectFirst(arguments, mutableOffset, offset);
    }

    public int productArity() {
        return 3;
    }

    public Object productElement(int at) {
        return new Object[] {arguments, Integer.valueOf(mutableOffset), Integer.valueOf(inputOffset)}[at];
    }

    public boolean canEqual(Object other) {
        return other instanceof CollectFirst;
    }

    public boolean equals(Object other) {
        return other instanceof CollectFirst
            && arguments.equals(((CollectFirst) other).arguments)
            && mutableOffset == ((CollectFirst) other).mutableOffset
            && inputOffset == ((CollectFirst) other).inputOffset;
    }

    public int hashCode() {
        return arguments.hashCode() * 31 * 31 + mutableOffset * 31 + inputOffset;
    }

    public static class Builder extends AbstractFunction1 {
        public Object apply(Object arguments) {
            return new CollectFirst((Seq) arguments, 0, 0);
        }
    }
}
