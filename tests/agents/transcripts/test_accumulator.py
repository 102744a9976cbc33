"""Lines that our own runs do not bring about: caches, older versions, and agents that were cut off."""

from hookonce.agents import transcripts
from hookonce.agents.transcripts.accumulator import flush_memory, parse_chunk
from hookonce.agents.transcripts.types import ReaderMemory, SubagentSpawn
from hookonce.model import Usage
from tests.agents.transcripts.material import at_once, lines

CLAUDE, CODEX, GEMINI = (transcripts.load(name) for name in ("claude-code", "codex", "gemini-cli"))
AT = "2026-01-01T00:00:00Z"


def claude(known, stop=None, content=(), **usage):
    message = {"id": known, "model": "claude-x", "stop_reason": stop, "usage": usage, "content": list(content)}
    return {"type": "assistant", "sessionId": "s", "timestamp": AT, "message": message}


def codex_count(total, **last):
    last = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7} | last
    info = {"total_token_usage": {"total_tokens": total}, "last_token_usage": last}
    return {"timestamp": AT, "type": "event_msg", "payload": {"type": "token_count", "info": info}}


def codex_meta(**more):
    return {"timestamp": AT, "type": "session_meta", "payload": {"id": "t", "session_id": "t", **more}}


def test_claude_code_tells_input_and_caches_apart_and_we_add_them():
    """
    All input is what is new, what was read from a cache and what was written to it; an hour's cache is told too.
    """
    used = {"input_tokens": 1, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 300, "output_tokens": 4}
    used |= {"cache_creation": {"ephemeral_1h_input_tokens": 100, "ephemeral_5m_input_tokens": 200}}
    (call,) = at_once(CLAUDE, lines(claude("a", "end_turn", **used))).calls
    expected = Usage(
        input_tokens=321, output_tokens=4, cache_read_tokens=20, cache_write_tokens=300, total_tokens=325
    )
    assert (expected, 100) == (call.usage, call.hour_write_tokens)


def test_an_answer_that_is_not_whole_is_held_and_its_last_line_counts():
    """
    Older versions write the first lines of an answer before its tokens are counted.
    """
    early, late = claude("a", output_tokens=1), claude("a", output_tokens=90)
    memory, reading, _ = parse_chunk(CLAUDE, ReaderMemory(), lines(early, late))
    assert () == reading.calls
    _, reading, _ = parse_chunk(CLAUDE, memory, lines(claude("b", output_tokens=2)))
    assert [("a", 90)] == [(one.id, one.usage.output_tokens) for one in reading.calls]


def test_what_was_held_is_told_at_the_end():
    """
    An answer without a reason to stop is told as it is.
    """
    memory, reading, _ = parse_chunk(CLAUDE, ReaderMemory(), lines(claude("a", output_tokens=1)))
    assert () == reading.calls
    assert ["a"] == [one.id for one in flush_memory(memory)[1].calls]


def test_a_turn_of_claude_code_is_that_of_the_last_prompt():
    """
    Calls belong to the prompt before them, and prompts of sub-agents change nothing.
    """
    prompt = {"type": "user", "sessionId": "s", "promptId": "p1", "message": {"content": "text"}}
    other = prompt | {"promptId": "p2", "isSidechain": True}
    (call,) = at_once(CLAUDE, lines(prompt, other, claude("a", "end_turn", output_tokens=1))).calls
    assert ("s", "p1") == (call.session, call.turn)


def test_older_versions_of_codex_tell_only_totals_and_the_same_ones_twice():
    """
    A call is a total that has changed; a count of the context alone is none.
    """
    context = codex_count(14, input_tokens=0, output_tokens=0, total_tokens=3)
    data = lines(codex_meta(), codex_count(7), codex_count(7), codex_count(14), context)
    assert [("t/7", 5), ("t/14", 5)] == [(one.id, one.usage.input_tokens) for one in at_once(CODEX, data).calls]


def test_lines_that_a_thread_of_codex_has_copied_from_another_are_not_its_own():
    """
    A fork begins with the lines of the thread that it comes from.
    """
    usage = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
    theirs, ours = (
        {"type": "token_usage_record", "payload": {"thread_id": thread, "response_id": f"r-{thread}", "usage": usage}}
        for thread in ("old", "t")
    )
    data = lines(codex_meta(), codex_meta(id="old", session_id="old"), theirs, ours)
    assert ["r-t"] == [one.id for one in at_once(CODEX, data).calls]


def test_a_compaction_of_codex_whose_result_never_comes_is_told_at_the_end():
    """
    Its end is not known then.
    """
    compacted = {"timestamp": AT, "type": "compacted", "payload": {"window_id": "w"}}
    memory, reading, _ = parse_chunk(CODEX, ReaderMemory(), lines(codex_meta(), codex_count(7), compacted))
    assert () == reading.compactions
    (one,) = flush_memory(memory)[1].compactions
    assert ("w", 7, None) == (one.id, one.tokens_before, one.tokens_after)


def test_gemini_cli_tells_thoughts_and_tools_apart_and_we_add_them():
    """
    Thoughts are output, and what tools have added to the prompt is input.
    """
    tokens = {"input": 100, "output": 10, "cached": 60, "thoughts": 5, "tool": 7, "total": 122}
    (call,) = at_once(GEMINI, lines({"id": "a", "type": "gemini", "tokens": tokens, "model": "m"})).calls
    expected = Usage(
        input_tokens=107, output_tokens=15, cache_read_tokens=60, reasoning_tokens=5, total_tokens=122
    )
    assert expected == call.usage


def test_an_answer_of_gemini_cli_counts_when_its_tokens_are_there():
    """
    It is written first without them, and again with its tools; a call that runs has started no sub-agent yet.
    """
    bare = {"id": "a", "type": "gemini", "content": "text", "model": "m"}
    full = bare | {"tokens": {"input": 1, "output": 2}}
    tool = {"id": "c", "name": "invoke_agent", "agentId": "child"}
    for status, spawned in (("executing", []), ("success", [("child", "c")])):
        memory, reading, _ = parse_chunk(GEMINI, ReaderMemory(), lines(bare, full, full | {"toolCalls": [tool | {"status": status}]}))
        assert (["a"], spawned) == ([one.id for one in reading.calls], [(one.id, one.call) for one in memory.spawned])


def test_a_thread_of_codex_finds_its_sub_agents_on_other_days(tmp_path):
    """
    A name that would lead elsewhere is not looked for.
    """
    for day, name in (("11/30", "rollout-x-parent"), ("12/01", "rollout-y-child")):
        folder = tmp_path / "2026" / day
        folder.mkdir(parents=True)
        (folder / f"{name}.jsonl").touch()
    spawns = [SubagentSpawn(id="child"), SubagentSpawn(id="../../*"), SubagentSpawn(id="*")]
    found = CODEX.find_subagent_files(tmp_path / "2026/11/30/rollout-x-parent.jsonl", spawns)
    assert [tmp_path / "2026/12/01/rollout-y-child.jsonl"] == found
