import { afterEach, describe, expect, it } from "vitest";
import type { Json } from "#api";
import { realClock, VirtualClock } from "#base";
import { createAuthority } from "#pki";
import type { Extender, ExtenderConfig, NodeInfo } from "../framework/index.ts";
import { PodInfos, ResourceNames } from "../snapshot/index.ts";
import { node, type PodParts, pod } from "../testing/index.ts";
import { httpExtender } from "./index.ts";
import { type Answer, type Asked, type ExtenderTls, extenderServer } from "./testing/extender-server.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const infos = new PodInfos(new ResourceNames());
const info = (name: string, parts: PodParts = {}) => infos.of(pod(name, parts));
const signal = new AbortController().signal;

async function server(answer: (asked: Asked) => Answer, tls?: ExtenderTls) {
  const running = await extenderServer(answer, tls);
  closing.push(() => running.close());
  return running;
}

const CONFIG: ExtenderConfig = {
  urlPrefix: "",
  filterVerb: "filter",
  prioritizeVerb: "prioritize",
  bindVerb: "bind",
  preemptVerb: "preempt",
  weight: 5,
  timeoutMs: 5_000,
  nodeCacheCapable: false,
  ignorable: false,
  managedResources: [],
};

const nodes = new Map<string, Pick<NodeInfo, "node" | "pods">>(
  ["a", "b"].map((name) => {
    const there = info(`on-${name}`, { on: name });
    return [name, { node: node(name), pods: new Map([[there.uid, there]]) }];
  }),
);

function extender(config: Partial<ExtenderConfig>, clock = realClock() as ReturnType<typeof realClock>): Extender {
  const made = httpExtender({ ...CONFIG, ...config }, { clock, nodeNamed: (name) => nodes.get(name) });
  closing.push(() => made.close());
  return made;
}

describe("filter", () => {
  it("sends whole nodes to an extender that keeps none", async () => {
    const { url, asked } = await server(() => ({
      body: { Nodes: { items: [node("b") as unknown as Json] }, FailedNodes: { a: "too hot" } },
    }));
    const filtered = await extender({ urlPrefix: url }).filter?.(info("p"), ["a", "b"], signal);
    expect(filtered).toEqual({ fitting: ["b"], failed: new Map([["a", "too hot"]]), unresolvable: new Map() });
    expect(asked).toMatchObject([
      {
        url: "/ext/filter",
        body: {
          Pod: { metadata: { name: "p" } },
          Nodes: { items: [{ metadata: { name: "a" } }, { metadata: { name: "b" } }] },
          NodeNames: null,
        },
      },
    ]);
  });

  it("sends names to one that keeps nodes, and reads its answer in any case", async () => {
    const { url, asked } = await server(() => ({
      body: { nodenames: ["a"], failedAndUnresolvableNodes: { b: "broken" } },
    }));
    const filtered = await extender({ urlPrefix: `${url}/`, nodeCacheCapable: true }).filter?.(
      info("p"),
      ["a", "b"],
      signal,
    );
    expect(filtered).toEqual({ fitting: ["a"], failed: new Map(), unresolvable: new Map([["b", "broken"]]) });
    expect(asked).toMatchObject([{ url: "/ext/filter", body: { Nodes: null, NodeNames: ["a", "b"] } }]);
  });

  const faults = [
    { name: "an error of its own", answer: { body: { Error: "no disks" } }, want: "no disks" },
    {
      name: "another status",
      answer: { status: 500 },
      want: /^failed filter with extender at URL http:.*\/ext\/filter, code 500$/,
    },
    { name: "no JSON", answer: { text: "<html>" }, want: /does not answer with JSON/ },
    { name: "a list", answer: { body: [] }, want: /has to be an object/ },
    {
      name: "a node that nobody asked about",
      answer: { body: { Nodes: { items: [{ metadata: { name: "z" } }] } } },
      want: /claims a filtered node "z" which is not found in the input node list$/,
    },
  ] satisfies { name: string; answer: Answer; want: string | RegExp }[];
  it.each(faults)("fails: $name", async ({ answer, want }) => {
    const { url } = await server(() => answer);
    await expect(extender({ urlPrefix: url }).filter?.(info("p"), ["a"], signal)).rejects.toThrow(want);
  });

  it("fails where nobody listens", async () => {
    const asked = extender({ urlPrefix: "http://127.0.0.1:1" }).filter?.(info("p"), ["a"], signal);
    await expect(asked).rejects.toThrow(/^Post "http:\/\/127.0.0.1:1\/filter": connect ECONNREFUSED/);
  });
});

describe("an extender that hangs", () => {
  it.each(["hang", "hang in the middle"] as const)("%s: the request ends with its time", async (answer) => {
    const clock = new VirtualClock();
    const { url, asked, sockets } = await server(() => answer);
    const pending = extender({ urlPrefix: url, timeoutMs: 1_000 }, clock).filter?.(info("p"), ["a"], signal);
    const failed = expect(pending).rejects.toThrow(/context deadline exceeded/);
    await expect.poll(() => asked.length).toBe(1);
    await clock.advance(1_000);
    await failed;
    await expect.poll(() => sockets.size).toBe(0);
  });

  it("is let go of when the attempt is given up", async () => {
    const { url, asked } = await server(() => "hang");
    const attempt = new AbortController();
    const pending = extender({ urlPrefix: url }).filter?.(info("p"), ["a"], attempt.signal);
    const failed = expect(pending).rejects.toThrow("given up");
    await expect.poll(() => asked.length).toBe(1);
    attempt.abort(new Error("given up"));
    await failed;
  });
});

describe("prioritize, bind, preempt", () => {
  it("scores", async () => {
    const { url } = await server(() => ({
      body: [
        { Host: "a", Score: 3 },
        { host: "b", score: 10 },
      ],
    }));
    const made = extender({ urlPrefix: url });
    expect(await made.prioritize?.(info("p"), ["a", "b"], signal)).toEqual(
      new Map([
        ["a", 3],
        ["b", 10],
      ]),
    );
    expect(made.weight).toBe(5);
  });

  it("binds, or says why not", async () => {
    const answers: Answer[] = [{ body: { Error: "" } }, { body: { Error: "node is gone" } }];
    const { url, asked } = await server(() => answers.shift() ?? "hang");
    const made = extender({ urlPrefix: url });
    await made.bind?.(info("p"), "a", signal);
    expect(asked[0]?.body).toEqual({ PodName: "p", PodNamespace: "default", PodUID: "default-p", Node: "a" });
    await expect(made.bind?.(info("p"), "a", signal)).rejects.toThrow("node is gone");
  });

  it("agrees to some of the victims", async () => {
    const { url, asked } = await server(() => ({
      body: { NodeNameToMetaVictims: { a: { Pods: [{ UID: "default-on-a" }], NumPDBViolations: 1 } } },
    }));
    const made = extender({ urlPrefix: url, nodeCacheCapable: true });
    const victims = new Map(
      [...nodes].map(([name, { pods }]) => [name, { pods: [...pods.values()], pdbViolations: 0 }]),
    );
    const agreed = await made.preempt?.(info("p"), victims, signal);
    expect(
      [...(agreed ?? [])].map(([name, { pods, pdbViolations }]) => [name, pods.map(({ uid }) => uid), pdbViolations]),
    ).toEqual([["a", ["default-on-a"], 1]]);
    expect(asked[0]?.body).toMatchObject({ NodeNameToMetaVictims: { b: { Pods: [{ UID: "default-on-b" }] } } });
  });

  it("may not name Pods that are not there", async () => {
    const { url, asked } = await server(() => ({ body: { NodeNameToMetaVictims: { a: { Pods: [{ UID: "x" }] } } } }));
    const made = extender({ urlPrefix: url });
    const victims = new Map([["a", { pods: [info("v", { on: "a" })], pdbViolations: 0 }]]);
    await expect(made.preempt?.(info("p"), victims, signal)).rejects.toThrow(
      `extender: ${url} claims to preempt pod (UID: x) on node: a, but the pod is not found on that node`,
    );
    expect(asked[0]?.body).toMatchObject({ NodeNameToVictims: { a: { Pods: [{ metadata: { name: "v" } }] } } });
  });
});

describe("what it is for", () => {
  it("has only the verbs that are named", () => {
    const made = extender({ urlPrefix: "http://a", filterVerb: "", bindVerb: "", preemptVerb: "" });
    expect([made.filter, made.bind, made.preempt]).toEqual([undefined, undefined, undefined]);
    expect(made.prioritize).toBeTypeOf("function");
  });

  const cases = [
    { name: "manages nothing in particular: all Pods", managed: [], requests: {}, want: true },
    { name: "a resource that the Pod asks for", managed: ["e.com/a"], requests: { "e.com/a": "1" }, want: true },
    { name: "another resource", managed: ["e.com/a"], requests: { "e.com/b": "1" }, want: false },
  ];
  it.each(cases)("$name", ({ managed, requests, want }) => {
    const managedResources = managed.map((name) => ({ name, ignoredByScheduler: false }));
    const made = extender({ urlPrefix: "http://a", managedResources });
    expect(made.isInterested(info("p", { requests: requests as Record<string, string> }))).toBe(want);
  });
});

describe("TLS", () => {
  it("trusts its CA, shows its certificate, and refuses others", async () => {
    const authority = await createAuthority({ commonName: "ca", clock: realClock() });
    const serving = await authority.issue({
      commonName: "extender",
      dnsNames: ["extender"],
      ipAddresses: [],
      usages: ["server"],
    });
    const client = await authority.issue({ commonName: "scheduler", usages: ["client"] });
    const { url } = await server(() => ({ body: { NodeNames: [] } }), {
      cert: serving.certPem,
      key: serving.keyPem,
      ca: authority.certPem,
    });
    const pair = { certPem: client.certPem, keyPem: client.keyPem };
    const asks = (tls: NonNullable<ExtenderConfig["tls"]>) =>
      extender({ urlPrefix: url, nodeCacheCapable: true, tls }).filter?.(info("p"), ["a"], signal);
    const trusting = { insecure: false, serverName: "extender", caPem: authority.certPem };
    await expect(asks({ ...trusting, ...pair })).resolves.toMatchObject({ fitting: [] });
    await expect(asks({ insecure: true, ...pair })).resolves.toMatchObject({ fitting: [] });
    await expect(asks({ insecure: false, serverName: "extender", ...pair })).rejects.toThrow(
      /^Post ".*": .*certificate/,
    );
    await expect(asks(trusting)).rejects.toThrow(/^Post "/);
  });
});
