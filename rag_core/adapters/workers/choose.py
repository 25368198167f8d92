"""Workers by the name that the setting `workers` has for them."""

from __future__ import annotations

from functools import lru_cache

from rag_core.adapters.workers.ray_workers import RayWorkers, ray_workers
from rag_core.errors import InvalidSetting
from rag_core.library.indexing.elsewhere import Workers
from rag_core.settings import Settings

HERE, RAY = "here", "ray"  # the values of the setting


def workers_of(settings: Settings) -> Workers | None:
    """The workers that the settings name; None where documents are made in this process.

    Raises:
        InvalidSetting: there are none of this name, or nothing says the token of the cluster that is named.
        MissingDependency: Ray is not installed.
    """
    if settings.workers == HERE:
        return None
    if settings.workers != RAY:
        raise InvalidSetting(f"There are no workers {settings.workers!r}.", remedy=f"Set workers to one of: {HERE}, {RAY}.")
    return _ray()


@lru_cache(maxsize=1)
def _ray() -> RayWorkers:
    return ray_workers()
