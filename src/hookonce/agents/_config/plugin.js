import { spawn } from "node:child_process"
import { resolve } from "node:path"

const SECONDS = 30 // for a hook that names no time of its own
const DAY = 86400 // timers overflow beyond some weeks
const LIMIT = 1 << 20 // bytes of an answer
const GRACE = 250 // milliseconds for the last output of a hook that has ended
const SYSTEMS = { win32: ["windows"], linux: ["linux"], darwin: ["osx", "darwin", "macos"] }

// Whether a hook is about a tool. A star stands for tools of MCP servers, so a tool that is known never fits one.
function isAbout(hook, tool) {
  if (!hook.tools || typeof tool !== "string") return true
  return hook.tools.some((part) => {
    if (typeof part !== "string") return new RegExp(part.pattern).test(tool)
    if (!part.includes("*")) return part === tool
    const text = part.split("*").map((piece) => piece.replace(/[^\w-]/g, "\\$&")).join(".*")
    return !TABLE.tools.includes(tool) && new RegExp(`^${text}$`).test(tool)
  })
}

// A call as JSON; an object inside of itself is left out.
function written(call) {
  const above = []
  return JSON.stringify(call, function (key, value) {
    if (typeof value === "bigint") return String(value)
    if (typeof value !== "object" || value === null) return value
    while (above.length > 0 && above.at(-1) !== this) above.pop()
    if (above.includes(value)) return undefined
    above.push(value)
    return value
  })
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value)
const failure = (why, late = false) => ({ failed: why, late })

// What a hook said: {throw: text}, {assign: {path: value}} or {}; anything else is a failure.
function read(text, code) {
  let answer
  try {
    answer = JSON.parse(text)
  } catch {
    return failure(code === 0 ? "gave no valid answer" : `ended with ${code ?? "a signal"} and gave no valid answer`)
  }
  if (!isObject(answer) || Object.keys(answer).some((key) => key !== "throw" && key !== "assign")) {
    return failure("gave no valid answer")
  }
  if (typeof answer.throw === "string") return { refused: answer.throw }
  if (code !== 0) return failure(`ended with ${code ?? "a signal"}`)
  if ("throw" in answer || ("assign" in answer && !isObject(answer.assign))) return failure("gave no valid answer")
  return { assign: answer.assign ?? {} }
}

function kill(child) {
  try {
    process.kill(-child.pid, "SIGKILL") // with all that it has started
  } catch {
    child.kill("SIGKILL")
  }
}

function start(handler, place) {
  const own = (SYSTEMS[process.platform] ?? []).map((name) => handler.platform?.[name]).find(Boolean)
  return spawn("sh", ["-c", own ?? handler.command], {
    cwd: resolve(place, handler.cwd ?? "."),
    env: { ...process.env, ...handler.env },
    detached: true, // a process group of its own, so that all of it can be ended
    stdio: ["pipe", "pipe", "ignore"],
  })
}

// Run one hook. This never rejects.
function ask(handler, call, place) {
  return new Promise((done) => {
    let child, timer
    let size = 0
    const chunks = []
    const end = (answer) => {
      clearTimeout(timer)
      child?.stdout?.destroy()
      done(answer)
    }
    const finish = (code) => end(read(Buffer.concat(chunks).toString("utf8"), code))
    const stop = (...why) => {
      kill(child)
      end(failure(...why))
    }
    try {
      const text = written(call)
      child = start(handler, place)
      child.on("error", (fault) => end(failure(`could not be started: ${fault.message}`)))
      child.stdin.on("error", () => {}) // a hook need not read what it is given
      child.stdin.end(text)
    } catch (fault) {
      return end(failure(`could not be started: ${fault.message}`))
    }
    const seconds = handler.timeout > 0 ? Math.min(handler.timeout, DAY) : SECONDS
    timer = setTimeout(() => stop(`took longer than ${seconds} s`, true), seconds * 1000)
    child.stdout.on("data", (chunk) => {
      chunks.push(chunk)
      size += chunk.length
      if (size > LIMIT) stop("said too much")
    })
    child.on("close", finish)
    child.on("exit", (code) => setTimeout(() => finish(code), GRACE)) // something that it left behind may hold on
  })
}

// Put a value where another is, keeping the object or list itself: the agent may hold on to it.
function put(holder, key, value) {
  const old = holder[key]
  if (Array.isArray(old) && Array.isArray(value)) {
    old.splice(0, old.length, ...value)
  } else if (isObject(old) && isObject(value)) {
    for (const name of Object.keys(old)) if (!Object.hasOwn(value, name)) delete old[name]
    Object.assign(old, value)
  } else {
    holder[key] = value
  }
}

// What is there with something more: an entry of a list, a paragraph of a text.
function added(old, value) {
  if (Array.isArray(old)) return [...old, value]
  return typeof old === "string" && old !== "" ? `${old}\n\n${value}` : value
}

// Assign values to dotted paths; all of them, or none if one leads nowhere. A path that ends in a dash adds.
function assign(output, changes) {
  const places = []
  for (const [path, value] of Object.entries(changes)) {
    const keys = path.replace(/\.-$/, "").split(".")
    const last = keys.pop()
    let holder = output
    for (const key of keys) {
      if (typeof holder !== "object" || holder === null || key === "__proto__") return false
      if (!Object.hasOwn(holder, key) || holder[key] === undefined) holder[key] = {}
      holder = holder[key]
    }
    if (typeof holder !== "object" || holder === null || last === "__proto__") return false
    places.push([holder, last, value, path.endsWith(".-")])
  }
  for (const [holder, key, value, adds] of places) put(holder, key, adds ? added(holder[key], value) : value)
  return true
}

class Refusal extends Error {}

// Run all hooks of an event in order: a refusal ends it, and what one of them assigns the next one sees.
async function run(event, tool, call, place) {
  const hooks = TABLE.hooks.filter((hook) => hook.on === event)
  const closed = hooks.some((hook) => hook.on_failure === "closed")
  for (const hook of hooks) {
    if (!isAbout(hook, tool)) continue
    const payload = call()
    const asked = ask(hook.handler, payload, place)
    if (hook.handler.async) continue
    const answer = await asked
    if (answer.refused !== undefined) throw new Refusal(answer.refused)
    const given = answer.assign ?? {}
    const lost = Object.keys(given).length > 0 && !assign(payload.output, given)
    const failed = answer.failed ?? (lost ? "assigned to a place that is not there" : undefined)
    const action = answer.late ? hook.handler.timeout_action : undefined
    const refuses = action ? action === "block" && hook.blocking : closed
    if (failed && refuses) throw new Refusal(`hookonce: ${hook.name ?? "a hook"} ${failed}, so this was refused`)
  }
}
