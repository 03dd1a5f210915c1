"""`python -m tbgen`: the command line."""

from tbgen.cli import main

if __name__ == "__main__":
    main(prog_name="tbgen")
