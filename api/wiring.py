"""The wiring: an installation opened from its folder, and the WSGI application over it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from flask import Flask

from api.cases.accounts import found_operator
from api.db.migrate import upgrade
from api.db.sessions import open_store
from api.integrity.start import check_start, refuse_second_log
from api.integrity.succession import Succession
from api.journal import write_request
from api.log import open_log
from api.meters import measure
from api.permit import Permit
from api.pin import Pin
from api.problems import register_problems
from api.routes import (
    accounts,
    audits,
    bets,
    bundles,
    counters,
    documents,
    meta,
    monitors,
    pace,
    purses,
    regulator,
    shoes,
    statistics,
    tables,
    tiles,
    webhooks,
)
from api.routes import log as log_routes
from api.routes.endpoint import register
from api.routes.exchange import SERVICE
from api.routes.guard import stand_guard
from api.service import Service
from api.settings import Settings
from api.vault import open_vault
from api.world import World
from shoe.proof.beacon import CheckSignature

RESOURCES: Final = (
    meta,
    documents,
    tiles,
    tables,
    shoes,
    accounts,
    bets,
    purses,
    pace,
    bundles,
    log_routes,
    statistics,
    monitors,
    counters,
    regulator,
    audits,
    webhooks,
)


def open_service(settings: Settings, world: World, check_signature: CheckSignature | None = None) -> Service:
    """Open the installation in the settings' folder: vault, database at the newest schema, log and key.

    Makes what is missing; a second start changes nothing. What is wrong with the log keeps the service from signing,
    not from reading. Raises SetupError where vault, database and log don't fit together.
    """
    vault = open_vault(settings.vault_key, settings.vault_keys, world.random_bytes)
    store, pin = open_store(settings.database), Pin(settings.pinned)
    try:
        upgrade(store)
        with store.founding() as session:
            refuse_second_log(session, store, pin)
            log = open_log(session, vault, world, settings.origin, sandbox=settings.sandbox)
        found = check_start(store, log, world, pin)
        permit = Permit(pin, settings.halt, found.faults)
        if not found.faults:
            permit.pin(found.size, found.checkpoint)
            log = replace(log, succession=Succession(pin, found.checkpoint))
        service = Service(store, log, vault, world, check_signature, permit)
        if not permit.reasons():
            found_operator(service, settings)
    except BaseException:
        store.engine.dispose()
        raise
    return service


def wire(settings: Settings, world: World, check_signature: CheckSignature | None = None) -> Flask:
    """Build the application: service, guard, problems, and one blueprint a resource."""
    app = Flask("fairshoe", static_folder=None, template_folder=None)
    # An address with an empty part names nothing: it is not led elsewhere, in HTML.
    app.url_map.merge_slashes = False
    app.config["MAX_CONTENT_LENGTH"] = settings.body_limit
    app.config[webhooks.REACH] = settings.reach
    service = app.extensions[SERVICE] = open_service(settings, world, check_signature)
    register_problems(app)
    write_request(app)
    measure(app)
    stand_guard(app, service, settings)
    register(app, [resource.blueprint for resource in RESOURCES])
    return app
