#!/usr/bin/env node
// Reads a canonical event and answers as the Hook Interchange Format has it; no answer is no opinion.
import { readFileSync } from "node:fs";
const event = JSON.parse(readFileSync(0, "utf8"));
if (event.tool?.input?.command?.includes("rm -rf")) console.log(JSON.stringify({ decision: "deny", reason: "not here" }));
