"""The services of Palimpsest, and the kit that they share."""
