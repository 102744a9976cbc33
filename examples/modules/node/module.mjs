// A module in Node, without packages: it turns titles into names for files. Both transports, one `answer`.
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const about = {
  name: "slugs",
  version: "1.0.0",
  kind: "tool",
  capabilities: [],
  inputs: {
    type: "object",
    required: ["op"],
    properties: { op: { enum: ["slug", "echo", "on_event"] }, args: { type: "object" } },
  },
  outputs: {},
};

const operations = {
  slug({ title }) {
    if (typeof title !== "string") throw refusal("bad_request", "title is a text");
    const plain = title.normalize("NFKD").replace(/[\u0300-\u036f]/g, "");
    return plain.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  },
  echo: (args, session) => ({ args, session_id: session ?? null }),
  on_event({ event }) {
    setImmediate(() => console.error(`saw ${event?.event}`)); // after the answer
    return { accepted: true };
  },
};

const refusal = (code, message) => Object.assign(new Error(message), { code });
const failure = (code, message) => ({ ok: false, error: { code, message } });
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

async function answer(request) {
  if (!isObject(request)) return failure("bad_request", "a request is an object with op and args");
  const said = await outcome(request);
  return "id" in request ? { ...said, id: request.id } : said;
}

async function outcome({ op, method, args = {}, session_id: session }) {
  const name = op ?? method;
  if (typeof name !== "string" || !name) return failure("bad_request", "op is required and is a text");
  if (!isObject(args)) return failure("bad_request", "args is an object");
  if (name === "health") return { status: "ok" };
  if (name === "describe") return about;
  if (!Object.hasOwn(operations, name)) return failure("unsupported_op", `there is no operation ${name}`);
  try {
    return { ok: true, result: (await operations[name](args, session)) ?? null };
  } catch (problem) {
    if (problem.code) return failure(problem.code, problem.message);
    console.error(problem);
    return failure("internal", `${name} failed: ${problem.message}`);
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // which is no object, and so no request
  }
}

function overLines() {
  const say = async (request) => process.stdout.write(JSON.stringify(await answer(request)) + "\n");
  let turn = Promise.resolve(); // without an id only the order tells whose an answer is
  createInterface({ input: process.stdin, crlfDelay: Infinity }).on("line", (line) => {
    if (!line.trim()) return;
    const request = parsed(line);
    if (request?.id != null) say(request);
    else turn = turn.then(() => say(request));
  });
}

function overHttp(port) {
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const [status, said] = await httpAnswer(request, Buffer.concat(chunks).toString());
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(said));
  });
  server.listen(port, "127.0.0.1", () => console.error(`slugs listens at http://127.0.0.1:${server.address().port}`));
}

async function httpAnswer(request, body) {
  if (request.headers.origin) return [403, failure("forbidden", "pages of a browser are not answered")];
  if (request.method !== "POST") return [405, failure("bad_request", "POST is spoken here")];
  if (request.url === "/health" || request.url === "/describe") return [200, await answer({ op: request.url.slice(1) })];
  if (request.url !== "/invoke") return [404, failure("unsupported_op", "there is no such path")];
  return [200, await answer(parsed(body))];
}

const [flag, port] = process.argv.slice(2);
if (flag === "--http") overHttp(Number(port));
else overLines();
