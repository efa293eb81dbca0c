/** Calls over HTTP on loopback, to a server that a test scripts, and the file that says where it is. */
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { realClock, seededRandom } from "#base";
import { SampleCloud } from "../../../examples/cloud-provider/sample-cloud.ts";
import { serve } from "../../../examples/cloud-provider/server.ts";
import { CloudCalls } from "./calls.ts";
import { httpCloud } from "./http-cloud.ts";
import { httpCloudSettings } from "./settings.ts";

const FILE = { apiVersion: "cloud.k8ts.dev/v1alpha1", kind: "HTTPCloudConfig", server: "https://cloud.example.com/" };
const signal = new AbortController().signal;
const options = (port: number, token = "secret") => {
  const settings = httpCloudSettings({ ...FILE, server: `http://127.0.0.1:${port}`, token });
  return { settings, clock: realClock(), random: seededRandom(1) };
};

async function listening(server: ReturnType<typeof createServer>) {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

type Script = readonly {
  readonly status: number;
  readonly text?: string;
  readonly after?: string;
  readonly to?: string;
}[];

/** Answers with one line of the script after the other; without one, never. */
async function scripted(script: Script, work: (calls: CloudCalls) => Promise<unknown>) {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer(({ headers }, outgoing) => {
    const line = script[seen.push(headers) - 1];
    if (line === undefined) return;
    const { after, to } = line;
    outgoing.writeHead(line.status, {
      ...(after !== undefined && { "retry-after": after }),
      ...(to !== undefined && { location: to }),
    });
    outgoing.end(line.text);
  });
  const base = options(await listening(server));
  const calls = new CloudCalls({ ...base, settings: { ...base.settings, retries: 1, timeoutMs: 300 } });
  try {
    const result = await work(calls).catch((error: Error) => error.message);
    return { result, seen };
  } finally {
    calls.close();
    server.closeAllConnections();
    server.close();
  }
}

const NOT_FOUND = '{"code":"NotFound","message":"no"}';
const put = { method: "PUT", path: "/x", body: {}, silent: true } as const;
const get = { method: "GET", path: "/x" } as const;

describe("a call", () => {
  it.each<[string, Parameters<CloudCalls["send"]>[0], Script, unknown, number]>([
    ["is answered", get, [{ status: 200, text: "{}" }], { found: true, body: {} }, 1],
    ["is done", put, [{ status: 204 }], { found: true, body: undefined }, 1],
    ["finds nothing", get, [{ status: 404, text: NOT_FOUND }], { found: false }, 1],
    ["is tried again", put, [{ status: 503 }, { status: 204 }], { found: true, body: undefined }, 2],
    [
      "waits as long as it is told",
      put,
      [{ status: 429, after: "0" }, { status: 204 }],
      { found: true, body: undefined },
      2,
    ],
    ["does not wait for long", put, [{ status: 503, after: "60" }], "PUT /x: 503", 1],
    ["is not tried for ever", put, [{ status: 500 }, { status: 500 }], "PUT /x: 500", 2],
    ["has to be answered", get, [], "GET /x: context deadline exceeded", 2],
    ["does not believe any 404", get, [{ status: 404, text: "nginx" }], "GET /x: 404 nginx", 1],
    ["does not believe any 200", put, [{ status: 200, text: "{}" }], "PUT /x: 200 {}", 1],
    ["is not taken elsewhere", get, [{ status: 302, to: "http://127.0.0.1:1/" }], "GET /x: 302", 1],
    ["takes no page for an answer", get, [{ status: 200, text: "<html>" }], "GET /x: the answer is not JSON", 1],
    [
      "takes no as an answer",
      put,
      [{ status: 403, text: '{"code":"Quota","message":"full"}' }],
      "PUT /x: 403 Quota: full",
      1,
    ],
  ])("%s", async (_, call, script, want, attempts) => {
    const { result, seen } = await scripted(script, (calls) => calls.send(call, signal));
    expect(result).toEqual(want);
    expect(seen).toHaveLength(attempts);
    expect(new Set(seen.map(({ authorization }) => authorization))).toEqual(new Set(["Bearer secret"]));
    const keys = seen.map((headers) => headers["idempotency-key"]);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0] === undefined).toBe(call.method === "GET");
  });

  it("reaches the sample server, which asks for the token", async () => {
    const sample = new SampleCloud("secret");
    sample.instances.set("n1", { providerID: "sample://n1", addresses: [] });
    const server = serve(sample);
    const port = await listening(server);
    const node = { metadata: { name: "n1" } };
    const [ours, theirs] = ["secret", "guess"].map((token) =>
      httpCloud({ ...options(port, token), clusterName: "test" }),
    );
    try {
      expect(await ours?.instances?.find(node, signal)).toMatchObject({ providerId: "sample://n1", isShutDown: false });
      expect(await ours?.instances?.find({ metadata: { name: "n2" } }, signal)).toBeUndefined();
      await expect(theirs?.instances?.find(node, signal)).rejects.toThrow("401 Unauthorized");
    } finally {
      ours?.close?.();
      theirs?.close?.();
      server.close();
    }
  });
});

describe("the file", () => {
  it("has defaults", () =>
    expect(httpCloudSettings(FILE)).toEqual({
      server: "https://cloud.example.com",
      parts: ["instances", "routes", "loadBalancers"],
      timeoutMs: 10_000,
      retries: 3,
    }));

  it.each<[object | null, string]>([
    [null, "it must be an object"],
    [{ ...FILE, kind: "Other" }, "it must have apiVersion"],
    [{ ...FILE, retry: 1 }, 'unknown field "retry"'],
    [{ ...FILE, server: "ftp://x" }, "server: must be an http or https URL"],
    [{ ...FILE, server: "http://cloud.example.com", token: "t" }, "server: a token needs https"],
    [{ ...FILE, server: "https://user:word@cloud.example.com" }, "server: must not have credentials"],
    [{ ...FILE, token: "t", tokenFile: "f" }, "token and tokenFile exclude each other"],
    [{ ...FILE, parts: ["instances", "volumes"] }, "parts: must be a list of"],
    [{ ...FILE, timeoutSeconds: 0 }, "timeoutSeconds: must be a whole number from 1 to 300"],
    [{ ...FILE, caFile: 7 }, "caFile: must be a text"],
  ])("%j is refused", (file, want) => expect(() => httpCloudSettings(file)).toThrow(want));
});
