"""The bodies of requests to the HTTP API, as pydantic models, and the types of their fields.

`collection` is written `namespace` in JSON, as published. Whatever a request has besides is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, Strict, model_validator
from typing_extensions import TypedDict

from rag_core.domain.bounds import MAX_QUESTION_CHARS
from rag_core.domain.given import MAX_LINE_CHARS, MAX_TEXT_CHARS
from rag_core.library.stored.bounds import MAX_FILES, MAX_KEY_CHARS, MAX_KEYS, MAX_NAME_CHARS, MAX_VALUE_CHARS
from rag_core.records.stored import MAX_COMMENT_CHARS, FeedbackKind
from rag_core.settings import Cost, Settings, presets
from rag_core.settings.knobs import AS_BUILT
from rag_core.settings.profiles import profiles

MAX_PASSAGES = 200  # as `decide_over` takes
MAX_SETTINGS = 200  # more than there are
MAX_TOGETHER = 16  # collections of one question: they are joined in memory for each
MAX_CONTENT_CHARS = 10_000_000  # one document as text; below the largest body
MAX_PAGE = 1_000_000  # number of a page, or of an item in a list: beyond any document
PAGE_ITEMS, MAX_PAGE_ITEMS = 50, 200  # items of a list that come at once

Name = Annotated[str, Field(pattern=r"^[a-z0-9_-]{1,64}$", examples=["default"])]
Question = Annotated[
    str, Field(min_length=1, max_length=MAX_QUESTION_CHARS, examples=["How long is the warranty period?"])
]


def _number(value: object) -> object:
    """The value as it came; pydantic alone would take a switch or a text for the number that it can be read as."""
    if isinstance(value, bool | str):
        raise ValueError("Input should be a number")
    return value


NUMBER = BeforeValidator(_number)
_TOP_K = Settings.knob("top_k")
TopK = Annotated[int, Field(ge=_TOP_K.low, le=_TOP_K.high), NUMBER]
Value = bool | int | float | Annotated[str, Field(max_length=MAX_VALUE_CHARS)]
Key = Annotated[str, Field(min_length=1, max_length=MAX_KEY_CHARS)]
Facts = Annotated[dict[Key, Value], Field(max_length=MAX_KEYS)]
Knobs = Annotated[dict[Key, Value], Field(max_length=MAX_SETTINGS)]


def _knobs(name: str, *costs: Cost) -> Any:
    """The numbers, switches and choices that a call may set, as a type; numbers and switches are what they are."""
    made: Any = TypedDict
    fields: dict[str, Any] = {}
    for knob in Settings.knobs():
        if knob.is_closed and knob.cost in costs and knob.name not in AS_BUILT:
            declared, about = Settings.model_fields[knob.name], Field(description=knob.help)
            exact = [] if knob.options else [Strict() if isinstance(knob.default, bool) else NUMBER]
            fields[knob.name] = Annotated[(declared.annotation, *declared.metadata, *exact, about)]
    found = made(name, fields, total=False)
    found.__pydantic_config__ = ConfigDict(extra="forbid")
    return found


if TYPE_CHECKING:
    QuestionSettings = dict[str, Any]
    JudgedSettings = dict[str, Any]
    IndexSettings = dict[str, Any]
else:
    QuestionSettings = _knobs("QuestionSettings", Cost.REPLAY, Cost.ASK)
    JudgedSettings = _knobs("JudgedSettings", Cost.REPLAY)
    IndexSettings = _knobs("IndexSettings", Cost.INGEST)
_PRESETS = "|".join(presets())
BuiltIn = Annotated[str, Field(pattern=f"^({_PRESETS})?$")]
Preset = Annotated[str, Field(max_length=MAX_KEY_CHARS, pattern=f"^({_PRESETS}|saved:.*)?$")]
Line = Annotated[str, Field(max_length=MAX_LINE_CHARS, pattern="^[^\\n]*$")]
Domain = Annotated[
    str,
    Field(pattern=f"^({'|'.join(profiles())})?$", description="A domain profile; empty for none.", examples=["legal"]),
]
Detail = Literal["answer", "full"]  # a decision with the fields of `models.Answer`, or with all
# ISO 639-1, or longer as BCP 47 has it
Language = Annotated[str, Field(pattern=r"^([a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3})?$")]


class Asked(BaseModel):
    """A request: unknown fields are refused, so that a misspelt one is not taken for its default."""

    model_config = ConfigDict(extra="forbid")


_ALIASES = AliasChoices("namespace", "collection")


def named(default: Any = "default") -> Any:
    return Field(default, validation_alias=_ALIASES, serialization_alias="namespace", description="The collection.")


class Chosen(Asked):
    """The settings of a call."""

    preset: Preset | None = Field(
        default=None, description="A named set of settings; the service's own where it is left out."
    )
    settings: QuestionSettings = Field(default_factory=dict, description="Single settings over it.")


class TextIn(Asked):
    """A document as text. Metadata: title, date, authority, verified, source, and keys of your own."""

    content: str = Field(max_length=MAX_CONTENT_CHARS, examples=["The warranty period is 24 months from delivery."])
    metadata: Facts = Field(default_factory=dict, examples=[{"title": "Terms", "date": "2024-05-01"}])
    id: Annotated[str, Field(max_length=MAX_NAME_CHARS)] = Field(
        default="", description="Yours; equal texts with different ids stay two."
    )
    language: Language = Field(default="", description="ISO 639-1; detected where it is left out.")


class IndexIn(Chosen):
    """Documents to add."""

    domain: Domain | None = None
    settings: IndexSettings = Field(default_factory=dict, description="Single settings over the preset.")
    documents: list[TextIn] = Field(min_length=1, max_length=MAX_FILES)
    collection: Name = named()


class QueryIn(Chosen):
    """A question to a collection."""

    model_config = ConfigDict(
        json_schema_extra={
            "not": {
                "properties": {"collections": {"type": "array"}, "domain": {"type": "string"}},
                "required": ["collections", "domain"],
            }
        }
    )
    query: Question
    collection: Name = named()
    collections: list[Name] | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_TOGETHER,
        description="Several to ask together, ranked together, instead of `namespace`, which is then not read; the "
        "decision is kept in none of them.",
    )
    top_k: TopK | None = Field(default=None, description="How many passages are retrieved.")
    documents: list[Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS)]] | None = Field(
        default=None, max_length=1000, description="Ids or names of those to search; all where it is left out."
    )
    filters: dict[Key, Annotated[str, Field(max_length=MAX_VALUE_CHARS)]] = Field(
        default_factory=dict, max_length=MAX_KEYS
    )
    domain: Domain | None = None

    @model_validator(mode="after")
    def _domain_of_one(self) -> QueryIn:
        if self.collections is not None and self.domain is not None:
            raise ValueError("domain and collections do not go together: a profile is taken in one collection")
        return self


class ChatPart(BaseModel):
    """A part of a message; only texts are read."""

    type: str = "text"
    text: Annotated[str, Field(max_length=MAX_TEXT_CHARS)] | None = None


class ChatMessage(BaseModel):
    """A message of a chat; what a client sends besides is not read."""

    role: Annotated[str, Field(max_length=MAX_KEY_CHARS)]
    content: (
        Annotated[str, Field(max_length=MAX_TEXT_CHARS)]
        | Annotated[list[ChatPart], Field(max_length=MAX_PASSAGES)]
        | None
    ) = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):
            return " ".join(part.text or "" for part in self.content if part.type == "text").strip()
        return (self.content or "").strip()


class ChatIn(BaseModel):
    """A chat, as OpenAI's clients send it; parameters of language models are not read, and null is as left out.

    `preset` and `settings` are ours.
    """

    model: Name = Field(description="The collection.")
    messages: list[ChatMessage] = Field(
        min_length=1,
        max_length=1000,
        description="Only what the user wrote is read; their last message is the question.",
        examples=[[{"role": "user", "content": "How long is the warranty period?"}]],
        json_schema_extra={
            "contains": {
                "properties": {"role": {"const": "user"}, "content": {"type": "string", "pattern": "\\S"}},
                "required": ["role", "content"],
            }
        },
    )
    stream: Annotated[bool, Strict()] | None = False
    stream_options: dict[str, Any] | None = None
    preset: Preset | None = None
    settings: QuestionSettings | None = None

    @model_validator(mode="after")
    def _asks(self) -> ChatIn:
        if not self.questions():
            raise ValueError("no message is the user's, with text")
        return self

    def questions(self) -> list[str]:
        """The user's messages, oldest first."""
        return [one.text for one in self.messages if one.role == "user" and one.text]


class PassageIn(Asked):
    """A passage that you retrieved; all but its text may be left out."""

    text: str = Field(min_length=1, max_length=MAX_TEXT_CHARS)
    document: Line = ""
    page: Annotated[int, Field(ge=1, le=MAX_PAGE), NUMBER] | None = None
    section: Line = ""
    id: Line = ""
    score: Annotated[float, Field(allow_inf_nan=False), NUMBER] | None = None
    language: Language = ""
    metadata: Facts = Field(default_factory=dict)


class DecideIn(Chosen):
    """A question over passages, best first."""

    preset: BuiltIn | None = None
    question: Question
    passages: list[PassageIn] = Field(
        max_length=MAX_PASSAGES, examples=[[{"text": "The warranty period is 24 months."}]]
    )


class ReplayIn(Chosen):
    """The settings to decide a kept question under."""

    settings: JudgedSettings = Field(default_factory=dict, examples=[{"min_place": 0.6}])


class FeedbackIn(Asked):
    """A reader's word on a decision; `document` and `page` say where the answer stands."""

    kind: FeedbackKind
    comment: Annotated[str, Field(max_length=MAX_COMMENT_CHARS)] = ""
    document: Annotated[str, Field(max_length=MAX_NAME_CHARS)] = ""
    page: Annotated[int, Field(ge=0, le=MAX_PAGE), NUMBER] = 0


class MetadataIn(Asked):
    """A document's metadata; it replaces all of it."""

    metadata: Facts = Field(examples=[{"title": "Terms", "class": "10"}])


class JudgeIn(Asked):
    """An answer to hold against a context, sentence by sentence."""

    context: str = Field(min_length=1, max_length=MAX_TEXT_CHARS, examples=["The warranty period is 24 months."])
    answer: str = Field(min_length=1, max_length=10_000, examples=["The warranty lasts 24 months."])
    language: Language = ""
