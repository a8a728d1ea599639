"""One module for each operation: a function of what is stored and what was asked, to an answer or a refusal."""
