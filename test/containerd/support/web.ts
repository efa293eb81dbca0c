/**
 * Servers and clients for tests of the network, as Pods: this machine's own Node, which they see but cannot change,
 * with scripts from a ConfigMap.
 *
 *     node /scripts/server.js                        tells its name; /ready, /unready, /stream
 *     node /scripts/client.js URL count N            connects so often, each time anew, and counts who answered
 *     node /scripts/client.js URL load FILE          the same until the file is there; with `stream`, one answer is read all the time
 *     node /scripts/names.js [[TYPE, NAME], …]       asks the cluster's DNS, and tells what it found or why not
 */
import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import type { core } from "../../../src/api/index.ts";

const SERVER = `
  const { createServer } = require("node:http");
  const [port = "8080"] = process.argv.slice(2);
  let isReady = true;
  const server = createServer((request, response) => {
    response.setHeader("connection", "close");
    if (request.url === "/ready") {
      response.statusCode = isReady ? 200 : 503;
    }
    if (request.url === "/unready") isReady = false;
    if (request.url === "/stream") {
      const ticks = setInterval(() => response.write("."), 20);
      return response.on("close", () => clearInterval(ticks));
    }
    const from = request.socket.remoteAddress.replace("::ffff:", "");
    response.end(process.env.POD_NAME + " " + from + " " + (request.headers.host ?? ""));
  }).listen(Number(port));
  // Those who have not heard yet that it ends are still served.
  process.on("SIGTERM", () => setTimeout(() => server.close(() => process.exit()), 2000));`;

const CLIENT = `
  const http = require("node:http"), https = require("node:https"), fs = require("node:fs");
  const [url, what, limit, stream] = process.argv.slice(2);
  const headers = process.env.HOST === undefined ? {} : { host: process.env.HOST };
  const options = { agent: false, headers, timeout: Number(process.env.TIMEOUT_MS ?? 4000), rejectUnauthorized: false, servername: process.env.HOST };
  const get = (at, on) => (at.startsWith("https") ? https : http).get(at, options, on);
  const answers = {}, failures = {}, last = {};
  const one = () => new Promise((resolve) => {
    const fail = (code) => { failures[code] = (failures[code] ?? 0) + 1; resolve(); };
    const request = get(url, (response) => {
      let said = "";
      response.on("data", (data) => (said += data));
      response.on("error", (error) => fail(error.code));
      response.on("end", () => {
        if (response.statusCode !== 200) return fail(response.statusCode);
        const name = said.split(" ")[0];
        answers[name] = (answers[name] ?? 0) + 1;
        last[name] = Date.now();
        resolve();
      });
    });
    request.on("timeout", () => request.destroy(Object.assign(new Error(), { code: "ETIMEDOUT" })));
    request.on("error", (error) => fail(error.code));
  });
  let left = what === "count" ? Number(limit) : Infinity, isOver = false, ticks = 0;
  const worker = async () => { while (!isOver && left-- > 0) await one(); };
  (async () => {
    if (what === "load") {
      fs.rmSync(limit, { force: true });
      const look = setInterval(() => { if (fs.existsSync(limit)) { isOver = true; clearInterval(look); } }, 20);
      if (stream !== undefined) get(url + "/stream", (response) => {
        response.on("data", () => ticks++);
        response.on("close", () => { if (!isOver) failures.stream = 1; });
      }).on("error", (error) => (failures["stream " + error.code] = 1));
      console.error("loading");
    }
    await Promise.all([1, 2, 3, 4].map(worker));
    console.log(JSON.stringify({ answers, failures, last, ticks }));
    process.exit();
  })();`;

const NAMES = `
  const { Resolver } = require("node:dns").promises;
  const { lookup } = require("node:dns").promises;
  const resolver = new Resolver({ timeout: 1000, tries: 2 });
  const questions = JSON.parse(process.argv[2]);
  const ask = ([type, name]) =>
    type === "search" ? lookup(name, { family: 4 }).then(({ address }) => address)
    : type === "PTR" ? resolver.reverse(name) : resolver.resolve(name, type);
  Promise.all(questions.map((question) => ask(question).then((found) => found, (error) => error.code)))
    .then((found) => console.log(JSON.stringify(found)));`;

export interface Told {
  /** How often who has answered. */
  readonly answers: Readonly<Record<string, number>>;
  readonly failures: Readonly<Record<string, number>>;
  /** When each has answered last, in milliseconds. */
  readonly last: Readonly<Record<string, number>>;
  /** How many pieces came of the response that was read all the time. */
  readonly ticks: number;
}

const node = realpathSync(process.execPath);

export const scripts: core.ConfigMap = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "scripts" },
  data: { "server.js": SERVER, "client.js": CLIENT, "names.js": NAMES },
};

/** What runs a script where there is only this machine's Node. */
export const nodeCommand = node;

const FOLDERS = [dirname(node), "/usr/lib", "/lib", "/lib64"];

/** A container of Node and the volumes that it needs: parts of a Pod's spec. */
export function nodePod(container: Partial<core.Container>): core.PodSpec {
  return {
    terminationGracePeriodSeconds: 5,
    volumes: [
      { name: "scripts", configMap: { name: "scripts" } },
      ...FOLDERS.map((path, at) => ({ name: `machine-${at}`, hostPath: { path: realpathSync(path) } })),
    ],
    containers: [
      {
        name: "main",
        image: "localhost/busybox:1",
        env: [{ name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
        ...container,
        volumeMounts: [
          { name: "scripts", mountPath: "/scripts" },
          ...FOLDERS.map((mountPath, at) => ({ name: `machine-${at}`, mountPath, readOnly: true })),
        ],
      },
    ],
  };
}

export function pod(name: string, labels: Readonly<Record<string, string>>, spec: core.PodSpec): core.Pod {
  return { apiVersion: "v1", kind: "Pod", metadata: { name, labels: { ...labels } }, spec };
}

/** Sleeps, and is where clients are run. */
export function clientPod(name: string, nodeName: string, labels: Readonly<Record<string, string>> = {}): core.Pod {
  const spec = nodePod({ command: ["sleep", "3600"] });
  return pod(name, labels, { ...spec, nodeName, terminationGracePeriodSeconds: 0 });
}

export function serverContainer(port = 8080): Partial<core.Container> {
  return {
    command: [node, "/scripts/server.js", String(port)],
    ports: [{ name: "http", containerPort: port }],
    readinessProbe: { httpGet: { path: "/ready", port }, periodSeconds: 1, failureThreshold: 1 },
  };
}
