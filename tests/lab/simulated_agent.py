"""An agent that plays scenarios as it is told, in memory: what it leaves behind is a run like that of a real one."""

import re
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hookonce import agents
from hookonce.agents import config_event_of, point_of
from hookonce.dispatch.stop_limit import MAX_REFUSALS
from hookonce.lab import drivers
from hookonce.lab.fakes import claude_hook, recording_hook, scenarios
from hookonce.lab.fakes.conversation import ChatMessage, Conversation, ToolOffer
from hookonce.lab.fakes.model_server import ModelRequest
from hookonce.lab.fakes.scenarios import SCENARIOS
from hookonce.lab.fetch.programs import AgentProgram
from hookonce.lab.prove.bench import Bench
from hookonce.lab.prove.run import AgentRun

FOLDER = "/lab/project"
TOOLS = {"Bash": ToolOffer(properties=("command",))}
_MADE = re.compile(r"echo (\w+) > (\w+\.txt)")
_FAILURES = ("crash", "late", "garbage", "death")


class Ways(Struct, frozen=True, kw_only=True):
    """How an agent behaves: whether it asks hooks, minds them, tells the model why, and goes on after a refusal."""

    asks: bool = True
    minds: bool = True
    tells: bool = True
    goes_on: bool = True


class Errand:
    """One run while it goes on: what is there, what was said, what was heard."""

    def __init__(self, scenario, agent, ways, rules, hooks):
        """Nothing has happened yet."""
        self.scenario, self.agent, self.ways = scenario, agent, ways
        self.rules, self.hooks = rules, hooks
        self.files, self.called, self.killed = dict(SCENARIOS[scenario].files), [], []
        self.heard, self.requests = [], []
        self.said = [ChatMessage("user", scenarios.scenario_prompt(scenario, agent.name, FOLDER))]

    def run(self):
        """Play it to its end."""
        if not self.refuses({"type": "before_prompt", "prompt": self.said[0].text}):
            self.turns()
        return AgentRun(
            scenario=self.scenario,
            code=0,
            out="",
            err="",
            files=self.files,
            requests=self.requests,
            hook_events=self.heard,
            mcp_calls=self.called,
            killed_pids=self.killed,
        )

    def turns(self):
        """Every turn of the model, what comes of it, and the stop at the end."""
        for number, steps in enumerate(SCENARIOS[self.scenario].turns):
            self.ask_model()
            self.said.append(ChatMessage("assistant", f"Step {number + 1}."))
            made = [self.step(one) for one in steps]
            if not all(made) and not self.ways.goes_on:
                return
        self.ask_model()
        for _ in range(MAX_REFUSALS):
            if not (reason := self.refuses({"type": "agent_stop"})):
                return
            self.said += [ChatMessage("assistant", "All done."), ChatMessage("user", reason if self.ways.tells else "Go on.")]
            self.ask_model()
        self.refuses({"type": "agent_stop"})  # one too many, which hookonce lets pass

    def ask_model(self):
        """Send the conversation so far."""
        talk = Conversation(messages=list(self.said), tools=TOOLS)
        self.requests.append(ModelRequest(at=float(len(self.requests)), method="POST", path="/v1", conversation=talk))

    def step(self, one):
        """Make a call unless a hook says otherwise; whether it was made."""
        given = {key: self.filled(value) for key, value in one.input.items()}
        event = {"type": "before_tool_execute", "tool": {"name": one.tool, "input": given}}
        reason = self.refuses(event)
        if reason:
            self.said.append(ChatMessage("tool", reason if self.ways.tells else "It was not done."))
            return False
        self.said.append(ChatMessage("tool", self.made({**given, **self.changed(event)})))
        return True

    def filled(self, text):
        """A text of a scenario, as the model words it."""
        return text.replace("{dir}", FOLDER).replace("{mark:sub}", scenarios.scenario_prompt("sub", self.agent.name, FOLDER))

    def refuses(self, event):
        """Ask the hooks that there are; why they refuse, None if they do not or nobody minds them."""
        known = [one for one in self.hooks if one.get("event") == event["type"]] if self.ways.asks else []
        answers = [self.answer(one, event) for one in known]
        return next(filter(None, answers), None) if self.ways.minds else None

    def answer(self, hook, event):
        """Why a hook refuses."""
        if "dialect" in hook:
            return claude_hook.REASON if "rm -rf" in str(event) else None
        self.heard.append(event)
        rule = self.rule(event)
        if rule.get("do") == "death":
            self.killed.append(1)
        if rule.get("do") in _FAILURES:
            return f"the hook failed: {rule['do']}" if hook["on_failure"] == "closed" else None
        if "change" in rule and not can_rewrite(self.agent):
            return "the agent cannot take new input"
        return rule.get("say", {}).get("reason")

    def rule(self, event):
        return next((one for one in self.rules if recording_hook.matches(one, "witness", event)), {})

    def changed(self, event):
        """The new input of a call, where hooks are asked and minded."""
        asked = self.hooks and self.ways.asks and self.ways.minds
        return self.rule(event).get("change", {}) if asked else {}

    def made(self, given):
        """Do what a call says, and tell what came of it."""
        command, path = given.get("command", ""), given.get("path", "").removeprefix(f"{FOLDER}/")
        if found := _MADE.search(command):
            self.files[found[2]] = found[1]
        if "rm -rf" in command:
            self.files = {name: text for name, text in self.files.items() if not name.startswith("victim/")}
        if "content" in given:
            self.files[path] = given["content"]
        elif "new_text" in given:
            self.files[path] = self.files[path].replace(given["old_text"], given["new_text"])
        elif path:
            return self.files[path]
        if "text" in given:
            self.called.append(given["text"])
        if "scenario=sub" in given.get("prompt", ""):
            self.files["sub.txt"] = "two"
        return "done"


def can_rewrite(agent):
    return "rewrite" in point_of(agent, config_event_of(agent, "before_tool_execute")).capabilities


class Standing:
    """What stands where a stage would: runs come from memory, and `spoil` may change what is left of those with us."""

    def __init__(self, agent="claude-code", ways=None, spoil=None, *, fragile=False):
        """An agent of that name, that behaves so."""
        self.driver = replace(drivers.load_driver(agent), ends_on_refusal=fragile, missing_steps={}, unreachable={})
        self.agent, self.program = agents.load(agent), found(agent)
        self.ways, self.spoil = ways or Ways(), spoil or (lambda run: run)
        self.events, self.extra_seconds, self.is_stuck = "default", [], False

    build_hook, installed_types = Bench.build_hook, Bench.installed_types
    hooks_for_all_events, add_timing = Bench.hooks_for_all_events, Bench.add_timing

    def play(self, scenario, *, rules=None, hooks=None, bare=False, **_more):
        """A run of that scenario; without hookonce every agent does well."""
        if bare:
            return Errand(scenario, self.agent, Ways(), [], []).run()
        run = Errand(scenario, self.agent, self.ways, rules or [], hooks(Path("/lab/notes")) if hooks else []).run()
        return self.spoil(run)


def found(agent, version="1.2.3"):
    """A program that nobody has."""
    return AgentProgram(
        agent=agent, version=version, program=Path("/nowhere/agent"), node=None, origin="machine"
    )

