"""The mappings that are ready, each on a small made-up file of its public shape."""

from pathlib import Path

import pytest

from infra.settings import locate_root
from tests.generators.importing.outcomes import Outcome, bring_in, cents, units, write_files

MAPPINGS = locate_root() / "generators" / "importing" / "mappings"

UCI = """\
{0},StockCode,Description,Quantity,InvoiceDate,{1},{2},Country
536365,85123A,MUG,6,12/1/2010 8:26,2.55,17850.0,United Kingdom
C536379,85123A,MUG,-1,12/1/2010 9:41,2.55,17850.0,United Kingdom
536380,85123A,damaged,-3,12/1/2010 9:50,0,,United Kingdom
A506401,B,Adjust bad debt,1,12/2/2010 9:50,-53594.36,,United Kingdom
A506402,B,Adjust bad debt,1,12/2/2010 9:50,11062.06,,United Kingdom
536390,BANK CHARGES,Bank Charges,-1,12/2/2010 9:50,15.00,,United Kingdom
"""
SHOPIFY = """\
Name,Email,Financial Status,Created at,Discount Amount,Lineitem quantity,Lineitem name,\
Lineitem price,Lineitem sku,Lineitem discount
#1001,ann@example.com,paid,2025-10-07 09:50:25 +0200,4.00,3,"Mask, green",10.00,MSK-G,0.00
#1001,ann@example.com,,2025-10-07 09:50:25 +0200,,1,Soap,10.00,,0.00
#1002,ben@example.com,paid,2025-10-26 02:30:00 +0100,0.00,2,Soap,6.50,SOAP,1.00
"""
SQUARE = """\
Date,Time,Time Zone,Category,Item,Qty,SKU,Gross Sales,Discounts,Net Sales,Transaction ID,\
Event Type,Location,Customer ID
2024-03-01,09:12:05,Eastern Time (US & Canada),Drinks,Latte,2.0,LAT,$9.00,-$1.00,$8.00,T1,\
Payment,Main St,C1
2024-03-02,08:05:00,Eastern Time (US & Canada),Drinks,Latte,-1.0,LAT,-$4.50,$0.00,-$4.50,T3,\
Refund,Main St,C1
"""
OLIST = {
    "items.csv": "order_id,order_item_id,product_id,seller_id,price,freight_value\n"
    "00010242fe8c5a6d1ba2dd792cb16214,1,4244733e06e7ecb4970a6e2683c13e61,s,58.90,13.29\n"
    "00010242fe8c5a6d1ba2dd792cb16214,2,4244733e06e7ecb4970a6e2683c13e61,s,58.90,13.29\n"
    "00018f77f2f0320c557190d7a144bdd3,1,e5f2d52b802189ee658865ca93d83a8f,s,239.90,19.93\n",
    "olist_orders_dataset.csv": "order_id,customer_id,order_status,order_purchase_timestamp\n"
    "00010242fe8c5a6d1ba2dd792cb16214,k1,delivered,2017-09-13 08:59:02\n"
    "00018f77f2f0320c557190d7a144bdd3,k2,canceled,2017-04-26 10:53:06\n",
    "olist_customers_dataset.csv": "customer_id,customer_unique_id\nk1,u1\nk2,u2\n",
    "olist_products_dataset.csv": "product_id,product_category_name\n"
    "4244733e06e7ecb4970a6e2683c13e61,cool_stuff\ne5f2d52b802189ee658865ca93d83a8f,pet_shop\n",
}
FAVORITA = {
    "train.csv": "id,date,store_nbr,item_nbr,unit_sales,onpromotion\n"
    "0,2013-01-02,25,103665,7.0,\n1,2013-01-02,25,105574,1.125,False\n"
    "2,2013-01-03,25,103665,-1.0,True\n",
    "items.csv": "item_nbr,family,class,perishable\n103665,BREAD,2712,1\n105574,GROCERY I,1045,0\n",
}
DUNNHUMBY = {
    "transaction_data.csv": "household_key,BASKET_ID,DAY,PRODUCT_ID,QUANTITY,SALES_VALUE,STORE_ID,"
    "RETAIL_DISC,TRANS_TIME,WEEK_NO\n"
    "2375,26984851472,1,1004906,1,1.39,364,-0.6,1631,1\n"
    "2375,26984851472,1,1033142,2,0.82,364,0,1631,1\n"
    "2375,26984851999,2,1033142,0,0.00,364,0,5,1\n",
    "product.csv": "PRODUCT_ID,DEPARTMENT,COMMODITY_DESC\n"
    "1004906,PRODUCE,POTATOES\n1033142,PRODUCE,ONIONS\n",
}
INSTACART = {
    "order_products__prior.csv": "order_id,product_id,add_to_cart_order,reordered\n"
    "2,33120,1,1\n2,28985,2,1\n",
    "orders.csv": "order_id,user_id,eval_set,order_number,order_dow,order_hour_of_day\n"
    "2,202279,prior,3,5,09\n",
    "week.csv": "order_dow,date\n5,2017-01-06\n",
    "products.csv": "product_id,product_name,aisle_id,department_id\n"
    "33120,Egg Whites,86,16\n28985,Kale,83,4\n",
    "departments.csv": "department_id,department\n16,dairy eggs\n4,produce\n",
}
ROSSMANN = """\
"Store","DayOfWeek","Date","Sales","Customers","Open","Promo","StateHoliday","SchoolHoliday"
1,5,2015-07-31,5263,555,1,1,"0","1"
2,4,2015-07-30,0,0,0,1,"0","1"
"""


def bring(folder: Path, name: str, files: dict[str, str]) -> Outcome:
    """The outcome of the first file, with the others beside it."""
    write_files(folder, files)
    return bring_in(folder, (MAPPINGS / f"{name}.yaml").read_text(), next(iter(files)))


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("uci-online-retail", ("InvoiceNo", "UnitPrice", "CustomerID")),
        ("uci-online-retail-ii", ("Invoice", "Price", "Customer ID")),
    ],
)
def test_uci_bad_debts_and_fees_are_no_sales(
    tmp_path: Path, name: str, columns: tuple[str, str, str]
) -> None:
    found = bring(tmp_path, name, {"a.csv": UCI.format(*columns)})
    assert (cents(found.receipts), cents(found.refunds)) == (1530, 255)
    assert (found.customers, units(found.adjustments)) == ({"17850"}, {"ONLINE/85123A": -3})
    assert found.account["rows"]["skipped"] == {
        "InvoiceNo is A*".replace("InvoiceNo", columns[0]): 2,
        "StockCode is BANK CHARGES": 1,
    }


def test_shopify_takes_discounts_off_lines_and_orders(tmp_path: Path) -> None:
    found = bring(tmp_path, "shopify-orders", {"a.csv": SHOPIFY})
    assert units(found.receipts) == {"ONLINE/MSK-G": 3, "ONLINE/Soap": 1, "ONLINE/SOAP": 2}
    assert cents(found.receipts) == 3 * 900 + 900 + 2 * 600
    assert found.times == ["2025-10-07T07:50:25Z", "2025-10-26T01:30:00Z"]


def test_square_has_its_time_in_two_columns(tmp_path: Path) -> None:
    found = bring(tmp_path, "square-items", {"a.csv": SQUARE})
    assert (cents(found.receipts), cents(found.refunds)) == (800, 450)
    assert found.times == ["2024-03-01T14:12:05Z"]


def test_olist_is_joined_from_its_files(tmp_path: Path) -> None:
    found = bring(tmp_path, "olist", OLIST)
    assert units(found.receipts) == {"ONLINE/4244733e06e7ecb4970a6e2683c13e61": 2}
    assert (cents(found.receipts), found.customers) == (11780, {"u1"})
    assert found.times == ["2017-09-13T11:59:02Z"]


def test_favorita_has_thousandths_and_returns(tmp_path: Path) -> None:
    found = bring(tmp_path, "favorita", FAVORITA)
    assert units(found.receipts) == {"25/103665": 7000, "25/105574": 1125}
    assert units(found.refunds) == {"25/103665": 1000}


def test_dunnhumby_counts_its_days(tmp_path: Path) -> None:
    found = bring(tmp_path, "dunnhumby", DUNNHUMBY)
    assert (found.times, found.customers) == (["2013-01-01T21:31:00Z"], {"2375"})
    assert cents(found.receipts) == 139 + 82


def test_instacart_is_dated_by_a_week(tmp_path: Path) -> None:
    found = bring(tmp_path, "instacart", INSTACART)
    assert (found.times, found.names["33120"]) == (["2017-01-06T14:00:00Z"], "Egg Whites")


def test_rossmann_has_a_line_per_day(tmp_path: Path) -> None:
    found = bring(tmp_path, "rossmann", {"train.csv": ROSSMANN})
    assert (cents(found.receipts), found.times) == (526_300, ["2015-07-31T10:00:00Z"])
