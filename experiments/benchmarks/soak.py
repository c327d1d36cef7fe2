"""Attack what pnsight promises, for longer than tests can: `make soak`, or `soak.py NAME` for one of the attacks.

Run it with: python experiments/benchmarks/soak.py [NAME] [--OPTION NUMBER]; exit code 1 if a promise was broken.
"""

from __future__ import annotations

import argparse
import sys

from soaks import SOAKS


def main() -> None:
    names = arguments()
    broken = False
    for name, options in names.items():
        soak = SOAKS[name]
        print(f"{name}: {soak.promise} ({', '.join(f'{key} {value}' for key, value in options.items())})", flush=True)
        found = soak.run(**options)
        print(found, flush=True)
        broken |= bool(found.failures)
    sys.exit(broken)


def arguments() -> dict[str, dict[str, int]]:
    """The options of each soak to run; all of them where none is named."""
    parser = argparse.ArgumentParser(description="Attack what pnsight promises.")
    commands = parser.add_subparsers(dest="name", metavar="NAME", help=f"one of {', '.join(SOAKS)}; by default all")
    for name, soak in SOAKS.items():
        command = commands.add_parser(name, help=soak.promise)
        for option, default in soak.options.items():
            command.add_argument(f"--{option.replace('_', '-')}", type=int, default=default)
    given = vars(parser.parse_args())
    name = given.pop("name")
    return {name: given} if name else {name: dict(soak.options) for name, soak in SOAKS.items()}


if __name__ == "__main__":
    main()
