"""Secrets at rest: what the vault opens, what it refuses, and the key file that others must not read."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from api.settings import SetupError
from api.vault import Vault, of_book, of_signing_key, open_vault
from tests.api.installation import Chance, Installation

SECRET = b"s" * 32
ROOT = bytes(range(32))
PLACE = of_book("t", ROOT)


@pytest.fixture
def vault() -> Vault:
    return Vault(b"k" * 32, Chance())


def test_a_secret_comes_out_where_it_was_put(vault: Vault) -> None:
    sealed = vault.seal(SECRET, PLACE)
    assert vault.open(sealed, PLACE) == SECRET
    assert SECRET not in sealed


def test_it_is_aes_gcm_with_a_nonce_of_12_bytes_in_front(vault: Vault) -> None:
    sealed = vault.seal(SECRET, PLACE)
    assert AESGCM(b"k" * 32).decrypt(sealed[:12], sealed[12:], PLACE) == SECRET
    assert len(sealed) == 12 + 32 + 16


def test_the_same_secret_never_looks_the_same(vault: Vault) -> None:
    assert len({vault.seal(SECRET, PLACE) for _ in range(20)}) == 20


@pytest.mark.parametrize(
    "place",
    [of_book("u", ROOT), of_book("t", ROOT[::-1]), of_book("t", b""), of_signing_key("t"), b""],
    ids=["other table", "other book", "no book", "a key's", "nowhere"],
)
def test_a_secret_does_not_open_elsewhere(vault: Vault, place: bytes) -> None:
    with pytest.raises(SetupError, match="does not open"):
        vault.open(vault.seal(SECRET, PLACE), place)


@pytest.mark.parametrize("at", [0, 11, 12, 43, 44, 59])
def test_no_bit_of_what_is_stored_may_change(vault: Vault, at: int) -> None:
    sealed = bytearray(vault.seal(SECRET, PLACE))
    sealed[at] ^= 1
    with pytest.raises(SetupError):
        vault.open(bytes(sealed), PLACE)


@pytest.mark.parametrize("length", [0, 5, 12, 27, 59])
def test_a_stump_does_not_open(vault: Vault, length: int) -> None:
    with pytest.raises(SetupError):
        vault.open(vault.seal(SECRET, PLACE)[:length], PLACE)


def test_another_key_does_not_open(vault: Vault) -> None:
    with pytest.raises(SetupError, match="another's"):
        Vault(b"K" * 32, Chance()).open(vault.seal(SECRET, PLACE), PLACE)


def test_places_do_not_run_into_each_other() -> None:
    assert of_book("a", bytes.fromhex("bb")) != of_book("abb", b"")
    assert of_signing_key("a") != of_book("a", b"")


def test_repr_shows_no_key(vault: Vault) -> None:
    assert "kkkk" not in repr(vault)
    assert (b"k" * 32).hex() not in repr(vault)


# --- the key file ------------------------------------------------------------------------------


def test_the_first_start_makes_a_key_that_only_its_owner_reads(tmp_path: Path) -> None:
    path = tmp_path / "new" / "vault.key"
    vault = open_vault(path, Chance())
    assert path.read_bytes() == vault.key
    assert len(vault.key) == 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [entry.name for entry in path.parent.iterdir()] == ["vault.key"]


def test_later_starts_find_it(tmp_path: Path) -> None:
    first = open_vault(tmp_path / "vault.key", Chance())
    assert open_vault(tmp_path / "vault.key", Chance(100)).key == first.key


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644, 0o777])
def test_a_key_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "vault.key"
    open_vault(path, Chance())
    path.chmod(mode)
    with pytest.raises(SetupError, match=r"vault.key: .* chmod 600"):
        open_vault(path, Chance())


@pytest.mark.parametrize("mode", [0o750, 0o701, 0o755])
def test_a_folder_that_others_may_enter_is_refused_and_gets_no_key(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "wide"
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(SetupError, match=r"wide: .* chmod 700"):
        open_vault(folder / "vault.key", Chance())
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_key_of_another_length_is_refused(tmp_path: Path, size: int) -> None:
    path = tmp_path / "vault.key"
    path.touch(0o600)
    path.write_bytes(bytes(size))
    with pytest.raises(SetupError, match=f"expected a key of 32 bytes, got '{size} bytes'"):
        open_vault(path, Chance())


def test_a_start_that_comes_second_takes_the_key_of_the_first(tmp_path: Path) -> None:
    """Two processes find no key; the other one is faster, between this one's look and its write."""
    path = tmp_path / "vault.key"
    draws: list[int] = []

    def chance(size: int) -> bytes:
        draws.append(size)
        if len(draws) == 1:
            path.touch(0o600)
            path.write_bytes(b"f" * 32)
        return b"s" * size

    assert open_vault(path, chance).key == b"f" * 32
    assert [entry.name for entry in tmp_path.iterdir()] == ["vault.key"]


def test_a_database_beside_another_vault_does_not_start(house: Installation) -> None:
    key = house.folder / "vault.key"
    key.write_bytes(bytes(32))
    with pytest.raises(SetupError, match="does not open"):
        house.start()
