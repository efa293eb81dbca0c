/** The DNS server follows an API server in memory, and goes on without it. */

import { expect, it } from "vitest";
import { kinds } from "#api";
import { childController, MetricsRegistry, realClock, seededRandom, silentLogger, TaskGroup } from "#base";
import { Client, inProcess, type Transport } from "#client";
import { Recorder } from "#flows";
import { testServer } from "../../apiserver/testing/index.ts";
import { runDns } from "./run-dns.ts";
import { answersOf, askServer } from "./testing/ask.ts";

it("answers with what it last saw while the API server is gone, and catches up when it is back", async () => {
  const clock = realClock();
  const recorder = new Recorder();
  const server = await testServer({ recorder });
  const user = { name: "system:kube-proxy", groups: ["system:masters"] };
  let gone = new AbortController();
  const inner = inProcess(server.handle, user);
  const transport: Transport = {
    send: async (request) => {
      gone.signal.throwIfAborted();
      return inner.send({ ...request, ending: childController(AbortSignal.any([gone.signal, request.ending.signal])) });
    },
    close: () => inner.close(),
  };
  const admin = new Client({ transport: inProcess(server.handle, user), clock });
  const client = new Client({ transport, clock });
  await admin.of(kinds.Namespace).create({ metadata: { name: "shop" } });
  const services = admin.of(kinds.Service).in("shop");
  const ports = [{ name: "http", port: 80 }];
  await services.create({ metadata: { name: "web" }, spec: { clusterIP: "None", ports } });
  const slice = {
    metadata: { name: "web-1", labels: { "kubernetes.io/service-name": "web" } },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.1.0.1"] }],
    ports: [],
  } as const;
  const slices = admin.of(kinds.EndpointSlice).in("shop");
  await slices.create(slice);

  const tasks = new TaskGroup();
  const ready = Promise.withResolvers<number>();
  tasks.run("dns", (signal) =>
    runDns(
      {
        ...{ client, clock, random: seededRandom(1), log: silentLogger, metrics: new MetricsRegistry() },
        ...{ addresses: ["127.0.0.1"], port: 0, zone: "cluster.local", upstreams: [], onReady: ready.resolve },
      },
      signal,
    ),
  );
  try {
    const port = await ready.promise;
    const ask = async () => answersOf(await askServer(port, "web.shop.svc.cluster.local", "A"));
    expect(await ask()).toEqual(["A 10.1.0.1"]);
    expect((await askServer(port, "elsewhere.example.org", "A")).rcode).toBe("REFUSED");
    const current = await slices.get("web-1");
    const { metadata } = await slices.update({ ...current, endpoints: [{ addresses: ["10.1.0.2"] }] });
    await expect.poll(ask).toEqual(["A 10.1.0.2"]);
    // What it changed is part of the flow of what changed it.
    const latest = () => recorder.records().findLast((record) => record.type === "work");
    await expect.poll(latest).toMatchObject({
      actor: "dns/127.0.0.1",
      about: "shop/web",
      woken: [Number(metadata?.resourceVersion)],
      calls: [{ to: "zone cluster.local", what: "+3 −3 records of shop/web" }],
      claimed: false,
    });

    gone.abort(new Error("the API server is gone"));
    await slices.update({ ...(await slices.get("web-1")), endpoints: [{ addresses: ["10.1.0.3"] }] });
    expect(await ask()).toEqual(["A 10.1.0.2"]);
    expect((await askServer(port, "ghost.shop.svc.cluster.local", "A")).rcode).toBe("NXDOMAIN");
    gone = new AbortController();
    await expect.poll(ask).toEqual(["A 10.1.0.3"]);
  } finally {
    await tasks.stop();
    await client.close();
    await admin.close();
    await server.close();
  }
});
