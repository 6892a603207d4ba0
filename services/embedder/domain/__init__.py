"""What the embedder knows of text, free of models and wires."""
