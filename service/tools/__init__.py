"""The tools of a model: their definitions for every vendor, their calls, and the same over MCP."""
