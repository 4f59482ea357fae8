"""Does the right entry come? Data sets, systems and measures as rows; see docs/recall.md."""
