"""``python -m chappe`` is the command ``chappe``."""

import sys

from chappe.cli import main

if __name__ == "__main__":
    sys.exit(main())
