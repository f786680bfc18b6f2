"""The command line: ``lanewise`` and ``python -m lanewise``.

A command that cannot be done ends with one line on stderr and exit code 2.
"""

import argparse
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import lanewise as lw

from .errors import CommandError
from .target import in_one_line

_FUNCTION = """\
FUNCTION is FILE.py:NAME, or an expression like 'sin(x) + cos(x) * y': its free names are the
parameters, in the order of appearance (x, y, z alone in this order), and its functions are those
of NumPy and math. INPUT is a number, or a .npy, .npz or .csv file; FILE:NAME picks an array, field
or column; a file of several gives them to the parameters of these names; NAME=INPUT says which
parameter it is for."""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}. Try {self.prog} --help.\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    parser = _parser()
    options, others = parser.parse_known_args(arguments)
    if options.command == "fuzz":
        options.others = others
    elif others:
        parser.error(f"unrecognized arguments: {' '.join(others)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # clean up first
    try:
        return _run(options)
    except CommandError as error:
        message = str(error)
    except KeyboardInterrupt:
        print(f"lanewise {options.command}: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    except BrokenPipeError:
        sys.stderr.close()  # nobody reads
        return 128 + signal.SIGPIPE
    except lw.InternalError:
        raise
    except Exception as error:
        message = in_one_line(error)
    print(f"lanewise {options.command}: {message}", file=sys.stderr)
    return 2


def _run(options: argparse.Namespace) -> int:
    """Call the command; each is imported only when it is asked for."""
    command: Callable[[argparse.Namespace], int]
    if options.command == "map":
        from .map import run_map as command
    elif options.command == "explain":
        from .map import run_explain as command
    elif options.command == "tour":
        from .tour import run_tour as command
    elif options.command == "bench":
        from .bench import run_bench as command
    elif options.command == "profile":
        from .profile import run_profile as command
    elif options.command == "cache":
        from .cache import run_cache as command
    elif options.command == "fuzz":
        from .fuzz import run_fuzz as command
    else:
        from .doctor import run_doctor as command
    return command(options)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="lanewise",
        description="Write a function for one element; lanewise runs it over all of them.",
    )
    parser.add_argument("--version", action="version", version=f"lanewise {lw.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")

    def add(name: str, text: str, **more: Any) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=text, description=text, **more)

    plain = argparse.RawDescriptionHelpFormatter
    command = add("map", "map a function over files", epilog=_FUNCTION, formatter_class=plain)
    command.usage = "lanewise map [options] FUNCTION INPUT... OUTPUT"
    _add_function(command, files="+")
    command.add_argument("--seed", type=int, help="of random draws")
    command = add("explain", "say how it is mapped", epilog=_FUNCTION, formatter_class=plain)
    command.usage = "lanewise explain [options] FUNCTION [INPUT...]"
    _add_function(command, files="*")
    command = add("tour", "in a minute: what is slow elsewhere, and what happens here")
    command.add_argument(
        "--html",
        metavar="FILE",
        default="lanewise-tour.html",
        help="page with pictures that is written (default: %(default)s; - for none)",
    )
    command = add(
        "bench", "time a few functions against NumPy, and Numba, JAX, Dr.Jit where they are there"
    )
    command.add_argument(
        "--elements", type=int, default=1_000_000, help="of each (default: %(default)s)"
    )
    command = add("profile", "run a Python script and show where the time of its maps goes")
    command.usage = "lanewise profile [-o FILE] SCRIPT [ARGUMENT...]"
    command.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default="lanewise-trace.json",
        help="trace for ui.perfetto.dev or chrome://tracing (default: %(default)s; - for none)",
    )
    command.add_argument("script", metavar="SCRIPT")
    command.add_argument("arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER)
    command = add("cache", "machine code that is kept on disk")
    command.add_argument("action", choices=("info", "clear"))
    add("fuzz", "compare random programs on all tiers; options are those of lanewise_fuzz")
    add("doctor", "check the installation and this machine")
    return parser


def _add_function(parser: argparse.ArgumentParser, files: str) -> None:
    parser.add_argument("function", metavar="FUNCTION")
    parser.add_argument("files", metavar="FILE", nargs=files, help="inputs, and the output last")
    parser.add_argument("--threads", type=int, metavar="N", help="that may take part")
    parser.add_argument("--max-steps", type=int, metavar="N", help="of loops, for each element")
    parser.add_argument("--math", choices=("strict", "fast"))
    parser.add_argument("--accuracy", choices=("default", "high"))
    parser.add_argument("--compile", choices=("auto", "now", "never"))
    parser.add_argument("--schedule", choices=("packets", "refill"))
