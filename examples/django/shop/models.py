"""The tables."""

from django.db import models
from snowmint.django import SnowflakeField


class Customer(models.Model):
    """A customer, whose primary key is minted when the object is created."""

    id = SnowflakeField(primary_key=True)
    name = models.CharField(max_length=100)


class Order(models.Model):
    """An order of a customer."""

    id = SnowflakeField(primary_key=True)
    customer = models.ForeignKey(Customer, models.CASCADE)
    item = models.CharField(max_length=100)
