"""`python -m pnsight`."""

from pnsight.cli.main import main

main()
