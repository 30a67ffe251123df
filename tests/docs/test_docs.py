"""The documents are true: paths exist, the README's examples run, the public names are what they are said to be."""

import re
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest

import trechter as tr
from trechter.workflow.survey import SECRET, survey_csv

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
    "Boxes",
    "Certificate",
    "ChiSquare",
    "ChiSquareInformation",
    "Distortion",
    "HellingerInformation",
    "InsecureWarning",
    "Joint",
    "KullbackLeibler",
    "LeakWarning",
    "Ledger",
    "MutualInformation",
    "Protocol",
    "Result",
    "Robust",
    "Schema",
    "TaskInformation",
    "TotalVariation",
    "TotalVariationInformation",
    "TrechterError",
    "WorstCase",
    "__version__",
    "accuracy",
    "audit_matrix",
    "audit_tables",
    "average_funnel",
    "certify",
    "compare",
    "compose",
    "conditional_reporting",
    "constant",
    "design",
    "digits",
    "estimate",
    "frontier",
    "generalise",
    "grr",
    "identity",
    "information_bottleneck",
    "ldp_level",
    "leakage",
    "marginal",
    "mutual_information",
    "oue",
    "papers_product",
    "pram",
    "priv",
    "product",
    "publish",
    "subset",
    "sue",
    "suppress",
    "unary",
    "uti",
    "verify",
    "worst_case_level",
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
    everything = [d for d in everything if not d.startswith("trechter[")]
    assert all(">=" in d and "<" not in d and "==" not in d for d in everything)


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "README.md").read_text(), re.S)


def test_the_readme_python_runs():
    for block in blocks("python"):
        subprocess.run([sys.executable, "-c", block], check=True, capture_output=True)


def test_the_readme_commands_run(tmp_path):
    """Every `trechter` line, as a new user types them, one after the other."""
    rows = [line.split(",") for line in survey_csv().splitlines()[:3000]]
    (tmp_path / "survey.csv").write_text("\n".join(",".join([r[5], r[3], r[4]]) for r in rows).replace(SECRET, "illness"))
    lines = [line.split("#")[0].split() for block in blocks("sh") for line in block.splitlines()]
    commands = [line for line in lines if line and line[0] == "trechter"]
    assert len(commands) >= 3
    for command in commands:
        subprocess.run([sys.executable, "-m", "trechter", *command[1:]], cwd=tmp_path, check=True, capture_output=True)


def test_the_readme_shows_what_the_demo_prints(tmp_path):
    run = [sys.executable, "-m", "trechter", "demo"]
    printed = subprocess.run(run, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    (shown,) = (re.sub(r"\d+e-\d+", "1e-11", text) for text in blocks("text"))
    printed = re.sub(r"\d+e-\d+", "1e-11", printed)  # the last digits of a gap are the machine's
    assert [line for line in shown.splitlines() if line not in printed] == []
