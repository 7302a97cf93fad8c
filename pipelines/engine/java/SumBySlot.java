package retail.aggregate;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import retail.Lists;
import scala.collection.immutable.Seq;

/**
 * The aggregate sum_by_slot(members_max, slot, at, member, amount, ...): what a group's rows add up to
 * in each slot. Its state is as large as the slots are many, however many the rows.
 *
 * It gives an array of a struct per slot, in order: the slot (int), the first and the last `at`
 * (bigint), the members (array of string) and the sums of the amounts (array of bigint, in the order of
 * the arguments). Of the distinct members it keeps the first `members_max` in the order of their bytes,
 * so which ones does not depend on the order of the rows. A row whose slot is null adds nothing.
 */
public class SumBySlot extends Aggregate<TreeMap<Integer, SumBySlot.Slot>> {
    private static final String NAME = "sum_by_slot";
    /** Where the arguments are. */
    private static final int MEMBERS_MAX = 0, SLOT = 1, TIME = 2, MEMBER = 3, AMOUNTS = 4;
    private static final DataType RESULT = new ArrayType(
        new StructType()
            .add("slot", DataTypes.IntegerType, false)
            .add("first", DataTypes.LongType, false)
            .add("last", DataTypes.LongType, false)
            .add("members", new ArrayType(DataTypes.StringType, false), false)
            .add("sums", new ArrayType(DataTypes.LongType, false), false),
        false);

    public SumBySlot(Seq<Expression> arguments, int mutableOffset, int inputOffset) {
        super(arguments, mutableOffset, inputOffset);
    }

    /** What the rows of one slot add up to. */
    static final class Slot {
        long first = Long.MAX_VALUE;
        long last = Long.MIN_VALUE;
        final TreeSet<UTF8String> members = new TreeSet<>();
        final long[] sums;

        Slot(int amounts) {
            sums = new long[amounts];
        }

        void span(long from, long to) {
            first = Math.min(first, from);
            last = Math.max(last, to);
        }

        void join(UTF8String member, int most) {
            if (!members.contains(member)) {
                members.add(member.copy()); // Spark uses the row's bytes again
                if (members.size() > most) {
                    members.pollLast();
                }
            }
        }
    }

    public TreeMap<Integer, Slot> createAggregationBuffer() {
        return new TreeMap<>();
    }

    public TreeMap<Integer, Slot> update(TreeMap<Integer, Slot> buffer, InternalRow row) {
        Integer number = (Integer) evaluate(SLOT, row);
        if (number != null) {
            Slot slot = find(buffer, number);
            long time = (Long) evaluate(TIME, row);
            slot.span(time, time);
            slot.join((UTF8String) evaluate(MEMBER, row), membersMax());
            for (int amount = 0; amount < amounts(); amount++) {
                slot.sums[amount] += (Long) evaluate(AMOUNTS + amount, row);
            }
        }
        return buffer;
    }

    public TreeMap<Integer, Slot> merge(TreeMap<Integer, Slot> buffer, TreeMap<Integer, Slot> other) {
        for (Map.Entry<Integer, Slot> each : other.entrySet()) {
            Slot added = each.getValue();
            Slot slot = find(buffer, each.getKey());
            slot.span(added.first, added.last);
            for (UTF8String member : added.members) {
                slot.join(member, membersMax());
            }
            for (int amount = 0; amount < amounts(); amount++) {
                slot.sums[amount] += added.sums[amount];
            }
        }
        return buffer;
    }

    public Object eval(TreeMap<Integer, Slot> slots) {
        Object[] rows = new Object[slots.size()];
        int index = 0;
        for (Map.Entry<Integer, Slot> each : slots.entrySet()) {
            Slot slot = each.getValue();
            rows[index++] = new GenericInternalRow(new Object[] {
                each.getKey(), slot.first, slot.last,
                new GenericArrayData(slot.members.toArray()), new GenericArrayData(slot.sums)});
        }
        return new GenericArrayData(rows);
    }

    public byte[] serialize(TreeMap<Integer, Slot> slots) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            write(slots, new DataOutputStream(bytes));
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return bytes.toByteArray();
    }

    public TreeMap<Integer, Slot> deserialize(byte[] bytes) {
        try {
            return read(new DataInputStream(new ByteArrayInputStream(bytes)));
        } catch (IOException damaged) {
            throw new UncheckedIOException(damaged);
        }
    }

    private void write(TreeMap<Integer, Slot> slots, DataOutputStream out) throws IOException {
        out.writeInt(slots.size());
        for (Map.Entry<Integer, Slot> each : slots.entrySet()) {
            Slot slot = each.getValue();
            out.writeInt(each.getKey());
            out.writeLong(slot.first);
            out.writeLong(slot.last);
            for (int amount = 0; amount < amounts(); amount++) {
                out.writeLong(slot.sums[amount]);
            }
            out.writeInt(slot.members.size());
            for (UTF8String text : slot.members) {
                byte[] member = text.getBytes();
                out.writeInt(member.length);
                out.write(member);
            }
        }
    }

    private TreeMap<Integer, Slot> read(DataInputStream in) throws IOException {
        TreeMap<Integer, Slot> slots = new TreeMap<>();
        for (int left = in.readInt(); left > 0; left--) {
            Slot slot = find(slots, in.readInt());
            slot.span(in.readLong(), in.readLong());
            for (int amount = 0; amount < amounts(); amount++) {
                slot.sums[amount] = in.readLong();
            }
            for (int members = in.readInt(); members > 0; members--) {
                byte[] member = new byte[in.readInt()];
                in.readFully(member);
                slot.members.add(UTF8String.fromBytes(member));
            }
        }
        return slots;
    }

    private Slot find(TreeMap<Integer, Slot> slots, Integer number) {
        return slots.computeIfAbsent(number, absent -> new Slot(amounts()));
    }

    private int membersMax() {
        return (Integer) evaluate(MEMBERS_MAX, null);
    }

    private int amounts() {
        return Lists.toJava(arguments).size() - AMOUNTS;
    }

    protected SumBySlot with(Seq<Expression> arguments, int mutableOffset, int inputOffset) {
        return new SumBySlot(arguments, mutableOffset, inputOffset);
    }

    public DataType dataType() {
        return RESULT;
    }

    public String prettyName() {
        return NAME;
    }
}
