"""The functions of `snowmint.stores`."""

def engine_settings(engine: str) -> list[str]:
    """Lists the settings of an engine that decide whether it keeps confirmed writes."""

def misconfigured(engine: str, code: str, message: str) -> str | None:
    """Returns what to add to an error that means a wrong configuration of the store; None for another error."""
    ...

def is_run_out(engine: str, code: str) -> bool:
    """Returns whether an error of an engine, by its code, says that a sequence has no more numbers."""

def is_overtaken(engine: str, code: str) -> bool:
    """Returns whether an error of an engine, by its code, says that another session was faster when tables are made."""
    ...

def is_undone(engine: str, code: str) -> bool:
    """Returns whether an error of an engine, by its code, says that the server undid the whole transaction."""

def refuse_unsafe(store: str, engine: str, found: dict[str, str]) -> None:
    """Refuses unsafe settings of an engine, given by name.

    Raises:
        UnsafeStoreError: With setting, value and cure.
    """

def refuse_lossy_place(store: str, path: str) -> None:
    """Refuses the path of a database file that can be lost, or that other processes cannot reach by the same path.

    Raises:
        UnsafeStoreError: With what to name instead.
    """

def standby_risk(store: str, engine: str, found: dict[str, str]) -> str | None:
    """Says how a failover could lose confirmed writes under settings of an engine, by name; None if it cannot."""
