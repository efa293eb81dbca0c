/**
 * The virtual address of API servers, in the kernel: three machines on one link, each a network namespace of this test.
 * Two may have the address, the third is a client that keeps in its tables where it was last.
 *
 * Leases are of an API server in this process. A machine that is killed neither renews nor removes anything any more.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kinds } from "../../src/api/index.ts";
import { realClock, seededRandom, silentLogger } from "../../src/base/index.ts";
import { Client, inProcess } from "../../src/client/index.ts";
import { startTestApiServer, type TestApiServer } from "../../src/client/testing/api-server.ts";
import { type Program, runProgram } from "../../src/network/kernel/program.ts";
import { runVirtualAddress } from "../../src/network/virtual-address/index.ts";
import { canMakeNamespaces } from "./namespaces.ts";

const LEASE_MS = 3_000;
const execute = promisify(execFile);
const prefix = `kv${process.pid % 10_000}`;
const clock = realClock();
const nameOf = (machine: string) => `${prefix}-${machine}`;
const ip = async (machine: string, ...args: readonly string[]) =>
  (await execute("ip", ["-n", nameOf(machine), ...args])).stdout;

async function addMachine(machine: string, number: number): Promise<void> {
  await execute("ip", ["netns", "add", nameOf(machine)]);
  await ip(machine, "link", "set", "lo", "up");
  const peer = ["type", "veth", "peer", "name", `m${number}`, "netns", nameOf("switch")];
  await ip(machine, "link", "add", "eth0", ...peer);
  await ip("switch", "link", "set", `m${number}`, "master", "br0", "up");
  await ip(machine, "address", "add", `10.99.0.${number}/24`, "dev", "eth0");
  await ip(machine, "address", "add", `fd99::${number}/64`, "dev", "eth0", "nodad");
  await ip(machine, "link", "set", "eth0", "up");
}

async function macOf(machine: string): Promise<string> {
  const [{ address }] = JSON.parse(await ip(machine, "-json", "link", "show", "eth0"));
  return address;
}

/** The candidate of one machine. */
class Candidate {
  readonly #machine: string;
  readonly #client: Client;
  readonly #stop = new AbortController();
  #killed = false;
  healthy = true;
  /** What happened to its port. */
  readonly port: string[] = [];
  readonly #running: Promise<void>;

  constructor(machine: string, address: string, { server }: TestApiServer) {
    this.#machine = machine;
    const transport = inProcess(server.handle, { name: machine, groups: ["system:masters"] });
    const own = {
      send: (request: Parameters<typeof transport.send>[0]) =>
        this.#killed ? this.#silence(request.ending.signal) : transport.send(request),
      close: () => transport.close(),
    };
    this.#client = new Client({ transport: own, clock });
    const run: Program = (command, args, input, signal) => {
      if (this.#killed) return Promise.resolve("[]");
      return runProgram("nsenter", [`--net=/run/netns/${nameOf(machine)}`, command, ...args], input, signal);
    };
    this.#running = runVirtualAddress(
      {
        ...{ address, link: "eth0", run, identity: machine, leaseMs: LEASE_MS },
        leases: this.#client.of(kinds.Lease).in("kube-system"),
        isHealthy: async () => this.healthy,
        open: async () => {
          this.port.push("open");
          return async () => void this.port.push((await this.has(address)) ? "closed, address there" : "closed late");
        },
        ...{ clock, random: seededRandom(1), log: silentLogger },
      },
      this.#stop.signal,
    );
  }

  /** As SIGKILL does: nothing is given back, nothing is sent any more. */
  kill(): void {
    this.#killed = true;
  }

  /** No answer, until nobody waits for it. */
  #silence(signal: AbortSignal): Promise<never> {
    const { promise, reject } = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    return promise;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#client.close();
  }

  async has(address: string): Promise<boolean> {
    return (await ip(this.#machine, "address", "show", "dev", "eth0")).includes(` ${address}/`);
  }
}

describe.skipIf(!canMakeNamespaces())("the virtual address of API servers", () => {
  beforeAll(async () => {
    await execute("ip", ["netns", "add", nameOf("switch")]);
    await ip("switch", "link", "add", "br0", "type", "bridge");
    await ip("switch", "link", "set", "br0", "up");
    for (const [index, machine] of ["a", "b", "client"].entries()) await addMachine(machine, index + 1);
  });
  afterAll(async () => {
    for (const machine of ["a", "b", "client", "switch"])
      await execute("ip", ["netns", "delete", nameOf(machine)]).catch(() => {});
  });

  it.concurrent.each([
    { family: "IPv4", address: "10.99.0.100" },
    { family: "IPv6", address: "fd99::100" },
  ])(
    "moves when its machine is killed, not well, or stops, and neighbours hear of it: $family",
    async ({ address }) => {
      await using cleanUp = new AsyncDisposableStack();
      const server = await startTestApiServer();
      cleanUp.defer(() => server.stop());
      const start = (machine: string) => {
        const candidate = new Candidate(machine, address, server);
        cleanUp.defer(() => candidate.stop());
        return candidate;
      };
      /** Where the client believes the address to be. It asks nobody. */
      const believed = async () => {
        const [{ lladdr }] = JSON.parse(await ip("client", "-json", "neighbour", "show", address));
        return lladdr;
      };
      const a = start("a");
      await expect.poll(() => a.has(address), { timeout: 5_000 }).toBe(true);
      await ip("client", "neighbour", "replace", address, "lladdr", await macOf("a"), "dev", "eth0", "nud", "stale");
      const b = start("b");

      const both: string[] = [];
      const looking = setInterval(async () => {
        if ((await a.has(address)) && (await b.has(address))) both.push(`${performance.now()}`);
      }, 50);
      cleanUp.defer(() => clearInterval(looking));

      const killedMs = performance.now();
      a.kill();
      await expect.poll(() => b.has(address), { timeout: 10_000, interval: 50 }).toBe(true);
      const tookMs = performance.now() - killedMs;
      await expect.poll(believed, { timeout: 3_000 }).toBe(await macOf("b"));
      expect(tookMs).toBeLessThan(LEASE_MS + 3_000);

      // The killed one starts again: it waits for its turn. Then the other is not well.
      const again = start("a");
      b.healthy = false;
      await expect.poll(() => again.has(address), { timeout: 10_000, interval: 50 }).toBe(true);
      expect(await b.has(address)).toBe(false);
      await expect.poll(believed, { timeout: 3_000 }).toBe(await macOf("a"));
      expect(b.port).toEqual(["open", "closed, address there"]);

      // It stops in order: nobody waits for the end of its lease.
      b.healthy = true;
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      const stoppedMs = performance.now();
      await again.stop();
      expect(await again.has(address)).toBe(false);
      await expect.poll(() => b.has(address), { timeout: 5_000, interval: 50 }).toBe(true);
      console.log(
        `${address}: after a kill ${tookMs.toFixed(0)} ms, after a stop ${(performance.now() - stoppedMs).toFixed(0)} ms`,
      );
      expect(both).toEqual([]);
    },
    40_000,
  );
});
