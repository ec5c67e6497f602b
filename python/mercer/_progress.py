"""Progress of a training: a bar in a notebook, a line on a terminal."""
from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Any

WORDS = {"read": "reading", "map": "mapping", "solve": "solving", "cluster": "clustering"}


class Progress:
    """Is told of a training a few times a second, and shows it once it has taken a second."""

    def __init__(self, terminal: bool) -> None:
        self._begun, self._terminal = time.monotonic(), terminal
        self._handle: Any = None
        self._shown = 0.0
        self._width = 0
        self._display = _display()

    def __call__(self, at: dict[str, Any]) -> None:
        now = time.monotonic()
        if now - self._begun < 1 or now - self._shown < .2:
            return
        self._shown = now
        share = max(0.0, min(1.0, at["share"]))
        text = f"{WORDS.get(at['stage'], at['stage'])}, {at['rows']:,} rows" if at["rows"] else WORDS.get(at["stage"], at["stage"])
        text += f", {now - self._begun:.0f} s"
        if self._display is not None:
            self._notebook(f"<progress max='1' value='{share:.3f}' style='width:20em'></progress> <small>{text}</small>")
        elif self._terminal:
            line = f"mercer: {text}" + (f", {share:.0%}" if at["share"] >= 0 else "")
            sys.stderr.write("\r" + line.ljust(self._width))
            sys.stderr.flush()
            self._width = len(line)

    def _notebook(self, html: str) -> None:
        if self._handle is None:
            self._handle = self._display.display(self._display.HTML(html), display_id=True)
        else:
            self._handle.update(self._display.HTML(html))

    def close(self) -> None:
        """Takes away what was shown."""
        if self._handle is not None:
            self._notebook("")
        elif self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()


@contextlib.contextmanager
def showing(progress: Any) -> Iterator[Any]:
    """What is told of a training: by "auto" a bar in a notebook, by True a line on a terminal too, by False nothing; or a function."""
    if callable(progress) or not progress:
        yield progress or None
        return
    shown = Progress(progress is True)
    try:
        yield shown
    finally:
        shown.close()


def _display() -> Any:
    """IPython.display if this is a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or type(shell).__name__ != "ZMQInteractiveShell":
        return None
    from IPython import display
    return display
