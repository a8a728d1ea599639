"""`python -m itwin_platform_sandbox`: run the sandbox until SIGTERM or SIGINT."""

from ._command_line import command_line, main

__all__ = ["command_line", "main"]

if __name__ == "__main__":
    raise SystemExit(main())
