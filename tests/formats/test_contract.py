"""What every format promises, from one table over every recorded payload."""


import pytest
from msgspec import to_builtins
from msgspec.structs import asdict, replace

from hookonce import formats
from hookonce.diagnose.document_check import DOCUMENT_CHECKS
from hookonce.errors import DocumentError
from hookonce.model import Decision, Record, Risk, User
from hookonce.store.privacy.redact import redact
from tests.formats.material import EXACT, documents, records, walk
from tests.sample import EXHAUSTIVE, part
from tests.shared import seed_text

RECORDS = list(records())
CALL = next(record for record in RECORDS if record.event.type == "before_tool_execute")
# One of each agent's for each kind of event and tool; all of them, where somebody has the time.
KINDS_OF = {(record.event.agent, record.event.type, record.event.tool and record.event.tool.name): record for record in RECORDS}
SOME = RECORDS if EXHAUSTIVE else [*KINDS_OF.values()]
READABLE = [name for name in formats.FORMATS if formats.load(name).read is not None]


def differences(one, other):
    """The fields in which two events differ."""
    left, right = asdict(one), asdict(other)
    return {name: (left[name], right[name]) for name in left if left[name] != right[name]}


@pytest.mark.part(2)
@pytest.mark.parametrize("level", ["full", "standard", "minimal"])
@pytest.mark.parametrize("name", READABLE)
def test_reading_what_was_written_gives_the_record(name, level):
    """
    read(write(r)) is r, at every level of privacy.
    """
    fmt = formats.load(name)
    for record in RECORDS:
        kept = redact(record, level, native=level == "full")
        made = to_builtins(fmt.write(kept))
        if not made:
            continue
        again = fmt.read(made[0])
        assert differences(kept.event, again.event) == {}, made[0]


@pytest.mark.parametrize("level", ["full", "standard", "minimal"])
@pytest.mark.parametrize("name", [name for name in formats.FORMATS if formats.load(name).omits])
def test_an_event_is_omitted_if_and_only_if_it_has_no_documents(name, level):
    """
    What a format says of an event before redaction is what it writes after it, in every variant.
    """
    fmt = formats.load(name)
    repeats = [replace(record, event=replace(record.event, data=record.event.data | {"repeat": True})) for record in SOME]
    for record in [*RECORDS, *repeats]:
        kept = redact(record, level, native=level == "full")
        for write in (fmt.write, *fmt.variants.values()):
            assert fmt.omits(record.event) is not bool(write(kept)), record.event.type


@pytest.mark.part(2)
@pytest.mark.parametrize("level", ["full", "minimal"])
@pytest.mark.parametrize("name", list(formats.FORMATS))
def test_every_document_is_valid(name, level):
    """
    Everything that is written fits the published schema, strictly.
    """
    for record in part(RECORDS, 4, list(formats.FORMATS).index(name)) if level == "full" else SOME:
        for document in documents(name, redact(record, level, native=level == "full")):
            problems, _ = DOCUMENT_CHECKS[name](document, True)
            assert problems == [], document


@pytest.mark.part(4)
@pytest.mark.parametrize("via", EXACT)
@pytest.mark.parametrize("name", EXACT)
@pytest.mark.covers("AH-64")
def test_there_and_back_gives_the_same_documents(name, via):
    """
    A → B → A gives A back exactly for every event that B can hold.
    """
    first = [document for record in SOME for document in documents(name, record)]
    there, going = walk(name, via, first)
    back, _ = walk(via, name, there)

    lost = going.unwritten_types.total()
    if lost == 0:
        assert back == first
    else:
        assert via == "openhook"
        assert [document for document in first if document in back] == back


@pytest.mark.parametrize("name", [name for name in EXACT if "decision" not in formats.load(name).lacks])
@pytest.mark.covers("AH-13", "AH-16")
def test_decision_and_risk_have_a_place(name):
    """
    A decision's outcome and reason and a risk come back from every format that has a place for them.
    """
    record = Record(
        event=CALL.event,
        decision=Decision(outcome="deny", reason="no"),
        risk=Risk(score=95, level="critical", factors=["DESTRUCTIVE_OP"]),
    )

    again = formats.load(name).read(documents(name, record)[0])

    assert (record.decision, record.risk) == (again.decision, again.risk)


@pytest.mark.parametrize("name", EXACT)
def test_foreign_fields_survive(name):
    """
    A field that somebody added to one of our documents is there again after a walk through each other format.
    """
    document = documents(name, CALL)[0] | {"x_added": {"by": "somebody"}}
    for via in EXACT:
        there, _ = walk(name, via, [document])
        back, _ = walk(via, name, there)
        assert back == ([document] if there else [])


@pytest.mark.parametrize("name", READABLE)
def test_wrong_types_are_refused_with_their_place(name):
    """
    A document with a wrong type in a required field is refused with a path or read with nothing lost.
    """
    document = documents(name, CALL)[0]
    for key in document:
        for wrong in (None, 1, True, "x", [], {}, [1]):
            broken = document | {key: wrong}
            try:
                record = formats.load(name).read(broken)
            except DocumentError as problem:
                refused = problem.path
            else:
                refused = "" if isinstance(record, Record) else "no record"
            assert refused == "" or refused.startswith("$")


@pytest.mark.covers("AH-53", "AH-X11")
@pytest.mark.parametrize("name", list(formats.FORMATS))
def test_no_user_by_default(name):
    """
    Below full privacy nobody is named, whatever the record knew.
    """
    event = replace(CALL.event, user=User(id="dev1@example.com"))

    made = documents(name, redact(Record(event=event), "minimal", native=False))

    assert "dev1@example.com" not in str(made)


@pytest.mark.covers("AH-52")
@pytest.mark.parametrize("name", [name for name in formats.FORMATS if name != "canonical"])
def test_texts_stay_at_home(name):
    """
    At minimal privacy no prompt, output, response or file content is written by any format.
    """
    for record in RECORDS:
        kept = redact(record, "minimal", native=False)
        made = str(documents(name, kept))
        for text in _private(record):
            assert text not in made


def _private(record):
    event = record.event
    found = [event.prompt, event.data.get("response")]
    if event.tool is not None:
        found += [event.tool.input.get("content"), event.tool.input.get("new_text")]
        found += [event.tool.result.output] if event.tool.result else []
    shown = str([event.cwd, event.data.get("transcript_path"), event.tool and event.tool.input.get("command")])
    return [text for text in found if isinstance(text, str) and len(text) > 12 and text not in shown]


def test_seed_documents_are_there_or_skipped():
    """
    The specifications' own examples are read from their files.
    """
    assert "openhook" in seed_text("001")
