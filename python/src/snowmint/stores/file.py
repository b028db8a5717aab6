"""Slots of one machine."""

import os
from pathlib import Path


class FileStore:
    """Leases in a directory of this machine: a locked file a node, as `store="file:DIRECTORY"` gives them.

    >>> import tempfile
    >>> from snowmint import Snowflake
    >>> from snowmint.stores import FileStore
    >>> with tempfile.TemporaryDirectory() as directory, Snowflake(store=FileStore(directory)) as generator:
    ...     generator.node
    0

    Args:
        path: The directory, made if it is missing.
        allow_unsafe: Whether a place is accepted where locks or writes may be lost, as tests may want: NFS, SMB, 9p,
            FUSE, tmpfs, overlayfs, and volumes that one pod or container has for itself.
    """

    def __init__(self, path: str | os.PathLike[str], *, allow_unsafe: bool = False) -> None:
        self.path: Path = Path(path).absolute()
        self.allow_unsafe = allow_unsafe

    @property
    def url(self) -> str:
        """The same as a URL."""
        return f"file:{self.path}{'?allow_unsafe=true' if self.allow_unsafe else ''}"

    def __repr__(self) -> str:
        return f"FileStore({str(self.path)!r})"
