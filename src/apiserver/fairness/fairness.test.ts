import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "#api";
import { MetricsRegistry, settled, VirtualClock } from "#base";
import { ALLOW } from "../authz/verdict.ts";
import { bootstrap } from "../bootstrap/index.ts";
import { type ApiResponse, isStream, type Sink } from "../http/exchange.ts";
import { RequestInfos } from "../http/request-info.ts";
import type { Attributed } from "../pipeline/exchange.ts";
import { configMap, type TestServer, testServer } from "../testing/index.ts";
import { type Fairness, fairness } from "./fairness.ts";

const GROUP = "/apis/flowcontrol.apiserver.k8s.io/v1";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const ann = { name: "ann", groups: ["devs", "system:authenticated"] };

interface Running {
  readonly server: TestServer;
  readonly flow: Fairness;
  readonly metrics: MetricsRegistry;
  readonly clock: VirtualClock;
  /** Requests that have been let pass and wait to be answered. */
  readonly held: (() => void)[];
  /** From now on. */
  hold(held: boolean): void;
  close(): Promise<void>;
}

const running: Running[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.close();
});

async function start({ total = 600, seatsPerTurn = 1000 } = {}): Promise<Running> {
  const clock = new VirtualClock();
  const metrics = new MetricsRegistry();
  const held: (() => void)[] = [];
  let holding = false;
  const ending = new AbortController();
  let flow: Fairness | undefined;
  const server = await testServer({
    clock,
    steps: async (context, resources) => {
      await bootstrap(context, resources);
      const made = fairness({ context, resources, metrics, total, seatsPerTurn });
      flow = made;
      return {
        authorize: () => ALLOW,
        fairness: (exchange, next) =>
          made.step(exchange, async () => {
            if (holding && exchange.info.resource === "configmaps")
              await new Promise<void>((resolve) => held.push(resolve));
            return next(exchange);
          }),
      };
    },
  });
  if (flow === undefined) throw new Error("priority and fairness is off");
  const background = flow.run(ending.signal).catch(() => {});
  const { close: closeFlow } = flow;
  const one: Running = {
    server,
    flow,
    metrics,
    clock,
    held,
    hold: (now) => {
      holding = now;
    },
    close: async () => {
      ending.abort();
      for (const go of held.splice(0)) go();
      closeFlow();
      await background;
      await server.close();
    },
  };
  running.push(one);
  return one;
}

const schema = (name: string, level: string, precedence: number, group: string) => ({
  kind: "FlowSchema",
  apiVersion: "flowcontrol.apiserver.k8s.io/v1",
  metadata: { name },
  spec: {
    priorityLevelConfiguration: { name: level },
    matchingPrecedence: precedence,
    distinguisherMethod: { type: "ByUser" },
    rules: [
      {
        subjects: [{ kind: "Group", group: { name: group } }],
        resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] }],
      },
    ],
  },
});
const level = (name: string, limited: object) => ({
  kind: "PriorityLevelConfiguration",
  apiVersion: "flowcontrol.apiserver.k8s.io/v1",
  metadata: { name },
  spec: { type: "Limited", limited },
});
const dangling = async (server: TestServer, name: string) => {
  const { status } = (await server.request("GET", `${GROUP}/flowschemas/${name}`)).json as { status?: JsonObject };
  const [condition] = (status?.conditions ?? []) as JsonObject[];
  return condition && `${condition.status} ${condition.reason}`;
};

describe("a request", () => {
  it("is told which schema and level it has", async () => {
    const { server } = await start();
    const { headers } = await server.request("GET", CONFIG_MAPS);
    const exempt = async (plural: string) => (await server.request("GET", `${GROUP}/${plural}/exempt`)).metadata.uid;
    expect(headers["x-kubernetes-pf-flowschema-uid"]).toBe(await exempt("flowschemas"));
    expect(headers["x-kubernetes-pf-prioritylevel-uid"]).toBe(await exempt("prioritylevelconfigurations"));
  });

  it("is refused when its level is full", async () => {
    const { server, held, hold, metrics } = await start({ total: 12 });
    await server.request("POST", `${GROUP}/prioritylevelconfigurations`, {
      body: level("few", { nominalConcurrencyShares: 0, borrowingLimitPercent: 0, limitResponse: { type: "Reject" } }),
    });
    await server.request("POST", `${GROUP}/flowschemas`, { body: schema("few", "few", 2, "devs") });
    hold(true);
    const first = server.request("GET", CONFIG_MAPS, { user: ann });
    await settled();
    // A request that is wider than its level's seats is executed if it is alone.
    expect(held.length).toBe(1);
    const { status, headers, text } = await server.request("GET", CONFIG_MAPS, { user: ann });
    expect([status, headers["retry-after"], text]).toEqual([429, "1", "Too many requests, please try again later.\n"]);
    expect(headers["x-kubernetes-pf-flowschema-uid"]).toMatch(/^[0-9a-f-]{36}$/);
    hold(false);
    for (const go of held.splice(0)) go();
    expect((await first).status).toBe(200);
    expect(metrics.text()).toContain(
      'apiserver_flowcontrol_rejected_requests_total{flow_schema="few",priority_level="few",reason="concurrency-limit"} 1',
    );
  });

  it("waits for its turn, and is refused after a quarter of its time", async () => {
    const { server, held, hold, flow, clock } = await start({ total: 12 });
    const queuing = { queues: 4, handSize: 2, queueLengthLimit: 2 };
    await server.request("POST", `${GROUP}/prioritylevelconfigurations`, {
      body: level("one", {
        nominalConcurrencyShares: 1,
        borrowingLimitPercent: 0,
        limitResponse: { type: "Queue", queuing },
      }),
    });
    await server.request("POST", `${GROUP}/flowschemas`, { body: schema("one", "one", 2, "devs") });
    hold(true);
    const ask = (query = "", signal?: AbortSignal) =>
      server.request("GET", `${CONFIG_MAPS}${query}`, { user: ann, ...(signal && { signal }) });
    const first = ask();
    const second = ask();
    const gone = new AbortController();
    const third = ask("", gone.signal);
    const late = ask("?timeout=8s");
    const fifth = ask();
    await settled();
    expect((await ask()).status).toBe(429);
    expect(held.length).toBe(1);
    const waiting = flow.dump("/debug/api_priority_and_fairness/dump_priority_levels", new URLSearchParams()) ?? "";
    expect(
      waiting
        .split("\n")
        .find((line) => line.startsWith("one"))
        ?.split(/,\s+/),
    ).toEqual(["one", "2", "false", "false", "4", "1", "1", "1", "0", "0"]);
    gone.abort();
    expect((await third).status).toBe(429);
    await clock.advance(2_000);
    expect((await late).status).toBe(429);
    hold(false);
    for (const go of held.splice(0)) go();
    const last = await Promise.all([first, second, fifth]);
    expect(last.map((answer) => answer.status)).toEqual([200, 200, 200]);
  });

  it("may be a watch, which holds its seats until it has started", async () => {
    const { server, metrics } = await start();
    const watch = await server.watch(`${CONFIG_MAPS}?watch=1`);
    const samples = 'flow_schema="exempt",priority_level="exempt"';
    expect(metrics.text()).toContain(`apiserver_flowcontrol_current_executing_requests{${samples}} 0`);
    expect(metrics.text()).toContain(
      `apiserver_flowcontrol_request_execution_seconds_count{${samples},type="watch"} 1`,
    );
    await watch.close();
  });
});

describe("a seat", () => {
  const ok: ApiResponse = { status: 200, headers: {}, body: [] };
  const asked = (path = `${CONFIG_MAPS}/one`, search = ""): Attributed => {
    const query = new URLSearchParams(search);
    const info = new RequestInfos().of("GET", path, query);
    const request = { query, headers: {}, whenGone: () => () => {} };
    return { info, user: ann, request, headers: {} } as unknown as Attributed;
  };
  const sink: Sink = {
    signal: new AbortController().signal,
    write: () => 0,
    drop: () => {},
  };
  const watching: ApiResponse = { status: 200, headers: {}, stream: () => Promise.resolve() };
  const inUse = ({ metrics }: Running) =>
    /^apiserver_flowcontrol_current_executing_requests\{.*priority_level="global-default"\} (\d+)$/m.exec(
      metrics.text(),
    )?.[1];
  const counted = ({ metrics }: Running) =>
    /^apiserver_flowcontrol_request_execution_seconds_count\{.*priority_level="global-default".*\} (\d+)$/m.exec(
      metrics.text(),
    )?.[1];

  it("is free again when an answer was known at once, or nobody expected what came", async () => {
    const one = await start();
    expect(one.flow.step(asked(), () => ok)).toBe(ok);
    const fails = () => {
      throw new Error("unexpected");
    };
    expect(() => one.flow.step(asked(), fails)).toThrow("unexpected");
    expect([inUse(one), counted(one)]).toEqual(["0", "2"]);
  });

  it.each([
    { name: "GET", exchange: () => asked(), answer: ok },
    { name: "watch", exchange: () => asked(CONFIG_MAPS, "watch=1&resourceVersion=1"), answer: watching },
  ])(
    "is free for each of 1,000 at once ($name): they wait for a turn, none is refused",
    async ({ exchange, answer }) => {
      const one = await start({ seatsPerTurn: 16 });
      const ask = async () => {
        const response = await one.flow.step(exchange(), () => answer);
        if (isStream(response)) await response.stream(sink);
        return response.status;
      };
      const statuses = await Promise.all(Array.from({ length: 1_000 }, ask));
      expect(new Set(statuses)).toEqual(new Set([200]));
      expect(inUse(one)).toBe("0");
      expect(one.metrics.text()).toMatch(
        /^apiserver_flowcontrol_dispatched_requests_total\{.*priority_level="global-default"\} 1000$/m,
      );
    },
  );

  it("is taken while an answer is waited for", async () => {
    const one = await start();
    const late = Promise.withResolvers<ApiResponse>();
    const answering = one.flow.step(asked(), () => late.promise);
    expect(inUse(one)).toBe("1");
    late.resolve(ok);
    expect(await answering).toBe(ok);
    expect([inUse(one), counted(one)]).toEqual(["0", "1"]);
  });

  it("is free while another server works, whenever that is found out", async () => {
    const one = await start();
    const late = Promise.withResolvers<ApiResponse>();
    const elsewhere = (exchange: Attributed) => {
      exchange.held?.release();
      return late.promise;
    };
    const found = Promise.withResolvers<void>();
    const both = [
      one.flow.step(asked(), elsewhere),
      one.flow.step(asked(), (exchange) => found.promise.then(() => elsewhere(exchange))),
    ];
    expect(inUse(one)).toBe("1");
    found.resolve();
    await settled();
    expect(inUse(one)).toBe("0");
    late.resolve(ok);
    expect(await Promise.all(both)).toEqual([ok, ok]);
    expect([inUse(one), counted(one)]).toEqual(["0", "2"]);
  });
});

describe("objects", () => {
  it("of a level that is not there: the schema is not used, and says so", async () => {
    const { server } = await start();
    await server.request("POST", `${GROUP}/flowschemas`, { body: schema("lost", "nowhere", 2, "devs") });
    await settled();
    expect(await dangling(server, "lost")).toBe("True NotFound");
    const uid = (await server.request("GET", `${GROUP}/flowschemas/lost`)).metadata.uid;
    const used = async () =>
      (await server.request("GET", CONFIG_MAPS, { user: ann })).headers["x-kubernetes-pf-flowschema-uid"];
    expect(await used()).not.toBe(uid);
    await server.request("POST", `${GROUP}/prioritylevelconfigurations`, {
      body: level("nowhere", { limitResponse: { type: "Reject" } }),
    });
    expect(await used()).toBe(uid);
    await settled();
    expect(await dangling(server, "lost")).toBe("False Found");
  });

  it("of every cluster come back, and are as they should be", async () => {
    const { server, clock } = await start();
    const at = (plural: string, name: string) => `${GROUP}/${plural}/${name}`;
    const patch = (path: string, body: object) =>
      server.request("PATCH", path, { body, headers: { "content-type": "application/merge-patch+json" } });
    await server.request("DELETE", at("flowschemas", "probes"));
    await server.request("DELETE", at("prioritylevelconfigurations", "catch-all"));
    await patch(at("flowschemas", "global-default"), { spec: { matchingPrecedence: 9_000 } });
    await patch(at("flowschemas", "service-accounts"), {
      metadata: { annotations: { "apf.kubernetes.io/autoupdate-spec": "false" } },
      spec: { matchingPrecedence: 9_001 },
    });
    await patch(at("flowschemas", "system-nodes"), {
      metadata: { annotations: null },
      spec: { matchingPrecedence: 501 },
    });
    await patch(at("prioritylevelconfigurations", "exempt"), { spec: { exempt: { nominalConcurrencyShares: 7 } } });
    await server.request("POST", `${GROUP}/flowschemas`, {
      body: {
        ...schema("former", "exempt", 3, "devs"),
        metadata: { name: "former", annotations: { "apf.kubernetes.io/autoupdate-spec": "true" } },
      },
    });
    // Without these two, requests are still classified.
    expect((await server.request("GET", CONFIG_MAPS, { user: ann })).status).toBe(200);
    await clock.advance(60_000);
    const found = async (plural: string, name: string) =>
      (await server.request("GET", at(plural, name))).json as JsonObject;
    const precedence = async (name: string) =>
      (((await found("flowschemas", name)).spec ?? {}) as JsonObject).matchingPrecedence;
    expect(await Promise.all(["probes", "global-default", "service-accounts", "system-nodes"].map(precedence))).toEqual(
      [2, 9_900, 9_001, 501],
    );
    expect((await found("flowschemas", "system-nodes")).metadata).toMatchObject({
      annotations: { "apf.kubernetes.io/autoupdate-spec": "false" },
    });
    expect((await found("prioritylevelconfigurations", "exempt")).spec).toMatchObject({
      exempt: { nominalConcurrencyShares: 7 },
    });
    expect((await found("prioritylevelconfigurations", "catch-all")).spec).toMatchObject({
      limited: { nominalConcurrencyShares: 5 },
    });
    expect((await found("flowschemas", "former")).code).toBe(404);
    expect(await dangling(server, "probes")).toBe("False Found");
  });
});

describe("seats", () => {
  it("are lent to who needs them, every ten seconds", async () => {
    const { server, held, hold, metrics, clock } = await start({ total: 60 });
    const limit = () => Number(/current_limit_seats\{priority_level="busy"\} (\d+)/.exec(metrics.text())?.[1]);
    await server.request("POST", `${GROUP}/prioritylevelconfigurations`, {
      body: level("busy", {
        nominalConcurrencyShares: 30,
        limitResponse: { type: "Queue", queuing: { queues: 8, handSize: 2, queueLengthLimit: 50 } },
      }),
    });
    await server.request("POST", `${GROUP}/flowschemas`, { body: schema("busy", "busy", 2, "devs") });
    hold(true);
    const before = limit();
    const asked = Array.from({ length: 40 }, () => server.request("GET", CONFIG_MAPS, { user: ann }));
    await settled();
    expect(held.length).toBe(before);
    await clock.advance(10_000);
    expect(limit()).toBeGreaterThan(before);
    await settled();
    expect(held.length).toBe(Math.min(40, limit()));
    hold(false);
    while (held.length > 0) {
      for (const go of held.splice(0)) go();
      await settled();
    }
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(Array(40).fill(200));
  });

  it("are shared in a turn by all who wait", async () => {
    const { server } = await start({ seatsPerTurn: 2 });
    const users = ["a", "b", "c"].map((name) => ({ name, groups: ["system:authenticated"] }));
    const order: string[] = [];
    const asked = [...Array(30).fill(0), 1, 2].map(async (i: number) => {
      const user = users[i] ?? ann;
      const { status } = await server.request("GET", "/version", { user });
      expect(status).toBe(200);
      order.push(user.name);
    });
    await Promise.all(asked);
    expect(order.length).toBe(32);
    // They came last, and are served among the first that had to wait.
    expect(Math.max(order.indexOf("b"), order.indexOf("c"))).toBeLessThan(12);
  });
});

describe("dumps", () => {
  it("show queues and requests", async () => {
    const { server, flow, held, hold } = await start();
    hold(true);
    const asked = server.request("POST", CONFIG_MAPS, {
      body: configMap("a"),
      user: { name: "bob", groups: ["system:authenticated"] },
    });
    await settled();
    const lines = (name: string, query = "") =>
      (flow.dump(`/debug/api_priority_and_fairness/${name}`, new URLSearchParams(query)) ?? "").trimEnd().split("\n");
    const [heading = "", ...requests] = lines("dump_requests", "includeRequestDetails=1").map((line) => line);
    expect(heading.split(/,\s+/).length).toBe(18);
    expect(requests[0]?.split(/,\s+/)).toMatchObject({
      0: "global-default",
      1: "global-default",
      3: "-1",
      4: "bob",
      10: "bob",
      11: "create",
      16: expect.stringContaining("configmaps"),
    });
    expect(lines("dump_queues").length).toBe(1 + 128 * 3 + 64 * 2 + 16);
    expect(flow.dump("/debug/other", new URLSearchParams())).toBeUndefined();
    for (const go of held.splice(0)) go();
    await asked;
  });
});
