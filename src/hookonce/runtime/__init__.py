"""What running calls tell each other, in a directory that is ours alone and gone when the machine restarts."""
