"""What all services share: settings, errors, calls, lifecycle, stores."""
