"""The field for Django: a project with migrations on SQLite, PostgreSQL and MariaDB."""

import importlib
import io
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import django
import pytest
from django.core import serializers
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.management import call_command
from django.db import connections, models, transaction
from django.db.migrations.writer import MigrationWriter
from django.forms import modelform_factory
from django.test.utils import override_settings
from sqlalchemy import create_engine

import processes
import snowmint.django as snowmint_django
from losses import lose, wait_until
from servers import Shared
from snowmint import InvalidIdError, Snowflake, layouts
from snowmint.django import SnowflakeField
from snowmint.stores import MemoryStore, SqlStore

ALIASES = ["default", "postgres", "mariadb"]


@pytest.fixture(scope="module")
def environment(postgres: Shared, mariadb: Shared, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The default that the project's settings name."""
    place = tmp_path_factory.mktemp("site")
    (place / "written_migrations").mkdir()
    (place / "written_migrations" / "__init__.py").touch()
    return {
        "DJANGO_SETTINGS_MODULE": "django_site.settings",
        "DJANGO_SITE_SQLITE": str(place / "ids.db"),
        "DJANGO_SITE_POSTGRES": postgres.new_database(),
        "DJANGO_SITE_MARIADB": mariadb.new_database(),
        "PYTHONPATH": f"{place}:{Path(__file__).parent}",
        "SNOWMINT_STATE_DIR": str(place),
    }


def manage(environment: dict[str, str], *words: str) -> str:
    """Returns the output of a Django command that runs in a separate process."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "django", *words],
        env=processes.environment(None, **environment),
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


@pytest.fixture(scope="module")
def migration(environment: dict[str, str]) -> str:
    """The migration that Django writes, which all three databases have run."""
    manage(environment, "makemigrations", "django_site")
    for alias in ALIASES:
        manage(environment, "migrate", "--database", alias)
    place = Path(environment["DJANGO_SITE_SQLITE"]).parent
    return (place / "written_migrations" / "0001_initial.py").read_text()


@pytest.fixture(scope="module")
def site(environment: dict[str, str], migration: str) -> Iterator[Any]:
    """The models, in this process."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("DJANGO_SETTINGS_MODULE", *(name for name in environment if name.startswith("DJANGO_SITE"))):
            patch.setenv(name, environment[name])
        patch.syspath_prepend(Path(environment["DJANGO_SITE_SQLITE"]).parent)
        django.setup()
        yield importlib.import_module("django_site.models")
        connections.close_all()


@pytest.fixture(params=ALIASES)
def database(request: pytest.FixtureRequest, site: Any) -> Iterator[str]:
    """One of the databases; the fixture rolls back the writes of a test."""
    with transaction.atomic(using=request.param):
        yield request.param
        transaction.set_rollback(True, using=request.param)


def test_a_migration_names_the_field_and_no_generator(migration: str) -> None:
    field = "snowmint.django.SnowflakeField"
    assert f"('id', {field}(primary_key=True, serialize=False))" in migration
    assert f"('id', {field}(primary_key=True, serialize=False, verbose_name='number'))" in migration
    assert f"('tweet', {field}(null=True))" in migration
    own = "default=django_site.models.vouched_id, editable=True"
    assert f"('id', {field}({own}, primary_key=True, serialize=False))" in migration
    assert f"('trace', {field}(default=snowmint.django.next_id, editable=False, unique=True))" in migration
    assert "import snowmint.django\n" in migration


def test_a_second_makemigrations_finds_no_change(environment: dict[str, str], migration: str) -> None:
    assert manage(environment, "makemigrations", "--check") == "No changes detected\n"
    assert "no issues" in manage(environment, "check")


def test_commands_leave_the_tables_of_leases_alone(environment: dict[str, str], migration: str) -> None:
    url = f"sqlite:///{environment['DJANGO_SITE_SQLITE']}"
    with Snowflake(store=SqlStore(create_engine(url)), namespace="orders"):
        assert "No changes detected" in manage(environment, "makemigrations", "--check")
        manage(environment, "migrate")
        manage(environment, "flush", "--no-input")
        records = SqlStore(create_engine(url)).list("leases/orders/")
    assert [node for node, _, _ in records] == ["0"]


def test_commands_take_no_lease(environment: dict[str, str], migration: str) -> None:
    place = Path(environment["DJANGO_SITE_SQLITE"]).parent
    # The one generator that the models make themselves has a vouched node.
    assert {path.name for path in place.iterdir()} == {"ids.db", "written_migrations"}


@pytest.mark.parametrize("alias", ALIASES)
def test_the_columns_are_bigint_and_number_nothing(site: Any, alias: str) -> None:
    output = io.StringIO()
    call_command("sqlmigrate", "django_site", "0001", database=alias, stdout=output, no_color=True)
    sql = output.getvalue().replace("`", '"')
    assert '"id" bigint NOT NULL PRIMARY KEY' in sql
    assert '"author_id" bigint NULL' in sql
    assert '"tweet" bigint NULL' in sql
    # Django creates the table in the middle, with its own number, and it refers to both tables by bigint.
    middle = sql[sql.index('CREATE TABLE "django_site_post_readers"') :].splitlines()[0]
    assert '"post_id" bigint NOT NULL' in middle and '"author_id" bigint NOT NULL' in middle
    for line in sql.splitlines():
        if line.startswith("CREATE TABLE") and line is not middle and "readers" not in line:
            assert not any(word in line for word in ("IDENTITY", "AUTO_INCREMENT", "AUTOINCREMENT", "serial"))


def test_an_object_has_its_id_before_it_is_saved(site: Any, database: str) -> None:
    author = site.Author(name="a")
    assert author._state.adding
    assert layouts.TWITTER.decode(author.pk).node == snowmint_django.generator().node
    author.save(using=database)
    found = site.Author.objects.using(database).get(name="a")
    assert found.pk == author.pk and type(found.pk) is int
    found.name = "b"
    found.save()
    assert site.Author.objects.using(database).get(pk=author.pk).name == "b"


def test_every_way_to_create_gives_each_row_an_id_of_its_own(site: Any, database: str) -> None:
    objects = site.Author.objects.using(database)
    objects.bulk_create(site.Author(name="bulk") for _ in range(500))
    for _ in range(20):
        objects.create(name="created")
    objects.get_or_create(name="got")
    objects.update_or_create(name="updated")
    assert objects.count() == 522
    assert len(set(objects.values_list("pk", flat=True))) == 522


def test_a_row_refers_to_another_by_its_id(site: Any, database: str) -> None:
    author = site.Author.objects.using(database).create(name="a")
    post = site.Post.objects.using(database).create(author=author, tweet=2**63 - 1)
    post.readers.add(author)
    found = site.Post.objects.using(database).select_related("author").get(author_id=author.pk)
    assert (found.author, found.tweet, found.readers.get()) == (author, 2**63 - 1, author)
    assert site.Author.objects.using(database).get(post=post) == author


def test_an_own_function_mints_and_a_default_mints_for_other_columns(site: Any, database: str) -> None:
    events = site.Event.objects.using(database).bulk_create([site.Event(), site.Event()])
    assert {layouts.TWITTER.decode(event.pk).node for event in events} == {5}
    assert len({*(event.pk for event in events), *(event.trace for event in events)}) == 4
    assert site.Post().tweet is None


def test_the_ids_of_a_time_are_in_the_range_of_a_layout(site: Any, database: str) -> None:
    midnight = datetime(2026, 1, 1, tzinfo=UTC)
    times = [midnight + timedelta(milliseconds=ms) for ms in (-1, 0, 86_399_999, 86_400_000)]
    ids = [layouts.TWITTER.encode(timestamp=time, node=1023, sequence=4095) for time in times]
    objects = site.Author.objects.using(database)
    objects.bulk_create(site.Author(pk=id) for id in ids)
    day = layouts.TWITTER.id_range(midnight, midnight + timedelta(days=1, milliseconds=-1))
    assert list(objects.filter(pk__range=day).order_by("pk").values_list("pk", flat=True)) == ids[1:3]


def test_lookups_take_ints_and_digits_and_find_nothing_out_of_range(site: Any, database: str) -> None:
    objects = site.Author.objects.using(database)
    author = objects.create(pk=2**53 + 1)
    assert objects.get(pk=str(author.pk)) == objects.get(pk__in=[str(author.pk), 5]) == author
    for beyond in (-1, 2**63, 2**64, str(2**63), "9" * 40):
        assert not objects.filter(pk=beyond).exists()
    assert objects.filter(pk__lt=2**64).count() == objects.filter(pk__gt=-1).count() == 1


@pytest.mark.parametrize("bad", ["", "x", "-1", "+1", " 1", "1_0", "1.0", "٥"])
def test_a_lookup_by_what_is_no_number_is_a_value_error(site: Any, bad: str) -> None:
    with pytest.raises(ValueError, match="Field 'id' expected an ID, an int or decimal digits, but got"):
        site.Author.objects.filter(pk=bad)
    with pytest.raises(ValueError, match="expected an ID"):
        site.Post.objects.filter(author=bad)


@pytest.mark.parametrize("bad", [True, 1.5, b"1", [1]])
def test_a_lookup_by_another_type_is_a_type_error(site: Any, bad: object) -> None:
    with pytest.raises(TypeError, match="Field 'id' expected an ID, an int or decimal digits, but got"):
        site.Author.objects.filter(pk=bad)


@pytest.mark.parametrize("bad", [-1, 2**63, 2**64 - 1, str(2**63)])
def test_a_number_out_of_range_is_never_stored(site: Any, database: str, bad: object) -> None:
    objects = site.Post.objects.using(database)
    post = objects.create()
    changed = site.Post(pk=post.pk, tweet=bad)
    attempts: list[Callable[[], object]] = [
        lambda: objects.create(pk=bad),
        lambda: objects.bulk_create([site.Post(tweet=bad)]),
        lambda: objects.update(tweet=bad),
        lambda: objects.bulk_update([changed], ["tweet"]),
        lambda: site.Post(author_id=bad).save(using=database),
    ]
    for attempt in attempts:
        with pytest.raises(InvalidIdError), transaction.atomic(using=database):
            attempt()
    assert list(objects.values_list("pk", "tweet")) == [(post.pk, None)]


@pytest.mark.parametrize("bad", [-1, 2**63, "x", "-1", True, 1.5])
def test_full_clean_says_what_is_wrong(site: Any, bad: object) -> None:
    with pytest.raises(ValidationError) as caught:
        site.Post(tweet=bad).clean_fields(exclude=["author"])
    assert set(caught.value.message_dict) == {"tweet"}


def test_full_clean_takes_a_text_of_digits(site: Any) -> None:
    post = site.Post(tweet="9223372036854775807")
    post.clean_fields(exclude=["author"])
    assert post.tweet == 2**63 - 1


def test_expressions_are_computed_by_the_database(site: Any, database: str) -> None:
    objects = site.Post.objects.using(database)
    post = objects.create(tweet=7)
    objects.update(tweet=models.F("tweet") + 1)
    assert objects.annotate(shard=models.F("pk") % 1024).get(tweet=8).shard == post.pk % 1024
    assert objects.aggregate(models.Max("pk")) == {"pk__max": post.pk}


def test_a_key_stands_in_no_form_and_another_column_is_a_number(site: Any, database: str) -> None:
    form = modelform_factory(site.Post, fields="__all__")
    assert set(form.base_fields) == {"author", "tweet", "readers"}
    assert form.base_fields["tweet"].min_value == 0
    assert not form({"tweet": "-5"}).is_valid()
    assert form({"tweet": "9223372036854775808"}).errors["tweet"]
    assert set(modelform_factory(site.Event, fields="__all__").base_fields) == {"id"}


def test_fixtures_keep_every_digit(site: Any, database: str) -> None:
    author = site.Author(pk=2**63 - 1, name="a")
    for form in ("json", "xml"):
        (restored,) = serializers.deserialize(form, serializers.serialize(form, [author]))
        assert restored.object.pk == author.pk


def test_threads_that_share_the_generator_repeat_nothing(site: Any) -> None:
    with ThreadPoolExecutor(8) as pool:
        ids = [id for run in pool.map(lambda _: [site.Author().pk for _ in range(500)], range(8)) for id in run]
    assert len(set(ids)) == len(ids) == 4000


def test_settings_choose_the_layout_and_tests_may_override_them(site: Any) -> None:
    assert snowmint_django.generator().status().namespace == "site"
    with override_settings(SNOWMINT={"layout": "sonyflake", "node": 258}):
        assert layouts.SONYFLAKE.decode(site.Author().pk).node == 258
    assert layouts.TWITTER.decode(site.Author().pk).node == snowmint_django.generator().node


@pytest.mark.parametrize("bad", [None, "twitter", {"nod": 5}, {1: 2}, {"node": 1024}])
def test_settings_that_make_no_sense_are_improperly_configured(site: Any, bad: object) -> None:
    with override_settings(SNOWMINT=bad):
        with pytest.raises(ImproperlyConfigured, match="^SNOWMINT is a dict of options"):
            site.Author()
        [error] = run_checks(tags=["snowmint"])
        assert error.id == "snowmint.E001" and error.msg.startswith("SNOWMINT is a dict of options")


def test_right_settings_pass_the_system_check(site: Any) -> None:
    assert run_checks(tags=["snowmint"]) == []


def test_a_layout_that_is_not_valid_is_refused_at_the_import_of_a_model(site: Any) -> None:
    with override_settings(SNOWMINT={"layout": "twiter"}):
        with pytest.raises(ImproperlyConfigured, match="layout of SNOWMINT is not valid"):
            SnowflakeField(primary_key=True)
        SnowflakeField(null=True)
        [error] = run_checks(tags=["snowmint"])
        assert error.id == "snowmint.E001"


def test_a_lost_generator_is_replaced(site: Any, tmp_path: Path) -> None:
    store = MemoryStore()
    with override_settings(SNOWMINT={"store": store, "namespace": "lost", "window_ms": 1000, "max_wait_ms": 60_000}):
        first, lost = snowmint_django.next_id(), snowmint_django.generator()
        lose(store, "lost")
        wait_until(lambda: lost.status().lost is not None)
        second, new = snowmint_django.next_id(), snowmint_django.generator()
        assert new is not lost
        assert {lost.node, new.node} == {0, 1} and first != second
        new.close()


@pytest.mark.parametrize(
    ("options", "written"),
    [
        ({"primary_key": True}, "primary_key=True"),
        ({"primary_key": True, "editable": True}, "editable=True, primary_key=True"),
        ({"primary_key": True, "default": 7}, "default=7, primary_key=True"),
        ({"primary_key": True, "db_default": 7}, "db_default=7, primary_key=True"),
        ({"primary_key": True, "db_column": "no", "help_text": "h"}, "db_column='no', help_text='h', primary_key=True"),
        ({}, ""),
        ({"editable": False, "db_index": True}, "db_index=True, editable=False"),
    ],
)
def test_a_field_is_the_same_after_a_migration(site: Any, options: dict[str, Any], written: str) -> None:
    field = SnowflakeField(**options)
    assert MigrationWriter.serialize(field)[0] == f"snowmint.django.SnowflakeField({written})"
    again = field.clone()
    for name in ("primary_key", "editable", "default", "db_default"):
        assert getattr(again, name) == getattr(field, name)
