/** Extension servers, and whom they answer: what is authorized is what is answered, however its path is spelled. */
import { Agent, request } from "node:https";
import { expect, it } from "vitest";
import { MetricsRegistry, realClock, silentLogger } from "#base";
import { Client, type Transport } from "#client";
import { serveExtension } from "./extension-server.ts";
import { attributesOf } from "./metrics-adapter.ts";

/** Knows one user, who may do what everybody may: look at /apis and below, which is no resource; and one resource. */
const reviewer: Transport = {
  async send({ target, value }) {
    const { spec } = value as {
      spec: { nonResourceAttributes?: { path: string }; resourceAttributes?: { namespace?: string } };
    };
    const isOpen = spec.nonResourceAttributes?.path.startsWith("/apis") ?? false;
    const allowed = isOpen || spec.resourceAttributes?.namespace === "mine";
    const status = target.includes("tokenreviews")
      ? { authenticated: true, user: { username: "jane", groups: ["system:authenticated"] } }
      : { allowed };
    const body = (async function* () {
      yield Buffer.from(JSON.stringify({ status }));
    })();
    return { status: 201, headers: {}, body };
  },
  close: async () => {},
};

const BASE = "/apis/custom.metrics.k8s.io/v1beta2";

it("answers the path that is authorized, and no other spelling of another", async () => {
  const clock = realClock();
  const client = new Client({ transport: reviewer, clock });
  const log = silentLogger;
  const frontProxy = { caPem: "", allowedNames: [] };
  const served = { name: "metrics-adapter", client, metrics: new MetricsRegistry(), clock, log, readiness: [] };
  const server = await serveExtension(
    { bindAddress: "127.0.0.1", port: 0 },
    {
      ...{ ...served, frontProxy, attributesOf },
      answer: ({ path }) => ({ status: 200, headers: {}, body: path }),
    },
  );
  const agent = new Agent({ rejectUnauthorized: false });
  const ask = (path: string) =>
    new Promise<string>((resolve, reject) => {
      const headers = { authorization: "Bearer jane" };
      const call = request({ host: "127.0.0.1", port: server.port, path, headers, agent }, async (response) => {
        resolve(`${response.statusCode} ${(await Array.fromAsync(response.setEncoding("utf8"))).join("")}`);
      });
      call.on("error", reject).end();
    });
  try {
    expect(await ask(`${BASE}/namespaces/mine/pods/*/rate?labelSelector=a`)).toBe(
      `200 ${BASE}/namespaces/mine/pods/*/rate?labelSelector=a`,
    );
    expect(await ask(`${BASE}/namespaces/m%69ne/pods/*/rate`)).toBe(`200 ${BASE}/namespaces/mine/pods/*/rate`);
    for (const path of [
      `${BASE}/namespaces/theirs/pods/*/rate`,
      `${BASE}/namespaces/th%65irs/pods/*/rate`,
      `/apis/custom%2Emetrics.k8s.io/v1beta2/namespaces/theirs/pods/*/rate`,
      `/apis/custom.metrics.k8s.io/v1beta%32/namespaces/theirs/pods/*/rate`,
      `${BASE}/%6eamespaces/theirs/pods/*/rate`,
      `${BASE}//namespaces/theirs/pods/*/rate`,
      `${BASE}/namespaces//pods/*/rate`,
      `${BASE}/namespaces/theirs/pods/*/rate/`,
    ])
      expect(await ask(path), path).toMatch(/^403 /);
    for (const path of ["/apis/%", `${BASE}/namespaces/mine%2Fpods/x/y/z`]) expect(await ask(path)).toMatch(/^400 /);
    expect(await ask("//")).toMatch(/^403 /);
    expect(await ask("/livez")).toBe("200 ok");
  } finally {
    agent.destroy();
    await server.close();
  }
});
