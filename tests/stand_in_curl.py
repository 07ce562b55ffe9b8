"""What stands in for curl on a machine without it: the few options that the README's tour uses."""

from __future__ import annotations

import argparse
import sys

import urllib3


def main() -> int:
    """Ask as curl would, and print the answer's body."""
    options = argparse.ArgumentParser(prog="curl")
    options.add_argument("url")
    options.add_argument("-X", dest="method", default="GET")
    options.add_argument("-H", dest="headers", action="append", default=[])
    options.add_argument("-d", dest="body")
    options.add_argument("-sS", action="store_true")
    asked = options.parse_args()
    headers = dict(header.split(": ", 1) for header in asked.headers)
    url = asked.url if "://" in asked.url else f"http://{asked.url}"
    answer = urllib3.request(asked.method, url, body=asked.body, headers=headers, retries=False)
    sys.stdout.write(answer.data.decode())

    return 0


if __name__ == "__main__":
    sys.exit(main())
