"""Secret detection and masking, used by everything that writes a text to a disk or a socket."""
