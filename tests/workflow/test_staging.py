"""A folder appears whole or not at all."""

import pytest

from trechter.errors import OutputError
from trechter.workflow.staging import staged


def fill(folder, mark="new"):
    (folder / "steward").mkdir()
    for name in ("protocol.json", "certificate.json", "codebook.md", "released.csv"):
        (folder / name).write_text(mark)


def test_appears_at_the_end(tmp_path):
    with staged(tmp_path / "deep" / "out") as folder:
        fill(folder)
        assert not (tmp_path / "deep" / "out").exists()
    assert (tmp_path / "deep" / "out" / "protocol.json").read_text() == "new"
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["out"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("former", [False, True])
def test_any_end_but_a_good_one_changes_nothing(tmp_path, error, former):
    out = tmp_path / "out"
    if former:
        with staged(out) as folder:
            fill(folder, "old")

    def broken_off():
        with staged(out, overwrite=True) as folder:
            fill(folder)
            raise error

    with pytest.raises(error):
        broken_off()
    assert [p.name for p in tmp_path.iterdir()] == (["out"] if former else [])
    if former:
        assert (out / "protocol.json").read_text() == "old"


def test_only_a_former_release_is_replaced(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    with staged(out) as folder:
        fill(folder, "old")
    with pytest.raises(OutputError, match="two releases"), staged(out):
        pass
    with staged(out, overwrite=True) as folder:
        fill(folder)
    assert (out / "released.csv").read_text() == "new"
    (out / "mine.txt").write_text("")
    with pytest.raises(OutputError, match="not empty"), staged(out, overwrite=True):
        pass
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(OutputError, match="is a file"), staged(file, overwrite=True):
        pass
    with pytest.raises(OutputError, match="cannot write"), staged(file / "below"):
        pass
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "out"]


def test_links_are_followed(tmp_path):
    """The folder that a link names is replaced where it is, also on another disk, and the link stays."""
    (tmp_path / "elsewhere").mkdir()
    place, link = tmp_path / "elsewhere" / "out", tmp_path / "link"
    place.mkdir()
    link.symlink_to(place)
    for mark in ("old", "new"):
        with staged(link, overwrite=True) as folder:
            assert folder.parent == tmp_path / "elsewhere"
            fill(folder, mark)
        assert link.is_symlink()
        assert (place / "released.csv").read_text() == mark
    assert [p.name for p in (tmp_path / "elsewhere").iterdir()] == ["out"]


@pytest.mark.parametrize("out", ["loop", "dangling/\0", "x" * 300])
def test_places_that_cannot_be(tmp_path, out):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(OutputError, match="cannot write"), staged(tmp_path / out) as folder:
        fill(folder)
    assert [p.name for p in tmp_path.iterdir()] == ["loop"]
