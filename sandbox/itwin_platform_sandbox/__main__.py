"""`python -m itwin_platform_sandbox`: run the sandbox until SIGTERM or SIGINT."""

try:
    from ._command_line import command_line, main
except ModuleNotFoundError as _error:
    raise SystemExit(f"{_error}: it needs the extra sandbox: run `pip install starlette uvicorn lark`") from None

__all__ = ["command_line", "main"]

if __name__ == "__main__":
    raise SystemExit(main())
