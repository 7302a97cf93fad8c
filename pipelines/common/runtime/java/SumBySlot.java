package retail.aggregate;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Iterator;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
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
public class SumBySlot extends Aggregate {
    private static final String NAME = "sum_by_slot";
    /** Where the arguments are. */
    private static final int MEMBERS_MAX = 0, SLOT = 1, AT = 2, MEMBER = 3, AMOUNTS = 4;
    private static final DataType RESULT = new ArrayType(
        new StructType()
            .add("slot", DataTypes.IntegerType, false)
            .add("first", DataTypes.LongType, false)
            .add("last", DataTypes.LongType, false)
            .add("members", new ArrayType(DataTypes.StringType, false), false)
            .add("sums", new ArrayType(DataTypes.LongType, false), false),
        false);

    public SumBySlot(Seq arguments, int mutableOffset, int inputOffset) {
        super(arguments, mutableOffset, inputOffset);
    }

    /** What the rows of one slot add up to. */
    static final class Slot {
        long first = Long.MAX_VALUE;
        long last = Long.MIN_VALUE;
        final TreeSet members = new TreeSet();
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

    public Object createAggregationBuffer() {
        return new TreeMap();
    }

    public Object update(Object buffer, InternalRow row) {
        Object number = evaluate(SLOT, row);
        if (number != null) {
            Slot slot = find((TreeMap) buffer, number);
            long at = ((Long) evaluate(AT, row)).longValue();
            slot.span(at, at);
            slot.join((UTF8String) evaluate(MEMBER, row), membersMax());
            for (int amount = 0; amount < amounts(); amount++) {
                slot.sums[amount] += ((Long) evaluate(AMOUNTS + amount, row)).longValue();
            }
        }
        return buffer;
    }

    public Object merge(Object buffer, Object other) {
        Iterator numbers = ((TreeMap) other).keySet().iterator();
        while (numbers.hasNext()) {
            Object number = numbers.next();
            Slot added = (Slot) ((TreeMap) other).get(number);
            Slot slot = find((TreeMap) buffer, number);
            slot.span(added.first, added.last);
            Iterator members = added.members.iterator();
            while (members.hasNext()) {
                slot.join((UTF8String) members.next(), membersMax());
            }
            for (int amount = 0; amount < amounts(); amount++) {
                slot.sums[amount] += added.sums[amount];
            }
        }
        return buffer;
    }

    public Object eval(Object buffer) {
        TreeMap slots = (TreeMap) buffer;
        Object[] rows = new Object[slots.size()];
        Iterator numbers = slots.keySet().iterator();
        for (int at = 0; at < rows.length; at++) {
            Object number = numbers.next();
            Slot slot = (Slot) slots.get(number);
            rows[at] = new GenericInternalRow(new Object[] {
                number, Long.valueOf(slot.first), Long.valueOf(slot.last),
                new GenericArrayData(slot.members.toArray()), new GenericArrayData(slot.sums)});
        }
        return new GenericArrayData(rows);
    }

    public byte[] serialize(Object buffer) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            write((TreeMap) buffer, new DataOutputStream(bytes));
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return bytes.toByteArray();
    }

    public Object deserialize(byte[] bytes) {
        try {
            return read(new DataInputStream(new ByteArrayInputStream(bytes)));
        } catch (IOException damaged) {
            throw new UncheckedIOException(damaged);
        }
    }

    private void write(TreeMap slots, DataOutputStream out) throws IOException {
        out.writeInt(slots.size());
        Iterator numbers = slots.keySet().iterator();
        while (numbers.hasNext()) {
            Integer number = (Integer) numbers.next();
            Slot slot = (Slot) slots.get(number);
            out.writeInt(number.intValue());
            out.writeLong(slot.first);
            out.writeLong(slot.last);
            for (int amount = 0; amount < amounts(); amount++) {
                out.writeLong(slot.sums[amount]);
            }
            out.writeInt(slot.members.size());
            Iterator members = slot.members.iterator();
            while (members.hasNext()) {
                byte[] member = ((UTF8String) members.next()).getBytes();
                out.writeInt(member.length);
                out.write(member);
            }
        }
    }

    private TreeMap read(DataInputStream in) throws IOException {
        TreeMap slots = new TreeMap();
        for (int left = in.readInt(); left > 0; left--) {
            Slot slot = find(slots, Integer.valueOf(in.readInt()));
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

    private Slot find(TreeMap slots, Object number) {
        Slot slot = (Slot) slots.get(number);
        if (slot == null) {
            slot = new Slot(amounts());
            slots.put(number, slot);
        }
        return slot;
    }

    private int membersMax() {
        return ((Integer) evaluate(MEMBERS_MAX, null)).intValue();
    }

    private int amounts() {
        return arguments.size() - AMOUNTS;
    }

    protected Aggregate with(Seq arguments, int mutableOffset, int inputOffset) {
        return new SumBySlot(arguments, mutableOffset, inputOffset);
    }

    public DataType dataType() {
        return RESULT;
    }

    public String prettyName() {
        return NAME;
    }
}
