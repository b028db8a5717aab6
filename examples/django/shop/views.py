"""Answers in JSON. IDs are strings there, because JavaScript rounds numbers above 2^53."""

import json

from django.http import HttpRequest, JsonResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_GET, require_POST

from shop.models import Customer, Order


@require_POST
def place(request: HttpRequest) -> JsonResponse:
    """Stores an order of a new customer."""
    wanted = json.loads(request.body)
    customer = Customer.objects.create(name=wanted["name"])
    order = Order.objects.create(customer=customer, item=wanted["item"])
    return JsonResponse(shown(order), status=201)


@require_GET
def show(request: HttpRequest, id: int) -> JsonResponse:
    """Returns the order with this ID."""
    return JsonResponse(shown(get_object_or_404(Order, pk=id)))


def shown(order: Order) -> dict[str, str]:
    """Returns the fields of an order for a response."""
    return {"id": str(order.pk), "customer": str(order.customer_id), "item": order.item}
