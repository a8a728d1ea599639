"""The server: uvicorn in a running event loop, the HTTP endpoint and the control interface."""
