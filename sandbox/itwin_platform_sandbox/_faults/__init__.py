"""The faults that a client can meet: their catalogue, scripted and changed responses, faults on the wire."""
