"""When the next attempt may start: the gate, its window of cooldown and slow start, the queue, a gate that fails."""
