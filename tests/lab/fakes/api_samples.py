"""The four APIs as agents speak them: a request of each with everything in it, and how its answers are read."""

import json
from typing import NamedTuple

from hookonce.lab.fakes.conversation import ChatMessage, ToolOffer

SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}, "timeout": {"type": "number"}}}
OFFER = ToolOffer(properties=("command", "timeout"))
BRIEF, LIST, LOOK, FOUND, ON = "Be brief.", "List the files.", "I look.", "a.txt", "Go on."
GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": "start: line+"}
CALL = {"name": "run", "arguments": '{"command":"ls"}'}
SNAPSHOT = {"type": "text", "text": "<reminder>No files are open.</reminder>"}


def sse(data):
    """The events of a stream as a client reads them: a name or None, and the data."""
    assert data.endswith(b"\n\n"), "the last event is not finished"
    assert b"\r" not in data, "a return would end a line, too"
    found = []
    for block in data.decode().removesuffix("\n\n").split("\n\n"):
        fields = [line.partition(": ") for line in block.split("\n")]
        assert all(name in {"event", "data"} and colon for name, colon, _ in fields), block
        names = [value for name, _, value in fields if name == "event"]
        (told,) = [value for name, _, value in fields if name == "data"]
        found.append((names[0] if names else None, told if told == "[DONE]" else json.loads(told)))
    return found


# Anthropic Messages

MESSAGES = {
    "model": "claude-x",
    "max_tokens": 32000,
    "stream": True,
    "system": [{"type": "text", "text": BRIEF, "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {"role": "user", "content": [SNAPSHOT, {"type": "text", "text": LIST}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": LOOK},
                {"type": "tool_use", "id": "toolu_1", "name": "run", "input": {"command": "ls"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": FOUND}]},
                {"type": "text", "text": ON},
            ],
        },
    ],
    "tools": [
        {"name": "run", "description": "Run a command.", "input_schema": SCHEMA},
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 8},
    ],
}


def message_of(answer):
    """The text of a message, and its calls."""
    assert ("message", "assistant") == (answer["type"], answer["role"])
    calls = [block for block in answer["content"] if block["type"] == "tool_use"]
    assert answer["stop_reason"] == ("tool_use" if calls else "end_turn")
    text = "".join(block["text"] for block in answer["content"] if block["type"] == "text")
    return text, [(block["name"], block["input"]) for block in calls], [block["id"] for block in calls]


def message_in(events):
    """The message that a stream builds up, piece by piece."""
    assert all(name == data["type"] for name, data in events)
    assert ("message_start", "message_stop") == (events[0][0], events[-1][0])
    message, partial = events[0][1]["message"], {}
    for _, data in events[1:]:
        if data["type"] == "content_block_start":
            assert data["index"] == len(message["content"])
            message["content"].append(data["content_block"])
        elif data["type"] == "content_block_delta" and data["delta"]["type"] == "text_delta":
            message["content"][data["index"]]["text"] += data["delta"]["text"]
        elif data["type"] == "content_block_delta":
            partial[data["index"]] = partial.get(data["index"], "") + data["delta"]["partial_json"]
        elif data["type"] == "content_block_stop" and data["index"] in partial:
            message["content"][data["index"]]["input"] = json.loads(partial[data["index"]])
        elif data["type"] == "message_delta":
            message |= data["delta"]
    return message_of(message)


# OpenAI chat completions

COMPLETIONS = {
    "model": "chat-x",
    "stream": True,
    "stream_options": {"include_usage": True},
    "messages": [
        {"role": "system", "content": BRIEF},
        {"role": "developer", "content": [{"type": "text", "text": BRIEF}]},
        {"role": "user", "content": [SNAPSHOT, {"type": "text", "text": LIST}]},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": CALL}]},
        {"role": "tool", "tool_call_id": "call_1", "content": FOUND},
        {"role": "assistant", "content": LOOK},
        {"role": "user", "content": ON},
    ],
    "tools": [
        {"type": "function", "function": {"name": "run", "description": "Run a command.", "parameters": SCHEMA}},
        {"type": "function", "function": {"name": "wait"}},
        {"type": "custom", "custom": {"name": "patch", "format": GRAMMAR}},
    ],
}


def completion_of(answer):
    """The text of a completion, and its calls."""
    (choice,) = answer["choices"]
    calls = choice["message"].get("tool_calls", [])
    assert choice["finish_reason"] == ("tool_calls" if calls else "stop")
    assert answer["usage"]["total_tokens"] == answer["usage"]["prompt_tokens"] + answer["usage"]["completion_tokens"]
    made = [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in calls]
    return choice["message"]["content"], made, [call["id"] for call in calls]


def completion_in(events):
    """The completion that a stream builds up, piece by piece."""
    assert (None, "[DONE]") == events.pop()
    calls, message = {}, {"content": ""}
    choices = [choice for _, data in events for choice in data["choices"]]
    for delta in (choice["delta"] for choice in choices):
        message["content"] += delta.get("content", "")
        for call in delta.get("tool_calls", []):
            mine = calls.setdefault(call["index"], {"id": "", "function": {"name": "", "arguments": ""}})
            mine["id"] += call["id"]
            mine["function"] = {key: mine["function"][key] + call["function"][key] for key in mine["function"]}
    message |= {"tool_calls": list(calls.values())} if calls else {}
    ended = [choice["finish_reason"] for choice in choices if choice["finish_reason"]]
    (usage,) = [data["usage"] for _, data in events if data.get("usage")]
    assert list(calls) == list(range(len(calls)))
    return completion_of({"choices": [{"message": message, "finish_reason": ended[-1]}], "usage": usage})


# OpenAI Responses

RESPONSES = {
    "model": "gpt-x",
    "stream": True,
    "instructions": BRIEF,
    "input": [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": BRIEF}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": LIST}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": LOOK}]},
        {"type": "function_call", "call_id": "call_1", **CALL},
        {"type": "custom_tool_call", "call_id": "call_2", "name": "patch", "input": "*** Begin Patch"},
        {"type": "function_call_output", "call_id": "call_1", "output": FOUND},
        {"type": "custom_tool_call_output", "call_id": "call_2", "output": [{"type": "input_text", "text": FOUND}]},
        {"role": "user", "content": ON},
    ],
    "tools": [
        {"type": "function", "name": "run", "description": "Run a command.", "strict": False, "parameters": SCHEMA},
        {"type": "custom", "name": "patch", "description": "Change files.", "format": GRAMMAR},
        {"type": "web_search"},
        {"type": "namespace", "name": "mcp__lab", "tools": [{"type": "function", "name": "echo", "parameters": SCHEMA}]},
    ],
}


def response_of(answer):
    """The text of a response, and its calls."""
    assert "completed" == answer["status"]
    said, calls = answer["output"][:1], answer["output"][1:]
    made = [
        (call["name"], call["input"] if call["type"] == "custom_tool_call" else json.loads(call["arguments"]))
        for call in calls
    ]
    return said[0]["content"][0]["text"], made, [call["call_id"] for call in calls]


def response_in(events):
    """The response that a stream ends with, which has to be what its pieces said."""
    assert all(name == data["type"] for name, data in events)
    assert list(range(len(events))) == [data["sequence_number"] for _, data in events]
    assert ("response.created", "response.completed") == (events[0][0], events[-1][0])
    done = events[-1][1]["response"]
    assert done["output"] == [data["item"] for name, data in events if name == "response.output_item.done"]
    deltas = [data["delta"] for name, data in events if name == "response.output_text.delta"]
    text, made, known = response_of(done)
    assert text == "".join(deltas)
    return text, made, known


# Gemini generateContent

CONTENTS = {
    "systemInstruction": {"role": "user", "parts": [{"text": BRIEF}]},
    "contents": [
        {"role": "user", "parts": [{"text": LIST}]},
        {"role": "model", "parts": [{"text": LOOK}, {"functionCall": {"name": "run", "args": {"command": "ls"}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "run", "response": {"output": FOUND}}}, {"text": ON}]},
    ],
    "tools": [
        {"functionDeclarations": [{"name": "run", "parametersJsonSchema": SCHEMA}, {"name": "ls", "parameters": SCHEMA}]},
        {"googleSearch": {}},
    ],
    "generationConfig": {"temperature": 0, "topP": 1},
}


def content_of(answer):
    """The text of an answer, and its calls, which have no ids."""
    (candidate,) = answer["candidates"]
    assert ("model", "STOP") == (candidate["content"]["role"], candidate["finishReason"])
    parts = candidate["content"]["parts"]
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    return "".join(part.get("text", "") for part in parts), [(call["name"], call["args"]) for call in calls], []


def content_in(events):
    """The answer of a stream, which is one piece."""
    ((name, data),) = events
    assert name is None
    return content_of(data)


class Tongue(NamedTuple):
    """An API: where it is spoken, a request and what it says, and how answers are read."""

    path: str
    body: dict
    said: list
    tools: dict
    whole: object
    stream: object
    model: str

    def asks(self, prompt, *, streams, tools=True):
        """The path and the body of a request with nothing but a prompt."""
        if "contents" in self.body:
            body = {"contents": [{"role": "user", "parts": [{"text": prompt}]}]}
            path = self.path if streams else self.path.replace("streamGenerateContent?alt=sse", "generateContent")
        else:
            key = "input" if "input" in self.body else "messages"
            body, path = {key: [{"role": "user", "content": prompt}], "model": "m", "stream": streams}, self.path
        return path, body | ({"tools": self.body["tools"]} if tools else {})


_USUAL = [ChatMessage("system", BRIEF), ChatMessage("user", LIST), ChatMessage("assistant", LOOK), ChatMessage("tool", FOUND), ChatMessage("user", ON)]
_REMINDER = ChatMessage("user", SNAPSHOT["text"])
_MODEL = "/v1beta/models/gemini-x:streamGenerateContent?alt=sse"
TONGUES = {
    "anthropic": Tongue(
        "/v1/messages",
        MESSAGES,
        [_USUAL[0], _REMINDER, *_USUAL[1:]],
        {"run": OFFER, "web_search": ToolOffer()},
        message_of,
        message_in,
        "claude-x",
    ),
    "chat": Tongue(
        "/v1/chat/completions",
        COMPLETIONS,
        [
            ChatMessage("system", BRIEF),
            ChatMessage("system", BRIEF),
            ChatMessage("user", f"{SNAPSHOT['text']}\n{LIST}"),
            ChatMessage("assistant", ""),
            ChatMessage("tool", FOUND),
            ChatMessage("assistant", LOOK),
            ChatMessage("user", ON),
        ],
        {"run": OFFER, "wait": ToolOffer()},
        completion_of,
        completion_in,
        "chat-x",
    ),
    "responses": Tongue(
        "/v1/responses",
        RESPONSES,
        [
            ChatMessage("system", BRIEF),
            ChatMessage("system", BRIEF),
            ChatMessage("user", LIST),
            ChatMessage("assistant", ""),
            ChatMessage("assistant", LOOK),
            ChatMessage("assistant", CALL["arguments"]),
            ChatMessage("assistant", "*** Begin Patch"),
            ChatMessage("tool", FOUND),
            ChatMessage("tool", FOUND),
            ChatMessage("user", ON),
        ],
        {
            "run": OFFER,
            "patch": ToolOffer(takes_text=True),
            "web_search": ToolOffer(),
            "echo": ToolOffer(properties=("command", "timeout"), namespace="mcp__lab"),
        },
        response_of,
        response_in,
        "gpt-x",
    ),
    "gemini": Tongue(
        _MODEL,
        CONTENTS,
        [*_USUAL[:2], ChatMessage("assistant", f"{LOOK}\n"), ChatMessage("tool", '{"name":"run","response":{"output":"a.txt"}}'), _USUAL[4]],
        {"run": OFFER, "ls": OFFER},
        content_of,
        content_in,
        "gemini-x",
    ),
}
