"""The command line: ``lanewise tour``."""

import argparse

from . import __version__
from .tour import tour


def main() -> None:
    """Run a command."""
    parser = argparse.ArgumentParser(
        prog="lanewise",
        description="Write a function for one element; lanewise runs it over all of them.",
    )
    parser.add_argument("--version", action="version", version=f"lanewise {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    commands.add_parser("tour", help="map a few functions; show results, times, what was done")
    parser.parse_args()
    tour()


if __name__ == "__main__":
    main()
