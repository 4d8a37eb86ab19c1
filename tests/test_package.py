"""The package as a user gets it: its version, its data, and what importing it costs."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "redraft"
OPTIONAL = {"matplotlib", "rich", "typer", "sklearn", "scipy", "diffusers", "transformers"}


@pytest.mark.parametrize(
    ("document", "pattern"),
    [
        ("pyproject.toml", r'^version = "(.+)"$'),
        ("CITATION.cff", r"^version: (.+)$"),
        ("CHANGELOG.md", r"^## ([0-9.]+)"),
    ],
)
def test_every_document_states_the_installed_version(document, pattern):
    stated = re.search(pattern, (ROOT / document).read_text(encoding="utf-8"), re.MULTILINE)
    assert stated is not None, f"{document} states no version"
    assert stated[1] == version("redraft")


def test_type_checkers_see_the_annotations():
    assert files("redraft").joinpath("py.typed").is_file()


def test_import_loads_no_optional_dependency():
    code = "import sys, redraft; print(*{name.partition('.')[0] for name in sys.modules})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not OPTIONAL & set(run.stdout.split())


def test_wheel_holds_every_file_of_the_package(tmp_path):
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    source = {
        path.relative_to(PACKAGE.parent).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.name != ".DS_Store"
    }
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith("redraft/")}
    assert packed == source
    assert any(name.endswith(".safetensors") for name in packed)
