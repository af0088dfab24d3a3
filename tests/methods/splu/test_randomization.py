"""What publishing tells of gammas that say next to nothing."""

import pytest

import sqlanon


@pytest.mark.parametrize(("gamma", "warned"), [(2, False), (5, True)])
def test_publishing_warns_where_gamma_is_near_a_columns_limit(patients, gamma, warned):
    release = sqlanon.splu(patients, "patients", quasi=["age"], sensitive="disease", gamma=gamma, key="ab" * 32)
    notes = [note for note in release.notes if "near the largest of 'disease'" in note]
    assert len(notes) == warned, release.notes
    assert all("a smaller gamma tells more" in note and "d0" not in note for note in notes)
