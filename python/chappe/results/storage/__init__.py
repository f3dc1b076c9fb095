"""Results as files: tables, folders, captures, recorded rows."""
