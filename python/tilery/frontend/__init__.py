"""Shared front end: rewrite a function's control flow into hook calls, then run it with symbolic values."""
