"""The service with one query a call of the model, to see what batching gains: python -m benchmarks.load.unbatched."""

from __future__ import annotations

import sys
from unittest.mock import patch

from embeddings import encoding
from service.cli import main

if __name__ == "__main__":
    with patch.object(encoding, "_LOOK_AHEAD", 1):
        sys.exit(main())
