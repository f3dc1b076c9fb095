"""Text of commands: tables and sentences about runs and studies."""
