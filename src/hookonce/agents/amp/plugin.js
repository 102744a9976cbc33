
export const description = "Passes events on to the hooks of hookonce"

const EVENTS = ["session.start", "agent.start", "tool.call", "tool.result", "agent.end", "changes.prompt"]

// What of an event a hook may change: it is sent as `output`.
const CHANGEABLE = {
  "tool.call": ({ input }) => ({ input: structuredClone(input ?? {}) }),
  "tool.result": ({ status, output, error }) => structuredClone({ status, output, error }),
}

// A refusal in Amp's own words; a prompt cannot be refused.
const REFUSE = {
  "tool.call": (message) => ({ action: "reject-and-continue", message }),
  "tool.result": (error) => ({ status: "error", error }),
  "agent.end": (userMessage) => ({ action: "continue", userMessage }),
}

// What Amp is told when hooks have changed something. To allow is to have no opinion: any other plugin may still reject.
const TELL = {
  "tool.call": (output, changed) => (changed ? { action: "modify", input: output.input } : { action: "allow" }),
  "tool.result": (output, changed) => (changed ? output : undefined),
  "agent.end": (output, changed) => (changed ? { action: "continue", ...output } : undefined),
}

function folder(amp) {
  try {
    return amp.helpers.filePathFromURI(amp.system.workspaceRoot)
  } catch {
    return process.cwd() // without a workspace
  }
}

// A turn that failed has a name of its own in the table.
const named = (name, event) => (name === "agent.end" && event.status === "error" ? "agent.end with error" : name)

export default function (amp) {
  const place = folder(amp)

  const handle = async (name, event) => {
    const output = CHANGEABLE[name]?.(event) ?? {}
    const before = written(output)
    const made = () => {
      const input = name === "tool.call" ? { ...event, input: output.input } : event
      return { hook: name, input, output, directory: place, thread_id: event.thread?.id }
    }
    try {
      await run(named(name, event), event.tool, made, place)
    } catch (refusal) {
      return REFUSE[name]?.(refusal.message)
    }
    const changed = written(output) !== before
    return TELL[name] ? TELL[name](output, changed) : changed ? output : undefined
  }

  for (const name of EVENTS) {
    if (!TABLE.hooks.some((hook) => hook.on.split(" ")[0] === name)) continue
    amp.on(name, async (event) => {
      const answer = await handle(name, event)
      return name === "agent.end" && event.status !== "done" ? undefined : answer // nothing to continue after an error
    })
  }
}
