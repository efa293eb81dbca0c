import { afterEach, describe, expect, it } from "vitest";
import type { core } from "#api";
import { type Logger, seededRandom, silentLogger, TaskGroup, VirtualClock } from "#base";
import { HeldStore, type TestServer, testServer } from "../../apiserver/testing/index.ts";
import { openMemoryStore } from "../../store/index.ts";
import { Client } from "../requests/client.ts";
import type { ResourceName } from "../requests/resource.ts";
import { inProcess } from "../transport/in-process.ts";
import type { Transport, TransportRequest, TransportResponse } from "../transport/transport.ts";
import { Informers } from "./informers.ts";

const ADMIN = { name: "admin", groups: ["system:masters"] };
const ConfigMaps: ResourceName = { apiVersion: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };
const PATH = "/api/v1/namespaces/default/configmaps";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** A transport whose answers a test may replace. */
class Meddled implements Transport {
  readonly #inner: Transport;
  readonly requests: TransportRequest[] = [];
  meddle: ((request: TransportRequest) => TransportResponse | undefined) | undefined;

  constructor(inner: Transport) {
    this.#inner = inner;
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    this.requests.push(request);
    return this.meddle?.(request) ?? this.#inner.send(request);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

async function started(options: { server?: TestServer; log?: Logger } = {}) {
  const server = options.server ?? (await testServer());
  const { clock } = server;
  const transport = new Meddled(inProcess(server.handle, ADMIN));
  const client = new Client({ transport, clock });
  const tasks = new TaskGroup();
  const log = options.log ?? silentLogger;
  const informers = new Informers({ client, clock, random: seededRandom(1), log, tasks });
  open.push(
    () => server.close(),
    async () => {
      await tasks.stop();
      await client.close();
    },
  );
  const informer = () => informers.of<core.ConfigMap>(ConfigMaps);
  const put = (name: string, data: object) =>
    server.request("PUT", `${PATH}/${name}`, { body: { metadata: { name }, data } });
  const post = (name: string, data: object = {}, labels: object = {}) =>
    server.request("POST", PATH, { body: { metadata: { name, labels }, data } });
  return { server, clock, transport, informers, informer, put, post };
}

function status(reason: string, code: number): TransportResponse {
  const body = Buffer.from(
    JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", reason, code, message: reason }),
  );
  return {
    status: code,
    headers: { "content-type": "application/json" },
    body: (async function* () {
      yield body;
    })(),
  };
}

describe("an informer", () => {
  it("has what was there, then tells what changes", async () => {
    const { server, informer, put, post } = await started();
    await post("a", { x: "1" });
    const configMaps = informer();
    await configMaps.synced;
    const told: string[] = [];
    configMaps.onChange(({ type, object, old }) =>
      told.push(`${type} ${object.metadata.name} ${old?.data?.x ?? "-"} ${object.data?.x ?? "-"}`),
    );
    await post("b", { x: "1" });
    await put("a", { x: "2" });
    await server.request("DELETE", `${PATH}/b`);
    await server.settle();
    expect(told).toEqual(["added a - 1", "added b - 1", "updated a 1 2", "deleted b 1 1"]);
    expect(configMaps.cache.list().map(({ metadata }) => metadata.name)).toEqual(["a"]);
  });

  it("shares one watch in a process", async () => {
    const { transport, informer } = await started();
    await Promise.all([informer().synced, informer().synced]);
    expect(transport.requests).toHaveLength(1);
  });

  it("keeps frozen objects", async () => {
    const { post, informer } = await started();
    await post("a", { x: "1" });
    await informer().synced;
    const found = informer().cache.get("default/a");
    expect(Object.isFrozen(found) && Object.isFrozen(found?.metadata.managedFields)).toBe(true);
  });

  it("has the server's own objects where the server is in the same process", async () => {
    const { server, post, informer } = await started();
    const other = await started({ server });
    await post("before", { x: "1" });
    await Promise.all([informer().synced, other.informer().synced]);
    await post("after", { x: "1" });
    await server.settle();
    for (const key of ["default/before", "default/after"]) {
      expect(informer().cache.get(key)).toBeDefined();
      expect(informer().cache.get(key)).toBe(other.informer().cache.get(key));
    }
  });

  it("finds objects by indexes that follow every change", async () => {
    const { server, put, post, informer } = await started();
    const { cache } = informer();
    const byX = cache.index("x", ({ data }) => (data?.x === undefined ? [] : [data.x]));
    await informer().synced;
    await post("a", { x: "1" });
    await post("b", { x: "1" });
    await put("b", { x: "2" });
    await server.settle();
    const names = (value: string) => byX(value).map(({ metadata }) => metadata.name);
    expect([names("1"), names("2"), names("3")]).toEqual([["a"], ["b"], []]);
    expect(cache.inNamespace("default")).toHaveLength(2);
    await server.request("DELETE", `${PATH}/a`);
    await server.settle();
    expect(names("1")).toEqual([]);
  });

  it("pages where the server streams no lists", async () => {
    const { transport, informer, post, server } = await started();
    for (const name of ["a", "b", "c"]) await post(name);
    transport.meddle = ({ target }) => (target.includes("sendInitialEvents") ? status("Invalid", 422) : undefined);
    await informer().synced;
    expect(informer().cache.size).toBe(3);
    await post("d");
    await server.settle();
    expect(informer().cache.get("default/d")).toBeDefined();
  });

  it("goes on where it was when the watch ends, and misses nothing", async () => {
    const { server, clock, transport, informer, post } = await started();
    const told: string[] = [];
    informer().onChange(({ type, object }) => told.push(`${type} ${object.metadata.name}`));
    await informer().synced;
    transport.meddle = () => status("ServiceUnavailable", 503);
    await clock.advance(2 * 3600_000);
    await post("while-away");
    await server.settle();
    expect(told).toEqual([]);
    transport.meddle = undefined;
    await clock.advance(120_000);
    expect(told).toEqual(["added while-away"]);
    expect(transport.requests.filter(({ target }) => target.includes("sendInitialEvents"))).toHaveLength(1);
  });

  it("goes on where it was when the connection breaks after the list", async () => {
    const { server, clock, transport, informer, post } = await started();
    const broken = Promise.withResolvers<never>();
    const send = transport.send.bind(transport);
    transport.send = async (request) => {
      const answer = await send(request);
      if (!request.target.includes("sendInitialEvents")) return answer;
      const body = answer.body[Symbol.asyncIterator]();
      const next = () => Promise.race([body.next(), broken.promise]);
      return { ...answer, body: { [Symbol.asyncIterator]: () => ({ next }) } };
    };
    await informer().synced;
    broken.reject(new Error("the connection was lost"));
    await post("later");
    await clock.advance(1_000);
    await server.settle();
    expect(
      informer()
        .cache.list()
        .map(({ metadata }) => metadata.name),
    ).toContain("later");
    expect(transport.requests.filter(({ target }) => target.includes("sendInitialEvents"))).toHaveLength(1);
  });

  it("lists anew when it has been away for too long, and tells the difference", async () => {
    const { server, clock, transport, informer, put, post } = await started();
    for (const name of ["stays", "changes", "goes"]) await post(name, { x: "1" });
    const told: string[] = [];
    await informer().synced;
    const revision = informer().cache.revision;
    informer().onChange(({ type, object }) => told.push(`${type} ${object.metadata.name}`));
    transport.meddle = ({ target }) => (target.includes("sendInitialEvents") ? undefined : status("Expired", 410));
    await clock.advance(2 * 3600_000);
    told.length = 0;
    transport.meddle = () => status("ServiceUnavailable", 503);
    await clock.advance(2 * 3600_000);
    await put("changes", { x: "2" });
    await server.request("DELETE", `${PATH}/goes`);
    await post("comes");
    transport.meddle = ({ target }) =>
      target.includes(`resourceVersion=${revision}`) ? status("Expired", 410) : undefined;
    await clock.advance(120_000);
    expect(told.sort()).toEqual(["added comes", "deleted goes", "updated changes"]);
  });

  it("tells an object that was replaced by another of its name as gone and come", async () => {
    const { server, clock, transport, informer, post } = await started();
    await post("a");
    await informer().synced;
    const told: string[] = [];
    const first = informer().cache.get("default/a")?.metadata.uid;
    informer().onChange(({ type, object }) => told.push(`${type} ${object.metadata.uid === first}`));
    transport.meddle = () => status("ServiceUnavailable", 503);
    await clock.advance(2 * 3600_000);
    await server.request("DELETE", `${PATH}/a`);
    await post("a");
    transport.meddle = ({ target }) => (target.includes("sendInitialEvents") ? undefined : status("Gone", 410));
    await clock.advance(120_000);
    expect(told).toEqual(["added true", "deleted true", "added false"]);
  });

  it("waits for a revision", async () => {
    const clock = new VirtualClock();
    const inner = openMemoryStore({ clock });
    const store = new HeldStore(inner);
    const server = await testServer({ store, clock });
    open.push(() => inner.close());
    const { informer, post } = await started({ server });
    await informer().synced;
    let reached = false;
    const { metadata } = await post("a");
    const waiting = informer()
      .cache.reached(Number(metadata.resourceVersion), new AbortController().signal)
      .then(() => {
        reached = informer().cache.get("default/a") !== undefined;
      });
    await waiting;
    expect(reached).toBe(true);
  });

  it("goes on when a handler throws", async () => {
    const { server, informer, post } = await started();
    const told: string[] = [];
    await informer().synced;
    informer().onChange(() => {
      throw new Error("a bug");
    });
    informer().onChange(({ object }) => told.push(object.metadata.name ?? ""));
    await post("a");
    await post("b");
    await server.settle();
    expect(told).toEqual(["a", "b"]);
  });
});
