"""Options for the world: one for each setting of the simulator, under its own name."""

import inspect
import os
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Annotated, Any, get_args

import typer
from pydantic.fields import FieldInfo

from infra.settings import Settings

PREFIX = "simulator_"

Command = Callable[..., None]


def add_world_options(command: Command) -> Command:
    """The command with these options; each sets its environment variable, and overrides it.

    Settings are checked where they are read, so an option is only text.
    """

    @wraps(command)
    def with_options(**given: Any) -> None:
        for name in list_world_settings():
            text = given.pop(name.removeprefix(PREFIX))
            if text is not None:
                os.environ[name.upper()] = text
        command(**given)

    own = inspect.signature(command).parameters.values()
    parameters = [*own, *build_options()]
    # Typer reads a command's options from its signature.
    vars(with_options)["__signature__"] = inspect.Signature(parameters)
    with_options.__annotations__ = {one.name: one.annotation for one in parameters}
    return with_options


def list_world_settings() -> dict[str, FieldInfo]:
    fields = Settings.model_fields
    return {name: field for name, field in fields.items() if name.startswith(PREFIX)}


def build_options() -> Iterator[inspect.Parameter]:
    for name, field in list_world_settings().items():
        option = typer.Option(
            help=f"{field.description} [{render_default(field.default)}]",
            metavar="|".join(get_args(field.annotation))
            or (field.annotation.__name__.upper() if field.annotation else None),
            show_default=False,
            rich_help_panel="The world",
        )
        yield inspect.Parameter(
            name.removeprefix(PREFIX),
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[str | None, option],
        )


def render_default(default: object) -> str:
    return f"{default:g}" if isinstance(default, (int, float)) else str(default)
