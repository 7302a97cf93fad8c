"""All stories that may be planned, by the rule that they test."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from generators.incidents import bulk, refund_rate, refunds, sweethearting, travel, velocity
from generators.incidents.deed import Plan
from generators.incidents.scene import Scene

Story = Callable[[Scene], Plan]


@dataclass(frozen=True)
class Stories:
    frauds: tuple[Story, ...]
    look_alikes: tuple[Story, ...]
    """Innocent stories, each with its own reason."""


STORIES: Mapping[str, Stories] = {
    "card-velocity": Stories(
        (velocity.stolen_card,),
        (
            velocity.family,
            velocity.forgetful,
            velocity.lunch_round,
            velocity.vouchers,
            velocity.school_trip,
        ),
    ),
    "impossible-travel": Stories(
        (travel.copied_card,),
        (travel.flight, travel.express_train, travel.drive, travel.couple, travel.commuter),
    ),
    "sweethearting": Stories(
        (sweethearting.friends,),
        (
            sweethearting.clearance,
            sweethearting.staff_discount,
            sweethearting.free_gift,
            sweethearting.slip,
            sweethearting.dented,
        ),
    ),
    "refund-without-receipt": Stories(
        (refunds.invented, refunds.twice, refunds.inflated),
        (
            refunds.line_down,
            refunds.all_of_it,
            refunds.in_two_parts,
            refunds.exchange,
            refunds.goodwill,
        ),
    ),
    "refund-rate": Stories(
        (refund_rate.false_refunds,),
        (
            refund_rate.gift_returns,
            refund_rate.recall,
            refund_rate.spoilt_fruit,
            refund_rate.printer_out_of_paper,
            refund_rate.bad_day,
            refund_rate.leftovers,
        ),
    ),
    "bulk-purchase": Stories(
        (bulk.resold,),
        (
            bulk.caterer,
            bulk.office,
            bulk.party,
            bulk.school_fete,
            bulk.stocking_up,
            bulk.neighbours,
        ),
    ),
}
