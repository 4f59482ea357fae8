"""The HTTP edge: it translates requests to actions, and answers and errors to HTTP; it decides nothing."""
