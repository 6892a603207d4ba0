"""The gRPC side."""
