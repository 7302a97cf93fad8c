"""What happened to the components, from the process manager's log."""

from infra.supervisor.manager import Restarts, read_restarts

LOG = """\
10:00:00 INFO supervisord started with pid 1
10:00:00 INFO spawned: 'api' with pid 2
10:00:09 INFO exited: api (exit status 1; not expected)
10:00:10 INFO supervisord started with pid 11
10:00:11 INFO spawned: 'broker' with pid 12
10:00:12 INFO spawned: 'api' with pid 13
10:00:30 INFO exited: api (terminated by SIGKILL; not expected)
10:00:31 INFO spawned: 'api' with pid 14
10:00:40 INFO exited: api (exit status 0; expected)
10:00:41 INFO spawned: 'api' with pid 15
10:00:50 INFO stopped: broker (terminated by SIGTERM)
10:00:51 INFO spawned: 'broker' with pid 16
"""


def test_restarts_are_counted_since_the_managers_last_start() -> None:
    assert read_restarts(LOG)["api"] == Restarts(2, "exit status 0")


def test_what_a_person_stopped_and_started_is_no_restart() -> None:
    assert "broker" not in read_restarts(LOG)
