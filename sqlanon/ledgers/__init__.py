"""The publisher's ledger: what keeps releases of the same people in step, as secret as the source."""
