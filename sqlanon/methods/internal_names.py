"""Our own names for a source's columns inside a plan, so that no column of the user's meets one of ours."""

from sqlanon.plans.plan import Request


def quasi_names(request: Request) -> tuple[str, ...]:
    """Return the names of the quasi columns in our relations."""
    return tuple(f"quasi_{number}" for number, _ in enumerate(request.roles.quasi, start=1))


def identifier_names(request: Request) -> tuple[str, ...]:
    """Return the names of the identifier columns in our relations."""
    return tuple(f"identifier_{number}" for number, _ in enumerate(request.roles.identifier, start=1))


def sensitive_names(request: Request) -> tuple[str, ...]:
    """Return the names of the sensitive columns in our relations: the first is the one that is grouped next."""
    return ("sensitive", *(f"sensitive_{number}" for number in range(2, len(request.roles.sensitive) + 1)))


def identity_names(request: Request) -> tuple[str, ...]:
    """Return the column that tells rows apart when they are drawn for."""
    if request.draws == "random":
        return ()
    # under a given key rows are told apart by what they are, so that the storage order decides nothing
    return ("row_number",) if request.identity == "number" else ("identity",)


def tie_names(request: Request) -> tuple[str, ...]:
    """Return the second draw of a row, by which rows whose first ones are equal are told apart alike everywhere."""
    return ("tie",) if request.draws == "keyed" and request.identity != "number" else ()
