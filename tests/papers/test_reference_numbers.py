"""Published and audited optima on Adult (natural logarithms), a ≤ 6 at every level given and a = 16 where it is quick."""

import pytest

import trechter as tr

REFERENCE = [
    ("marital-status", "sex", 1, 0.4500551671, 0.1983293678, 0.6347398680),
    ("marital-status", "race", 1, 0.5040106440, 0.3661938346, 0.5536448302),
    ("marital-status", "relationship", 1, 0.9314757467, 0.6621024832, 1.4933327796),
    ("occupation", "sex", 1, 0.2233086804, 0.1105109337, 0.6347398680),
]


@pytest.mark.parametrize(("secret", "release", "eps", "lip", "ldp", "entropy"), REFERENCE)
def test_adult(adult, secret, release, eps, lip, ldp, entropy):
    joint = adult(secret, release)
    for notion, optimum in ((tr.LIP(eps), lip), (tr.LDP(eps), ldp)):
        result = tr.design(joint, notion)
        assert result.utility == pytest.approx(optimum, abs=1e-9)
        assert result.bound == pytest.approx(optimum, abs=1e-9)
        assert result.certificate.holds
    assert tr.design(joint, tr.LIP("inf")).utility == pytest.approx(entropy, abs=1e-9)


@pytest.mark.slow
def test_adult_where_the_protocol_reads_both(adult):
    """Among its linear programs are some whose simplex went round for ever, past any time limit."""
    result = tr.design(adult("occupation", "race"), tr.LIP("1/4"), reads="sx", time_limit=300)
    assert (result.status, result.certificate.holds) == ("optimal", True)
    assert result.seconds < 200
    assert result.utility == pytest.approx(0.50990839, abs=1e-6)
