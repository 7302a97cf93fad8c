"""A small workbook, written by hand: texts, numbers and moments, in sheets."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from datetime import datetime
from xml.sax.saxutils import escape

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
STYLES = (
    f'<styleSheet xmlns="{MAIN}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="22"/></cellXfs>'
    "</styleSheet>"
)
START = datetime(1899, 12, 30)  # noqa: DTZ001 - a clock on a wall

Cell = str | float | datetime


def write_workbook(sheets: Mapping[str, Sequence[Sequence[Cell]]]) -> bytes:
    numbered = list(enumerate(sheets.items(), start=1))
    named = "".join(
        f'<sheet name="{name}" sheetId="{number}" r:id="r{number}"/>'
        for number, (name, _) in numbered
    )
    linked = "".join(
        f'<Relationship Id="r{number}" Type="{OFFICE}/worksheet" Target="worksheets/{number}.xml"/>'
        for number, _ in numbered
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r" '
        f'Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}">'
        f"<sheets>{named}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{linked}'
        f'<Relationship Id="s" Type="{OFFICE}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": STYLES,
    }
    for number, (_, rows) in numbered:
        cells = "".join(f"<row>{''.join(map(_write_cell, row))}</row>" for row in rows)
        sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{cells}</sheetData></worksheet>'
        parts[f"xl/worksheets/{number}.xml"] = sheet
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return packed.getvalue()


def _write_cell(cell: Cell) -> str:
    if isinstance(cell, datetime):
        return f'<c s="1"><v>{(cell - START).total_seconds() / 86_400}</v></c>'
    if isinstance(cell, str):
        return f'<c t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
    return f"<c><v>{cell!r}</v></c>"
