"""The settings. The database is in DATABASE_URL."""

import os

import dj_database_url

SECRET_KEY = os.environ.get("SECRET_KEY", "for this example only")
ALLOWED_HOSTS = ["127.0.0.1", "localhost"]
INSTALLED_APPS = ["shop"]
ROOT_URLCONF = "shop.urls"
DATABASES = {"default": dj_database_url.config()}

# Each process leases a separate node from the same database. Without this setting, it leases from this machine alone.
SNOWMINT = {"store": os.environ["DATABASE_URL"], "namespace": "shop"}
