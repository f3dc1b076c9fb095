"""What all rooms use: files, outputs, progress, words of messages."""
