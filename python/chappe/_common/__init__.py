"""Helpers of all rooms: files, outputs, progress, words of messages."""
