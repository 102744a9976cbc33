"""What several formats share: the extension that keeps the rest, field readers, texts."""
