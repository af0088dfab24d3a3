"""What is asked of a method or a verb, said once and read by pydantic, whichever surface it comes from.

A method declares what it takes as a class over `Publication`, a verb as the signature of its function. Of each
parameter that says its type, in a `Field` its help, default and limits, and in an `Option` what else the surfaces make
of it. From the model of these come the options of the command line, the arguments of the Python function, the keys of a
job file, the inputs of the page, the `parameters` of release.json, the JSON schemas, and what is said of a value that
no data could meet.
"""

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    ParamSpec,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

import pydantic
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticUndefined

from sqlanon.errors import UsageError
from sqlanon.models.shapes import Shape
from sqlanon.models.values import PATH_NAME, Kind, refused
from sqlanon.plain_values import refuse_broken_text
from sqlanon.removed import removed
from sqlanon.wording import find_near, option, spoken

P = ParamSpec("P")
R = TypeVar("R")
REQUIRED = inspect.Parameter.empty
MOST = 2**31 - 1  # products of two such numbers are numbers of every engine
BEYOND = f"is beyond {MOST:,}, which no table reaches"
# what is said of a value of another type, by pydantic's names of errors
_WORDS = {
    "int_type": "is not a whole number",
    "float_type": "is not a number",
    "finite_number": "is not a number",
    "string_type": "is not a text",
    "bool_type": "is neither True nor False",
}


@dataclass(frozen=True)
class Option:
    """What the surfaces make of a parameter, beside what pydantic knows of it.

    flag: the command line's option where it is not `--name`; alias: a second one that means the same; metavar: what
    help calls it where the command line takes it without an option. compiled, job: whether a compiled script and a job
    file take it. words: what is said of a number beyond the limits that any data could meet, with the fields {value}
    and {option}.
    """

    flag: str = ""
    alias: str = ""
    metavar: str = ""
    compiled: bool = True
    job: bool = True
    words: str = ""


_PLAIN = (str, int, float, bool)
_PATHS = ([str, Path], [str, os.PathLike[str]])


@dataclass(frozen=True)
class Parameter:
    """One parameter as the surfaces see it.

    name: Python's. info: what pydantic knows of it. python_type: the type that callers see. on: what the surfaces make
    of it. kind: how it is read; None where pydantic reads it by its type. default: REQUIRED where there is none.
    """

    name: str
    info: FieldInfo
    python_type: Any
    on: Option
    kind: Kind | None
    default: Any

    @classmethod
    def of(cls, name: str, info: FieldInfo, python_type: Any = None) -> Self:
        """Return the parameter of a field of a model."""
        on = next((each for each in info.metadata if isinstance(each, Option)), Option())
        kind = next((each for each in info.metadata if isinstance(each, Kind)), None)
        default = REQUIRED if info.default is PydanticUndefined else info.default
        return cls(name, info, python_type if python_type is not None else info.annotation, on, kind, default)

    @property
    def help(self) -> str:
        """Return the line that says what it is; empty where Python alone takes it."""
        return self.info.description or ""

    @property
    def required(self) -> bool:
        """Return whether it has to be given."""
        return self.default is REQUIRED

    @property
    def option(self) -> str:
        """Return the option as the command line writes it."""
        return self.on.flag or f"--{self.name.replace('_', '-')}"

    @property
    def mark(self) -> str:
        """Return the option as messages hold it."""
        return option(self.name, flag=self.on.flag)

    @property
    def typed(self) -> Any:
        """Return the type that the command line reads: where pydantic reads it, None aside."""
        return self.kind.typed if self.kind else _parts(self.info.annotation)[0]

    @property
    def words(self) -> tuple[str, ...]:
        """Return all that it may be, where these are few words."""
        return get_args(self.typed) if get_origin(self.typed) is Literal else ()

    @property
    def recorded(self) -> Shape:
        """Return the shape of its value in a manifest; None where that does not say it."""
        if self.kind is not None and not self.kind.before:
            return self.kind.recorded
        plain = _parts(self.info.annotation)[0]
        if plain not in (int, float, bool) and get_origin(plain) is not Literal:
            return None
        limits = [each for each in self.info.metadata if not isinstance(each, Option | Kind)]
        shape: Any = Annotated[plain, Field(ge=-MOST, le=MOST) if plain in (int, float) else Field(), *limits]
        return shape | None if self.default is None else shape

    @property
    def hint(self) -> Any:
        """Return its type with what is said of it, its help in the command line's words, for another model."""
        most: Any = {"maximum": MOST} if self.typed in (int, float) else {}
        said = Field(description=spoken(self.help, "command line"), json_schema_extra=most)
        return Annotated[self.info.annotation, *self.info.metadata, said]

    def shown(self, value: Any) -> Any:
        """Return a value as the manifest says it."""
        return self.kind.shown(value) if self.kind else value

    def read(self, value: Any) -> Any:
        """Return a value as it was meant, before tables are made of it; raise UsageError for another."""
        if self.kind is not None:
            return self.kind.of(value, self.mark)
        return model_of(self.name, {self.name: self.hint}).read({self.name: value})[self.name]

    def words_of(self, value: Any) -> list[str]:
        """Return a value as words of a command, in one with its option where it would be taken for an option itself."""
        if isinstance(value, bool):
            return [self.option] if value else []
        joined = self.option.startswith("--")
        return [
            word
            for text in texts_of("all" if value is None else value)
            for word in ([f"{self.option}={text}"] if text.startswith("-") and joined else [self.option, text])
        ]

    def refusal(self, error: ErrorDetails) -> UsageError:
        """Return what to say of a value in which pydantic found an error."""
        value, what, context = error["input"], error["type"], error.get("ctx", {})
        if isinstance(value, str) and (gone := removed(self.name, value)):
            return UsageError(gone)
        if "said" in context:
            kind: type[UsageError] = context["kind"]
            return kind(context["said"], context["about"])
        if "words" in context:
            return refused(self.mark, (*context["of"], value)[0], context["words"])
        if what == "finite_number" and value == value:  # noqa: PLR0124 - NaN
            return refused(self.mark, value, BEYOND)
        if self.on.words and what not in _WORDS:
            shown = f"{value:g}" if isinstance(value, float) else value
            return UsageError(self.on.words.format(value=shown, option=self.mark), about=[self.name])
        words = f"is none of {', '.join(map(str, self.words))}" if what == "literal_error" else _WORDS.get(what)
        return refused(self.mark, value, words or f"is not right: {error['msg'].lower()}")


class Asked(BaseModel):
    """What may be asked of a verb or a method: its fields are the parameters, by name, in their order."""

    model_config = ConfigDict(
        strict=True, extra="forbid", arbitrary_types_allowed=True, protected_namespaces=(), allow_inf_nan=False,
        defer_build=True,
    )  # fmt: skip
    declared: ClassVar[dict[str, Parameter]]

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        """Keep the parameters as the surfaces see them."""
        cls.declared = {name: Parameter.of(name, info) for name, info in cls.model_fields.items()}

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return values as methods and verbs take them, defaults added.

        Raises UsageError for what is no such value, TypeError where one is missing.
        """
        defaults = {name: each.default for name, each in cls.declared.items()}
        refuse_unknown(given, defaults, cls.__name__)
        left_out = {name for name, value in given.items() if value is None and defaults[name] is None}
        said = {name: _as_python(value) for name, value in given.items() if name not in left_out}
        refuse_broken_text(value for value in said.values() if isinstance(value, str))
        try:
            return dict(cls.model_validate(said).__dict__)
        except ValidationError as error:  # it holds what was given, a connection for example
            faults = error.errors(include_url=False)
        raise cls._told(faults)

    @classmethod
    def _told(cls, errors: Sequence[ErrorDetails]) -> Exception:
        if missing := [str(each["loc"][0]) for each in errors if each["type"] == "missing"]:
            return TypeError(f"missing keyword arguments: {', '.join(missing)}")
        return cls.declared[str(errors[0]["loc"][0])].refusal(errors[0])


def _as_python(value: Any) -> Any:
    """Return a number of numpy's, or an exact one, as Python's."""
    if isinstance(value, Decimal | Fraction):
        return float(value)
    return value.item() if getattr(value, "shape", None) == () else value


def _parts(python_type: Any) -> list[Any]:
    """Return the types of a union, None aside, or the type alone."""
    is_union = get_origin(python_type) in (Union, UnionType)
    return [each for each in get_args(python_type) if each is not NoneType] if is_union else [python_type]


def _read_type(hint: Any) -> Any:
    """Return the type that pydantic is to read: what says too little, or is loaded later, is taken as it is."""
    said = getattr(hint, "__metadata__", ())
    parts = _parts(hint.__origin__ if said else hint)
    if any(isinstance(each, Kind) and not each.before for each in said):
        return Annotated[Any, *said]
    if parts in _PATHS:
        return Annotated[Any, PATH_NAME, *said]
    if len(parts) == 1 and (parts[0] in _PLAIN or get_origin(parts[0]) is Literal):
        return hint
    return Annotated[Any, *said] if said else Any


def model_of(
    name: str, hints: Mapping[str, Any], defaults: Mapping[str, Any] | None = None, base: type[Asked] = Asked
) -> type[Asked]:
    """Return the model of parameters by their declared types; defaults: those that stand in no Field."""
    fields: Any = {field: _read_type(hint) for field, hint in hints.items()}
    fields |= {field: (fields[field], default) for field, default in (defaults or {}).items()}
    model = pydantic.create_model(name, __base__=base, **fields)
    for field, info in model.model_fields.items():
        hint = hints[field]
        seen = hint.__origin__ if hasattr(hint, "__metadata__") else hint
        model.declared[field] = Parameter.of(field, info, getattr(seen, "__forward_arg__", seen))
    return model


@functools.cache
def model_of_function(function: Callable[..., Any]) -> type[Asked]:
    """Return the model of a function's parameters; those without a type it does not read."""
    hints, own = inspect.unwrap(function).__annotations__, inspect.signature(function).parameters
    named = {name: each.default for name, each in own.items() if name in hints and each.kind is not each.VAR_KEYWORD}
    defaults = {name: default for name, default in named.items() if default is not REQUIRED}
    return model_of(function.__name__, {name: hints[name] for name in named}, defaults)


def parameters_of(function: Callable[..., Any]) -> dict[str, Parameter]:
    """Return what a verb's function declares for all surfaces, by name, in its order, with its defaults."""
    return {name: each for name, each in model_of_function(function).declared.items() if each.help}


def refuse_unknown(given: Iterable[str], parameters: Iterable[str], verb: str = "") -> None:
    """Raise UsageError for the first name that is none of the parameters of a verb."""
    for name in sorted({*given} - {*parameters}):
        gone = removed(name) or removed(verb, f"--{name}")
        near = "".join(f" (did you mean {each!r}?)" for each in find_near(name, parameters, most=1))
        raise UsageError(gone or f"no parameter {name!r}{near}; there are {', '.join(parameters)}")


def texts_of(value: Any) -> list[str]:
    """Return the texts of a value that may be several: COLUMN=RULE of a mapping, sets of columns with commas."""
    if isinstance(value, Mapping):
        return [f"{column}={rule}" for column, rule in value.items()]
    if isinstance(value, list | tuple):
        return [",".join(part) if isinstance(part, list | tuple) else str(part) for part in value]
    return [str(value)]


def verb(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function get its arguments as its model reads them; its help lists them."""
    model, signature = model_of_function(function), inspect.signature(function)
    is_closed = all(own.kind is not own.VAR_KEYWORD for own in signature.parameters.values())

    @functools.wraps(function)
    def call(*positional: P.args, **named: P.kwargs) -> R:
        if is_closed:
            refuse_unknown(named, [name for name in signature.parameters if name != "self"], function.__name__)
        try:
            bound = signature.bind(*positional, **named)
        except TypeError as error:
            raise TypeError(f"{function.__name__}: {error}") from None
        given = {name: value for name, value in bound.arguments.items() if name in model.declared}
        bound.arguments |= model.read(given)
        return function(*bound.args, **bound.kwargs)

    # without what only the command line reads
    plain = [
        own.replace(annotation=model.declared[own.name].python_type) if own.name in model.declared else own
        for own in signature.parameters.values()
    ]
    call.__signature__ = signature.replace(parameters=plain)  # type: ignore[attr-defined]
    call.__doc__ = with_parameters(function.__doc__, parameters_of(function))
    return call


def with_parameters(text: str | None, parameters: Mapping[str, Parameter]) -> str:
    """Return a docstring with a line for each parameter; the text itself says what a source is."""
    lines = [f"    {name}: {_sentence(each)}" for name, each in parameters.items() if not each.on.metavar]
    return "\n".join([inspect.cleandoc(text or ""), *(["\nParameters:", *lines] if lines else [])])


def _sentence(parameter: Parameter) -> str:
    words = spoken(parameter.help, "python")
    return words if parameter.required else f"{words} Default: {parameter.shown(parameter.default)!r}."
