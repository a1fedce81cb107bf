"""German, French, Spanish and Dutch reviews, invented here, from text to labels."""

from itertools import product
from pathlib import Path

import polars as pl
import pytest
from conftest import TINY

from aspectra.config import FitConfig, StudentConfig
from aspectra.corpus import prepare
from aspectra.detector import AspectDetector
from aspectra.errors import ConfigError, InputError
from aspectra.student.distill import distill
from aspectra.student.linear import LinearStudent
from aspectra.text.segment import split_reviews
from aspectra.text.tokens import known, lemmas

REVIEWS = {
    "de": [
        f"{wann} ist das Bild {wie} und die Farben leuchten. Der Ton {was}, z. B. bei Filmen."
        for wann, wie, was in product(
            ("Am Abend", "Bei Tageslicht", "Im Wohnzimmer"),
            ("scharf", "dunkel"),
            ("klingt dünn", "rauscht laut"),
        )
    ],
    "fr": [
        f"{quand}, l'image est {comment} et les couleurs brillent. C'est l'écran qui {quoi} d'habitude."
        for quand, comment, quoi in product(
            ("Le soir", "En plein jour", "Dans le salon"), ("nette", "sombre"), ("grésille", "siffle fort")
        )
    ],
    "es": [
        f"{cuando} la imagen es {como} y los colores brillan. ¡El sonido {que} con las películas!"
        for cuando, como, que in product(
            ("Por la noche", "De día", "En el salón"),
            ("nítida", "oscura"),
            ("suena débil", "hace mucho ruido"),
        )
    ],
    "nl": [
        f"{wanneer} is het beeld {hoe} en de kleuren stralen. Het geluid {wat}, bijv. bij films."
        for wanneer, hoe, wat in product(
            ("In de avond", "Overdag", "In de woonkamer"), ("scherp", "donker"), ("klinkt dun", "ruist hard")
        )
    ],
}
LEMMAS = {
    "de": {"kameras": "kamera", "und": None, "gekauft": "kaufen"},
    "fr": {"l'image": "image", "couleurs": "couleur", "est": None},
    "es": {"colores": "color", "las": None, "compré": "comprar"},
    "nl": {"kleuren": "kleur", "het": None, "films": "film"},
}
ENGLISH = "The picture of this television is sharp and I would buy it again for my whole family."


@pytest.mark.parametrize("language", REVIEWS)
def test_reviews_become_two_sentences_each(language: str) -> None:
    frame = split_reviews(pl.Series(REVIEWS[language]), "sentence", language)
    assert frame["review"].value_counts()["count"].to_list() == [2] * 12


@pytest.mark.parametrize("language", LEMMAS)
def test_words_get_lemmas_and_stop_words_are_dropped(language: str) -> None:
    assert dict(zip(LEMMAS[language], lemmas(LEMMAS[language], language), strict=True)) == LEMMAS[language]


@pytest.mark.parametrize("language", REVIEWS)
def test_only_reviews_in_another_language_are_left_out_of_training(language: str) -> None:
    corpus = prepare([pl.Series([*REVIEWS[language], ENGLISH])], FitConfig(language=language, min_count=2))
    assert corpus.segments.filter("junk")["text"].to_list() == [ENGLISH]


@pytest.mark.parametrize("language", REVIEWS)
def test_topics_and_labels_end_to_end(language: str) -> None:
    detector = AspectDetector(**TINY, language=language).fit(REVIEWS[language] * 3)
    labels = detector.map_topics({"A": [0, 1], "B": [2, 3]}).label(REVIEWS[language])
    assert len(labels) == 24
    assert labels["known_words"].min() > 0
    assert set(labels["aspect"]) <= {"A", "B"}


def test_the_english_encoder_says_that_it_does_not_know_the_language_and_stays_away(tmp_path: Path) -> None:
    detector = AspectDetector(**TINY, language="de").fit(REVIEWS["de"] * 3, run=tmp_path / "run")
    detector.suggest_map(["Bild", "Ton"]).save(tmp_path / "run")
    student = distill(tmp_path / "run", StudentConfig(n_segments=50))
    assert isinstance(student, LinearStudent)
    assert student.encoder is None
    for notes in (detector.suggested_.notes, student.card.notes):
        assert "knows English only, and the reviews are in 'de'" in notes[0]
    with pytest.raises(InputError, match=r"in 'de'\. Name one .* keeps to its teacher"):
        distill(tmp_path / "run", StudentConfig(head="attention"))


def test_elided_french_words_are_known() -> None:
    assert known(["l'appareil", "c'est", "qu'il", "j'adore"], "fr").all()
    assert known(["it's", "don't"], "en").tolist() == [True, True]


def test_a_language_that_nothing_knows_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(ConfigError, match=r"de, .* en, .*got 'tlh'\. If yours is not there"):
        AspectDetector(language="tlh").fit(["nuqneH"])
