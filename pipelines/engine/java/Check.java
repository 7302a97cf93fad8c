package retail.validation;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A rule as a function of an event. An absent value breaks only the rule `required`. */
record Check(String reason, Predicate<Object[]> holds) {
    /** The pattern of most texts: some characters, and no "/"; to search for it takes longest of all. */
    private static final Pattern RUN = Pattern.compile("\\^\\[\\^/\\]\\{(\\d+),(\\d+)\\}\\$");

    static Check of(Description.Rule rule) {
        return new Check(rule.reason(), compile(rule, rule.path()));
    }

    private static Predicate<Object[]> compile(Description.Rule rule, List<Integer> path) {
        int place = path.get(0);
        if (path.size() > 1) {
            Predicate<Object[]> ofItem = compile(rule, path.subList(1, path.size()));
            return row -> row[place] == null || all(row[place], ofItem);
        }
        switch (rule.kind()) {
            case "required":
                return row -> row[place] != null;
            case "lessThan":
                return comparing(place, ((Number) rule.limit()).intValue(), -1);
            case "atMost":
                return comparing(place, ((Number) rule.limit()).intValue(), 0);
            default:
                Predicate<Object> test = compileTest(rule);
                return row -> row[place] == null || test.test(row[place]);
        }
    }

    private static boolean all(Object items, Predicate<Object[]> holds) {
        for (Object item : (List<?>) items) {
            if (!holds.test((Object[]) item)) {
                return false;
            }
        }
        return true;
    }

    private static Predicate<Object[]> comparing(int place, int other, int most) {
        return row -> row[place] == null || row[other] == null || compare(row[place], row[other]) <= most;
    }

    /** Less than zero, zero or more, as in Python: texts by their characters. */
    private static int compare(Object value, Object other) {
        return value instanceof Long
            ? Integer.signum(Long.compare((Long) value, (Long) other))
            : Integer.signum(Arrays.compareUnsigned(
                ((String) value).getBytes(StandardCharsets.UTF_8),
                ((String) other).getBytes(StandardCharsets.UTF_8)));
    }

    private static Predicate<Object> compileTest(Description.Rule rule) {
        switch (rule.kind()) {
            case "pattern":
                return compilePattern((String) rule.limit());
            case "validValues":
                Set<Object> valid = new HashSet<>((List<?>) rule.limit());
                return valid::contains;
            case "notEqual":
                Object other = rule.limit() instanceof Number number ? number.longValue() : rule.limit();
                return value -> !value.equals(other);
            default:
                return compileLimit(rule.kind(), ((Number) rule.limit()).longValue());
        }
    }

    private static Predicate<Object> compileLimit(String kind, long limit) {
        switch (kind) {
            case "minimum":
                return value -> (Long) value >= limit;
            case "maximum":
                return value -> (Long) value <= limit;
            case "minLength":
                return value -> count((String) value) >= limit;
            case "maxLength":
                return value -> count((String) value) <= limit;
            case "maxBytes":
                return value -> ((byte[]) value).length <= limit;
            case "minItems":
                return value -> ((List<?>) value).size() >= limit;
            case "maxItems":
                return value -> ((List<?>) value).size() <= limit;
            default:
                throw new IllegalArgumentException("no rule of contracts/rules.py: " + kind);
        }
    }

    private static Predicate<Object> compilePattern(String text) {
        Matcher run = RUN.matcher(text);
        if (run.matches()) {
            long least = Long.parseLong(run.group(1));
            long most = Long.parseLong(run.group(2));
            return value -> {
                int length = count((String) value);
                return least <= length && length <= most && ((String) value).indexOf('/') < 0;
            };
        }
        Pattern pattern = Pattern.compile(text);
        return value -> pattern.matcher((String) value).matches();
    }

    /** The characters of a text, as Python counts them. */
    private static int count(String text) {
        return text.codePointCount(0, text.length());
    }
}
