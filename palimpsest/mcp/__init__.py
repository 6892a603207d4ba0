"""Palimpsest for hosts of the Model Context Protocol: a server over the client (docs/tools.md, extra `mcp`).

`palimpsest.mcp.stdio` serves a process's standard streams; over HTTP the gateway serves it, if it is told to.
"""
