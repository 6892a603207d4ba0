"""Scripts of the project: building the model, its reference vectors, the demonstration."""
