"""What all tests share."""

from __future__ import annotations

import signal

# A shell that starts the tests in the background lets them ignore Ctrl-C, which every process that
# they start would inherit, and there are tests of Ctrl-C among them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
