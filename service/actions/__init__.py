"""What the service does: functions of a runtime and plain values that raise the domain's errors."""
