"""Models: an ONNX folder, a remote endpoint, hashing for tests."""
