"""qwo studio: learn, look, correct and learn again in a browser, on this machine alone."""

from qwo.studio.server import make_app

__all__ = ["make_app"]
