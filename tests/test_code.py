import polars as pl
import pytest

from aspectra.config import PrepareConfig
from aspectra.corpus import prepare
from aspectra.text.code import code_signs, is_code

CODE = [
    "var swfParams = new Object();",
    'document.getElementById("flashcontent").innerHTML = html;',
    "function onReady(event) { player.setVolume(100); }",
    "if (window.jQuery && typeof x !== 'undefined') {",
    "amznJQ.onReady('bxgyFT', function(){ P.when('A').execute(f); });",
    'var so = new SWFObject("/flash/player.swf", "mymovie", "400", "300");',
    'swfParams.wmode = "transparent"; swfParams.bgcolor = "#FFFFFF";',
    '<div class="review"><span style="color:red">text</span></div>',
    "<html><head><title>Page</title></head><body>",
    '<a href="http://www.example.com/x?id=1">link</a>',
    "http://www.amazon.com/gp/product/B001VRIQRK/ref=oh_details_o02?ie=UTF8&psc=1",
    "(http://youtu.be/uZge3rDWsOo)",
    "www.samsung.com/us/video/tvs/UN55F7500AFXZA",
    "https://images-na.ssl-images-amazon.com/images/I/71abc.jpg https://example.org/b.png",
    "UN32EH5300FXZA, UN40EH5300FXZA, UN46EH5300FXZA, UN50EH5300FXZA",
    "32LM6200 42LM6200 47LM6200 55LM6200 65LM6200",
    "XBR-55X900A XBR-65X900A KDL-55W802A KDL-47W802A",
    '{"asin":"B00A123456","rating":5,"helpful":[0,0]}',
    ".review-text { font-size: 12px; color: #333; }",
    "for (var i = 0; i < items.length; i++) { total += items[i].price; }",
    "$('#cr-video').bind('click', function(e) { e.preventDefault(); });",
    'cr_video_id_12 = "mo1A2B3C"; cr_video_width = 320;',
    "window.onload=function(){init();};",
    'return (navigator.userAgent.indexOf("MSIE") != -1);',
    'try { ue.count("x", 1); } catch (e) { }',
    '<script type="text/javascript"> var a = 1; </script>',
    '<img src="http://g-ecx.images-amazon.com/x.gif" border="0" /> <br />',
    'def main(): print("hello") ; sys.exit(0)',
    "SELECT * FROM reviews WHERE product_id = 'B00' AND user_id = 12;",
    "flashvars.videoUrl = encodeURIComponent(url); flashvars.autoPlay = false;",
    'params.allowFullScreen="true"; params.allowScriptAccess="always";',
    'swfobject.embedSWF("player.swf", "content", "480", "270", "9.0.0");',
]
ORDINARY = [
    "Fast channel switchingLots of inputs",
    "Pros:Nice designFast",
    "Pros:Nice designFastLightCons:ExpensiveHeavy",
    "So the TV was $[...] with free shipping ($[...] less than Best Buy",
    "Soap opera effect: [...]Professional Review: [...]Another good review: [...]",
    'It measures 44.80"x26.66"x2.09" without the stand.',
    "I paid $399.99 (plus tax) and it was worth it!",
    "Great TV :) I love it ;) <3",
    "=) I barely watch TV in the living room anymore.",
    "I <3 this bag!!!",
    "Color Tone=Warm1, Size=Screen Fit, Digital NR=Off, HDMI Black Level=Normal",
    "Contrast = 90, Brightness = 45, Sharpness = 0",
    "Cons====* Smart TV--- Are there any good apps, really?",
    "______________________Complaint Section1.",
    "==============Update 02/23/2012==============As requested by an Amazoner,",
    "not vivid, not standard)______________Contrast: +90Brightness: +49Color: +48Tint: 0",
    "Pros:>> Amazing clarity of picture>> Awesome universal remote>> Black blacks",
    "I bought the UN55F7500AFXZA and the picture is great.",
    "Check out the LG 32LM6200, the Samsung UN32ES6500FXZA or Samsung UN32EH5300FXZA.",
    "See http://www.avsforum.com for settings that work well.",
    "Seems very cheap(non-functional) for the quality of the TV.",
    "the flaws are so minor(IMO)",
    "I have a question for the designer(s)",
    "It is a very great price($7.99)",
    "Great TV.<br /><br />Love the picture.",
    'I bought <a href="http://x.com/y">this TV</a> for my son last year.',
    "My iPhone, iPad and MacBook connect via AirPlay.",
    "HDMI1, HDMI2 and HDMI3 are on the back.",
    "1080p, 120Hz, 4K and 3D for the price of a 720p set",
    "B&W and A/V receivers, R&B music; AT&T service; PB&J",
    "4/5 stars & would buy again...",
    "No manual, no HDMI cable; no batteries; nothing.",
    "size 8 1/2 M (B) = too small; 9 W = perfect",
    '"Smart" functions, "apps" and such',
    '50" TV ($499) vs. 55" TV ($599) = easy choice!',
    "TV->receiver->speakers works fine",
    "Great sound!!!Great picture!!!Great price!!!",
    "amazon.com(the seller) was helpful.",
    "5ms(550)",
]


@pytest.mark.parametrize("text", CODE)
def test_code_markup_addresses_and_model_numbers_are_found(text: str) -> None:
    assert is_code(pl.Series([text])).to_list() == [True]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_not_code(text: str) -> None:
    assert code_signs(pl.Series([text])).tolist() == [0]


def test_there_are_enough_examples_of_both_kinds() -> None:
    assert min(len(CODE), len(ORDINARY)) >= 30


def test_nothing_and_no_text_are_not_code() -> None:
    assert is_code(pl.Series(["", None, "<", "  "], dtype=pl.String)).to_list() == [False] * 4
    assert is_code(pl.Series([], dtype=pl.String)).to_list() == []


@pytest.mark.parametrize(("times", "junk"), [(2, 0), (3, 3)])
def test_a_single_sign_of_code_counts_if_many_reviews_have_it(times: int, junk: int) -> None:
    reviews = ["The picture is sharp.", 'hook="product -', *['hook="product -'] * (times - 1)]
    corpus = prepare(
        [pl.Series(reviews[:2]), pl.Series(reviews[2:])], PrepareConfig(min_count=1, segment="none")
    )
    assert corpus.segments["junk"].sum() == junk
    assert not corpus.segments["junk"][0]
