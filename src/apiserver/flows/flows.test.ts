/** Who is shown which records, at once and as they come. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FlowRecord, Recorder, type RequestRecord, type WorkRecord, Works } from "#flows";
import { DEFAULT_MODES } from "../authz/config.ts";
import { binding, role, user } from "../authz/testing/questions.ts";
import type { Connector } from "../connect/connector.ts";
import { evictPod } from "../connect/eviction.ts";
import { type TestServer, testServer } from "../testing/index.ts";
import { TIMED, TIMED_PERIOD_MS } from "./observer.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const JANE = user("jane", "system:authenticated");
const CONTROLLER = user("system:serviceaccount:kube-system:replicaset-controller");

type Line = FlowRecord | { readonly type: "end" | "live"; readonly seq: number; readonly recorder: string };

function linesOf(text: string): Line[] {
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
}

function named(lines: readonly Line[]): string[] {
  return lines.map((line) =>
    line.type === "request"
      ? `${line.verb} ${line.namespace}/${line.name}`
      : line.type === "work"
        ? line.about
        : line.type,
  );
}

describe("GET /k8ts/flows", () => {
  let server: TestServer;
  let recorder: Recorder;
  const configMap = (name: string, namespace = "default", options: object = {}) =>
    server.request("POST", `/api/v1/namespaces/${namespace}/configmaps`, {
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name } },
      ...options,
    });
  beforeEach(async () => {
    recorder = new Recorder();
    server = await testServer({ recorder, modes: DEFAULT_MODES });
    await server.request("POST", `${RBAC}/namespaces/default/roles`, {
      body: role("reader", [{ verbs: ["get"], apiGroups: [""], resources: ["configmaps"] }], "default"),
    });
    await server.request("POST", `${RBAC}/namespaces/default/rolebindings`, {
      body: binding("reader", "Role reader", ["User jane"], "default"),
    });
  });
  afterEach(() => server.close());

  it("shows everything to who may get everything", async () => {
    await configMap("a");
    await configMap("b", "other");
    const { text } = await server.request("GET", "/k8ts/flows");
    expect(named(linesOf(text))).toEqual([
      "create default/reader",
      "create default/reader",
      "create default/a",
      "create other/b",
      "end",
    ]);
  });

  it("shows others what they may get, without the names of those who did it", async () => {
    await configMap("a", "default", { user: user("alice", "system:masters"), headers: { "user-agent": "kubectl/1" } });
    await configMap("b", "other");
    await configMap("mine", "default", { user: JANE });
    const { text } = await server.request("GET", "/k8ts/flows", { user: JANE });
    const lines = linesOf(text);
    // Her own was refused, and is hers to know.
    expect(named(lines)).toEqual(["create default/a", "create default/", "end"]);
    expect(lines.map((line) => (line as RequestRecord).user)).toEqual(["", "jane", undefined]);
    expect(text).not.toContain("alice");
  });

  it("shows a work to who may get the object that it is about", async () => {
    const works = new Works("replicaset-controller");
    const work = (about: string, resource?: string) => ({
      user: { ...CONTROLLER, groups: ["system:masters"] },
      headers: { "k8ts-cause": works.cause({ about, resource, woken: [], startedAt: 0, decided: "" }) },
    });
    await configMap("a", "default", work("other/a", "configmaps"));
    await configMap("b", "default", work("default/b", "configmaps"));
    await configMap("c", "default", work("default/c", "secrets"));
    await configMap("d", "default", work("rules"));
    const { text } = await server.request("GET", "/k8ts/flows", { user: JANE });
    // Works began at 0.
    expect(named(linesOf(text))).toEqual([
      "default/b",
      "create default/a",
      "create default/b",
      "create default/c",
      "create default/d",
      "end",
    ]);
  });

  it("shows no work to who names it as the cause of a request", async () => {
    await server.request("POST", `${RBAC}/namespaces/default/roles`, {
      body: role("writer", [{ verbs: ["create"], apiGroups: [""], resources: ["configmaps"] }], "default"),
    });
    await server.request("POST", `${RBAC}/namespaces/default/rolebindings`, {
      body: binding("writer", "Role writer", ["User jane"], "default"),
    });
    const cause = new Works("replicaset-controller").cause({
      about: "other/secret-plan",
      resource: "configmaps",
      woken: [],
      startedAt: 0,
      decided: "create ConfigMap secret-plan",
    });
    const headers = { "k8ts-cause": cause };
    await configMap("a", "other", { user: { ...CONTROLLER, groups: ["system:masters"] }, headers });
    // The whole header, and the id alone, which is all that is read of a known work.
    for (const [name, header] of Object.entries({ whole: cause, id: cause.slice(0, cause.indexOf(" ") + 1) }))
      expect((await configMap(name, "default", { user: JANE, headers: { "k8ts-cause": header } })).status).toBe(201);
    const { text } = await server.request("GET", "/k8ts/flows", { user: JANE });
    // Hers is a claim, under her own name: what she sent herself, and the id of no other.
    const [own] = linesOf(text).filter((line): line is WorkRecord => line.type === "work");
    expect(own).toMatchObject({ claimed: true, claimedBy: "jane" });
    const [real] = recorder.records().filter((record): record is WorkRecord => record.type === "work");
    expect(real).toMatchObject({ claimed: false, actor: "replicaset-controller" });
    expect(own?.id).not.toBe(real?.id);
    expect(named(linesOf(text)).filter((name) => name.startsWith("create"))).toEqual([
      "create default/whole",
      "create default/id",
    ]);
  });

  it("keeps a genuine work though somebody forged one of its name before", async () => {
    const works = new Works("scheduler");
    const facts = { about: "default/x", resource: "pods", woken: [], startedAt: 0 };
    const genuine = works.cause({ ...facts, decided: "x on n1" });
    const forged = genuine.replace("x on n1", "x on n9");
    await configMap("a", "default", { user: user("mallory", "system:masters"), headers: { "k8ts-cause": forged } });
    const scheduler = user("system:kube-scheduler", "system:masters");
    await configMap("b", "default", { user: scheduler, headers: { "k8ts-cause": genuine } });
    const kept = recorder.records().filter((record): record is WorkRecord => record.type === "work");
    expect(kept.map(({ actor, decided, claimed }) => [actor, decided, claimed])).toEqual([
      ["test", "I am scheduler: x on n9", true],
      ["scheduler", "x on n1", false],
    ]);
    const { text } = await server.request("GET", "/k8ts/flows?resource=configmaps&namespace=default&name=b");
    expect(named(linesOf(text))).toEqual(["default/x", "create default/b", "end"]);
  });

  it("puts what a component vouches for in the place of what it could not yet", async () => {
    const cause = (woken: number) =>
      `w1 ${JSON.stringify({ id: "w1", actor: "scheduler", about: "default/x", resource: "pods", woken: [woken], startedAt: 0, decided: "d", calls: [] })}`;
    const scheduler = user("system:kube-scheduler", "system:masters");
    // Woken by a revision that this server has not seen.
    await configMap("a", "default", { user: scheduler, headers: { "k8ts-cause": cause(999_999) } });
    await configMap("b", "default", { user: scheduler, headers: { "k8ts-cause": cause(1) } });
    const { text } = await server.request("GET", "/k8ts/flows");
    const shown = linesOf(text).filter((line): line is WorkRecord => line.type === "work");
    expect(shown).toEqual([expect.objectContaining({ claimed: false, decided: "d" })]);
  });

  it.each([
    ["whom nobody knows", null, "GET", 403],
    ["who wants to change it", JANE, "PUT", 403],
    ["an administrator who wants to change it", undefined, "PUT", 405],
  ])("refuses %s", async (_, who, method, want) => {
    const { status } = await server.request(method, "/k8ts/flows", who === undefined ? {} : { user: who });
    expect(status).toBe(want);
  });

  it.each(["since=soon", "name=x", "follow=true&after=7"])("refuses ?%s", async (query) => {
    expect((await server.request("GET", `/k8ts/flows?${query}`)).status).toBe(400);
  });

  it("as a stream goes on with what happens, each once", async () => {
    await configMap("before");
    const stream = await server.watch("/k8ts/flows?follow=true");
    await configMap("after");
    await server.settle();
    const lines = linesOf(stream.bytes.toString());
    expect(named(lines).slice(2)).toEqual(["create default/before", "live", "create default/after"]);
    const { seq, recorder: id } = lines.find(({ type }) => type === "live") as { seq: number; recorder: string };
    await stream.close();
    const again = await server.watch(`/k8ts/flows?follow=true&after=${id}-${seq}`);
    await server.settle();
    expect(named(linesOf(again.bytes.toString()))).toEqual(["create default/after", "live"]);
    await again.close();
    const anew = await server.watch(`/k8ts/flows?follow=true&after=00000000-${seq}`);
    await server.settle();
    expect(linesOf(anew.bytes.toString())).toHaveLength(5);
    await anew.close();
  });

  it("as a stream shows others what they may get, of one object if they like", async () => {
    const all = await server.watch("/k8ts/flows?follow=true&past=false", { user: JANE });
    const one = await server.watch("/k8ts/flows?follow=true&resource=configmaps&namespace=default&name=b", {
      user: JANE,
    });
    await configMap("a");
    await configMap("b", "other");
    await configMap("b");
    await server.settle();
    expect(named(linesOf(all.bytes.toString()))).toEqual(["live", "create default/a", "create default/b"]);
    expect(named(linesOf(one.bytes.toString()))).toEqual(["live", "create default/b"]);
    await all.close();
    await one.close();
  });

  it("takes works from those who do them, and from nobody else", async () => {
    const works = new Works("proxy/n1");
    const { metadata } = await configMap("a");
    const cause = (woken: number) => works.cause({ about: "rules", woken: [woken], startedAt: 0, decided: "x" });
    const tell = (who: ReturnType<typeof user>, body: object | string) =>
      server.request("POST", "/k8ts/flows", { user: who, body });
    const told = [cause(Number(metadata.resourceVersion))];
    expect((await tell(user("system:kube-proxy"), told)).status).toBe(204);
    expect(await tell(user("jane", "system:masters"), told)).toMatchObject({ status: 403 });
    expect((await tell(user("system:node:n2"), told)).json.message).toBe(
      "system:node:n2 may not tell of the works of proxy/n1",
    );
    for (const body of ["[", "{}", '["x"]', [1]])
      expect((await tell(user("system:kube-proxy"), body)).status).toBe(400);
    const { text } = await server.request(
      "GET",
      "/k8ts/flows?follow=false&resource=configmaps&namespace=default&name=a",
    );
    expect(named(linesOf(text))).toEqual(["create default/a", "end"]);
    const kept = recorder.records().filter(({ type }) => type === "work");
    expect(kept).toEqual([expect.objectContaining({ actor: "proxy/n1", about: "rules", claimed: false })]);
  });

  it("shows forged causes as said, not as fact", async () => {
    const works = new Works("deployment-controller");
    const forged = works.cause({ about: "x", woken: [999_999], startedAt: 0, decided: "deleted everything" });
    await configMap("a", "default", { user: user("mallory", "system:masters"), headers: { "k8ts-cause": forged } });
    await configMap("b", "default", { headers: { "k8ts-cause": "garbage" } });
    const { text } = await server.request("GET", "/k8ts/flows");
    const work = linesOf(text).find(({ type }) => type === "work") as WorkRecord;
    const [made, other] = linesOf(text)
      .filter((line): line is RequestRecord => "user" in line)
      .slice(-2);
    const decided = "I am deployment-controller: deleted everything";
    expect(work).toMatchObject({ claimed: true, woken: [], actor: "test", decided, calls: [] });
    expect(made).toMatchObject({ user: "mallory", cause: work.id });
    expect(other).toMatchObject({ name: "b" });
    expect(other?.cause).toBeUndefined();
  });

  it("says of a request that begins a flow how long each admission plugin took", async () => {
    const timed = await testServer({
      recorder,
      admission: {
        mutate: ({ witness, name }) => {
          witness?.asked(["A", "B"]);
          witness?.passed();
          return timed.clock.advance(name === "a" ? 2 : 0).then(() => witness?.passed());
        },
        validate: ({ witness }) => {
          witness?.asked(["B"]);
          witness?.passed();
        },
      },
    });
    const works = new Works("replicaset-controller");
    const cause = works.cause({ about: "x", woken: [], startedAt: 0, decided: "" });
    const create = (name: string, headers: Record<string, string>) =>
      timed.request("POST", "/api/v1/namespaces/default/configmaps", {
        body: { kind: "ConfigMap", apiVersion: "v1", metadata: { name } },
        headers,
      });
    try {
      await create("a", {});
      await create("b", { "k8ts-cause": cause });
      await timed.clock.advance(TIMED_PERIOD_MS);
      for (let count = 0; count <= TIMED; count++) await create(`many-${count}`, {});
    } finally {
      await timed.close();
    }
    const made = new Map(
      recorder.records().flatMap((each) => (each.type === "request" ? [[each.name, each] as const] : [])),
    );
    expect(made.get("a")).toMatchObject({ admission: ["A", "B"], admissionMicroseconds: { A: 0, B: 2000 } });
    // Of what follows from something else, and of more than anybody looks at, only that they were asked.
    expect(made.get(`many-${TIMED - 1}`)?.admissionMicroseconds).toBeDefined();
    for (const name of ["b", `many-${TIMED}`]) {
      expect(made.get(name)).toMatchObject({ admission: ["A", "B"] });
      expect(made.get(name)?.admissionMicroseconds).toBeUndefined();
    }
  });

  it("has room for so much, and says what had to go", async () => {
    const small = new Recorder({ limitBytes: 12_000 });
    const busy = await testServer({ recorder: small });
    try {
      const body = (name: string) => ({ kind: "ConfigMap", apiVersion: "v1", metadata: { name } });
      for (let at = 0; at < 200; at++)
        await busy.request("POST", "/api/v1/namespaces/default/configmaps", { body: body(`m-${at}`) });
      const lines = linesOf((await busy.request("GET", "/k8ts/flows")).text);
      const end = lines.at(-1) as unknown as { dropped: number; records: number };
      expect(end.dropped).toBeGreaterThan(100);
      expect(end.records + end.dropped).toBeGreaterThanOrEqual(200);
      expect(lines.at(-2)).toMatchObject({ name: "m-199" });
    } finally {
      await busy.close();
    }
  });

  it("tells what an eviction writes as what it is", async () => {
    const subresources = new Map<string, Connector>();
    const evicting = await testServer({ recorder, connectors: { subresources, virtual: new Map() } });
    try {
      const { resources } = evicting;
      const pods = resources.find("", "v1", "pods");
      const budgets = resources.find("policy", "v1", "poddisruptionbudgets");
      if (pods === undefined || budgets === undefined) throw new Error("a resource is not there");
      subresources.set("pods/eviction", evictPod(pods, budgets));
      const metadata = { name: "a", namespace: "default", labels: { app: "web" } };
      const made = (path: string, body: object) => evicting.request("POST", path, { body });
      const put = (path: string, body: object) => evicting.request("PUT", path, { body });
      const pod = await made("/api/v1/namespaces/default/pods", {
        metadata,
        spec: { containers: [{ name: "c", image: "i" }] },
      });
      const ready = { ...pod.json, status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } };
      await put("/api/v1/namespaces/default/pods/a/status", ready);
      const budget = await made("/apis/policy/v1/namespaces/default/poddisruptionbudgets", {
        metadata: { name: "b", namespace: "default" },
        spec: { minAvailable: 0, selector: { matchLabels: { app: "web" } } },
      });
      const status = { currentHealthy: 1, desiredHealthy: 0, expectedPods: 1, disruptionsAllowed: 1 };
      await put("/apis/policy/v1/namespaces/default/poddisruptionbudgets/b/status", {
        ...budget.json,
        status: { ...status, observedGeneration: 1 },
      });
      const before = recorder.records().length;
      const answer = await made("/api/v1/namespaces/default/pods/a/eviction", {
        apiVersion: "policy/v1",
        kind: "Eviction",
        metadata: { name: "a" },
      });
      expect(answer.status).toBe(201);
      const told = recorder
        .records()
        .slice(before)
        .flatMap((record) =>
          record.type === "request" ? `${record.verb} ${record.resource}/${record.subresource}` : [],
        );
      expect(told[0]).toBe("update policy/poddisruptionbudgets/status");
      expect(new Set(told.slice(1))).toEqual(new Set(["create pods/eviction"]));
    } finally {
      await evicting.close();
    }
  });

  it("tells who was told of a write, in one record", async () => {
    const watches = await Promise.all(
      ["alice", "bob"].map((name) =>
        server.watch("/api/v1/configmaps?watch=true", {
          user: user(name, "system:masters"),
          headers: { "user-agent": `${name}ctl/1` },
        }),
      ),
    );
    const { metadata } = await configMap("a");
    await server.settle();
    const { text } = await server.request("GET", "/k8ts/flows?resource=configmaps&namespace=default&name=a");
    expect(linesOf(text).filter(({ type }) => type === "delivery")).toEqual([
      expect.objectContaining({
        name: "a",
        change: "ADDED",
        revision: Number(metadata.resourceVersion),
        to: ["alicectl", "bobctl"],
        watchers: 2,
      }),
    ]);
    for (const watch of watches) await watch.close();
  });

  it("cuts off who does not read", async () => {
    const stream = await server.watch("/k8ts/flows?follow=true", { stalled: true });
    const [one] = recorder.records();
    for (let at = 0; at < 40 && one?.type === "request"; at++) {
      recorder.request({ ...one, name: "n".repeat(1024 * 1024) });
      await server.settle();
    }
    expect(stream.ended).toBe(true);
    expect(stream.bytes.length).toBeLessThan(20 * 1024 * 1024);
  });
});
