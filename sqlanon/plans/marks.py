"""What is not there, and why: strict marks, which refusals read and the guide of engines shows in its tables."""

from dataclasses import dataclass

OURS = "not implemented by us"
ENGINE = "not possible on this engine"
NEVER = "never"


@dataclass(frozen=True)
class Mark:
    """Why something is not there. kind: one of the three above. why: the rest of a sentence about what lacks it."""

    kind: str
    why: str

    def __str__(self) -> str:
        """Write it as the guide does."""
        return f"*{self.kind}*{', because' if self.kind == NEVER else ':'} {self.why}"
