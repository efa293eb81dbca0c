/**
 * How long a connection takes to be made, from a Pod to a Pod behind the same node: before the node has any rule, which
 * is the bound; then, with the rules of all Services there, straight to the Pod and by the last of the Services. Each
 * figure is the middle of many connections, one after the other.
 */
import { TestNetwork } from "../../test/network/namespaces.ts";
import type { Figure } from "../run.ts";
import { ENDPOINTS, type Mode, programIn, rulesOf, SERVICES, services, virtualAddress } from "./services.ts";

const CONNECTIONS = 2_000;
const WARM_UP = 500;
const [CLIENT, SERVER] = ["10.250.0.1", "10.250.0.2"];
const PORT = 8080;

export async function latency(mode: Mode, report: (figure: Figure) => void): Promise<void> {
  await using network = new TestNetwork(`kb${process.pid % 10_000}`);
  await network.addNode("node");
  await network.addHost("a", "node", CLIENT);
  await network.addHost("b", "node", SERVER);
  await network.start(
    "b",
    `require("node:net").createServer((s) => s.end()).listen(${PORT}, () => console.log("ready"));`,
  );
  const straight = { host: SERVER, port: PORT };
  const [bound = 0] = await network.ask<number[]>("a", connecting([straight]));

  const rules = rulesOf(mode, programIn(network.name("node")));
  const last = virtualAddress(SERVICES - 1, 0);
  const endpoints = Array.from({ length: ENDPOINTS }, () => ({ address: SERVER, port: PORT, isLocal: true }));
  const all = services().set(`s${SERVICES - 1}`, [{ ...last, endpoints }]);
  await rules.apply(all, new AbortController().signal);
  const byService = { host: last.address, port: last.port };
  const [direct = 0, translated = 0] = await network.ask<number[]>("a", connecting([straight, byService]));
  const name = (what: string) => `${mode}: a connection ${what}, against no rules`;
  report({ name: name("straight to the Pod"), value: direct, unit: "µs", bound });
  report({ name: name(`by one of ${SERVICES.toLocaleString("en")} Services`), value: translated, unit: "µs", bound });
}

/** A program that connects by turns, and prints for each way the middle of the microseconds that took. */
function connecting(ways: readonly { readonly host: string; readonly port: number }[]): string {
  return `
    const net = require("node:net");
    const one = (to) => new Promise((resolve, reject) => {
      const start = performance.now();
      let took;
      const socket = net.connect(to, () => { took = performance.now() - start; socket.end(); });
      socket.resume().on("error", reject).on("close", () => resolve(took * 1000));
    });
    (async () => {
      const ways = ${JSON.stringify(ways)}.map((to) => ({ to, all: [] }));
      for (let turn = -${WARM_UP}; turn < ${CONNECTIONS}; turn++)
        for (const { to, all } of ways) { const took = await one(to); if (turn >= 0) all.push(took); }
      console.log(JSON.stringify(ways.map(({ all }) => all.sort((x, y) => x - y)[all.length >> 1])));
    })();`;
}
