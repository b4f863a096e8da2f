"""`python -m appyc`: the `appyc` command."""

from appyc.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
