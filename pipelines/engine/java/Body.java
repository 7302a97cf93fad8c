package retail.validation;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A body in Avro, read as fastavro reads it, from any bytes: what one takes the other takes.
 *
 * A value is a Long, a String, an array of bytes, a Boolean, or a list of items; a time is a Long.
 * Nothing is allocated before the bytes for it are there.
 */
final class Body {
    /** Spark counts in microseconds: contracts/validation.py has the same limit. */
    private static final long TIME_END_MS = Long.MAX_VALUE / 1000 + 1;
    private static final char REPLACEMENT = '\uFFFD';

    private final byte[] bytes;
    private int position;

    Body(byte[] bytes, int start) {
        this.bytes = bytes;
        this.position = start;
    }

    /** The values by place. Bytes after them are ignored. */
    Object[] read(List<Description.Step> steps, int fields) throws Undecodable {
        Object[] values = new Object[fields];
        for (Description.Step step : steps) {
            if (step.optional() && !isGiven()) {
                continue;
            }
            if (step.to() < 0) {
                skip(step);
            } else {
                values[step.to()] = readValue(step);
            }
        }
        return values;
    }

    private Object readValue(Description.Step step) throws Undecodable {
        switch (step.type()) {
            case "string":
                return readText();
            case "int":
                return readWithin(Integer.MIN_VALUE, Integer.MAX_VALUE);
            case "long":
                return readNumber();
            case "timestamp":
                return readWithin(1 - TIME_END_MS, TIME_END_MS - 1);
            case "bytes":
                int from = take(readNumber());
                return Arrays.copyOfRange(bytes, from, position);
            case "boolean":
                return readByte() != 0;
            case "array":
                return readItems(step);
            default:
                throw new IllegalArgumentException("no type of contracts/mapping.py: " + step.type());
        }
    }

    private List<Object[]> readItems(Description.Step step) throws Undecodable {
        List<Object[]> items = new ArrayList<>();
        for (long count = readNumber(); count != 0; count = readNumber()) {
            if (count < 0) {
                count = -count;
                readNumber(); // how many bytes the items have
            }
            for (long left = count; left > 0; left--) {
                items.add(read(step.items(), step.fields()));
            }
        }
        return items;
    }

    private void skip(Description.Step step) throws Undecodable {
        switch (step.type()) {
            case "string":
            case "bytes":
                skipBytes(readNumber());
                break;
            case "boolean":
                readByte();
                break;
            case "array":
                for (long count = readNumber(); count != 0; count = readNumber()) {
                    if (count < 0) {
                        skipBytes(readNumber());
                    }
                    for (long left = count; left > 0; left--) {
                        read(step.items(), 0);
                    }
                }
                break;
            default:
                readNumber();
        }
    }

    /** As a file is read in Python: a negative length means all that is left. */
    private void skipBytes(long length) {
        long left = bytes.length - position;
        position += (int) (length < 0 ? left : Math.min(length, left));
    }

    /** Whether an optional value is there. Python counts a negative place from a list's end. */
    private boolean isGiven() throws Undecodable {
        long branch = readNumber();
        if (branch < -2 || branch > 1) {
            throw new Undecodable();
        }
        return branch == 1 || branch == -1;
    }

    private long readWithin(long least, long most) throws Undecodable {
        long number = readNumber();
        if (number < least || number > most) {
            throw new Undecodable();
        }
        return number;
    }

    /** Seven bits a byte, the lowest first, the sign in the lowest of all. */
    private long readNumber() throws Undecodable {
        long coded = 0;
        int shift = 0;
        byte part;
        do {
            part = readByte();
            coded |= (long) (part & 0x7f) << shift;
            shift += 7;
        } while (part < 0);
        return coded >>> 1 ^ -(coded & 1);
    }

    private byte readByte() throws Undecodable {
        if (position == bytes.length) {
            throw new Undecodable();
        }
        return bytes[position++];
    }

    private String readText() throws Undecodable {
        int from = take(readNumber());
        String text = new String(bytes, from, position - from, StandardCharsets.UTF_8);
        // Where it is put for bytes that are no UTF-8, or was written.
        if (text.indexOf(REPLACEMENT) >= 0) {
            refuseNoText(from);
        }
        return text;
    }

    private void refuseNoText(int from) throws Undecodable {
        try {
            StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, from, position - from));
        } catch (CharacterCodingException noText) {
            throw new Undecodable();
        }
    }

    /** The place where so many bytes begin; the next value is read after them. */
    private int take(long length) throws Undecodable {
        if (length < 0 || length > bytes.length - position) {
            throw new Undecodable();
        }
        int from = position;
        position += (int) length;
        return from;
    }

    /** The bytes are no value of the contract. */
    static final class Undecodable extends Exception {
        private static final long serialVersionUID = 1;

        Undecodable() {
            super(null, null, false, false);
        }
    }
}
