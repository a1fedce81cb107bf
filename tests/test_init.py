import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import aspectra


def test_every_public_name_can_be_imported() -> None:
    assert [getattr(aspectra, name).__name__ for name in aspectra.__all__] == aspectra.__all__


def test_importing_the_package_runs_and_loads_nothing() -> None:
    code = "import sys, aspectra; print(*(name for name in sys.modules if name.startswith('aspectra')))"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "aspectra\n"
    )


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
    assert project["version"] == aspectra.__version__


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'aspectra' has no attribute 'AspectDetektor'"):
        _ = aspectra.AspectDetektor


def test_public_names_stay_what_they_are_when_all_modules_are_imported() -> None:
    code = "import aspectra.cli, aspectra.detector, aspectra.labelling.evaluate, aspectra.report.build as _; "
    code += "print(all(callable(getattr(aspectra, name)) for name in aspectra.__all__))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
