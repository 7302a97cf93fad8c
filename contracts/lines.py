"""The lines of events: one shape for all topics that a reader takes lines of."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from contracts.errors import Undeclared
from contracts.projection import Path, project_fields, render_path
from contracts.shape import Contract, Field

LINES = "lines"
"""The name of the array with an event's lines, in every contract that has one."""

Key = tuple[str, ...]


@dataclass(frozen=True)
class Line:
    """What a reader takes of a line, whatever the topic. Null: what the lines of a topic lack."""

    fields: tuple[Field, ...]
    keys: tuple[Key, ...] = ()
    """The fields that make a line the first of its event, if no earlier one has the same values."""

    @classmethod
    def of(cls, reader: str, reads: Mapping[Contract, Collection[Path]]) -> "Line":
        """The line of a reader that declares these fields, by topic.

        Raises Undeclared if a topic has a field that the reader takes of another topic's lines, and
        the reader does not declare it: the values would be missing without a word. Raises
        TypeError if two topics have different types for one.
        """
        fields: dict[str, Field] = {}
        for topic, paths in reads.items():
            for field in find_lines(topic)[1]:
                if (LINES, field.name) in paths:
                    fields.setdefault(field.name, field)
        for topic, paths in reads.items():
            way, own = find_lines(topic)
            for field in own:
                if field.name not in fields:
                    continue
                if (*way, field.name) not in paths:
                    raise Undeclared(reader, topic.name, render_path((*way, field.name)))
                kinds = {fields[field.name].type, field.type}
                if len(kinds) > 1 and kinds != {"int", "long"}:
                    raise TypeError(
                        f"{reader} should read lines whose {field.name} has one type, found "
                        f"{fields[field.name].type} and, in {topic.name}, {field.type}"
                    )
        return cls(tuple(fields.values()))

    def number_keys(self) -> list[list[int]]:
        names = [field.name for field in self.fields]
        return [[names.index(name) for name in key] for key in self.keys]


def find_lines(topic: Contract) -> tuple[Path, Sequence[Field]]:
    """The way to the fields of a line of the topic, and these fields.

    An event without an array of lines is its own only line.
    """
    for field in topic.fields:
        if field.name == LINES:
            return (LINES,), field.fields
    return (), topic.fields


def select_fields(topic: Contract, paths: Collection[Path], line: Line | None) -> tuple[Field, ...]:
    """The fields of an event on these paths, without its lines if they are taken as such."""
    fields = project_fields(topic.fields, paths)
    return fields if line is None else tuple(field for field in fields if field.name != LINES)
