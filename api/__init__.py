"""The service: the only room with HTTP, SQL, a clock and a source of entropy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask

    from api.settings import Settings
    from api.world import World
    from shoe.proof.beacon import CheckSignature


def create_app(settings: Settings, world: World, check_signature: CheckSignature | None = None) -> Flask:
    """Open the service in its folder, making what is missing, and give its WSGI application.

    `check_signature` checks a beacon round's signature; without it no table of mode beacon can open a shoe. Raises
    SetupError where the folder, its keys and its database don't fit together.
    """
    # The commands that verify, shuffle and count import this package without loading Flask and SQLAlchemy.
    from api.wiring import wire  # noqa: PLC0415

    return wire(settings, world, check_signature)
