import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { realClock, seededRandom, silentLogger } from "#base";
import { Balancer } from "./balancer.ts";
import type { Report } from "./members.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Says its name to each client, and then echoes. */
async function member(name: string): Promise<{ address: string; server: Server; sockets: Set<Socket> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
    socket.write(name);
    socket.pipe(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(async () => {
    for (const socket of sockets) socket.destroy();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as { port: number };
  return { address: `127.0.0.1:${port}`, server, sockets };
}

async function balancer(members: readonly string[], reports: Map<string, Report>): Promise<Balancer> {
  const opened = await Balancer.open({
    ...{ host: "127.0.0.1", port: 0, members, intervalMs: 10 },
    check: async (address) => reports.get(address) ?? "ready",
    ...{ clock: realClock(), random: seededRandom(1), log: silentLogger },
  });
  const stop = new AbortController();
  const running = opened.run(stop.signal).catch(() => {}); // it ends by the signal
  closing.push(async () => {
    stop.abort();
    await running;
    await opened.close();
  });
  return opened;
}

async function call({ port }: Balancer): Promise<{ socket: Socket; name: string }> {
  const socket = connect({ host: "127.0.0.1", port });
  socket.on("error", () => {});
  const [name] = (await once(socket, "data")) as [Buffer];
  return { socket, name: name.toString() };
}

it("spreads connections, and passes bytes on in both directions", async () => {
  const [a, b] = [await member("a"), await member("b")];
  const balanced = await balancer([a.address, b.address], new Map());
  const [one, two] = [await call(balanced), await call(balanced)];
  expect([one.name, two.name].sort()).toEqual(["a", "b"]);
  one.socket.write("hello");
  expect(String((await once(one.socket, "data"))[0])).toBe("hello");
});

it("takes the next one when a member refuses, without a lost byte", async () => {
  const [a, b] = [await member("a"), await member("b")];
  await new Promise((resolve) => a.server.close(resolve));
  const balanced = await balancer([a.address, b.address], new Map([[a.address, "ready"]]));
  for (let turn = 0; turn < 4; turn++) expect((await call(balanced)).name).toBe("b");
});

it("cuts the connections of a dead member, and leaves those of one that drains", async () => {
  const [a, b] = [await member("a"), await member("b")];
  const reports = new Map<string, Report>();
  const balanced = await balancer([a.address, b.address], reports);
  const calls = [await call(balanced), await call(balanced)];
  const [onA, onB] = [calls.find(({ name }) => name === "a"), calls.find(({ name }) => name === "b")];
  if (onA === undefined || onB === undefined) throw new Error("both members have one");
  reports.set(b.address, "not ready");
  await expect.poll(() => balanced.members.map(({ health }) => health)).toContain("draining");
  expect((await call(balanced)).name).toBe("a");
  const cut = once(onA.socket, "close");
  reports.set(a.address, "no answer");
  await cut;
  expect(onB.socket.destroyed).toBe(false);
  expect((await call(balanced)).name).toBe("b");
});

it("follows the cluster: another member gets new connections, one that left keeps those that it has", async () => {
  const [a, b] = [await member("a"), await member("b")];
  const balanced = await balancer([a.address], new Map());
  const first = await call(balanced);
  balanced.setAddresses([b.address]);
  await expect.poll(() => balanced.members.find(({ address }) => address === b.address)?.health).toBe("ready");
  expect((await call(balanced)).name).toBe("b");
  expect([first.name, first.socket.destroyed]).toEqual(["a", false]);
  balanced.setAddresses([]);
  expect(balanced.members).toHaveLength(2);
});
