"""A small Django project with one application, itself, for `test_django.py`."""
