/**
 * Writes and reads ConfigMaps through an API server's address, each call over a connection of its own, as kubectl does.
 * `api-probe.mjs KUBECONFIG SERVER` prints one line of JSON for each call that ends, until SIGTERM.
 */
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { parse } from "yaml";

const EVERY_MS = 200;
const LIMIT_MS = 15_000;
const MOST_OPEN = 100;
const [file = "", server = ""] = process.argv.slice(2);
const config = parse(readFileSync(file, "utf8"));
const user = config.users[0].user;
const pem = (text) => Buffer.from(text, "base64");
const access = {
  ca: pem(config.clusters[0].cluster["certificate-authority-data"]),
  cert: pem(user["client-certificate-data"]),
  key: pem(user["client-key-data"]),
  agent: false,
};
const path = "/api/v1/namespaces/default/configmaps";
const prefix = `probe-${process.pid}`;
let open = 0;

function call(op, name) {
  if (open >= MOST_OPEN) return;
  open++;
  const at = Date.now();
  const done = (status, text = "") => {
    open--;
    process.stdout.write(`${JSON.stringify({ op, name, at, ended: Date.now(), status, text })}\n`);
  };
  const options = { ...access, method: op === "write" ? "POST" : "GET", signal: AbortSignal.timeout(LIMIT_MS) };
  const target = op === "write" ? path : `${path}/${name}`;
  const sent = request(`${server}${target}`, { ...options, headers: { "content-type": "application/json" } });
  let isOver = false;
  const once = (status, text) => {
    if (isOver) return;
    isOver = true;
    done(status, text);
  };
  sent.on("response", (response) => {
    let text = "";
    response.on("data", (chunk) => (text += chunk));
    response.on("end", () => once(response.statusCode, response.statusCode < 300 ? "" : text.slice(0, 300)));
    response.on("error", (error) => once(0, String(error)));
  });
  sent.on("error", (error) => once(0, String(error)));
  sent.end(op === "write" ? JSON.stringify({ metadata: { name } }) : undefined);
}

let count = 0;
call("write", `${prefix}-0`);
const timer = setInterval(() => {
  call("write", `${prefix}-${++count}`);
  call("read", `${prefix}-0`);
}, EVERY_MS);
process.on("SIGTERM", () => clearInterval(timer));
