from processes import python, tilery_run  # noqa: F401 # fixtures
