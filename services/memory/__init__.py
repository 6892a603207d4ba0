"""The services that keep what is remembered."""
