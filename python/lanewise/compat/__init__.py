"""Modules that let programs written for other libraries run: only their import line changes."""
