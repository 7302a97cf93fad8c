"""Each rule at its thresholds' edges: what still is innocent, and what no longer is."""

from datetime import timedelta

import pytest

from audit.fraud import FraudOracle
from audit.tables import Row
from audit.timeline import LEEDS, LONDON, MILK, PRICES, WINE, YORK, Timeline, at
from contracts import ALERTS, RECEIPTS, RELEASES, encode, key, model
from infra.kafka import Record
from pipelines.fraud.thresholds import Thresholds

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
CARD = "tok_1"


@pytest.fixture
def shop() -> Timeline:
    return Timeline()


def only(rows: list[Row]) -> Row:
    (row,) = rows
    model(ALERTS).model_validate(row)
    return row


class TestCardVelocity:
    #   10:41   :43   :45   :47   :49   :51
    #     |-----|-----|-----|-----|-----|      six sales, of which the window holds five or six

    @pytest.mark.crosses("pipelines/fraud/thresholds/card_sales_per_window_max")
    def test_the_sixth_sale_on_one_card_in_ten_minutes_raises_an_alert(
        self, shop: Timeline
    ) -> None:
        sales = [shop.receipt(at("10:41") + n * 110 * SECOND, card=CARD) for n in range(6)]
        alert = only(shop.alerts("card-velocity"))
        assert alert == {
            "rule": "card-velocity",
            "subject": CARD,
            "interval_start": at("10:00"),
            "interval_end": at("11:00"),
            "status": "open",
            "store_id": LEEDS,
            "measured": 6,
            "threshold": 5,
            "events": 6,
            "evidence": [
                {
                    "topic": RECEIPTS.name,
                    "event_id": sale,
                    "event_time": at("10:41") + n * 110 * SECOND,
                }
                for n, sale in enumerate(sales)
            ],
            "evidence_left_out": 0,
            "signals_left_out": 0,
            "decided_at": at("10:50:10"),
            "version": 6,
        }

    def test_a_sale_ten_minutes_before_the_last_no_longer_counts(self, shop: Timeline) -> None:
        for n in range(6):
            shop.receipt(at("10:41") + n * 2 * MINUTE, card=CARD)
        assert shop.alerts("card-velocity") == []

    def test_two_cards_are_not_added_up(self, shop: Timeline) -> None:
        for n in range(10):
            shop.receipt(at("10:41") + n * SECOND, card=f"tok_{n % 2}")
        assert shop.alerts("card-velocity") == []

    def test_sales_before_the_hour_count_for_the_hour_in_which_it_becomes_too_many(
        self, shop: Timeline
    ) -> None:
        for n in range(6):
            shop.receipt(at("10:55") + n * MINUTE, card=CARD)
        alert = only(shop.alerts("card-velocity"))
        assert (alert["interval_start"], alert["measured"]) == (at("11:00"), 6)
        assert (alert["events"], alert["version"]) == (6, 6)

    def test_it_is_decided_by_the_record_that_was_published_last(self, shop: Timeline) -> None:
        shop.receipt(at("10:41"), card=CARD, published=at("11:30"))
        for n in range(1, 6):
            shop.receipt(at("10:41") + n * MINUTE, card=CARD)
        assert only(shop.alerts("card-velocity"))["decided_at"] == at("11:30")

    def test_a_copy_is_the_same_sale(self, shop: Timeline) -> None:
        for n in range(6):
            shop.receipt(at("10:41") + n * SECOND, card=CARD, event_id=f"R{min(n, 4)}")
        assert shop.alerts("card-velocity") == []

    def test_a_late_record_counts_for_nothing_and_neither_does_its_release(
        self, shop: Timeline
    ) -> None:
        for n in range(5):
            shop.receipt(at("10:41") + n * SECOND, card=CARD)
        late = shop.receipt(at("10:42"), card=CARD, published=at("12:43"))
        rejected = shop.records[-1]
        release = {
            **RELEASES.examples[0],
            "event_time": at("13:00"),
            "topic": RECEIPTS.name,
            "record_key": LEEDS,
            "original_event_id": late,
            "original_event_time": at("10:42"),
            "value": rejected.value,
        }
        shop.records.append(
            Record(
                topic=RELEASES.name,
                partition=0,
                offset=0,
                published_ms=rejected.published_ms + 1_020_000,
                key=key(RELEASES, release),
                value=encode(RELEASES, release),
                headers=(),
            )
        )
        oracle = FraudOracle(
            shop.records, Thresholds(), ends={(RECEIPTS.name, 0): 6, (RELEASES.name, 0): 1}
        )
        assert oracle.view() == []
        books = oracle.books()
        assert (books[RECEIPTS.name, 0].applied, books[RECEIPTS.name, 0].quarantined) == (5, 1)
        assert books[RELEASES.name, 0].applied == 1

    @pytest.mark.crosses("pipelines/fraud/thresholds/evidence_max")
    def test_evidence_names_the_first_and_counts_all(self, shop: Timeline) -> None:
        sales = [shop.receipt(at("10:41") + n * SECOND, card=CARD) for n in range(25)]
        alert = only(shop.alerts("card-velocity"))
        assert [proof["event_id"] for proof in alert["evidence"]] == sales[:20]
        assert (alert["measured"], alert["events"], alert["version"]) == (25, 25, 25)
        assert (alert["evidence_left_out"], alert["signals_left_out"]) == (5, 0)

    def test_a_key_holds_no_more_signals_than_allowed_and_counts_all_events(
        self, shop: Timeline
    ) -> None:
        for n in range(12):
            shop.receipt(at("10:41") + n * SECOND, card=CARD)
        alert = only(shop.alerts("card-velocity", signals_max=8))
        assert (alert["measured"], alert["events"], alert["version"]) == (8, 8, 12)
        assert (alert["evidence_left_out"], alert["signals_left_out"]) == (0, 4)

    def test_a_subject_with_a_slash_stays_one_part_of_the_key(self, shop: Timeline) -> None:
        for n in range(6):
            shop.receipt(at("10:41") + n * SECOND, card="a/b%2F")
        alert = only(shop.alerts("card-velocity"))
        assert key(ALERTS, alert).split(b"/")[1:2] == [b"a%2Fb%252F"]


class TestImpossibleTravel:
    #   Leeds ──272 km── London: 54 minutes and 24 seconds at 300 km/h

    @pytest.mark.parametrize(("minutes", "raised"), [(54, 1), (55, 0), (5, 1)])
    @pytest.mark.crosses("pipelines/fraud/thresholds/speed_kmh_max")
    def test_a_card_may_be_as_fast_as_a_train(
        self, shop: Timeline, minutes: int, raised: int
    ) -> None:
        shop.receipt(at("10:00"), card=CARD, store=LEEDS)
        shop.receipt(at("10:00") + minutes * MINUTE, card=CARD, store=LONDON)
        assert len(shop.alerts("impossible-travel")) == raised

    def test_the_alert_says_how_fast_and_where_it_went(self, shop: Timeline) -> None:
        there = shop.receipt(at("10:30"), card=CARD, store=LONDON)
        here = shop.receipt(at("10:00"), card=CARD, store=LEEDS, published=at("11:00"))
        alert = only(shop.alerts("impossible-travel"))
        assert (alert["measured"], alert["threshold"]) == (543, 300)
        assert [proof["event_id"] for proof in alert["evidence"]] == [here, there]
        assert (alert["store_id"], alert["decided_at"]) == (LONDON, at("11:00"))
        assert alert["interval_end"] - alert["interval_start"] == timedelta(days=1)

    @pytest.mark.crosses("pipelines/fraud/thresholds/distance_km_min")
    def test_two_people_may_share_a_card_in_two_towns(self, shop: Timeline) -> None:
        shop.receipt(at("10:00"), card=CARD, store=LEEDS)
        shop.receipt(at("10:01"), card=CARD, store=YORK)
        assert shop.alerts("impossible-travel") == []
        assert shop.alerts("impossible-travel", distance_km_min=34)

    @pytest.mark.parametrize(
        ("seconds", "raised"), [(2_399, 1), (2_400, 1), (2_401, 0), (24_000, 0)]
    )
    @pytest.mark.crosses("pipelines/fraud/thresholds/travel_gap_max")
    def test_later_than_the_gap_nobody_looks(
        self, shop: Timeline, seconds: int, raised: int
    ) -> None:
        shop.receipt(at("10:00"), card=CARD, store=LEEDS)
        shop.receipt(at("10:00") + seconds * SECOND, card=CARD, store=LONDON)
        alerts = shop.alerts("impossible-travel", travel_gap_max=40 * MINUTE, speed_kmh_max=10)
        assert len(alerts) == raised

    def test_a_sale_in_between_hides_nothing(self, shop: Timeline) -> None:
        for minute, store in ((0, LEEDS), (1, YORK), (31, LONDON), (32, LONDON)):
            shop.receipt(at("10:00") + minute * MINUTE, card=CARD, store=store)
        assert only(shop.alerts("impossible-travel"))["events"] == 4

    def test_at_midnight_the_day_of_the_later_sale_has_the_alert(self, shop: Timeline) -> None:
        shop.receipt(at("23:50"), card=CARD, store=LEEDS)
        shop.receipt(at("0:10", days=1), card=CARD, store=LONDON)
        alert = only(shop.alerts("impossible-travel"))
        assert (alert["interval_start"], alert["version"]) == (at("0:00", days=1), 2)

    @pytest.mark.crosses("pipelines/fraud/thresholds/travel_gap_min")
    def test_one_moment_in_two_places_counts_as_a_minute(self, shop: Timeline) -> None:
        shop.receipt(at("10:00"), card=CARD, store=LEEDS)
        shop.receipt(at("10:00"), card=CARD, store=LONDON)
        assert only(shop.alerts("impossible-travel"))["measured"] == 16_318


class TestSweethearting:
    def give(self, shop: Timeline, times: int, cents: int, cashier: str = "K1") -> None:
        for n in range(times):
            shop.receipt(at("10:00") + n * MINUTE, (WINE, 1, cents), cashier=cashier)

    @pytest.mark.crosses("pipelines/fraud/thresholds/given_away_cents_max")
    def test_what_is_given_away_on_three_receipts_is_added_up(self, shop: Timeline) -> None:
        self.give(shop, 3, 100)
        alert = only(shop.alerts("sweethearting"))
        assert (alert["subject"], alert["measured"], alert["events"]) == ("K1", 2_700, 3)
        assert (alert["interval_start"], alert["interval_end"]) == (at("8:00"), at("16:00"))
        assert alert["decided_at"] == at("10:02")

    @pytest.mark.crosses("pipelines/fraud/thresholds/given_away_receipts_min")
    def test_two_receipts_are_a_slip(self, shop: Timeline) -> None:
        shop.receipt(at("10:00"), (WINE, 3, 0))
        shop.receipt(at("10:01"), (WINE, 3, 0))
        assert shop.alerts("sweethearting") == []

    @pytest.mark.parametrize(("cents", "raised"), [(499, 1), (500, 0)])
    @pytest.mark.crosses("pipelines/fraud/thresholds/line_percent_max")
    def test_half_the_price_is_clearance_and_less_is_not(
        self, shop: Timeline, cents: int, raised: int
    ) -> None:
        self.give(shop, 8, cents)
        assert len(shop.alerts("sweethearting")) == raised

    def test_the_price_is_that_of_the_moment(self, shop: Timeline) -> None:
        shop.price(WINE, 400, effective_at=at("10:02"), published=at("9:00"))
        self.give(shop, 8, 300)
        assert shop.alerts("sweethearting") == []
        self.give(shop, 2, 0)
        assert only(shop.alerts("sweethearting"))["measured"] == 2 * 700 + 2 * 1_000

    @pytest.mark.parametrize(("published", "raised"), [("9:52", 0), ("9:52:01", 1)])
    def test_a_price_holds_ten_minutes_after_it_was_published_at_the_earliest(
        self, shop: Timeline, published: str, raised: int
    ) -> None:
        shop.price(WINE, 1, effective_at=at("9:53"), published=at(published))
        self.give(shop, 3, 100)
        assert len(shop.alerts("sweethearting")) == raised

    def test_cashiers_are_told_apart(self, shop: Timeline) -> None:
        self.give(shop, 2, 0, cashier="K1")
        self.give(shop, 2, 0, cashier="K2")
        assert shop.alerts("sweethearting") == []


class TestRefundWithoutReceipt:
    RULE = "refund-without-receipt"

    def test_a_receipt_that_nobody_issued(self, shop: Timeline) -> None:
        back = shop.refund(at("12:00"), (WINE, 3, 1_000), receipt="R", issued=at("9:00"))
        alert = only(shop.alerts(self.RULE))
        assert (alert["subject"], alert["status"], alert["measured"]) == ("R", "open", 3_000)
        assert [proof["event_id"] for proof in alert["evidence"]] == [back]
        assert (alert["decided_at"], alert["version"]) == (at("12:00"), 1)
        assert (alert["interval_start"], alert["interval_end"]) == (at("0:00"), at("0:00", days=4))

    @pytest.mark.crosses("pipelines/fraud/thresholds/unbacked_cents_max")
    def test_a_small_sum_is_not_worth_a_look(self, shop: Timeline) -> None:
        shop.refund(at("12:00"), (WINE, 2, 1_000), receipt="R", issued=at("9:00"))
        assert shop.alerts(self.RULE) == []

    @pytest.mark.parametrize("published", [at("9:00"), at("10:59")])
    def test_a_receipt_withdraws_it_whenever_it_was_published(
        self, shop: Timeline, published: object
    ) -> None:
        sold = shop.receipt(at("9:00"), (WINE, 3, 1_000), published=published)
        shop.refund(at("10:00"), (WINE, 3, 1_000), receipt=sold, issued=at("9:00"))
        alert = only(shop.alerts(self.RULE))
        assert (alert["status"], alert["measured"], alert["version"]) == ("withdrawn", 0, 2)
        assert (alert["events"], alert["decided_at"]) == (1, at("10:00"))

    def test_what_goes_beyond_is_counted_by_product(self, shop: Timeline) -> None:
        sold = shop.receipt(at("9:00"), (WINE, 1, 1_000), (MILK, 50, 100))
        shop.refund(at("10:00"), (WINE, 3, 1_000), receipt=sold, issued=at("9:00"))
        shop.refund(at("11:00"), (WINE, 1, 1_000), receipt=sold, issued=at("9:00"))
        alert = only(shop.alerts(self.RULE))
        assert (alert["status"], alert["measured"]) == ("open", 3_000)
        assert (alert["events"], alert["decided_at"]) == (2, at("11:00"))

    def test_a_receipt_of_another_day_is_another_receipt(self, shop: Timeline) -> None:
        sold = shop.receipt(at("9:00"), (WINE, 3, 1_000))
        shop.refund(at("9:00", days=1), (WINE, 3, 1_000), receipt=sold, issued=at("0:00", days=1))
        assert only(shop.alerts(self.RULE))["status"] == "open"

    def test_a_receipt_older_than_the_period_is_as_good_as_none(self, shop: Timeline) -> None:
        shop.refund(at("9:00", days=3), (WINE, 9, 1_000), receipt="R", issued=at("9:00"))
        assert len(shop.alerts(self.RULE)) == 1
        shop.refund(at("9:01", days=3), (WINE, 9, 1_000), receipt="S", issued=at("9:00"))
        assert [alert["subject"] for alert in shop.alerts(self.RULE)] == ["R"]
        assert shop.alerts("refund-rate", blind_refunds_max=0)[0]["events"] == 1


class TestRefundRate:
    RULE = "refund-rate"

    @pytest.mark.crosses("pipelines/fraud/thresholds/blind_refunds_max")
    def test_the_seventh_in_cash_raises_an_alert(self, shop: Timeline) -> None:
        for n in range(6):
            shop.refund(at("10:00") + n * MINUTE)
        assert shop.alerts(self.RULE) == []
        shop.refund(at("10:07"))
        alert = only(shop.alerts(self.RULE))
        assert (alert["status"], alert["measured"], alert["threshold"]) == ("open", 7, 6)
        assert (alert["events"], alert["decided_at"]) == (7, at("10:07"))

    def test_each_card_may_have_one(self, shop: Timeline) -> None:
        for n in range(12):
            shop.refund(at("10:00") + n * MINUTE, card=f"tok_{n}")
        assert shop.alerts(self.RULE) == []
        for n in range(7):
            shop.refund(at("11:00") + n * MINUTE, card="tok_0")
        assert only(shop.alerts(self.RULE))["measured"] == 7

    def test_a_busy_desk_may_have_more_of_them(self, shop: Timeline) -> None:
        for n in range(7):
            shop.refund(at("10:00") + n * MINUTE)
        for n in range(10):
            shop.refund(at("11:00") + n * MINUTE, receipt=f"R{n}", issued=at("9:00"))
        alert = only(shop.alerts(self.RULE))
        assert (alert["status"], alert["measured"], alert["threshold"]) == ("withdrawn", 7, 7)
        assert (alert["events"], alert["version"]) == (7, 17)
        assert alert["decided_at"] == at("10:06")

    @pytest.mark.parametrize(("ahead", "raised"), [(299, 0), (300, 0), (301, 1), (3_000, 1)])
    @pytest.mark.crosses("pipelines/fraud/thresholds/receipt_ahead_max")
    def test_a_receipt_may_be_ahead_of_its_refund_as_far_as_clocks_differ(
        self, shop: Timeline, ahead: int, raised: int
    ) -> None:
        for n in range(7):
            moment = at("10:00") + n * MINUTE
            shop.refund(moment, receipt=f"R{n}", issued=moment + ahead * SECOND)
        assert len(shop.alerts(self.RULE)) == raised

    @pytest.mark.crosses("pipelines/fraud/thresholds/blind_refund_cents_min")
    def test_spoilt_fruit_is_paid_back_without_questions(self, shop: Timeline) -> None:
        for n in range(9):
            shop.refund(at("10:00") + n * MINUTE, (MILK, 2, PRICES[MILK]))
        assert shop.alerts(self.RULE) == []


class TestBulkPurchase:
    RULE = "bulk-purchase"

    @pytest.mark.parametrize(("units", "raised"), [(24, 0), (25, 1)])
    @pytest.mark.crosses("pipelines/fraud/thresholds/packs_hundredths_max")
    def test_four_packs_are_a_party_and_more_are_not(
        self, shop: Timeline, units: int, raised: int
    ) -> None:
        sold = shop.receipt(at("10:00"), (WINE, units, 1_000))
        alerts = shop.alerts(self.RULE)
        assert [alert["subject"] for alert in alerts] == [sold] * raised

    def test_receipts_of_one_card_are_added_up_by_product(self, shop: Timeline) -> None:
        for n in range(3):
            shop.receipt(at("10:00") + n * MINUTE, (WINE, 9, 1_000), (MILK, 10, 100), card=CARD)
        alert = only(shop.alerts(self.RULE))
        assert (alert["measured"], alert["subject"], alert["events"]) == (450, CARD, 3)
        assert alert["decided_at"] == at("10:02")

    @pytest.mark.crosses("pipelines/fraud/thresholds/packs_line_hundredths_min")
    def test_less_than_a_pack_is_shopping(self, shop: Timeline) -> None:
        for n in range(9):
            shop.receipt(at("10:00") + n * MINUTE, (WINE, 5, 1_000), card=CARD)
        assert shop.alerts(self.RULE) == []

    def test_who_is_known_by_name_may_feed_a_hundred(self, shop: Timeline) -> None:
        shop.receipt(at("10:00"), (WINE, 600, 1_000), card=CARD, customer="C1")
        assert shop.alerts(self.RULE) == []


class TestBound:
    """What happens to a key with more signals than count."""

    def test_what_was_published_first_counts(self, shop: Timeline) -> None:
        sales = [shop.receipt(at("10:41") + n * SECOND, card=CARD) for n in range(6)]
        shop.receipt(at("10:40"), card=CARD, published=at("11:00"))
        alert = only(shop.alerts("card-velocity", signals_max=6))
        assert [proof["event_id"] for proof in alert["evidence"]] == sales
        assert (alert["measured"], alert["version"]) == (6, 7)

    def test_there_is_a_row_though_what_counts_says_nothing(self, shop: Timeline) -> None:
        for n in range(5):
            shop.receipt(at("10:00") + n * 11 * MINUTE, card=CARD)
        assert shop.alerts("card-velocity", signals_max=5) == []
        alert = only(shop.alerts("card-velocity", signals_max=3))
        assert (alert["status"], alert["measured"], alert["threshold"]) == ("withdrawn", 0, 5)
        assert (alert["events"], alert["version"], alert["decided_at"]) == (3, 5, at("10:33"))

    def test_a_refund_is_one_clue_however_many_lines_it_has(self, shop: Timeline) -> None:
        for n in range(7):
            shop.refund(at("10:00") + n * MINUTE, *[(MILK, 1, 100)] * 3)
        alert = only(shop.alerts("refund-rate", signals_max=7))
        assert (alert["status"], alert["measured"], alert["version"]) == ("open", 7, 7)

    def test_of_what_does_not_count_every_line_is_in_the_version(self, shop: Timeline) -> None:
        for n in range(4):
            shop.receipt(at("10:00") + n * MINUTE, *[(WINE, 1, 0)] * 3)
        alert = only(shop.alerts("sweethearting", signals_max=8))
        assert (alert["measured"], alert["events"], alert["version"]) == (8_000, 3, 3 + 3)
