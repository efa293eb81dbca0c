/**
 * What a component serves, and to whom: the API server is asked, here in the form of a transport that answers for it.
 */
import { Agent, type AgentOptions, request } from "node:https";
import { describe, expect, it } from "vitest";
import { defaultFeatures } from "#api";
import { MetricsRegistry, realClock, silentLogger } from "#base";
import { Client, type Transport } from "#client";
import { serveComponent, tlsOf } from "./component-server.ts";

/** Knows two tokens, whose bearers may read one path each. */
const reviewer: Transport = {
  async send({ target, value }) {
    const { spec } = value as {
      spec: { token?: string; user?: string; nonResourceAttributes?: { path: string } };
    };
    const isToken = target.includes("tokenreviews");
    const username = spec.token === "viewer's" ? "viewer" : "reader";
    const authenticated = ["viewer's", "reader's"].includes(spec.token ?? "");
    const known = { authenticated, user: { username, groups: [] } };
    const path = spec.user === "viewer" ? "/k8ts/scheduling" : "/metrics/resources";
    const may = {
      allowed: ["viewer", "reader"].includes(spec.user ?? "") && spec.nonResourceAttributes?.path === path,
    };
    const answer = Buffer.from(JSON.stringify({ status: isToken ? known : may }));
    return { status: 201, headers: {}, body: only(answer) };
  },
  close: async () => {},
};

async function* only(part: Buffer): AsyncIterable<Buffer> {
  yield part;
}

it("serves its reports to whom the API server lets read them", async () => {
  const clock = realClock();
  const client = new Client({ transport: reviewer, clock });
  const reports = { "/k8ts/scheduling": (query: URLSearchParams) => [{ uid: query.get("uid") }] };
  let isReady = false;
  const check = async () => {
    if (!isReady) throw new Error("not yet");
  };
  const readiness = [{ name: "sched-handler-sync", check }];
  const own = { name: "kube-scheduler", client, metrics: new MetricsRegistry(), clock, log: silentLogger };
  const started = { features: defaultFeatures, flags: { "secure-port": "10259" } };
  const served = { ...own, ...started, reports, readiness, texts: { "/metrics/resources": () => "some 1" } };
  const server = await serveComponent({ bindAddress: "127.0.0.1", port: 0 }, served);
  const ask = (path: string, token?: string, tls: AgentOptions = {}) =>
    new Promise<string>((resolve, reject) => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const agent = new Agent({ keepAlive: false, rejectUnauthorized: false, ...tls });
      const call = request({ host: "127.0.0.1", port: server.port, path, headers, agent }, async (response) => {
        let text = "";
        for await (const chunk of response.setEncoding("utf8")) text += chunk;
        resolve(`${response.statusCode} ${text.trim()}`);
      });
      call.on("error", reject).end();
    });
  try {
    expect(await ask("/k8ts/scheduling?uid=u", "viewer's")).toBe('200 [{"uid":"u"}]');
    expect(await ask("/k8ts/scheduling?uid=u")).toContain('403 forbidden: User "system:anonymous"');
    expect(await ask("/k8ts/scheduling?uid=u", "nobody's")).toBe("401 Unauthorized");
    expect(await ask("/metrics", "viewer's")).toContain("403");
    expect(await ask("/metrics/resources", "viewer's")).toContain("403");
    expect(await ask("/metrics/resources", "reader's")).toBe("200 some 1");
    expect(await ask("/healthz")).toBe("200 ok");
    expect(await ask("/readyz")).toContain("500 [+]ping ok\n[-]sched-handler-sync failed");
    isReady = true;
    expect(await ask("/readyz")).toBe("200 ok");
    const weak = { maxVersion: "TLSv1.2" as const, ciphers: "ECDHE-ECDSA-AES128-SHA256" };
    await expect(ask("/healthz", undefined, weak)).rejects.toThrow(/handshake failure/);
  } finally {
    await server.close();
  }
});

describe("TLS of a component's server", () => {
  const serving = { bindAddress: "127.0.0.1", port: 0 };

  it("is what its flags say", () => {
    expect(tlsOf(serving)).toEqual({ minVersion: "TLSv1.2", ciphers: expect.stringContaining("AES128-GCM") });
    const tls = { minVersion: "VersionTLS13", cipherSuites: ["TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"] };
    const { minVersion, ciphers } = tlsOf({ ...serving, tls });
    expect([minVersion, ciphers?.split(":").at(-1)]).toEqual(["TLSv1.3", "ECDHE-RSA-AES256-GCM-SHA384"]);
  });

  it.each([
    [{ minVersion: "TLS1.3" }, 'unknown tls version "TLS1.3"'],
    [{ cipherSuites: ["NO_SUCH"] }, "Cipher suite NO_SUCH not supported or doesn't exist"],
  ])("is refused with %j", (tls, why) => {
    expect(() => tlsOf({ ...serving, tls })).toThrow(why);
  });
});
