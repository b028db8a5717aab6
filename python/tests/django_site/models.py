"""Its models."""

from django.db import models

from snowmint import Snowflake
from snowmint.django import SnowflakeField, next_id

_vouched = Snowflake("twitter", node=5)


def vouched_id() -> int:
    """From a generator of the project's own."""
    return _vouched.next_id()


class Author(models.Model):  # type: ignore[misc]
    """The plain use."""

    id = SnowflakeField(primary_key=True)
    name = models.CharField(max_length=40)


class Post(models.Model):  # type: ignore[misc]
    """What refers to it."""

    id = SnowflakeField("number", primary_key=True)
    author = models.ForeignKey(Author, models.CASCADE, null=True)
    tweet = SnowflakeField(null=True)
    readers = models.ManyToManyField(Author, related_name="+")


class Event(models.Model):  # type: ignore[misc]
    """Every option."""

    id = SnowflakeField(primary_key=True, default=vouched_id, editable=True)
    trace = SnowflakeField(default=next_id, unique=True, editable=False)
