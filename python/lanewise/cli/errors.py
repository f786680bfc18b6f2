"""What ends a command with one line and exit code 2."""


class CommandError(Exception):
    """The command cannot be done as it was given; the message is one line."""
