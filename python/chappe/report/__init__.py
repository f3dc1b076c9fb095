"""Reports: self-contained HTML files, which need no network."""
