package retail.aggregate;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.immutable.Seq;

/**
 * The aggregate collect_first(most, text): the first `most` of a group's texts, in the order of their
 * bytes, an array of string. Equal texts are kept each. A row whose text is null adds nothing.
 *
 * All rows of a group have the same `most`. A group takes the space of the texts that it has, where
 * Spark's collect_top_k takes that of `most` for each.
 */
public class CollectFirst extends Aggregate<CollectFirst.Texts> {
    private static final String NAME = "collect_first";
    /** Where the arguments are. */
    private static final int MOST = 0, TEXT = 1;
    private static final DataType RESULT = new ArrayType(DataTypes.StringType, false);

    public CollectFirst(Seq<Expression> arguments, int mutableOffset, int inputOffset) {
        super(arguments, mutableOffset, inputOffset);
    }

    /** The first texts of a group, in order. */
    static final class Texts {
        int most = 0;
        int size = 0;
        UTF8String[] kept = new UTF8String[1];

        /** Keep the text if it is among the first. Spark uses a row's bytes again: those are copied. */
        void add(UTF8String text, boolean ours) {
            boolean isLast = size == 0 || text.compareTo(kept[size - 1]) >= 0;
            if (isLast && size == most) {
                return;
            }
            int position = isLast ? size : findPlace(text);
            if (size == most) {
                size--;
            }
            if (size == kept.length) {
                kept = Arrays.copyOf(kept, Math.min(2 * size, most));
            }
            System.arraycopy(kept, position, kept, position + 1, size - position);
            kept[position] = ours ? text : text.copy();
            size++;
        }

        private int findPlace(UTF8String text) {
            int found = Arrays.binarySearch(kept, 0, size, text);
            return found < 0 ? -found - 1 : found;
        }
    }

    public Texts createAggregationBuffer() {
        return new Texts();
    }

    public Texts update(Texts texts, InternalRow row) {
        Object text = evaluate(TEXT, row);
        if (text != null) {
            texts.most = (Integer) evaluate(MOST, row);
            texts.add((UTF8String) text, false);
        }
        return texts;
    }

    public Texts merge(Texts texts, Texts added) {
        texts.most = Math.max(texts.most, added.most);
        for (int position = 0; position < added.size; position++) {
            texts.add(added.kept[position], true);
        }
        return texts;
    }

    public Object eval(Texts texts) {
        return new GenericArrayData(Arrays.copyOf(texts.kept, texts.size, Object[].class));
    }

    /** `most` and the number of texts, and of each text its length and its bytes. */
    public byte[] serialize(Texts texts) {
        int length = 2 * Integer.BYTES;
        for (int position = 0; position < texts.size; position++) {
            length += Integer.BYTES + texts.kept[position].numBytes();
        }
        ByteBuffer bytes = ByteBuffer.allocate(length).putInt(texts.most).putInt(texts.size);
        for (int position = 0; position < texts.size; position++) {
            bytes.putInt(texts.kept[position].numBytes()).put(texts.kept[position].getBytes());
        }
        return bytes.array();
    }

    public Texts deserialize(byte[] state) {
        ByteBuffer bytes = ByteBuffer.wrap(state);
        Texts texts = new Texts();
        texts.most = bytes.getInt();
        texts.size = bytes.getInt();
        texts.kept = new UTF8String[Math.max(texts.size, 1)];
        for (int position = 0; position < texts.size; position++) {
            int length = bytes.getInt();
            texts.kept[position] = UTF8String.fromBytes(state, bytes.position(), length);
            bytes.position(bytes.position() + length);
        }
        return texts;
    }

    protected CollectFirst with(Seq<Expression> arguments, int mutableOffset, int inputOffset) {
        return new CollectFirst(arguments, mutableOffset, inputOffset);
    }

    public DataType dataType() {
        return RESULT;
    }

    public String prettyName() {
        return NAME;
    }
}
