package retail.validation;

import java.util.List;
import java.util.Map;

/**
 * What Python says of the contracts (contracts/portable.py). Places are those of a contract's fields.
 *
 * @param lineKeys the keys by which lines are told apart: places among the columns of a line
 */
record Description(
        Map<String, Topic> topics,
        List<List<Integer>> lineKeys,
        String releases,
        ReleasePlaces releasePlaces,
        String heartbeats) {
    /**
     * A contract: the layout of its values by schema id, its rules in order, and where its event goes.
     *
     * @param fields how many fields an event has
     * @param column the place of the event among the columns behind what is said; -1: it goes nowhere
     * @param kept the fields that go there
     * @param lines the array of its lines, which go to the first column; null: they do not
     */
    record Topic(
            String name,
            int fields,
            Map<Integer, List<Step>> writers,
            List<Integer> key,
            int eventId,
            int eventTime,
            int partitions,
            Long horizonMs,
            Long skewMs,
            List<Rule> rules,
            boolean releasable,
            int column,
            List<Kept> kept,
            Kept lines) {}

    /**
     * One value of a body.
     *
     * @param to the place of its field; -1: the contract has none, and it is skipped
     * @param items of an array: the layout of an item, which has so many `fields`
     */
    record Step(String type, boolean optional, int to, List<Step> items, int fields) {}

    /** A rule: a row of contracts/rules.py; `limit` is a place where it is another field. */
    record Rule(String reason, String kind, List<Integer> path, Object limit) {}

    /**
     * A field that goes to a column.
     *
     * @param at its place; -1: the topic has none, which is null; of lines: the event is the only one
     * @param items of an array: the fields of its items
     */
    record Kept(int at, String type, List<Kept> items) {}

    /** Where a release has what it wraps. */
    record ReleasePlaces(int topic, int key, int eventId, int value) {}
}
