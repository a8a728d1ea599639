"""What an operator sees of calls and attempts: events, log lines, spans."""
