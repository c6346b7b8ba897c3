"""Document frequencies that a run is given: found, checked, and named in its plan by what they are."""

from __future__ import annotations

from ..errors import UsageError
from ..plan import Plan
from ..represent import Frequencies

FREQUENCIES = "frequencies.parquet"  # in the evidence: what a later run can weigh by
SEEN = "sha256:"  # how a plan names frequencies


def opened(plan: Plan) -> tuple[Plan, Frequencies | None]:
    """Load the frequencies that a plan names; the plan then holds what they are, not where.

    Raises:
        UsageError: the file cannot be read, or was counted with other features.
    """
    if not plan.frequencies or not plan.counted:
        return plan, None
    if plan.frequencies.startswith(SEEN):
        raise UsageError(
            f"the plan weighs by the document frequencies {plan.frequencies[:19]}…; name their file with --frequencies "
            f"({FREQUENCIES} in the evidence of the run that counted them)"
        )
    found = Frequencies.load(plan.frequencies)
    if found.spec != features_spec(plan):
        raise UsageError(
            f"{plan.frequencies}: counted with other features ({found.spec}); this run's are {features_spec(plan)}"
        )
    return plan.with_(frequencies=SEEN + found.fingerprint()), found


def features_spec(plan: Plan) -> str:
    """What the features are that are counted."""
    return f"{plan.unit}-{plan.shingle}" + (f"-{plan.segmenter}" if plan.segmenter else "")
