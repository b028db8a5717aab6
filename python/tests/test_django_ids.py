"""The fields for prefixed IDs, ULIDs, ObjectIds and UUIDs of version 7, on SQLite, PostgreSQL and MariaDB."""

import json
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core import serializers
from django.core.exceptions import ValidationError
from django.forms import modelform_factory

from snowmint import ULID, InvalidIdError, InvalidTextError, ObjectId, layouts, uuid7

# One project with its databases, of the tests of the other field.
from test_django import database, environment, migration, site

__all__ = ["database", "environment", "migration", "site"]


def test_a_migration_names_the_class_and_no_default(migration: str) -> None:
    field = "snowmint.django.PrefixedIdField"
    assert f"('id', {field}(django_site.models.AccountId, primary_key=True, serialize=False))" in migration
    assert f"('id', {field}(django_site.models.OrderId, primary_key=True, serialize=False))" in migration
    assert "('ulid', snowmint.django.ULIDField(null=True))" in migration
    assert "('mongo', snowmint.django.ObjectIdField(null=True, unique=True))" in migration
    assert "('id', snowmint.django.ULIDField(primary_key=True, serialize=False))" in migration


def test_objects_come_back_from_their_columns(site: Any, database: str) -> None:
    account = site.Account(ulid=ULID(), mongo=ObjectId(), trace=uuid7())
    assert isinstance(account.pk, site.AccountId)
    assert layouts.TWITTER.decode(account.pk.value).timestamp_ms
    account.save(using=database)
    found = site.Account.objects.using(database).get(pk=account.pk)
    assert (found.pk, found.ulid, found.mongo, found.trace) == (
        account.pk,
        account.ulid,
        account.mongo,
        account.trace,
    )
    assert [type(value) for value in (found.pk, found.ulid, found.mongo, found.trace)] == [
        site.AccountId,
        ULID,
        ObjectId,
        UUID,
    ]


def test_rows_are_found_by_objects_and_by_texts(site: Any, database: str) -> None:
    accounts = site.Account.objects.using(database)
    account = accounts.create(ulid=ULID(), mongo=ObjectId())
    for criteria in (
        {"pk": str(account.pk)},
        {"pk__in": [account.pk.value]},
        {"ulid": str(account.ulid)},
        {"ulid__gte": ULID.from_parts(account.ulid.timestamp_ms)},
        {"mongo": str(account.mongo).upper()},
    ):
        assert accounts.get(**criteria) == account, criteria


def test_a_type_id_refers_to_another_prefix(site: Any, database: str) -> None:
    account = site.Account.objects.using(database).create()
    order = site.Order.objects.using(database).create(account=account)
    assert isinstance(order.pk, site.OrderId)
    found = site.Order.objects.using(database).select_related("account").get(account=account.pk)
    assert (found.account_id, found.account.pk) == (account.pk, account.pk)
    orders = site.Order.objects.using(database)
    orders.bulk_create(site.Order() for _ in range(100))
    in_order = list(orders.order_by("pk").values_list("pk", flat=True))
    assert len(set(in_order)) == 101 and in_order == sorted(in_order)
    visits = [site.Visit.objects.using(database).create().pk for _ in range(20)]
    assert list(site.Visit.objects.using(database).order_by("pk").values_list("pk", flat=True)) == visits


def test_fixtures_have_texts(site: Any, database: str) -> None:
    account = site.Account.objects.using(database).create(ulid=ULID(), mongo=ObjectId(), trace=uuid7())
    order = site.Order.objects.using(database).create(account=account)
    written = serializers.serialize("json", [account, order])
    first, second = json.loads(written)
    assert (first["pk"], second["pk"]) == (str(account.pk), str(order.pk))
    assert first["fields"] == {name: str(getattr(account, name)) for name in ("ulid", "mongo", "trace")}
    read = [each.object for each in serializers.deserialize("json", written, using=database)]
    assert (read[0].pk, read[0].ulid, read[1].pk, read[1].account_id) == (
        account.pk,
        account.ulid,
        order.pk,
        account.pk,
    )


def test_another_prefix_is_refused_everywhere(site: Any, database: str) -> None:
    accounts = site.Account.objects.using(database)
    with pytest.raises(InvalidTextError, match='the prefix of the ID is "order", and "account" is needed'):
        accounts.filter(pk="order_1asd13xh1f800").exists()
    with pytest.raises(TypeError, match="AccountId takes no OrderId"):
        accounts.filter(pk=site.OrderId()).exists()
    with pytest.raises(InvalidIdError, match="no UUID of version 7"):
        accounts.create(trace=uuid4())
    with pytest.raises(ValidationError, match='"account" is needed'):
        site.Account(pk="order_1asd13xh1f800").full_clean()


def test_a_form_takes_texts_and_says_what_is_wrong(site: Any) -> None:
    form = modelform_factory(site.Account, fields=["ulid", "mongo"])
    good = form({"ulid": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "mongo": "507f1f77bcf86cd799439011"})
    assert good.is_valid(), good.errors
    assert good.save(commit=False).ulid == ULID("01ARZ3NDEKTSV4RRFFQ69G5FAV")
    bad = form({"ulid": "01ARZ3", "mongo": "xyz"})
    assert bad.errors["ulid"] == ["a ULID has 26 characters of Crockford's base 32, the first of them 0 to 7"]
    assert bad.errors["mongo"] == ["an ObjectId has 24 hexadecimal digits"]
