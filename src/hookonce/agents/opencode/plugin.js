
// The functions of a plugin that are called like hooks; everything else is a message on the bus, heard by `event`.
const CALLS = [
  "chat.headers",
  "chat.message",
  "chat.params",
  "command.execute.before",
  "dispose",
  "experimental.chat.messages.transform",
  "experimental.chat.system.transform",
  "experimental.compaction.autocontinue",
  "experimental.provider.small_model",
  "experimental.session.compacting",
  "experimental.text.complete",
  "permission.ask",
  "shell.env",
  "tool.definition",
  "tool.execute.after",
  "tool.execute.before",
]

const CALLS_AT_ONCE = 1000

TABLE.tools.push("plan_enter", "plan_exit") // built in, though an underscore else tells of an MCP server

// What a message on the bus is called in the table: a sub-agent's session and a file's fate have names of their own.
function names({ type, properties }, parent) {
  if (parent && (type === "session.created" || type === "session.idle")) return [`${type} with parentID`]
  return type === "file.watcher.updated" ? [type, `${type} with ${properties?.event}`] : [type]
}

export const Hookonce = async ({ directory }) => {
  const place = directory ?? process.cwd()
  const parents = new Map() // of sub-agents' sessions: only what begins one, or changes it, names its parent
  const starts = new Map() // of tool calls that our hooks let begin, by a clock that is never set back
  let session, servers

  // The session that the user talks to, for calls that name none.
  const remember = (told) => {
    const id = told?.sessionID ?? told?.info?.id
    const parent = told?.info?.role ? undefined : told?.info?.parentID // that of a message is another message
    if (parent) parents.set(id, parent)
    if (typeof id === "string" && !parents.has(id)) session = id
    return parents.get(id)
  }
  const call = (event, hook, input, output, parentID, duration_ms) => {
    const known = { directory: place, sessionID: session, parentID, mcp_servers: servers, duration_ms }
    return run(event, input.tool, () => ({ hook, input, output, ...known }), place)
  }

  // The agent's own times of a call have its hooks in them. A call that fails sends no end.
  const begin = (id) => {
    starts.set(id, performance.now())
    if (starts.size > CALLS_AT_ONCE) starts.delete(starts.keys().next().value)
  }
  const elapsed = (id) => {
    const duration_ms = starts.has(id) ? Math.round(performance.now() - starts.get(id)) : undefined
    starts.delete(id)
    return duration_ms
  }

  const hooks = {
    config: async (config) => {
      servers = Object.keys(config?.mcp ?? {})
    },
    event: async (input) => {
      const parent = remember(input.event.properties)
      for (const name of names(input.event, parent)) {
        await call(name, "event", input, null, parent).catch(() => {}) // nobody listens, and a rejection might end the agent
      }
    },
  }
  for (const name of CALLS) {
    if (!TABLE.hooks.some((hook) => hook.on === name)) continue
    hooks[name] = async (input = {}, output = null) => {
      const id = `${input.sessionID} ${input.callID}`
      const duration_ms = name === "tool.execute.after" ? elapsed(id) : undefined
      await call(name, name, input, output, remember(input), duration_ms)
      if (name === "tool.execute.before") begin(id)
    }
  }
  return hooks
}
