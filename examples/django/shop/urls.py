"""The addresses."""

from django.urls import path

from shop import views

urlpatterns = [path("orders", views.place), path("orders/<int:id>", views.show)]
