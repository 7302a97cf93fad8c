"""The products."""

from dataclasses import dataclass
from random import Random

from faker import Faker

from generators.chance import create_random
from generators.event import Event
from generators.ticks import ANNOUNCED_MS, START_MS


@dataclass(frozen=True)
class Category:
    """A category: its products, and their cost."""

    name: str
    goods: tuple[str, ...]
    cost_cents_min: int
    cost_cents_max: int
    pack_sizes_units: tuple[int, ...]
    elasticity: int  # percent more demand per percent of cut: fresh food is needed at any price


CATEGORIES = (
    Category("produce", ("Apples", "Bananas", "Carrots", "Tomatoes", "Salad"), 40, 300, (6, 12), 2),
    Category("bakery", ("Bread", "Rolls", "Croissants", "Cake"), 50, 450, (6, 10), 2),
    Category("dairy", ("Milk", "Butter", "Yoghurt", "Cheese", "Cream"), 45, 500, (6, 12, 20), 1),
    Category(
        "drinks", ("Water", "Juice", "Cola", "Beer", "Wine", "Coffee"), 30, 900, (6, 12, 24), 4
    ),
    Category(
        "pantry", ("Pasta", "Rice", "Flour", "Olive Oil", "Soup", "Honey"), 40, 800, (8, 16), 3
    ),
    Category("sweets", ("Chocolate", "Biscuits", "Ice Cream", "Gummies"), 50, 600, (10, 20), 4),
    Category("household", ("Soap", "Detergent", "Towels", "Candles"), 80, 1_200, (4, 8), 3),
    Category("care", ("Shampoo", "Toothpaste", "Hand Cream", "Razors"), 90, 1_500, (4, 8), 3),
)
ELASTICITY = {category.name: category.elasticity for category in CATEGORIES}
SUPPLIERS = 24
MARGIN_MIN = 1.25
MARGIN_MAX = 1.85
FRESH = frozenset({"produce", "bakery", "dairy"})
"""The categories that come from near."""
FRESH_HOURS, OTHER_HOURS = (1, 8), (8, 48)
"""The least and the most lead time."""
LEAD_TIME_HOURS_MAX = OTHER_HOURS[1]
HOURS_PER_DAY = 24
# The product of rank n, from 0, has the popularity POPULARITY / (n + HEAD): a long tail.
POPULARITY = 1_000_000
HEAD = 8


@dataclass(frozen=True)
class Product:
    sku: str
    name: str
    category: str
    supplier_id: str
    unit_cost_cents: int
    unit_price_cents: int
    pack_size_units: int
    lead_time_hours: int
    popularity: int  # demand, relative to the other products

    def introduce(self) -> Event:
        """The event that announces it, before the world begins."""
        days, hours = divmod(self.lead_time_hours, HOURS_PER_DAY)
        return {
            "event_id": f"{self.sku}-introduced",
            "event_time": ANNOUNCED_MS,
            "effective_at": START_MS,
            "sku": self.sku,
            "name": self.name,
            "category": self.category,
            "supplier_id": self.supplier_id,
            "unit_cost_cents": self.unit_cost_cents,
            "pack_size_units": self.pack_size_units,
            "lead_time_days": days,
            "lead_time_hours": hours,
        }


def create_products(seed: int, count: int) -> tuple[Product, ...]:
    faker = Faker("en_GB")
    faker.seed_instance(f"{seed}/products")
    draw = create_random(seed, "products")
    order = sorted((draw.random(), number) for number in range(count))
    rank = {number: place for place, (_, number) in enumerate(order)}
    made = []
    for number in range(count):
        category = CATEGORIES[int(draw.random() * len(CATEGORIES))]
        goods = category.goods[int(draw.random() * len(category.goods))]
        span_cents = category.cost_cents_max - category.cost_cents_min
        cost_cents = category.cost_cents_min + int(draw.random() ** 2 * span_cents)
        hours_min, hours_max = FRESH_HOURS if category.name in FRESH else OTHER_HOURS
        made.append(
            Product(
                sku=f"SKU-{number:05d}",
                name=f"{faker.last_name()} {goods}",
                category=category.name,
                supplier_id=f"SUP-{int(draw.random() * SUPPLIERS):02d}",
                unit_cost_cents=cost_cents,
                unit_price_cents=draw_price_cents(cost_cents, draw),
                pack_size_units=category.pack_sizes_units[
                    int(draw.random() * len(category.pack_sizes_units))
                ],
                lead_time_hours=hours_min + int(draw.random() * (hours_max - hours_min + 1)),
                popularity=POPULARITY // (rank[number] + HEAD),
            )
        )
    return tuple(made)


def draw_overstocked(seed: int, count: int, share: float) -> frozenset[int]:
    """The numbers of that share of the products: too much of them was bought."""
    draw = create_random(seed, "overstock")
    order = sorted((draw.random(), number) for number in range(count))
    return frozenset(number for _, number in order[: round(count * share)])


def draw_price_cents(cost_cents: int, draw: Random) -> int:
    """A price for goods of this cost, with some margin."""
    margin = MARGIN_MIN + draw.random() * (MARGIN_MAX - MARGIN_MIN)
    return int(cost_cents * margin) // 10 * 10 + 9
