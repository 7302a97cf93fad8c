"""The router of the routes about one noun."""

from typing import Any

from fastapi import APIRouter
from fastapi.routing import APIRoute

from services.api.http.traffic import name_operation


class Router(APIRouter):
    """Routes whose operations are called as their functions.

    The app takes these routes as they are. By `include_router` it would make each of them again
    before its first answer, and look up the route of each request twice.
    """

    def __init__(self, **options: Any) -> None:
        """`options`: of FastAPI's router."""
        super().__init__(generate_unique_id_function=_name, **options)


def _name(route: APIRoute) -> str:
    return name_operation(route.name)
