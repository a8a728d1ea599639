"""When the next attempt may start: the gate of a process, and the gate that processes share."""
