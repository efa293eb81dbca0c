import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds } from "#api";
import { Client, inProcess } from "#client";
import { ADMIN, testServer } from "../../apiserver/testing/index.ts";
import { testControllers } from "../testing/index.ts";
import { legacyServiceAccountTokenCleaner } from "./index.ts";
import { mountedSecrets } from "./mounted.ts";
import { decide } from "./plan.ts";

const DAY_MS = 24 * 3_600_000;
const INVALID = "kubernetes.io/legacy-token-invalid-since";
const USED = "kubernetes.io/legacy-token-last-used";

describe("what becomes of a token", () => {
  const now = Date.parse("2030-06-01T12:00:00Z");
  const facts = { trackedSince: "2026-01-01", listed: true, mounted: false, now };
  const secret = (
    labels: Readonly<Record<string, string>> = {},
    creationTimestamp = "2025-01-01T00:00:00Z",
  ): core.Secret => ({
    metadata: { name: "t", labels, creationTimestamp },
  });
  it.each([
    { name: "never used", given: secret(), want: { do: "mark", since: "2030-06-01" } },
    { name: "used long ago", given: secret({ [USED]: "2029-05-31" }), want: { do: "mark", since: "2030-06-01" } },
    { name: "used within a year", given: secret({ [USED]: "2029-06-01" }), want: { do: "keep" } },
    { name: "used on a day that is none", given: secret({ [USED]: "2029-99-99" }), want: { do: "keep" } },
    { name: "made within a year", given: secret({}, "2029-12-01T00:00:00Z"), want: { do: "keep" } },
    { name: "marked within a year", given: secret({ [INVALID]: "2029-12-01" }), want: { do: "keep" } },
    { name: "marked long ago", given: secret({ [INVALID]: "2029-05-01" }), want: { do: "delete" } },
    { name: "marked with nonsense", given: secret({ [INVALID]: "x" }), want: { do: "mark", since: "2030-06-01" } },
    {
      name: "marked some days ago, where days are enough",
      given: secret({ [INVALID]: "2030-05-28" }),
      over: { restMs: 2 * DAY_MS },
      want: { do: "delete" },
    },
    { name: "asked for", given: secret(), over: { listed: false }, want: { do: "keep" } },
    { name: "mounted", given: secret({ [INVALID]: "2029-05-01" }), over: { mounted: true }, want: { do: "keep" } },
    { name: "where uses are not noted", given: secret(), over: { trackedSince: undefined }, want: { do: "keep" } },
    {
      name: "where they are since lately",
      given: secret(),
      over: { trackedSince: "2029-06-01" },
      want: { do: "keep" },
    },
  ])("$name: $want.do", ({ given, over = {}, want }) => {
    expect(decide(given, { ...facts, ...over })).toEqual(want);
  });
});

describe("the Secrets of a Pod", () => {
  it("are found wherever it names them", () => {
    const spec: core.PodSpec = {
      imagePullSecrets: [{ name: "pull" }],
      containers: [
        {
          name: "c",
          env: [{ name: "E", valueFrom: { secretKeyRef: { name: "env", key: "k" } } }],
          envFrom: [{ secretRef: { name: "from" } }],
        },
      ],
      volumes: [
        { name: "v", secret: { secretName: "volume" } },
        { name: "p", projected: { sources: [{ secret: { name: "projected" } }] } },
      ],
    };
    const found = mountedSecrets({ metadata: { namespace: "ns" }, spec });
    expect(found).toEqual(["pull", "env", "from", "volume", "projected"].map((name) => `ns/${name}`));
  });
});

describe("at work", () => {
  const open: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close();
  });

  it("marks after a year, deletes after another, and leaves alone what was asked for", async () => {
    const server = await testServer();
    const client = new Client({ transport: inProcess(server.handle, ADMIN), clock: server.clock });
    open.push(
      () => server.close(),
      () => client.close(),
    );
    /** The controller looks once, after so many days. */
    const lookAfter = async (days: number) => {
      await server.clock.advance(days * DAY_MS);
      const running = await testControllers([legacyServiceAccountTokenCleaner], { server });
      await running.settle();
      await running.close();
    };
    const { clock } = server;
    const since = new Date(clock.now()).toISOString().slice(0, 10);
    const name = "kube-apiserver-legacy-service-account-token-tracking";
    await client.of(kinds.ConfigMap).in("kube-system").create({ metadata: { name }, data: { since } });
    await client
      .of(kinds.ServiceAccount)
      .in("default")
      .create({ metadata: { name: "bot" }, secrets: [{ name: "old" }] });
    const secrets = client.of(kinds.Secret).in("default");
    const annotations = { "kubernetes.io/service-account.name": "bot" };
    for (const each of ["old", "wanted"])
      await secrets.create({ metadata: { name: each, annotations }, type: "kubernetes.io/service-account-token" });
    await lookAfter(360);
    expect((await secrets.get("old")).metadata.labels).toBeUndefined();
    await lookAfter(10);
    expect((await secrets.get("old")).metadata.labels).toHaveProperty(INVALID);
    await lookAfter(370);
    expect((await secrets.list()).items.map(({ metadata }) => metadata?.name)).toEqual(["wanted"]);
  });
});
