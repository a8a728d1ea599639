"""Gates that several processes share. Imported only by those who use one: what they need is an extra."""
