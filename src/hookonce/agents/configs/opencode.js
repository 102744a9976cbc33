
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

TABLE.tools.push("plan_enter", "plan_exit") // built in, though an underscore else tells of an MCP server

// What a message on the bus is called in the table: a sub-agent's session and a file's fate have names of their own.
function names({ type, properties }) {
  if (type === "session.created" && properties?.info?.parentID) return ["session.created with parentID"]
  return type === "file.watcher.updated" ? [type, `${type} with ${properties?.event}`] : [type]
}

export const Hookonce = async ({ directory }) => {
  const place = directory ?? process.cwd()
  const children = new Set()
  let session, servers

  // The session that the user talks to, for calls that name none.
  const remember = (told) => {
    const id = told?.sessionID ?? told?.info?.id
    if (told?.info?.parentID) children.add(id)
    if (typeof id === "string" && !children.has(id)) session = id
  }
  const call = (event, hook, input, output) => {
    const made = () => ({ hook, input, output, directory: place, sessionID: session, mcp_servers: servers })
    return run(event, input.tool, made, place)
  }

  const hooks = {
    config: async (config) => {
      servers = Object.keys(config?.mcp ?? {})
    },
    event: async (input) => {
      remember(input.event.properties)
      for (const name of names(input.event)) {
        await call(name, "event", input, null).catch(() => {}) // nobody listens, and a rejection might end the agent
      }
    },
  }
  for (const name of CALLS) {
    if (!TABLE.hooks.some((hook) => hook.on === name)) continue
    hooks[name] = (input = {}, output = null) => {
      remember(input)
      return call(name, name, input, output)
    }
  }
  return hooks
}
