/**
 * Clients that write and read ConfigMaps as registers, one call after the other, each over a connection of its own.
 * `register-load.mjs KUBECONFIG SERVER PREFIX KEYS CLIENTS` prints a line of JSON for each call, until SIGTERM.
 */
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { parse } from "yaml";

const LIMIT_MS = 10_000;
const PAUSE_MS = 40;
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

async function client(number) {
  for (let count = 0; goesOn; count++) {
    const key = `${prefix}-${Math.floor(Math.random() * Number(keys))}`;
    const writes = Math.random() < 0.5;
    const value = `${number}.${count}`;
    const calledAt = performance.now();
    const object = { metadata: { name: key }, data: { value } };
    const { status, text } = await call(writes ? "PUT" : "GET", `${path}/${key}`, writes ? object : undefined);
    const returnedAt = performance.now();
    const read = !writes && status === 200 ? JSON.parse(text).data.value : undefined;
    process.stdout.write(`${JSON.stringify({ key, writes, value, calledAt, returnedAt, status, read })}\n`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

for (let key = 0; key < Number(keys); key++)
  await call("POST", path, { metadata: { name: `${prefix}-${key}` }, data: { value: "" } });
process.stdout.write("ready\n");
await Promise.all(Array.from({ length: Number(clients) }, (_, number) => client(number)));
