/** Forwarded ports over real sockets, to an API server that a test speaks for. */
import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { WebSocket } from "ws";
import { VirtualClock } from "#base";
import { FakeApi, TOKEN } from "../../testing/fake-api.ts";
import { ApiServer } from "../upstream.ts";
import { Forwards } from "./forwards.ts";
import type { Destination } from "./target.ts";

const POD: Destination = { resource: "pods", namespace: "default", name: "web", port: 8080 };
const SERVICE: Destination = { resource: "services", namespace: "default", name: "web", port: 80 };
const ANSWERS: Readonly<Record<string, object>> = {
  "/api/v1/namespaces/default/services/web": {
    metadata: { name: "web" },
    spec: { selector: { app: "web" }, ports: [{ port: 80, targetPort: 8080 }] },
  },
  "/api/v1/namespaces/default/services/alone": { metadata: { name: "alone" }, spec: { ports: [{ port: 80 }] } },
};
const clock = new VirtualClock();
let allowed = true;
let ready = "web-1";
let api: FakeApi;
let server: ApiServer;
let forwards: Forwards;

beforeAll(async () => {
  api = await FakeApi.start((url) => {
    if (url.endsWith("selfsubjectaccessreviews")) return JSON.stringify({ status: { allowed, reason: "no rule" } });
    if (url.startsWith("/api/v1/namespaces/default/pods?labelSelector=app%3Dweb"))
      return JSON.stringify({ items: [{ metadata: { name: ready }, status: { phase: "Running" } }] });
    const known = ANSWERS[url];
    return known === undefined ? undefined : JSON.stringify(known);
  });
  server = new ApiServer(api.upstream);
  forwards = new Forwards(clock);
});
afterAll(async () => {
  await forwards.closeAll();
  server.close();
  await api[Symbol.asyncDispose]();
});

/** A local connection, and the WebSocket that it comes to. */
async function connected(localPort: number): Promise<{ local: Socket; far: WebSocket }> {
  const before = api.sockets.length;
  const local = createConnection({ host: "127.0.0.1", port: localPort });
  local.on("error", () => undefined);
  const far = await vi.waitUntil(() => api.sockets[before], { timeout: 20_000 });
  for (const channel of [0, 1]) far.send(Buffer.from([channel, 0x90, 0x1f]));
  return { local, far };
}

const shown = (id: number) => forwards.list().find((each) => each.id === id);

async function textFrom(local: Socket, length: number): Promise<string> {
  let text = "";
  for await (const chunk of local.iterator({ destroyOnReturn: false })) {
    text += chunk;
    if (text.length >= length) break;
  }
  return text;
}

describe("a forwarded port", () => {
  it("joins a local program with the Pod, as the user", async () => {
    const { id, localPort } = await forwards.open(server, POD, 0);
    const { local, far } = await connected(localPort);
    const asked = api.asked.at(-1);
    expect(asked?.url).toBe("/api/v1/namespaces/default/pods/web/portforward?ports=8080");
    expect(asked?.headers).toMatchObject({ authorization: `Bearer ${TOKEN}` });
    local.write("ping");
    const [message] = (await once(far, "message")) as [Buffer];
    expect(message.toString()).toBe("\0ping");
    far.send(Buffer.from("\0pong"));
    expect(await textFrom(local, 4)).toBe("pong");
    expect(shown(id)).toMatchObject({ pod: "web", open: 1, total: 1, trouble: "" });
    const left = once(far, "close");
    local.destroy();
    await vi.waitUntil(() => clock.pending > 0);
    await clock.advance(30_000);
    await left;
    await vi.waitUntil(() => shown(id)?.open === 0);
    expect(await forwards.close(id)).toBe(true);
    expect(await forwards.close(id)).toBe(false);
    const [error] = (await once(createConnection({ host: "127.0.0.1", port: localPort }), "error")) as [Error];
    expect(error.message).toContain("ECONNREFUSED");
  });

  it("passes megabytes in both directions to readers that are slow", async () => {
    const { id, localPort } = await forwards.open(server, POD, 0);
    const { local, far } = await connected(localPort);
    const size = 8 * 1024 * 1024;
    let came = 0;
    far.on("message", (message: Buffer) => {
      came += message.length - 1;
    });
    far.pause();
    local.write(Buffer.alloc(size, 1));
    for (let sent = 0; sent < size; sent += 65_536) far.send(Buffer.alloc(65_537));
    expect((await textFrom(local, size)).length).toBe(size);
    far.resume();
    await vi.waitUntil(() => came === size, { timeout: 20_000 });
    local.destroy();
    await forwards.close(id);
  });

  it("waits for the answer to a program that has sent all, while something comes", async () => {
    const { id, localPort } = await forwards.open(server, POD, 0);
    const { local, far } = await connected(localPort);
    local.end("question");
    await once(far, "message");
    far.send(Buffer.from("\0answer"));
    expect(await textFrom(local, 6)).toBe("answer");
    await vi.waitUntil(() => clock.pending > 0);
    const closed = once(far, "close");
    await clock.advance(30_000);
    await closed;
    await forwards.close(id);
  });

  it("tells what the node says against a connection, and stays", async () => {
    const { id, localPort } = await forwards.open(server, POD, 0);
    const { local, far } = await connected(localPort);
    far.send(Buffer.from("\u0001connection refused"));
    far.close(1000);
    await once(local.resume(), "close");
    await vi.waitUntil(() => shown(id)?.trouble === "connection refused");
    api.refusal = "pods web not found";
    createConnection({ host: "127.0.0.1", port: localPort }).on("error", () => undefined);
    await vi.waitUntil(() => shown(id)?.trouble === "pods web not found");
    api.refusal = undefined;
    (await connected(localPort)).far.close(1000);
    await vi.waitUntil(() => shown(id)?.trouble === "" && shown(id)?.open === 0);
    await forwards.close(id);
  });

  it("of a Service goes to the Pod that is there now", async () => {
    const { id, localPort, pod } = await forwards.open(server, SERVICE, 0);
    expect(pod).toBe("web-1");
    ready = "web-2";
    const { local } = await connected(localPort);
    expect(api.asked.at(-1)?.url).toBe("/api/v1/namespaces/default/pods/web-2/portforward?ports=8080");
    expect(shown(id)?.pod).toBe("web-2");
    local.destroy();
    await forwards.close(id);
  });

  it("is not opened where it cannot be", async () => {
    await expect(forwards.open(server, { ...SERVICE, name: "alone" }, 0)).rejects.toThrow("selects no Pods");
    const { id, localPort } = await forwards.open(server, POD, 0);
    await expect(forwards.open(server, POD, localPort)).rejects.toThrow(`Port ${localPort} of this machine is in use.`);
    allowed = false;
    await expect(forwards.open(server, POD, 0)).rejects.toThrow(
      'You cannot create resource "pods/portforward" in API group "" in the namespace "default". no rule',
    );
    allowed = true;
    expect(forwards.list().map((each) => each.id)).toEqual([id]);
    await forwards.close(id);
  });

  it("is closed with its connections when the dashboard ends", async () => {
    const { localPort } = await forwards.open(server, POD, 0);
    const { local, far } = await connected(localPort);
    const closed = Promise.all([once(local.resume(), "close"), once(far, "close")]);
    await forwards.closeAll();
    await closed;
    expect(forwards.list()).toEqual([]);
  });
});
