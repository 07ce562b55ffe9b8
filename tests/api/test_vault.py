"""Secrets at rest: what the vault opens, what it refuses, and its keys, given or in a file for its owner alone."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from api.settings import VAULT_KEY, SetupError, parse_vault_keys, settings_from
from api.vault import GivenKeys, KeyFile, Vault, of_book, of_signing_key, open_vault
from tests.api.boundaries import Killed, killed_at
from tests.api.installation import Chance, Installation

SECRET = b"s" * 32
ROOT = bytes(range(32))
PLACE = of_book("t", ROOT)
OLD, NEW, OTHER = b"k" * 32, b"n" * 32, b"o" * 32


def given(*keys: bytes) -> Vault:
    return Vault(GivenKeys(keys), Chance())


@pytest.fixture
def vault() -> Vault:
    return given(OLD)


def opens(key: bytes, sealed: bytes) -> bool:
    """Whether a key opens a secret by itself: the second implementation is cryptography's own."""
    try:
        return AESGCM(key).decrypt(sealed[:12], sealed[12:], PLACE) == SECRET
    except InvalidTag:
        return False


def test_a_secret_comes_out_where_it_was_put(vault: Vault) -> None:
    sealed = vault.seal(SECRET, PLACE)
    assert vault.open(sealed, PLACE) == SECRET
    assert SECRET not in sealed


def test_it_is_aes_gcm_with_a_nonce_of_12_bytes_in_front(vault: Vault) -> None:
    sealed = vault.seal(SECRET, PLACE)
    assert AESGCM(OLD).decrypt(sealed[:12], sealed[12:], PLACE) == SECRET
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
        given(OTHER).open(vault.seal(SECRET, PLACE), PLACE)


def test_places_do_not_run_into_each_other() -> None:
    assert of_book("a", bytes.fromhex("bb")) != of_book("abb", b"")
    assert of_signing_key("a") != of_book("a", b"")


def test_repr_shows_no_key(tmp_path: Path) -> None:
    kept = open_vault(tmp_path / "vault.key", None, lambda size: OLD[:size])
    kept.make()
    for shown in (kept, kept.source, given(OLD, NEW), GivenKeys((OLD, NEW))):
        assert "kkkk" not in repr(shown)
        assert OLD.hex() not in repr(shown)


# --- several keys ------------------------------------------------------------------------------


def test_new_secrets_are_under_the_first_key_and_old_ones_open_under_any() -> None:
    before = given(OLD).seal(SECRET, PLACE)
    both = given(NEW, OLD)
    after = both.seal(SECRET, PLACE)
    assert [both.open(sealed, PLACE) for sealed in (before, after)] == [SECRET, SECRET]
    assert [both.is_current(sealed, PLACE) for sealed in (before, after)] == [False, True]
    assert [(opens(NEW, sealed), opens(OLD, sealed)) for sealed in (before, after)] == [(False, True), (True, False)]
    with pytest.raises(SetupError, match="does not open"):
        given(OLD).open(after, PLACE)


@pytest.mark.parametrize("first", [OLD, NEW])
def test_what_belongs_elsewhere_opens_under_none_of_several(first: bytes) -> None:
    both = given(OLD, NEW)
    sealed = given(first).seal(SECRET, PLACE)
    assert not both.is_current(sealed, of_book("u", ROOT))
    with pytest.raises(SetupError):
        both.open(sealed, of_book("u", ROOT))


# --- the key file ------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> KeyFile:
    made = KeyFile(tmp_path / "vault.key")
    with made.turn():
        made.replace([OLD])
    return made


def kept(file: KeyFile) -> Vault:
    """The vault of another process: it has read the file already."""
    return open_vault(file.path, None, Chance())


def test_the_first_start_makes_a_key_that_only_its_owner_reads(tmp_path: Path) -> None:
    path = tmp_path / "new" / "vault.key"
    before = os.umask(0)
    try:
        vault = open_vault(path, None, Chance())
        assert list(path.parent.iterdir()) == []
        vault.make()
    finally:
        os.umask(before)
    assert (path.read_bytes(),) == vault.keys
    assert len(path.read_bytes()) == 32
    assert {stat.S_IMODE(entry.stat().st_mode) for entry in path.parent.iterdir()} == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["vault.key", "vault.key.turn"]


def test_later_starts_find_it(file: KeyFile) -> None:
    later = kept(file)
    later.make()
    assert later.keys == (OLD,)


def test_of_many_first_starts_at_once_one_makes_the_key(tmp_path: Path) -> None:
    vaults = [open_vault(tmp_path / "vault.key", None, Chance(1000 * n)) for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(Vault.make, vaults))
    assert {vault.keys for vault in vaults} == {((tmp_path / "vault.key").read_bytes(),)}


def test_several_keys_stand_end_to_end_the_current_one_first(file: KeyFile) -> None:
    file.path.write_bytes(NEW + OLD + OTHER)
    assert kept(file).keys == (NEW, OLD, OTHER)


@pytest.mark.parametrize("size", [0, 1, 31, 33, 63, 65])
def test_a_file_without_whole_keys_is_refused(file: KeyFile, size: int) -> None:
    file.path.write_bytes(bytes(size))
    with pytest.raises(SetupError, match=f"vault.key: expected keys of 32 bytes, got '{size} bytes'"):
        kept(file)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644, 0o777])
def test_a_key_that_others_may_read_is_refused(file: KeyFile, mode: int) -> None:
    running = kept(file)
    file.path.chmod(mode)
    for used in (lambda: kept(file), lambda: running.seal(SECRET, PLACE)):
        with pytest.raises(SetupError, match=r"vault.key: .* chmod 600"):
            used()


@pytest.mark.parametrize("mode", [0o750, 0o701, 0o755])
def test_a_folder_that_others_may_enter_is_refused_and_gets_no_key(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "wide"
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(SetupError, match=r"wide: .* chmod 700"):
        open_vault(folder / "vault.key", None, Chance())
    assert list(folder.iterdir()) == []


def test_a_key_that_is_gone_is_not_made_anew(file: KeyFile) -> None:
    """A new key would open nothing that is there, and what it seals would be lost with it."""
    sealed = kept(file).seal(SECRET, PLACE)
    file.path.unlink()
    late = kept(file)
    for used in (lambda: late.seal(SECRET, PLACE), lambda: late.open(sealed, PLACE)):
        with pytest.raises(SetupError, match=r"vault.key: the vault's key is not there; put it back"):
            used()
    assert not file.path.exists()


# --- the file changes while a process runs -----------------------------------------------------


def test_a_running_process_seals_under_the_new_key_at_once(file: KeyFile) -> None:
    running = kept(file)
    file.replace([NEW, OLD])
    sealed = running.seal(SECRET, PLACE)
    assert (opens(NEW, sealed), opens(OLD, sealed)) == (True, False)


def test_a_running_process_opens_what_another_sealed_under_a_new_key(file: KeyFile) -> None:
    running = kept(file)
    file.replace([NEW])
    assert running.open(given(NEW).seal(SECRET, PLACE), PLACE) == SECRET


def test_it_opens_what_it_read_before_the_rotation_too(file: KeyFile) -> None:
    """A reader's snapshot is older than the rotation that another thread has noticed."""
    running = kept(file)
    read = running.seal(SECRET, PLACE)
    for key in (NEW, OTHER):
        file.replace([key])
        running.seal(SECRET, PLACE)
    assert running.open(read, PLACE) == SECRET
    with pytest.raises(SetupError, match="does not open"):
        running.open_now(read, PLACE)


def test_it_reads_the_file_just_once_before_it_gives_up(file: KeyFile, monkeypatch: pytest.MonkeyPatch) -> None:
    running, foreign, read = kept(file), given(OTHER).seal(SECRET, PLACE), KeyFile.read
    reads: list[KeyFile] = []
    monkeypatch.setattr(KeyFile, "read", lambda file: (reads.append(file), read(file))[1])
    with pytest.raises(SetupError, match="does not open"):
        running.open(foreign, PLACE)
    assert reads == [file]


@pytest.mark.parametrize("content", [b"", b"x", OLD + b"x"])
def test_a_file_that_is_damaged_while_it_runs_seals_nothing(file: KeyFile, content: bytes) -> None:
    running = kept(file)
    sealed = running.seal(SECRET, PLACE)
    file.path.write_bytes(content)
    with pytest.raises(SetupError, match="expected keys of 32 bytes"):
        running.seal(SECRET, PLACE)
    assert running.open(sealed, PLACE) == SECRET
    file.path.write_bytes(OLD)
    assert running.open(running.seal(SECRET, PLACE), PLACE) == SECRET


def test_threads_that_seal_open_and_rotate_at_once_lose_nothing(file: KeyFile) -> None:
    """Each thread's secret opens at once, and at the end under the keys that were the first at some time."""
    running, rounds = kept(file), 40
    ever = [bytes([n]) * 32 for n in range(1, rounds)]

    def seal_and_open(_: int) -> bytes:
        sealed = running.seal(SECRET, PLACE)
        assert running.open(sealed, PLACE) == SECRET
        return sealed

    def rotate(n: int) -> None:
        with file.turn():
            file.replace([ever[n], *file.read()])

    with ThreadPoolExecutor(8) as pool:
        sealed = pool.map(seal_and_open, range(10 * rounds))
        list(pool.map(rotate, range(rounds - 1)))
        assert all(any(opens(key, made) for key in (*ever, OLD)) for made in sealed)
    assert set(file.read()) == {*ever, OLD}


# --- the file is replaced whole, or not at all ---------------------------------------------------


def steps_of_replacing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The number of each step that replacing the file takes, after which a process can be killed."""
    file, at = KeyFile(tmp_path / "counted"), 0
    while True:
        at += 1
        try:
            with killed_at(at, monkeypatch):
                file.replace([OLD])
        except Killed:
            yield at
        else:
            return


def test_a_process_killed_on_the_way_leaves_the_keys_before_or_the_new_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: KeyFile
) -> None:
    seen = set()
    for at in steps_of_replacing(tmp_path, monkeypatch):
        file.replace([OLD])
        with killed_at(at, monkeypatch), pytest.raises(Killed):
            file.replace([NEW, OLD])
        seen.add(file.read())
        file.replace([OTHER])
        assert file.read() == (OTHER,)
    assert seen == {(OLD,), (NEW, OLD)}


def test_a_new_name_stands_only_for_bytes_that_are_on_the_disk(monkeypatch: pytest.MonkeyPatch, file: KeyFile) -> None:
    """In order: the draft flushed, then its name, then the folder flushed, so that the machine may crash."""
    done: list[str] = []

    def told(name: str, call: Callable[..., object]) -> Callable[..., object]:
        def telling(first: object, *rest: object) -> object:
            kind = "folder" if name == "fsync" and stat.S_ISDIR(os.fstat(first).st_mode) else "draft"  # type: ignore[arg-type]
            done.append(name if name == "replace" else f"{name} {kind}")
            return call(first, *rest)

        return telling

    monkeypatch.setattr(os, "fsync", told("fsync", os.fsync))
    monkeypatch.setattr(Path, "replace", told("replace", Path.replace))
    file.replace([NEW])
    assert done == ["fsync draft", "replace", "fsync folder"]


# --- keys that are given -----------------------------------------------------------------------


def test_keys_that_are_given_need_no_file_and_make_none(tmp_path: Path) -> None:
    path = tmp_path / "new" / "vault.key"
    vault = open_vault(path, (NEW, OLD), Chance())
    vault.make()
    assert vault.keys == (NEW, OLD)
    assert list(path.parent.iterdir()) == []


def test_keys_that_are_given_go_before_a_file(file: KeyFile) -> None:
    vault = open_vault(file.path, (NEW,), Chance())
    with pytest.raises(SetupError, match="does not open"):
        vault.open(given(OLD).seal(SECRET, PLACE), PLACE)


def test_the_environment_gives_keys_and_has_them_no_more() -> None:
    environment = {VAULT_KEY: f"{NEW.hex()},{OLD.hex().upper()}", "FAIRSHOE_DATA": "d"}
    settings = settings_from(environment)
    assert settings.vault_keys == (NEW, OLD)
    assert environment == {"FAIRSHOE_DATA": "d"}
    assert NEW.hex() not in repr(settings)
    assert "nnnn" not in repr(settings)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "key 1 of 1: expected 64 hex digits, several keys separated by commas, got 0 characters"),
        ("ab" * 31, "key 1 of 1: expected 64 hex digits, several keys separated by commas, got 62 characters"),
        ("ab" * 33, "key 1 of 1: expected 64 hex digits, several keys separated by commas, got 66 characters"),
        ("ab" * 32 + ",", "key 2 of 2: expected 64 hex digits, several keys separated by commas, got 0 characters"),
        ("ab" * 32 + "\n", "key 1 of 1: expected 64 hex digits, several keys separated by commas, got 65 characters"),
        ("ab" * 32 + ", " + "cd" * 32, "key 2 of 2: .* got 65 characters"),
        ("ab" * 32 + ";" + "cd" * 32, "key 1 of 1: .* got 129 characters"),
        ("0x" + "ab" * 31, "key 1 of 1: .* got another character"),
        ("g" * 64, "key 1 of 1: .* got another character"),
        ("١" * 64, "key 1 of 1: .* got another character"),
        ("ab" * 32 + "," + "AB" * 32, "expected 2 different keys, got one of them twice"),
    ],
)
def test_keys_of_another_form_are_refused_and_not_shown(text: str, said: str) -> None:
    for read in (lambda: parse_vault_keys(text), lambda: settings_from({VAULT_KEY: text})):
        with pytest.raises(SetupError, match=f"^{VAULT_KEY}: {said}$") as refused:
            read()
        assert not text or text.strip(",\n") not in str(refused.value)


# --- the installation --------------------------------------------------------------------------


def test_an_installation_seals_under_the_key_in_its_folder(house: Installation) -> None:
    assert house.service.vault.keys == ((house.folder / "vault.key").read_bytes(),)


def test_the_key_is_made_before_anything_is_sealed_under_it(house: Installation) -> None:
    assert house.chance.drawn[0] == (house.folder / "vault.key").read_bytes()
