"""Stores on SQL."""
