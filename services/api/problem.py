"""The errors that a client is told: what was expected, what was found, what to do (RFC 9457)."""

from collections.abc import Mapping
from http import HTTPStatus

TYPE_PREFIX = "urn:retail:problem:"


class Problem(Exception):
    """An error answer; routes and their callees may raise it."""

    media_type = "application/problem+json"

    def __init__(
        self,
        status: HTTPStatus,
        title: str,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        **members: object,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.title = title
        self.detail = detail
        self.headers = headers
        self.members = members

    def to_document(self, path: str) -> dict[str, object]:
        return {
            "type": TYPE_PREFIX + self.title.lower().replace(" ", "-"),
            "title": self.title,
            "status": int(self.status),
            "detail": self.detail,
            "instance": path,
            **self.members,
        }


class NotFound(Problem):
    """What was asked for does not exist."""

    def __init__(self, title: str, detail: str, **members: object) -> None:
        super().__init__(HTTPStatus.NOT_FOUND, title, detail, headers=None, **members)


class Invalid(Problem):
    """The request asks for what the route does not take."""

    def __init__(self, title: str, detail: str, **members: object) -> None:
        super().__init__(HTTPStatus.UNPROCESSABLE_ENTITY, title, detail, headers=None, **members)


class Unavailable(Problem):
    """The same request may be answered in a second."""

    def __init__(self, title: str, detail: str, **members: object) -> None:
        headers = {"Retry-After": "1"}
        super().__init__(HTTPStatus.SERVICE_UNAVAILABLE, title, detail, headers=headers, **members)
