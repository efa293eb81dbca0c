import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { Server, ServerCredentials, status } from "@grpc/grpc-js";
import { afterEach, describe, expect, it } from "vitest";
import type { core } from "#api";
import { realClock, VirtualClock } from "#base";
import { RuntimeError } from "../runtime/runtime.ts";
import { containerNetwork } from "./network-probes.ts";
import { firstState, isSettled, nextState, type ProbeKind } from "./probe-state.ts";
import { httpQuestion, portNumber, runProbe } from "./run-probe.ts";

describe("verdicts", () => {
  const rows: readonly [ProbeKind, core.Probe, string, string][] = [
    ["readiness", { failureThreshold: 3 }, "", "failure"],
    ["liveness", { failureThreshold: 3 }, "", "success"],
    ["startup", { failureThreshold: 3 }, "", "unknown"],
    ["readiness", { failureThreshold: 3 }, "+", "success"],
    ["readiness", { failureThreshold: 3 }, "+--", "success"],
    ["readiness", { failureThreshold: 3 }, "+---", "failure"],
    ["readiness", { failureThreshold: 3 }, "+--+--", "success"],
    ["readiness", { successThreshold: 2 }, "+", "failure"],
    ["readiness", { successThreshold: 2 }, "++", "success"],
    ["readiness", { successThreshold: 2 }, "+-+", "failure"],
    ["liveness", {}, "--", "success"],
    ["liveness", {}, "---", "failure"],
    ["startup", { failureThreshold: 2 }, "-", "unknown"],
    ["startup", { failureThreshold: 2 }, "--", "failure"],
    ["startup", { failureThreshold: 2 }, "-+", "success"],
  ];
  it.each(rows)("%s %j after %s: %s", (kind, probe, results, want) => {
    const after = [...results].reduce(
      (state, each) => nextState(state, each === "+" ? "success" : "failure", probe),
      firstState(kind),
    );
    expect(after.verdict).toBe(want);
  });

  it("a startup probe is over with its first verdict, a liveness probe with its failure, readiness never", () => {
    const failed = { verdict: "failure", last: "failure", run: 3 } as const;
    expect((["startup", "liveness", "readiness"] as const).map((kind) => isSettled(kind, failed))).toEqual([
      true,
      true,
      false,
    ]);
    expect(isSettled("liveness", { ...failed, verdict: "success" })).toBe(false);
  });
});

describe("ports", () => {
  const container = { ports: [{ name: "web", containerPort: 8080 }] };
  it.each<[number | string, number]>([
    [80, 80],
    ["80", 80],
    ["web", 8080],
  ])("%s is %i", (port, want) => expect(portNumber(port, container)).toBe(want));
  it("an unknown name is an error", () =>
    expect(() => portNumber("none", container)).toThrow("couldn't find port: none"));
  it("the host is the pod unless it is named", () => {
    expect(httpQuestion({ port: 80 }, container, "10.0.0.1").host).toBe("10.0.0.1");
    expect(httpQuestion({ port: 80, host: "other" }, container, "10.0.0.1").host).toBe("other");
  });
});

describe("asking a container", () => {
  const closing: (() => void | Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });
  const { signal } = new AbortController();
  const runtime = { execSync: async () => ({ exitCode: 0, stdout: new Uint8Array(), stderr: new Uint8Array() }) };
  const means = { runtime, network: containerNetwork(), clock: realClock() };
  const target = { containerId: "c", container: {}, podIp: "127.0.0.1" };
  const probe = (asked: core.Probe) => runProbe(means, asked, target, signal);

  async function http(answer: RequestListener): Promise<number> {
    const server = createServer(answer).listen(0, "127.0.0.1");
    await once(server, "listening");
    closing.push(() => void server.close());
    closing.push(() => server.closeAllConnections());
    return (server.address() as AddressInfo).port;
  }

  it("HTTP: 200 to 399 is success", async () => {
    const port = await http((request, response) => response.writeHead(Number(request.url?.slice(1))).end("body"));
    const ask = (path: string) => probe({ httpGet: { path, port } });
    expect(await ask("/200")).toMatchObject({ ok: true });
    expect(await ask("/399")).toMatchObject({ ok: true });
    expect(await ask("500")).toEqual({ ok: false, output: "HTTP probe failed with statuscode: 500" });
  });

  it("HTTP: sends its headers, and follows redirects to itself only", async () => {
    let seen: unknown;
    const port = await http((request, response) => {
      if (request.url === "/start") response.writeHead(302, { location: "/end" }).end();
      else if (request.url === "/away") response.writeHead(302, { location: "http://192.0.2.1/" }).end("gone");
      else if (request.url === "/round") response.writeHead(302, { location: "/round" }).end();
      else {
        seen = { agent: request.headers["user-agent"], own: request.headers.own, host: request.headers.host };
        response.writeHead(request.url === "/end" ? 204 : 500).end();
      }
    });
    const httpHeaders = [
      { name: "Own", value: "x" },
      { name: "Host", value: "example" },
    ];
    expect(await probe({ httpGet: { path: "/start", port, httpHeaders } })).toMatchObject({ ok: true });
    expect(seen).toEqual({ agent: "kube-probe/1.36", own: "x", host: "example" });
    expect(await probe({ httpGet: { path: "/away", port } })).toEqual({
      ok: true,
      isWarning: true,
      output: "Probe terminated redirects, Response body: gone",
    });
    expect(await probe({ httpGet: { path: "/round", port } })).toEqual({
      ok: false,
      output: `Get "http://127.0.0.1:${port}/round": stopped after 10 redirects`,
    });
  });

  it("HTTP: connection refused, and no answer", async () => {
    const port = await http(() => {});
    expect(await probe({ httpGet: { path: "/x", port }, timeoutSeconds: 0.1 })).toEqual({
      ok: false,
      output: `Get "http://127.0.0.1:${port}/x": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
    });
    expect(await probe({ httpGet: { path: "/", port: 1 } })).toEqual({
      ok: false,
      output: 'Get "http://127.0.0.1:1/": dial tcp 127.0.0.1:1: connect: connection refused',
    });
  });

  it("TCP: a connection is enough", async () => {
    const server = createTcpServer((socket) => socket.on("error", () => {})).listen(0, "127.0.0.1");
    await once(server, "listening");
    closing.push(() => void server.close());
    expect(await probe({ tcpSocket: { port: (server.address() as AddressInfo).port } })).toEqual({
      ok: true,
      output: "",
    });
    expect(await probe({ tcpSocket: { port: 1 } })).toEqual({
      ok: false,
      output: "dial tcp 127.0.0.1:1: connect: connection refused",
    });
  });

  it("gRPC: the health service says SERVING", async () => {
    const server = new Server();
    const check = {
      path: "/grpc.health.v1.Health/Check",
      requestStream: false,
      responseStream: false,
      requestSerialize: (value: Buffer) => value,
      requestDeserialize: (value: Buffer) => value,
      responseSerialize: (value: Buffer) => value,
      responseDeserialize: (value: Buffer) => value,
    };
    server.addService({ check }, {
      check: (call: { request: Buffer }, answer: (error: object | null, value?: Buffer) => void) => {
        const service = call.request.subarray(2).toString();
        if (service === "none") answer({ code: status.NOT_FOUND, details: "unknown service" });
        else answer(null, Buffer.from([0x08, service === "sick" ? 2 : 1]));
      },
    } as never);
    const port = await new Promise<number>((resolve, reject) =>
      server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      ),
    );
    closing.push(() => server.forceShutdown());
    expect(await probe({ grpc: { port } })).toMatchObject({ ok: true });
    expect(await probe({ grpc: { port, service: "sick" } })).toEqual({
      ok: false,
      output: 'service unhealthy (responded with "NOT_SERVING")',
    });
    expect(await probe({ grpc: { port, service: "none" } })).toMatchObject({ ok: false });
  });

  it("exec: the exit code decides, and a command that takes too long fails", async () => {
    const asked = (execSync: typeof runtime.execSync) =>
      runProbe(
        { ...means, clock: new VirtualClock(), runtime: { execSync } },
        { exec: { command: ["x"] } },
        target,
        signal,
      );
    const answer = { exitCode: 1, stdout: Buffer.from("not "), stderr: Buffer.from("yet") };
    expect(await asked(async () => answer)).toEqual({ ok: false, output: "not yet" });
    const late = asked(async () => {
      throw new RuntimeError("DeadlineExceeded", "too slow");
    });
    expect(await late).toEqual({ ok: false, output: "command timed out: too slow" });
    const away = asked(async () => {
      throw new RuntimeError("Unavailable", "connection refused");
    });
    expect(await away).toEqual({ ok: undefined, output: "connection refused" });
  });
});
