"""The server: uvicorn in a running event loop, the HTTP endpoint, the control interface and the page."""
