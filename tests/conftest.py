"""What all tests share."""

from __future__ import annotations

import os
import signal

from hypothesis import settings

# Two workers on two processors, each of whose threads of BLAS waits in a loop for the other's, take
# several times as long on small matrices. Tests of threads ask for their own.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A tree that passes today passes tomorrow: examples are drawn from a fixed seed, unless new ones
# are asked for (QWO_EXPLORE=1).
settings.register_profile("fixed", derandomize=True)
if not os.environ.get("QWO_EXPLORE"):
    settings.load_profile("fixed")

# A shell that starts the tests in the background lets them ignore Ctrl-C, which every process that
# they start would inherit, and there are tests of Ctrl-C among them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
