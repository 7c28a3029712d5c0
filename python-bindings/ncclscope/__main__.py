"""python -m ncclscope: the command that came with the package."""

import os
import sys


def command() -> str:
    """Where the command lies that came with this package."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "ncclscope")


def main() -> None:
    """Become the command."""
    path = command()
    os.execv(path, ["ncclscope"] + sys.argv[1:])


if __name__ == "__main__":
    main()
