"""The rules about cards and customers at their thresholds' edges."""

from datetime import timedelta

import pytest

from tests.pipelines.fraud.examples import CARD, MINUTE, TEN, only, travel
from tests.timeline import APPLES, LEEDS, LONDON, MILK, WINE, YORK, Timeline, parse_clock


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
