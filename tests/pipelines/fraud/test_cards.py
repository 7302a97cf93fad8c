"""The rules about cards and customers at their thresholds' edges, and the bound of all rules."""

from datetime import timedelta

import pytest

from contracts import ALERTS, RECEIPTS, RELEASES, encode_key
from ops.verify.fraud import FraudOracle
from ops.verify.inventory import Row
from pipelines.fraud.thresholds import Thresholds
from tests.pipelines.fraud.examples import (
    BEGIN,
    CARD,
    MINUTE,
    SECOND,
    TEN,
    only,
    sell_often,
    travel,
)
from tests.timeline import APPLES, LEEDS, LONDON, MILK, WINE, YORK, Timeline, parse_clock


class TestCardVelocity:
    #   10:41   :43   :45   :47   :49   :51
    #     |-----|-----|-----|-----|-----|      six sales, of which the window holds five or six

    def test_the_sixth_sale_on_one_card_in_ten_minutes_raises_an_alert(
        self, shop: Timeline
    ) -> None:
        sales = sell_often(shop, 6, 110 * SECOND)
        alert = only(shop.compute_alerts("card-velocity"))
        assert alert == {
            "rule": "card-velocity",
            "subject": CARD,
            "interval_start": TEN,
            "interval_end": parse_clock("11:00"),
            "status": "open",
            "store_id": LEEDS,
            "measured": 6,
            "threshold": 5,
            "events": 6,
            "evidence": [
                {"topic": RECEIPTS.name, "event_id": sale, "event_time": BEGIN + n * 110 * SECOND}
                for n, sale in enumerate(sales)
            ],
            "evidence_left_out": 0,
            "signals_left_out": 0,
            "decided_at": parse_clock("10:50:10"),
            "version": 6,
        }

    def test_two_cards_are_not_added_up(self, shop: Timeline) -> None:
        for n in range(10):
            shop.sell(BEGIN + n * SECOND, card=f"tok_{n % 2}")
        assert shop.compute_alerts("card-velocity") == []

    def test_sales_before_the_hour_count_for_the_hour_in_which_it_becomes_too_many(
        self, shop: Timeline
    ) -> None:
        sell_often(shop, 6, MINUTE, parse_clock("10:55"))
        alert = only(shop.compute_alerts("card-velocity"))
        assert (alert["interval_start"], alert["measured"]) == (parse_clock("11:00"), 6)
        assert (alert["events"], alert["version"]) == (6, 6)

    def test_it_is_decided_by_the_record_that_was_published_last(self, shop: Timeline) -> None:
        shop.sell(BEGIN, card=CARD, published=parse_clock("11:30"))
        for n in range(1, 6):
            shop.sell(BEGIN + n * MINUTE, card=CARD)
        assert only(shop.compute_alerts("card-velocity"))["decided_at"] == parse_clock("11:30")

    def test_a_copy_is_the_same_sale(self, shop: Timeline) -> None:
        for n in range(6):
            told = min(n, 4)
            shop.sell(BEGIN + told * SECOND, card=CARD, event_id=f"R{told}")
        assert shop.compute_alerts("card-velocity") == []

    def test_a_late_record_counts_for_nothing_and_neither_does_its_release(
        self, shop: Timeline
    ) -> None:
        sell_often(shop, 5, SECOND)
        late = shop.sell(parse_clock("10:42"), card=CARD, published=parse_clock("12:43"))
        rejected = shop.records[-1]
        original: Row = {"original_event_id": late, "original_event_time": parse_clock("10:42")}
        of_receipt: Row = {"topic": RECEIPTS.name, "record_key": LEEDS, "value": rejected.value}
        shop.put(RELEASES, parse_clock("13:00"), **original, **of_receipt)
        sold = RECEIPTS.name, rejected.partition
        released = RELEASES.name, shop.records[-1].partition
        oracle = FraudOracle(shop.records, Thresholds(), ends={sold: 6, released: 1})
        assert oracle.compute_view() == []
        books = oracle.count_books()
        assert (books[sold].applied, books[sold].quarantined) == (5, 1)
        assert books[released].applied == 1

    def test_evidence_names_the_first_and_counts_all(self, shop: Timeline) -> None:
        sales = sell_often(shop, 25, SECOND)
        alert = only(shop.compute_alerts("card-velocity"))
        assert [proof["event_id"] for proof in alert["evidence"]] == sales[:20]
        assert (alert["measured"], alert["events"], alert["version"]) == (25, 25, 25)
        assert (alert["evidence_left_out"], alert["signals_left_out"]) == (5, 0)

    def test_a_key_holds_no_more_signals_than_allowed_and_counts_all_events(
        self, shop: Timeline
    ) -> None:
        sell_often(shop, 12, SECOND)
        alert = only(shop.compute_alerts("card-velocity", signals_max=8))
        assert (alert["measured"], alert["events"], alert["version"]) == (8, 8, 12)
        assert (alert["evidence_left_out"], alert["signals_left_out"]) == (0, 4)

    def test_a_subject_with_a_slash_stays_one_part_of_the_key(self, shop: Timeline) -> None:
        sell_often(shop, 6, SECOND, card="a/b%2F")
        alert = only(shop.compute_alerts("card-velocity"))
        assert encode_key(ALERTS, alert).split(b"/")[1:2] == [b"a%2Fb%252F"]


class TestBound:
    """What happens to a key with more signals than count."""

    def test_what_was_published_first_counts(self, shop: Timeline) -> None:
        sales = sell_often(shop, 6, SECOND)
        shop.sell(parse_clock("10:40"), card=CARD, published=parse_clock("11:00"))
        alert = only(shop.compute_alerts("card-velocity", signals_max=6))
        assert [proof["event_id"] for proof in alert["evidence"]] == sales
        assert (alert["measured"], alert["version"]) == (6, 7)

    def test_there_is_a_row_though_what_counts_says_nothing(self, shop: Timeline) -> None:
        sell_often(shop, 5, 11 * MINUTE, TEN)
        assert shop.compute_alerts("card-velocity", signals_max=5) == []
        alert = only(shop.compute_alerts("card-velocity", signals_max=3))
        assert (alert["status"], alert["measured"], alert["threshold"]) == ("withdrawn", 0, 5)
        assert (alert["events"], alert["version"]) == (3, 5)
        assert alert["decided_at"] == parse_clock("10:33")

    def test_a_refund_is_one_clue_however_many_lines_it_has(self, shop: Timeline) -> None:
        for n in range(7):
            shop.refund(TEN + n * MINUTE, *[(MILK, 1, 100)] * 3)
        alert = only(shop.compute_alerts("refund-rate", signals_max=7))
        assert (alert["status"], alert["measured"], alert["version"]) == ("open", 7, 7)

    def test_of_what_does_not_count_every_line_is_in_the_version(self, shop: Timeline) -> None:
        for n in range(4):
            shop.sell(TEN + n * MINUTE, *[(WINE, 1, 0)] * 3)
        alert = only(shop.compute_alerts("sweethearting", signals_max=8))
        assert (alert["measured"], alert["events"], alert["version"]) == (8_000, 3, 3 + 3)


class TestImpossibleTravel:
    #   Leeds ──272 km── London: 54 minutes and 24 seconds at 300 km/h

    def test_the_alert_says_how_fast_and_where_it_went(self, shop: Timeline) -> None:
        there = shop.sell(parse_clock("10:30"), card=CARD, store=LONDON)
        here = shop.sell(TEN, card=CARD, store=LEEDS, published=parse_clock("11:00"))
        alert = only(shop.compute_alerts("impossible-travel"))
        assert (alert["measured"], alert["threshold"]) == (543, 300)
        assert [proof["event_id"] for proof in alert["evidence"]] == [here, there]
        assert (alert["store_id"], alert["decided_at"]) == (LONDON, parse_clock("11:00"))
        assert alert["interval_end"] - alert["interval_start"] == timedelta(days=1)

    def test_two_people_may_share_a_card_in_two_towns(self, shop: Timeline) -> None:
        shop.sell(TEN, card=CARD, store=LEEDS)
        shop.sell(parse_clock("10:01"), card=CARD, store=YORK)
        assert shop.compute_alerts("impossible-travel") == []
        assert shop.compute_alerts("impossible-travel", distance_km_min=34)

    def test_a_sale_in_between_hides_nothing(self, shop: Timeline) -> None:
        for minute, store in ((0, LEEDS), (1, YORK), (31, LONDON), (32, LONDON)):
            shop.sell(TEN + minute * MINUTE, card=CARD, store=store)
        assert only(shop.compute_alerts("impossible-travel"))["events"] == 4

    def test_at_midnight_the_day_of_the_later_sale_has_the_alert(self, shop: Timeline) -> None:
        shop.sell(parse_clock("23:50"), card=CARD, store=LEEDS)
        shop.sell(parse_clock("0:10", days=1), card=CARD, store=LONDON)
        alert = only(shop.compute_alerts("impossible-travel"))
        assert (alert["interval_start"], alert["version"]) == (parse_clock("0:00", days=1), 2)

    def test_one_moment_in_two_places_counts_as_a_minute(self, shop: Timeline) -> None:
        travel(shop, timedelta())
        assert only(shop.compute_alerts("impossible-travel"))["measured"] == 16_318


class TestBulkPurchase:
    RULE = "bulk-purchase"

    @pytest.mark.parametrize(("units", "raised"), [(24, 0), (25, 1)])
    def test_four_packs_are_a_party_and_more_are_not(
        self, shop: Timeline, units: int, raised: int
    ) -> None:
        sold = shop.sell(TEN, (WINE, units, 1_000))
        alerts = shop.compute_alerts(self.RULE)
        assert [alert["subject"] for alert in alerts] == [sold] * raised

    @pytest.mark.parametrize(("grams", "raised"), [(50_000, 0), (50_125, 1)])
    def test_crates_of_weighed_goods_are_packs(
        self, shop: Timeline, grams: int, raised: int
    ) -> None:
        shop.introduce_apples()
        shop.sell(TEN, (APPLES, grams, 299, "kilogram"))
        assert len(shop.compute_alerts(self.RULE)) == raised

    def test_grams_are_not_held_against_a_pack_of_pieces(self, shop: Timeline) -> None:
        shop.sell(TEN, (WINE, 350, 299, "kilogram"))
        assert shop.compute_alerts(self.RULE) == []

    def test_receipts_of_one_card_are_added_up_by_product(self, shop: Timeline) -> None:
        for n in range(3):
            shop.sell(TEN + n * MINUTE, (WINE, 9, 1_000), (MILK, 10, 100), card=CARD)
        alert = only(shop.compute_alerts(self.RULE))
        assert (alert["measured"], alert["subject"], alert["events"]) == (450, CARD, 3)
        assert alert["decided_at"] == parse_clock("10:02")

    def test_who_is_known_by_name_may_feed_a_hundred(self, shop: Timeline) -> None:
        shop.sell(TEN, (WINE, 600, 1_000), card=CARD, customer="C1")
        assert shop.compute_alerts(self.RULE) == []
