import pytest

from aspectra.errors import InputError
from aspectra.loopback import is_loopback, names_this_machine


def test_an_address_is_of_this_machine_alone_or_not() -> None:
    assert is_loopback("127.0.0.1")
    assert not is_loopback("0.0.0.0")
    with pytest.raises(InputError, match=r"No address 'nowhere\.invalid'"):
        is_loopback("nowhere.invalid")


ODD = ("[127.0.0.1]evil", "[::1]evil:80", "localhost:80:80", "[127.0.0.1", "localhost:evil")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8765", "[::1]:8765", "[::1]"])
def test_these_hosts_are_this_machine(host: str) -> None:
    assert names_this_machine(host)


@pytest.mark.parametrize(
    "host", [None, "", "evil.example", "127.0.0.1.evil.example:8765", "null", "0.0.0.0", *ODD]
)
def test_other_hosts_are_not(host: str | None) -> None:
    assert not names_this_machine(host)


def test_a_port_that_is_asked_for_must_be_named() -> None:
    assert names_this_machine("127.0.0.1:8765", 8765)
    assert names_this_machine("[::1]:8765", 8765)
    assert not names_this_machine("127.0.0.1", 8765)
    assert not names_this_machine("127.0.0.1:1", 8765)
