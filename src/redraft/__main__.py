"""``python -m redraft``: the `redraft` command."""

from redraft.cli import main

if __name__ == "__main__":
    main()
