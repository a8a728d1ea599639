"""From the bytes of a response to models, where a faster way than the models' own exists."""
