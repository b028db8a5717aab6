"""Findings about the settings of a store."""

import logging

from snowmint._errors import UnsafeStoreError
from snowmint._snowmint import refuse_unsafe, standby_risk

_log = logging.getLogger("snowmint")


class Findings:
    """Judges the settings of an engine by core's table, and logs each finding once.

    Each look refuses a setting by which the server itself can lose confirmed writes. The first look and claims refuse
    one that matters in a failover, unless `allow_standby`; later looks report it.
    """

    def __init__(self, store: str, engine: str, *, allow_standby: bool) -> None:
        self._store, self._engine, self._allow_standby = store, engine, allow_standby
        self._admitted = False
        self.refused: str | None = None
        """Why the last look refused the store."""
        self.risk: str | None = None
        """The writes that a failover could lose, by the last look."""

    def judge(self, found: dict[str, str]) -> None:
        """Judges the values of settings, by their names."""
        try:
            refuse_unsafe(self._store, self._engine, found)
        except UnsafeStoreError as error:
            # Kept first: another thread must not log the same.
            known, self.refused = self.refused, str(error)
            if known != self.refused:
                _log.warning("nothing new is granted: %s", error)
            raise
        self.refused = None
        risk = standby_risk(self._store, self._engine, found)
        known, self.risk = self.risk, risk
        if risk is not None and risk != known:
            _log.warning("%s", risk)
        if not self._admitted:
            self.refuse_standby()
            self._admitted = True

    def refuse_standby(self) -> None:
        """Refuses a claim that a failover could lose."""
        if self.risk is not None and not self._allow_standby:
            raise UnsafeStoreError(self.risk)
