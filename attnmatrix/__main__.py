"""`python -m attnmatrix`."""

from .cli import main

raise SystemExit(main())
