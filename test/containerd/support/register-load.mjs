/**
 * Clients that write and read ConfigMaps as registers, and add some to a set (those with one label) and list it, one
 * call after the other, each over a connection of its own.
 * `register-load.mjs KUBECONFIG SERVER PREFIX KEYS CLIENTS` prints a line of JSON for each call, until SIGTERM.
 */
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { parse } from "yaml";

const LIMIT_MS = 10_000;
const PAUSE_MS = 40;
const SET_CALLS = 60;
const [file = "", server = "", prefix = "", keys = "", clients = ""] = process.argv.slice(2);
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
let goesOn = true;
process.on("SIGTERM", () => {
  goesOn = false;
});

/** `status` 0: no answer, or not the whole of one. */
function call(method, target, body) {
  return new Promise((resolve) => {
    const options = { ...access, method, signal: AbortSignal.timeout(LIMIT_MS) };
    const sent = request(`${server}${target}`, { ...options, headers: { "content-type": "application/json" } });
    sent.on("response", (response) => {
      let text = "";
      response.on("data", (chunk) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode, text }));
      response.on("error", () => resolve({ status: 0, text: "" }));
    });
    sent.on("error", () => resolve({ status: 0, text: "" }));
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Values are written once, names are added once. */
async function registerCall(key, value) {
  if (Math.random() < 0.5) {
    const { status } = await call("PUT", `${path}/${key}`, { metadata: { name: key }, data: { value } });
    return { op: "write", key, value, status };
  }
  const { status, text } = await call("GET", `${path}/${key}`);
  return { op: "read", key, value, status, read: status === 200 ? JSON.parse(text).data.value : undefined };
}

/** A set has few items, so that its checker is quick: then the next one begins. */
async function setCall(set, value) {
  if (Math.random() < 0.6) {
    const labels = { set };
    const { status } = await call("POST", path, { metadata: { name: `${set}-${value}`, labels } });
    return { op: "add", key: set, value, status };
  }
  const { status, text } = await call("GET", `${path}?labelSelector=set%3D${set}`);
  const names = status === 200 ? JSON.parse(text).items.map(({ metadata }) => metadata.name) : [];
  return { op: "list", key: set, value, status, items: names.map((name) => name.slice(set.length + 1)) };
}

let added = 0;

async function client(number) {
  for (let count = 0; goesOn; count++) {
    const value = `${number}.${count}`;
    const calledAt = performance.now();
    const set = `${prefix}-set-${Math.floor(added / SET_CALLS)}`;
    const done =
      number % 2 === 0
        ? await registerCall(`${prefix}-${Math.floor(Math.random() * Number(keys))}`, value)
        : await setCall(set, value);
    if (number % 2 === 1) added++;
    const returnedAt = performance.now();
    process.stdout.write(`${JSON.stringify({ ...done, calledAt, returnedAt })}\n`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

for (let key = 0; key < Number(keys); key++)
  await call("POST", path, { metadata: { name: `${prefix}-${key}` }, data: { value: "" } });
process.stdout.write("ready\n");
await Promise.all(Array.from({ length: Number(clients) }, (_, number) => client(number)));
