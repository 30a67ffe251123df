"""`python -m trechter`."""

from trechter.cli import main

main()
