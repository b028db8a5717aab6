"""Its settings; a file of SQLite and the URLs of the other databases come from the environment."""

import os
from urllib.parse import urlsplit

import pymysql

# mysqlclient, which Django has in mind, has to be compiled.
pymysql.install_as_MySQLdb()

SECRET_KEY = "for tests"
INSTALLED_APPS = ["django_site", "django.contrib.contenttypes", "django.contrib.auth"]
POSTGRES, MARIADB = (urlsplit(os.environ.get(f"DJANGO_SITE_{name}", "")) for name in ("POSTGRES", "MARIADB"))
DATABASES = {
    "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ["DJANGO_SITE_SQLITE"]},
    "postgres": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": POSTGRES.path[1:],
        "USER": "postgres",
        "HOST": "127.0.0.1",
        "PORT": POSTGRES.port or "",
    },
    "mariadb": {
        "ENGINE": "django.db.backends.mysql",
        "NAME": MARIADB.path[1:],
        "USER": "root",
        "HOST": "127.0.0.1",
        "PORT": MARIADB.port or "",
    },
}
# A package that the tests make.
MIGRATION_MODULES = {"django_site": "written_migrations"}
SNOWMINT = {"layout": "twitter", "namespace": "site"}
USE_TZ = True
