"""How connections are opened, held, checked before they are used again, and how they fail."""
