"""What sends one attempt: the platform's requests and errors."""
