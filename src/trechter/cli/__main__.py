"""`python -m trechter.cli`."""

from trechter.cli import main

main()
