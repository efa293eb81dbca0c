/**
 * The network of a node with 10,000 Services of 5 endpoints each: how long the kernel takes to be told of all of them and of one change, in a
 * namespace of its own; what a Service adds to the making of a connection; and how many DNS questions are answered, against a bare UDP echo in the same thread.
 */
import { spawnSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { encode } from "dns-packet";
import { silentLogger } from "#base";
import { type Program, runProgram } from "../src/network/program.ts";
import { Iptables } from "../src/network/proxy/iptables/apply.ts";
import { Nftables } from "../src/network/proxy/nftables/apply.ts";
import type { Rules } from "../src/network/proxy/run-proxy.ts";
import type { VirtualAddress } from "../src/network/proxy/virtual-addresses.ts";
import { TestNetwork } from "../test/network/namespaces.ts";
import type { Figure } from "./run.ts";

const SERVICES = 10_000;
const ENDPOINTS = 5;
const CHANGES = 15;
const CONNECTIONS = 2_000;
const QUESTIONS = 40_000;
const IN_FLIGHT = 64;
const signal = new AbortController().signal;

type Report = (figure: Figure) => void;

export async function run(report: Report): Promise<void> {
  if (process.getuid?.() === 0) {
    const options = { families: ["IPv4"], podCidrs: ["10.244.0.0/16"], log: silentLogger } as const;
    await inNamespace((run) => syncs("nftables", new Nftables({ ...options, run }), run, report));
    await inNamespace((run) => syncs("iptables", new Iptables({ ...options, run }), run, report));
    await latency("nftables", (run) => new Nftables({ ...options, run }), report);
    await latency("iptables", (run) => new Iptables({ ...options, run }), report);
  } else console.log("  Services are left out: only root may make namespaces.");
  await questions(report);
}

async function inNamespace(work: (run: Program) => Promise<void>): Promise<void> {
  const name = `k8ts-bench-${process.pid}`;
  const ip = (...args: string[]) => {
    const { status, stderr } = spawnSync("ip", ["netns", ...args], { encoding: "utf8" });
    if (status !== 0) throw new Error(`ip netns ${args.join(" ")}: ${stderr}`);
  };
  ip("add", name);
  try {
    await work((command, args, input, aborting) =>
      runProgram("nsenter", [`--net=/run/netns/${name}`, command, ...args], input, aborting),
    );
  } finally {
    ip("del", name);
  }
}

async function syncs(mode: string, rules: Rules, run: Program, report: Report): Promise<void> {
  const bare = await median(5, () => run("nft", ["-f", "-"], "add table ip bare", signal));
  const services = new Map(Array.from({ length: SERVICES }, (_, at) => [`s${at}`, [vip(at, 0)]]));
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  const size = `${SERVICES.toLocaleString("en")} × ${ENDPOINTS}`;
  report({
    name: `${mode}: full sync of ${size}`,
    value: await timed(() => rules.apply(services, signal)),
    unit: "ms",
  });
  globalThis.gc?.();
  const heapMb = (process.memoryUsage().heapUsed - before) / 1e6;
  let turn = 0;
  const change = () => {
    turn += 1;
    return rules.apply(new Map([[`s${turn}`, [vip(turn, 1)]]]), signal);
  };
  const ms = await median(CHANGES, change);
  report({ name: `${mode}: one change among them`, value: ms, unit: "ms", bound: bare, ratio: ms / bare });
  report({ name: `${mode}: full resync`, value: await timed(() => rules.resync(signal)), unit: "ms" });
  report({ name: `${mode}: heap of what is known`, value: heapMb, unit: "MB" });
}

/** How long a connection takes to be made: straight to a Pod, and to the last of the Services on the way there. */
async function latency(mode: string, rulesOf: (run: Program) => Rules, report: Report): Promise<void> {
  await using network = new TestNetwork(`kb${process.pid % 10_000}`);
  const [client, server] = ["10.250.0.1", "10.250.0.2"];
  await network.addNode("node");
  await network.addHost("a", "node", client);
  await network.addHost("b", "node", server);
  await network.start(
    "b",
    'require("node:net").createServer((s) => s.end()).listen(8080, () => console.log("ready"));',
  );
  const rules = rulesOf((command, args, input, aborting) =>
    runProgram("nsenter", [`--net=/run/netns/${network.name("node")}`, command, ...args], input, aborting),
  );
  const services = new Map(Array.from({ length: SERVICES }, (_, at) => [`s${at}`, [vip(at, 0)]]));
  const endpoints = Array.from({ length: ENDPOINTS }, () => ({ address: server, port: 8080, isLocal: true }));
  const last = SERVICES - 1;
  services.set(`s${last}`, [{ ...vip(last, 0), endpoints }]);
  await rules.apply(services, signal);
  const { address, port } = vip(last, 0);
  const [direct = 0, byService = 0] = await network.ask<number[]>(
    "a",
    `const net = require("node:net");
     const one = (host, port) => new Promise((resolve, reject) => {
       const start = performance.now();
       const socket = net.connect({ host, port }, () => { took = performance.now() - start; socket.end(); });
       let took;
       socket.resume().on("error", reject).on("close", () => resolve(took));
     });
     (async () => {
       const ways = [["${server}", 8080, []], ["${address}", ${port}, []]];
       for (let turn = 0; turn < ${CONNECTIONS}; turn++)
         for (const [host, port, all] of ways) all.push(await one(host, port));
       console.log(JSON.stringify(ways.map(([, , all]) => all.sort((x, y) => x - y)[all.length >> 1])));
     })();`,
  );
  report({
    name: `${mode}: a connection by a Service among ${SERVICES.toLocaleString("en")}, against straight to the Pod`,
    value: byService * 1000,
    unit: "µs",
    bound: direct * 1000,
    ratio: byService / direct,
  });
}

/** `generation`: which endpoints it has. */
function vip(at: number, generation: number): VirtualAddress {
  const endpoints = Array.from({ length: ENDPOINTS }, (_, slot) => {
    const number = at * ENDPOINTS + slot;
    return { address: `10.244.${(number >> 8) & 255}.${number & 255}`, port: 8080 + generation, isLocal: slot === 0 };
  });
  const address = `10.96.${at >> 8}.${at & 255}`;
  return {
    family: "IPv4",
    address,
    protocol: "tcp",
    port: 80,
    endpoints,
    masquerade: "outsiders",
    whenEmpty: "reject",
  };
}

async function questions(report: Report): Promise<void> {
  const worker = new Worker(new URL("./network/udp-servers.ts", import.meta.url));
  const [ports] = (await once(worker, "message")) as [{ readonly dns: number; readonly echo: number }];
  const messages = Array.from({ length: 1000 }, (_, at) =>
    encode({
      type: "query",
      id: at,
      flags: 256,
      questions: [{ name: `s${at * 7}.default.svc.cluster.local`, type: "A" }],
    }),
  );
  try {
    await exchanges(ports.echo, messages); // both are warm then
    await exchanges(ports.dns, messages);
    const bound = await exchanges(ports.echo, messages);
    const value = await exchanges(ports.dns, messages);
    report({ name: "DNS: answers of 10,000 Services, against an echo", value, unit: "/s", bound });
  } finally {
    worker.postMessage("end");
    await once(worker, "exit");
  }
}

/** How many a second, with so many in flight. Loopback loses none while that is few. */
async function exchanges(port: number, messages: readonly Buffer[]): Promise<number> {
  const socket = createSocket("udp4");
  try {
    await new Promise<void>((resolve) => socket.connect(port, "127.0.0.1", resolve));
    let sent = 0;
    let received = 0;
    const done = Promise.withResolvers<void>();
    const send = () => socket.send(messages[sent++ % messages.length] ?? Buffer.alloc(0));
    socket.on("message", () => {
      received += 1;
      if (received === QUESTIONS) done.resolve();
      else if (sent < QUESTIONS) send();
    });
    const ms = await timed(() => {
      while (sent < IN_FLIGHT) send();
      return done.promise;
    });
    return (QUESTIONS / ms) * 1000;
  } finally {
    socket.close();
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function median(times: number, work: () => Promise<unknown>): Promise<number> {
  const all: number[] = [];
  for (let turn = 0; turn < times; turn++) all.push(await timed(work));
  return all.sort((a, b) => a - b)[Math.floor(times / 2)] ?? Number.NaN;
}
