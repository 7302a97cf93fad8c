package retail.bench;

import java.util.Arrays;

/** What a receipt sold, read by hand from Avro in the Confluent frame: only what is needed of it. */
class Receipt {
    private static final int MAGIC_BYTES = 1;
    private static final int FRAME_BYTES = 5;
    private static final int LINES_AT_FIRST = 8;

    private final byte[] value;
    private int position = FRAME_BYTES;

    final byte[] id;
    final byte[] store;
    int lines = 0;
    byte[][] skus = new byte[LINES_AT_FIRST][];
    int[] units = new int[LINES_AT_FIRST];

    /** Null where the value is none: of another schema, cut short, or noise. */
    static Receipt read(byte[] value, int schema) {
        if (value == null || value.length < FRAME_BYTES || value[0] != 0) {
            return null;
        }
        if (schemaOf(value) != schema) {
            return null;
        }
        try {
            return new Receipt(value);
        } catch (RuntimeException notAReceipt) {
            return null;
        }
    }

    private static int schemaOf(byte[] value) {
        int schema = 0;
        for (int at = MAGIC_BYTES; at < FRAME_BYTES; at++) {
            schema = schema << 8 | value[at] & 0xff;
        }
        return schema;
    }

    private Receipt(byte[] value) {
        this.value = value;
        id = bytes();
        number(); // event_time
        store = bytes();
        skip(); // register_id
        skip(); // cashier_id
        skipOptional(); // card_token
        skipOptional(); // customer_id
        for (long block = number(); block != 0; block = number()) {
            if (block < 0) {
                number(); // how many bytes it has
            }
            for (long left = Math.abs(block); left > 0; left--) {
                readLine();
            }
        }
    }

    private void readLine() {
        if (lines == units.length) {
            skus = Arrays.copyOf(skus, 2 * lines);
            units = Arrays.copyOf(units, 2 * lines);
        }
        skus[lines] = bytes();
        units[lines] = (int) number();
        number(); // unit_price_cents
        skipOptional(); // measure
        lines++;
    }

    private byte[] bytes() {
        int length = (int) number();
        if (length > value.length - position) {
            throw new IllegalArgumentException("cut short");
        }
        position += length;
        return Arrays.copyOfRange(value, position - length, position);
    }

    private void skip() {
        int length = (int) number();
        position += length;
    }

    private void skipOptional() {
        if (number() != 0) {
            skip();
        }
    }

    /** Avro's int or long: seven bits a byte, the lowest first, the sign in the lowest of all. */
    private long number() {
        long coded = 0;
        int shift = 0;
        byte part;
        do {
            part = value[position++];
            coded |= (long) (part & 0x7f) << shift;
            shift += 7;
        } while (part < 0);
        return coded >>> 1 ^ -(coded & 1);
    }
}
