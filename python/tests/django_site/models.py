"""Its models."""

from django.db import models

from snowmint import PrefixedId, Snowflake, TypeID
from snowmint.django import ObjectIdField, PrefixedIdField, SnowflakeField, ULIDField, UUID7Field, next_id

_vouched = Snowflake("twitter", node=5)


def vouched_id() -> int:
    """From a generator of the project's own."""
    return _vouched.next_id()


class Author(models.Model):  # type: ignore[misc]
    """The plain use."""

    id = SnowflakeField(primary_key=True)
    name = models.CharField(max_length=40)


class Post(models.Model):  # type: ignore[misc]
    """A model that refers to it."""

    id = SnowflakeField("number", primary_key=True)
    author = models.ForeignKey(Author, models.CASCADE, null=True)
    tweet = SnowflakeField(null=True)
    readers = models.ManyToManyField(Author, related_name="+")


class Event(models.Model):  # type: ignore[misc]
    """Every option."""

    id = SnowflakeField(primary_key=True, default=vouched_id, editable=True)
    trace = SnowflakeField(default=next_id, unique=True, editable=False)


class AccountId(PrefixedId, prefix="account"):
    """A 64-bit ID."""


class OrderId(TypeID, prefix="order"):
    """A TypeID."""


class Account(models.Model):  # type: ignore[misc]
    """A key of 64 bits with a prefix, and other IDs."""

    id = PrefixedIdField(AccountId, primary_key=True)
    ulid = ULIDField(null=True)
    mongo = ObjectIdField(null=True, unique=True)
    trace = UUID7Field(null=True)


class Order(models.Model):  # type: ignore[misc]
    """A key that is a TypeID, and a reference to another prefix."""

    id = PrefixedIdField(OrderId, primary_key=True)
    account = models.ForeignKey(Account, models.CASCADE, null=True)


class Visit(models.Model):  # type: ignore[misc]
    """A key that is a ULID."""

    id = ULIDField(primary_key=True)
