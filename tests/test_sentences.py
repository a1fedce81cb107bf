"""Sentences that describe aspects and ordinary talk."""

from aspectra.aspects.sentences import TEMPLATES, find_products, name_texts


def test_a_word_must_follow_my_often_to_be_the_product() -> None:
    texts = ["I love my teacher."] * 4 + ["This course is fine."] * 5
    assert find_products(texts, ["Lessons"], ()) == ["course"]


def test_a_name_of_two_parts_goes_into_the_templates_twice() -> None:
    assert name_texts("Ease_of_use") == [template.format("ease of use") for template in TEMPLATES]
    assert name_texts("Size/Fit") == name_texts("Size") + name_texts("fit")
