"""The documents are true: paths exist, the README's examples run, the public names are what they are said to be."""

import re
import tomllib
from itertools import chain
from pathlib import Path

import pytest

import trechter as tr

ROOT = Path(__file__).parents[2]


def test_every_path_in_the_architecture_exists():
    paths = re.findall(r"`((?:src|tests|benchmarks)/[^`]+)`", (ROOT / "ARCHITECTURE.md").read_text())
    assert len(paths) > 25
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_every_module_of_a_term_is_reachable_from_the_architecture():
    """Every folder of the package is drawn in the layers."""
    drawn = (ROOT / "ARCHITECTURE.md").read_text()
    folders = {p.name for p in (ROOT / "src" / "trechter").iterdir() if p.is_dir() and p.name != "__pycache__"}
    assert [name for name in sorted(folders) if not re.search(rf"^.*\b{name}\b", drawn, re.M)] == []


PUBLIC = {
    "LDP",
    "LIP",
    "SRLDP",
    "SRLIP",
    "Attribute",
    "Bin",
    "Certificate",
    "InsecureWarning",
    "Joint",
    "LeakWarning",
    "MutualInformation",
    "Protocol",
    "Result",
    "Schema",
    "TaskInformation",
    "TrechterError",
    "__version__",
    "certify",
    "compose",
    "design",
    "leakage",
    "marginal",
    "mutual_information",
    "publish",
    "verify",
}


def test_public_names():
    assert set(tr.__all__) == PUBLIC
    assert all(hasattr(tr, name) for name in PUBLIC)


@pytest.mark.parametrize("file", ["README.md", "SECURITY.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md"])
def test_links_lead_somewhere(file):
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", (ROOT / file).read_text())
    assert [t for t in targets if not (ROOT / t).exists()] == []


def test_dependencies_have_lower_bounds_and_no_upper_ones():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    everything = [*project["dependencies"], *chain.from_iterable(project["optional-dependencies"].values())]
    assert all(">=" in d and "<" not in d and "==" not in d for d in everything)
