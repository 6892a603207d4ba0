"""What people state in messages, read without any model (SPEC J-8): begin with `grammar.extract`."""
