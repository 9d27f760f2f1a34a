"""`python -m server`."""

import os

# NumPy reads it as it is loaded. Matrices are small here: threads wait for each other longer than they compute.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from server.cli import main

if __name__ == "__main__":
    main(prog_name="python -m server")
