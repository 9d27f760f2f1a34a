"""`python -m server`."""

from server.cli import main

if __name__ == "__main__":
    main(prog_name="python -m server")
