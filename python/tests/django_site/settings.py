"""Its settings; a file of SQLite and the ports of the servers come from the environment."""

import os

import pymysql

# mysqlclient, which Django has in mind, has to be compiled.
pymysql.install_as_MySQLdb()

SECRET_KEY = "for tests"
INSTALLED_APPS = ["django_site", "django.contrib.contenttypes", "django.contrib.auth"]
DATABASES = {
    "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ["DJANGO_SITE_SQLITE"]},
    "postgres": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "django_site",
        "USER": "postgres",
        "HOST": "127.0.0.1",
        "PORT": os.environ.get("DJANGO_SITE_POSTGRES", ""),
    },
    "mariadb": {
        "ENGINE": "django.db.backends.mysql",
        "NAME": "django_site",
        "USER": "root",
        "HOST": "127.0.0.1",
        "PORT": os.environ.get("DJANGO_SITE_MARIADB", ""),
    },
}
# A package that the tests make.
MIGRATION_MODULES = {"django_site": "written_migrations"}
SNOWMINT = {"layout": "twitter", "namespace": "site"}
USE_TZ = True
