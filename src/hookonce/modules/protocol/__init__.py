"""Messages and descriptors of the module protocol."""
