"""Kafka clients with safe settings, and the requests to a broker that every room uses."""

# ruff: noqa: F403

from infra.kafka.clients import *
from infra.kafka.errors import *
from infra.kafka.offsets import *
from infra.kafka.read import *
from infra.kafka.send import *
from infra.kafka.topics import *
