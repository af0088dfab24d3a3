"""What a parameter of a method is, said once: its type, default, range and help.

From one declaration come the options of the command line, the arguments of the Python function, the keys of a job
file, the `parameters` of release.json, and what each refuses. A method declares its parameters as a TypedDict whose
fields are `Annotated[type, Parameter(…)]`.
"""

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ParamSpec, Required, TypeVar, get_args, get_origin, get_type_hints

from sqlanon.errors import UsageError
from sqlanon.methods.kinds import TEXT, TEXT_OF_JOB, Kind, kind_of
from sqlanon.plans.json_schema import Schema, in_range
from sqlanon.removed import removed
from sqlanon.wording import option, spoken

REQUIRED = inspect.Parameter.empty
P = ParamSpec("P")
R = TypeVar("R")
MOST = 2**31 - 1  # products of two such numbers are numbers of every engine


@dataclass(frozen=True)
class Range:
    """What values any data could meet, and what is said of any other: `words`, with the fields {value} and {option}.

    limits: their ends, as a JSON schema says them. The value that stands for none (None) lies in every range.
    """

    words: str
    limits: Schema


@dataclass(frozen=True)
class Parameter:
    """Declare one parameter.

    help: one line. default: REQUIRED where there is none. flag: the command line's option where it is not `--name`.
    within: the values that any data could meet. compiled, job: whether a compiled script and a job file take it.
    metavar: what help calls it where the command line takes it without an option. alias: a second option that means
    the same. name, python_type, kind: what `declaration` finds: its name, its type in Python, and how its values are
    read from each surface.
    """

    help: str
    default: Any = REQUIRED
    flag: str = ""
    within: Range | None = None
    compiled: bool = True
    job: bool = True
    metavar: str = ""
    alias: str = ""
    name: str = ""
    python_type: Any = str
    kind: Kind = TEXT

    @property
    def option(self) -> str:
        """Return the option as the command line writes it."""
        return self.flag or f"--{self.name.replace('_', '-')}"

    @property
    def mark(self) -> str:
        """Return the option as messages hold it."""
        return option(self.name, flag=self.flag)

    @property
    def required(self) -> bool:
        """Return whether it has to be given."""
        return self.default is REQUIRED

    @property
    def schema(self) -> Schema | None:
        """Return the JSON schema of its value in a manifest; None where that does not say it."""
        return self.kind.schema and self.kind.schema(self.limits)

    @property
    def job_schema(self) -> Schema:
        """Return the JSON schema of its value in a job."""
        return {**(self.kind.job or self.schema or TEXT_OF_JOB), "description": spoken(self.help, "command line")}

    @property
    def limits(self) -> Schema:
        """Return what its numbers lie between, as a JSON schema says it."""
        return {"minimum": -MOST, "maximum": MOST, **(self.within.limits if self.within is not None else {})}

    def read(self, value: Any, folder: Any = None) -> Any:
        """Return a value as methods take it; None, where that is the default, stays.

        folder: of a job's value, where that lies (`Kind.beside`). Raises UsageError for a value of another type.
        """
        if value is None and self.default is None:
            return None
        plain = value.item() if getattr(value, "shape", None) == () else value  # a number of numpy's is Python's
        read = self.kind.read(self.mark, plain)
        return self.kind.made(read if folder is None else self.kind.beside(folder, read))

    def words(self, value: Any) -> list[str]:
        """Return a value as words of a command, in one with its option where it would be taken for an option itself."""
        if isinstance(value, bool):
            return [self.option] if value else []
        texts = texts_of("all" if value is None else value)
        joined = self.option.startswith("--")
        return [
            word
            for text in texts
            for word in ([f"{self.option}={text}"] if text.startswith("-") and joined else [self.option, text])
        ]

    def check(self, value: Any) -> None:
        """Raise UsageError where no data could meet the value, or one of several values."""
        for item in value.values() if isinstance(value, Mapping) else (value,):
            words = ""
            if self.within is not None and item is not None and not in_range(self.within.limits, item):
                words = self.within.words
            elif isinstance(item, int | float) and not abs(item) <= MOST:
                words = f"{{option}} {{value}} is beyond {MOST:,}, which no table reaches"
            if words:
                raise UsageError(words.format(value=item, option=self.mark), about=[self.name])


def declaration(name: str, annotation: Any) -> Parameter | None:
    """Return what `Annotated[type, Parameter(…)]`, or a type, declares under a name; None where it says too little.

    How values are read follows from the type; where it says too little, a Kind stands beside it. Without a Parameter
    only Python takes it, and it has no help.
    """
    metadata = getattr(annotation, "__metadata__", ())
    parameter = next((each for each in metadata if isinstance(each, Parameter)), Parameter(""))
    python_type = annotation.__origin__ if metadata else annotation
    kind = next((each for each in metadata if isinstance(each, Kind)), None) or kind_of(python_type)
    if kind is None:
        return None
    return replace(parameter, name=name, python_type=getattr(python_type, "__forward_arg__", python_type), kind=kind)


def declared(options: type) -> dict[str, Parameter]:
    """Return the parameters that a TypedDict declares, by name, in its order."""
    parameters = {}
    for name, hint in get_type_hints(options, include_extras=True).items():
        # Required[…] says that it has to be given, which the default says as well
        parameter = declaration(name, get_args(hint)[0] if get_origin(hint) is Required else hint)
        assert parameter is not None, f"{options.__name__}.{name} declares no Parameter"
        parameters[name] = parameter
    return parameters


def refuse_unknown(given: Iterable[str], parameters: Iterable[str], verb: str = "") -> None:
    """Raise UsageError for the first name that is none of the parameters of a verb."""
    for name in sorted({*given} - {*parameters}):
        gone = removed(name) or removed(verb, f"--{name}")
        raise UsageError(gone or f"no parameter {name!r}; there are {', '.join(parameters)}")


def checked(parameters: Mapping[str, Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return Python's values as methods take them, defaults added; refuse what is missing, unknown or of another type.

    Raises UsageError.
    """
    refuse_unknown(given, parameters)
    missing = [name for name, parameter in parameters.items() if parameter.required and name not in given]
    if missing:
        raise TypeError(f"missing keyword arguments: {', '.join(missing)}")
    return {
        name: parameter.read(given[name]) if name in given else parameter.default
        for name, parameter in parameters.items()
    }


def texts_of(value: Any) -> list[str]:
    """Return the texts of a value that may be several: COLUMN=RULE of a mapping, sets of columns with commas."""
    if isinstance(value, Mapping):
        return [f"{column}={rule}" for column, rule in value.items()]
    if isinstance(value, list | tuple):
        return [",".join(part) if isinstance(part, list | tuple) else str(part) for part in value]
    return [str(value)]


def parameters_of(function: Callable[..., Any], of_all_surfaces: bool = True) -> dict[str, Parameter]:
    """Return what a verb's function declares, by name, in its order, with the signature's defaults.

    of_all_surfaces: without those that Python alone takes.
    """
    hints, signature = inspect.unwrap(function).__annotations__, inspect.signature(function)
    found = [(own.default, declaration(name, hints.get(name))) for name, own in signature.parameters.items()]
    return {
        parameter.name: replace(parameter, default=default)
        for default, parameter in found
        if parameter is not None and (parameter.help or not of_all_surfaces)
    }


def verb(function: Callable[P, R]) -> Callable[P, R]:
    """Let the values that a function gets be those that its parameters' kinds make of them; its help lists them."""
    parameters = parameters_of(function, of_all_surfaces=False)
    signature = inspect.signature(function)
    is_closed = all(own.kind is not own.VAR_KEYWORD for own in signature.parameters.values())

    @functools.wraps(function)
    def call(*positional: P.args, **named: P.kwargs) -> R:
        if is_closed:
            refuse_unknown(named, [name for name in signature.parameters if name != "self"], function.__name__)
        try:
            bound = signature.bind(*positional, **named)
        except TypeError as error:
            raise TypeError(f"{function.__name__}: {error}") from None
        bound.apply_defaults()
        for name, parameter in parameters.items():
            value = bound.arguments[name] = parameter.read(bound.arguments[name])
            if parameter.within is not None:
                parameter.check(value)
        return function(*bound.args, **bound.kwargs)

    # without what only the command line reads
    plain = [
        own.replace(annotation=parameters[own.name].python_type) if own.name in parameters else own
        for own in signature.parameters.values()
    ]
    call.__signature__ = signature.replace(parameters=plain)  # type: ignore[attr-defined]
    call.__doc__ = with_parameters(function.__doc__, parameters_of(function))
    return call


def with_parameters(text: str | None, parameters: Mapping[str, Parameter]) -> str:
    """Return a docstring with a line for each parameter; the text itself says what a source is."""
    lines = [f"    {name}: {_sentence(parameter)}" for name, parameter in parameters.items() if not parameter.metavar]
    return "\n".join([inspect.cleandoc(text or ""), *(["\nParameters:", *lines] if lines else [])])


def _sentence(parameter: Parameter) -> str:
    words = spoken(parameter.help, "python")
    return words if parameter.required else f"{words} Default: {parameter.kind.shown(parameter.default)!r}."
