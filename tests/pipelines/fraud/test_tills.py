"""The rules about cashiers and refunds at their thresholds' edges."""

import pytest

from tests.pipelines.fraud.examples import MINUTE, NINE, SECOND, TEN, only
from tests.timeline import APPLES, MILK, WINE, Timeline, parse_clock


class TestSweethearting:
    def give(self, shop: Timeline, times: int, cents: int, cashier: str = "K1") -> None:
        for n in range(times):
            shop.sell(TEN + n * MINUTE, (WINE, 1, cents), cashier=cashier)

    def test_what_is_given_away_on_three_receipts_is_added_up(self, shop: Timeline) -> None:
        self.give(shop, 3, 100)
        alert = only(shop.compute_alerts("sweethearting"))
        assert (alert["subject"], alert["measured"], alert["events"]) == ("K1", 2_700, 3)
        interval = alert["interval_start"], alert["interval_end"]
        assert interval == (parse_clock("8:00"), parse_clock("16:00"))
        assert alert["decided_at"] == parse_clock("10:02")

    @pytest.mark.parametrize(("cents", "raised"), [(499, 1), (500, 0)])
    def test_half_the_price_is_clearance_and_less_is_not(
        self, shop: Timeline, cents: int, raised: int
    ) -> None:
        self.give(shop, 8, cents)
        assert len(shop.compute_alerts("sweethearting")) == raised

    def test_what_is_given_away_of_weighed_goods_is_what_they_would_have_come_to(
        self, shop: Timeline
    ) -> None:
        shop.introduce_apples()
        for n in range(3):
            lines = (APPLES, 3_350, 99, "kilogram"), (APPLES, 5, 100, "kilogram")
            shop.sell(TEN + n * MINUTE, *lines)
        # 1,001.65 less 331.65 cents, and 1.495 less 0.5: each of the four is rounded by itself.
        given = 3 * ((1_002 - 332) + (1 - 1))
        alert = only(shop.compute_alerts("sweethearting", given_away_cents_max=given - 1))
        assert alert["measured"] == given
        assert shop.compute_alerts("sweethearting", given_away_cents_max=given) == []

    def test_the_price_is_that_of_the_moment(self, shop: Timeline) -> None:
        shop.set_price(WINE, 400, effective_at=parse_clock("10:02"), published=NINE)
        self.give(shop, 8, 300)
        assert shop.compute_alerts("sweethearting") == []
        self.give(shop, 2, 0)
        assert only(shop.compute_alerts("sweethearting"))["measured"] == 2 * 700 + 2 * 1_000

    @pytest.mark.parametrize(("published", "raised"), [("9:52", 0), ("9:52:01", 1)])
    def test_a_price_holds_ten_minutes_after_it_was_published_at_the_earliest(
        self, shop: Timeline, published: str, raised: int
    ) -> None:
        shop.set_price(WINE, 1, effective_at=parse_clock("9:53"), published=parse_clock(published))
        self.give(shop, 3, 100)
        assert len(shop.compute_alerts("sweethearting")) == raised

    def test_cashiers_are_told_apart(self, shop: Timeline) -> None:
        self.give(shop, 2, 0, cashier="K1")
        self.give(shop, 2, 0, cashier="K2")
        assert shop.compute_alerts("sweethearting") == []


class TestRefundWithoutReceipt:
    RULE = "refund-without-receipt"

    def test_a_receipt_that_nobody_issued(self, shop: Timeline) -> None:
        back = shop.refund(parse_clock("12:00"), (WINE, 3, 1_000), receipt="R", issued=NINE)
        alert = only(shop.compute_alerts(self.RULE))
        assert (alert["subject"], alert["status"], alert["measured"]) == ("R", "open", 3_000)
        assert [proof["event_id"] for proof in alert["evidence"]] == [back]
        assert (alert["decided_at"], alert["version"]) == (parse_clock("12:00"), 1)
        interval = alert["interval_start"], alert["interval_end"]
        assert interval == (parse_clock("0:00"), parse_clock("0:00", days=4))

    @pytest.mark.parametrize("published", [NINE, parse_clock("10:59")])
    def test_a_receipt_withdraws_it_whenever_it_was_published(
        self, shop: Timeline, published: object
    ) -> None:
        sold = shop.sell(NINE, (WINE, 3, 1_000), published=published)
        shop.refund(TEN, (WINE, 3, 1_000), receipt=sold, issued=NINE)
        alert = only(shop.compute_alerts(self.RULE))
        assert (alert["status"], alert["measured"], alert["version"]) == ("withdrawn", 0, 2)
        assert (alert["events"], alert["decided_at"]) == (1, TEN)

    def test_what_goes_beyond_is_counted_by_product(self, shop: Timeline) -> None:
        sold = shop.sell(NINE, (WINE, 1, 1_000), (MILK, 50, 100))
        shop.refund(TEN, (WINE, 3, 1_000), receipt=sold, issued=NINE)
        shop.refund(parse_clock("11:00"), (WINE, 1, 1_000), receipt=sold, issued=NINE)
        alert = only(shop.compute_alerts(self.RULE))
        assert (alert["status"], alert["measured"]) == ("open", 3_000)
        assert (alert["events"], alert["decided_at"]) == (2, parse_clock("11:00"))

    def test_grams_are_paid_back_in_whole_cents(self, shop: Timeline) -> None:
        shop.introduce_apples()
        sold = shop.sell(NINE, (APPLES, 3, 500, "kilogram"))  # two cents
        back = [(APPLES, 1, 500, "kilogram")] * 3  # three
        shop.refund(TEN, *back, receipt=sold, issued=NINE)
        assert only(shop.compute_alerts(self.RULE, unbacked_cents_max=0))["measured"] == 1

    def test_a_receipt_of_another_day_is_another_receipt(self, shop: Timeline) -> None:
        sold = shop.sell(NINE, (WINE, 3, 1_000))
        later, issued = parse_clock("9:00", days=1), parse_clock("0:00", days=1)
        shop.refund(later, (WINE, 3, 1_000), receipt=sold, issued=issued)
        assert only(shop.compute_alerts(self.RULE))["status"] == "open"

    def test_a_receipt_older_than_the_period_is_as_good_as_none(self, shop: Timeline) -> None:
        shop.refund(parse_clock("9:00", days=3), (WINE, 9, 1_000), receipt="R", issued=NINE)
        assert len(shop.compute_alerts(self.RULE)) == 1
        shop.refund(parse_clock("9:01", days=3), (WINE, 9, 1_000), receipt="S", issued=NINE)
        assert [alert["subject"] for alert in shop.compute_alerts(self.RULE)] == ["R"]
        assert shop.compute_alerts("refund-rate", blind_refunds_max=0)[0]["events"] == 1


class TestRefundRate:
    RULE = "refund-rate"

    def test_the_seventh_in_cash_raises_an_alert(self, shop: Timeline) -> None:
        for n in range(6):
            shop.refund(TEN + n * MINUTE)
        assert shop.compute_alerts(self.RULE) == []
        shop.refund(parse_clock("10:07"))
        alert = only(shop.compute_alerts(self.RULE))
        assert (alert["status"], alert["measured"], alert["threshold"]) == ("open", 7, 6)
        assert (alert["events"], alert["decided_at"]) == (7, parse_clock("10:07"))

    def test_each_card_may_have_one(self, shop: Timeline) -> None:
        for n in range(12):
            shop.refund(TEN + n * MINUTE, card=f"tok_{n}")
        assert shop.compute_alerts(self.RULE) == []
        for n in range(7):
            shop.refund(parse_clock("11:00") + n * MINUTE, card="tok_0")
        assert only(shop.compute_alerts(self.RULE))["measured"] == 7

    def test_a_busy_desk_may_have_more_of_them(self, shop: Timeline) -> None:
        for n in range(7):
            shop.refund(TEN + n * MINUTE)
        for n in range(10):
            shop.refund(parse_clock("11:00") + n * MINUTE, receipt=f"R{n}", issued=NINE)
        alert = only(shop.compute_alerts(self.RULE))
        assert (alert["status"], alert["measured"], alert["threshold"]) == ("withdrawn", 7, 7)
        assert (alert["events"], alert["version"]) == (7, 17)
        assert alert["decided_at"] == parse_clock("10:06")

    @pytest.mark.parametrize(("ahead", "raised"), [(299, 0), (300, 0), (301, 1), (3_000, 1)])
    def test_a_receipt_may_be_ahead_of_its_refund_as_far_as_clocks_differ(
        self, shop: Timeline, ahead: int, raised: int
    ) -> None:
        for n in range(7):
            moment = TEN + n * MINUTE
            shop.refund(moment, receipt=f"R{n}", issued=moment + ahead * SECOND)
        assert len(shop.compute_alerts(self.RULE)) == raised

    @pytest.mark.parametrize(("grams", "raised"), [(1_001, 0), (1_002, 1)])
    def test_a_refund_of_weighed_goods_is_worth_what_it_came_to(
        self, shop: Timeline, grams: int, raised: int
    ) -> None:
        shop.introduce_apples()
        for n in range(9):
            # 299.3 or 299.6 cents, where a look begins at 300
            shop.refund(TEN + n * MINUTE, (APPLES, grams, 299, "kilogram"))
        assert len(shop.compute_alerts(self.RULE)) == raised
