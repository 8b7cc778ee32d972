"""The command's subcommands: a module each, of the subcommand's name, with `add_arguments(parser)` and `run(arguments)`, which
gives the exit status. A module's docstring is its help. They are imported one at a time: the command starts in milliseconds."""

COMMANDS = {
    "run": "runs a Python program in which ninetoothed, tilelang, tileon and triton mean Tilery's languages",
    "compile": "compiles a kernel ahead of time, for C programs: a header, a C file and a bundle of machine code",
    "bench": "runs a program and times its launches, by kernel and shapes",
    "explain": "runs a program and says of each launch what it does, how fast, by which plan, and what holds it back",
    "demo": "a matmul in each language, checked and timed; needs NumPy",
    "doctor": "says what is here (CPU, GPU, driver, cache, versions, variables) and what to mend",
    "cache": "says what the disk cache holds, or empties it",
}
