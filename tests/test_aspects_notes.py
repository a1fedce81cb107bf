"""What a person should know of the names they gave."""

import pytest

from aspectra.aspects.notes import meant, one_slip


@pytest.mark.parametrize(
    ("name", "right"),
    [("tatse", "taste"), ("nosie", "noise"), ("prize", "price"), ("prise", "price"), ("colr", "color")],
)
def test_one_slip_is_a_letter_more_less_or_other_or_two_interchanged(name: str, right: str) -> None:
    assert one_slip(name, right)
    assert one_slip(right, name)
    assert not one_slip(f"{name}xx", right)
    assert not one_slip(f"z{right}z", name)


def test_names_that_are_known_are_meant_before_words() -> None:
    assert meant(["Prise", "Nosie"], ["price", "noise"], ["rise", "rosie"]) == "Did you mean price, noise? "
    assert meant(["Shippping"], ["price"], ["shipping", "hipping"]) == "Did you mean shipping? "
    assert meant(["Custmer service"], ["customer service"]) == "Did you mean customer service? "


def test_nothing_is_meant_by_right_short_or_foreign_names() -> None:
    assert meant(["Price", "App", "Geschmack"], ["price", "apps"], ["gesture"]) == ""
