"""Proton's interface over the product's own timing: which kernels ran in which scopes, how often and how long."""

from .scopes import cpu_timed_scope, enter_scope, exit_scope, metadata_state, profile, scope
from .session import DEFAULT_PROFILE_NAME, activate, deactivate, finalize, start

state = metadata_state

__all__ = [
    "DEFAULT_PROFILE_NAME",
    "activate",
    "cpu_timed_scope",
    "deactivate",
    "enter_scope",
    "exit_scope",
    "finalize",
    "profile",
    "scope",
    "start",
    "state",
]
