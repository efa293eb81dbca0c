/** The specification of Kubernetes' DNS, record by record, asked over real sockets. */
import { createSocket } from "node:dgram";
import { connect } from "node:net";
import { type Answer, decode, encode, type RecordType, streamEncode } from "dns-packet";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { core, discovery } from "#api";
import { MetricsRegistry, realClock, seededRandom, silentLogger } from "#base";
import { Forwarder } from "./forward.ts";
import { dnsMetrics } from "./metrics.ts";
import { serviceRecords } from "./records.ts";
import { Resolver } from "./resolver.ts";
import { type DnsServer, startDnsServer } from "./server.ts";
import { answersOf, askServer, sendRaw } from "./testing/ask.ts";
import { Zone } from "./zone.ts";

const clock = realClock();
const random = seededRandom(1);
const log = silentLogger;
const zone = new Zone({ zone: "cluster.local", serverAddresses: ["10.96.0.10"] });

function service(name: string, spec: core.ServiceSpec): core.Service {
  return { apiVersion: "v1", kind: "Service", metadata: { name, namespace: "default" }, spec };
}

function slice(endpoints: discovery.Endpoint[], ports: discovery.EndpointPort[] = []): discovery.EndpointSlice {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: "s", namespace: "default" },
    addressType: "IPv4",
    endpoints,
    ports,
  };
}

function put(each: core.Service, slices: discovery.EndpointSlice[] = []): void {
  zone.set(`default/${each.metadata.name}`, serviceRecords(each, slices, zone.name));
}

let upstream: ReturnType<typeof createSocket>;
let asked = 0;
let server: DnsServer;
let forwarder: Forwarder;

beforeAll(async () => {
  upstream = createSocket("udp4");
  upstream.on("message", (message, from) => {
    asked += 1;
    const { id, questions = [] } = decode(message);
    const [question] = questions;
    if (question === undefined || question.name.startsWith("silent")) return;
    const answers: Answer[] = [{ type: "A", name: question.name, ttl: 60, data: "192.0.2.7" }];
    upstream.send(encode({ type: "response", id: id ?? 0, questions, answers }), from.port, from.address);
  });
  await new Promise<void>((resolve) => upstream.bind(0, "127.0.0.1", resolve));
  const there = { host: "127.0.0.1", port: upstream.address().port };
  forwarder = new Forwarder({
    upstreams: [there],
    stubDomains: { "stub.example": [there], "nobody.example": [] },
    clock,
    random,
    log,
    timeoutMs: 100,
  });
  const resolver = new Resolver({ zone, forwarder, random });
  const metrics = dnsMetrics(new MetricsRegistry());
  server = await startDnsServer({ address: "127.0.0.1", port: 0, resolver, zone, metrics, clock, log });

  zone.setNamespaces(["default", "empty"]);
  const ports: core.ServicePort[] = [{ name: "http", protocol: "TCP", port: 80 }, { port: 81 }];
  put(service("web", { clusterIP: "10.96.0.20", clusterIPs: ["10.96.0.20", "fd00::20"], ports }));
  put(service("outside", { type: "ExternalName", externalName: "www.example.org." }));
  put(service("alias", { type: "ExternalName", externalName: "web.default.svc.cluster.local" }));
  put(service("db", { clusterIP: "None", clusterIPs: ["None"] }), [
    slice(
      [
        { addresses: ["10.1.0.1"], hostname: "db-0", conditions: { ready: true } },
        { addresses: ["10.1.0.2"], conditions: {} },
        { addresses: ["10.1.0.3"], conditions: { ready: false } },
      ],
      [{ name: "sql", protocol: "TCP", port: 5432 }],
    ),
  ]);
  const many = Array.from({ length: 200 }, (_, at) => ({ addresses: [`10.2.0.${at}`] }));
  const named: discovery.EndpointSlice = { ...slice([{ addresses: ["db.example.org"] }]), addressType: "FQDN" };
  put(service("named", { clusterIP: "None", clusterIPs: ["None"] }), [named]);
  put(service("many", { clusterIP: "None", clusterIPs: ["None"] }), [slice(many)]);
});

afterAll(async () => {
  await server.stop();
  forwarder.close();
  upstream.close();
});

describe("the records of the specification", () => {
  it.each<[string, RecordType, string[]]>([
    ["dns-version.cluster.local", "TXT", ["TXT 1.1.0"]],
    ["web.default.svc.cluster.local", "A", ["A 10.96.0.20"]],
    ["WEB.Default.svc.cluster.local", "A", ["A 10.96.0.20"]],
    ["web.default.svc.cluster.local", "AAAA", ["AAAA fd00::20"]],
    ["_http._tcp.web.default.svc.cluster.local", "SRV", ["SRV 0 100 80 web.default.svc.cluster.local"]],
    ["20.0.96.10.in-addr.arpa", "PTR", ["PTR web.default.svc.cluster.local"]],
    ["db.default.svc.cluster.local", "A", ["A 10.1.0.1", "A 10.1.0.2"]],
    ["db-0.db.default.svc.cluster.local", "A", ["A 10.1.0.1"]],
    ["10-1-0-2.db.default.svc.cluster.local", "A", ["A 10.1.0.2"]],
    [
      "_sql._tcp.db.default.svc.cluster.local",
      "SRV",
      ["SRV 0 100 5432 10-1-0-2.db.default.svc.cluster.local", "SRV 0 100 5432 db-0.db.default.svc.cluster.local"],
    ],
    ["1.0.1.10.in-addr.arpa", "PTR", ["PTR db-0.db.default.svc.cluster.local"]],
    ["outside.default.svc.cluster.local", "CNAME", ["CNAME www.example.org"]],
    ["outside.default.svc.cluster.local", "A", ["A 192.0.2.7", "CNAME www.example.org"]],
    ["alias.default.svc.cluster.local", "A", ["A 10.96.0.20", "CNAME web.default.svc.cluster.local"]],
    ["10-1-0-9.default.pod.cluster.local", "A", ["A 10.1.0.9"]],
    ["ns.dns.cluster.local", "A", ["A 10.96.0.10"]],
    ["cluster.local", "NS", ["NS ns.dns.cluster.local"]],
  ])("%s %s", async (name, type, want) => {
    const answer = await askServer(server.port, name, type);
    expect(answersOf(answer).sort()).toEqual(want);
    expect({ id: answer.id, rcode: answer.rcode, aa: answer.flag_aa }).toEqual({
      id: 4711,
      rcode: "NOERROR",
      aa: true,
    });
  });

  it.each<[string, RecordType, string]>([
    ["ghost.default.svc.cluster.local", "A", "NXDOMAIN"],
    ["db-1.db.default.svc.cluster.local", "A", "NXDOMAIN"],
    ["web.ghost.svc.cluster.local", "A", "NXDOMAIN"],
    ["300-1-0-9.default.pod.cluster.local", "A", "NXDOMAIN"],
    ["10-1-0-9.ghost.pod.cluster.local", "A", "NXDOMAIN"],
    ["web.default.svc.cluster.local", "MX", "NOERROR"],
    ["_tcp.web.default.svc.cluster.local", "A", "NOERROR"],
    ["empty.svc.cluster.local", "A", "NOERROR"],
    ["svc.cluster.local", "A", "NOERROR"],
    ["named.default.svc.cluster.local", "A", "NXDOMAIN"],
  ])("%s %s: nothing, %s", async (name, type, rcode) => {
    const { answers, authorities = [], ...answer } = await askServer(server.port, name, type);
    expect(answers).toEqual([]);
    expect(answer.rcode).toBe(rcode);
    expect(authorities).toMatchObject([{ type: "SOA", name: "cluster.local", data: { minimum: 30 } }]);
  });

  it("addresses come along with SRV", async () => {
    const { additionals = [] } = await askServer(server.port, "_http._tcp.web.default.svc.cluster.local", "SRV");
    expect(additionals).toMatchObject([{ data: "10.96.0.20" }, { data: "fd00::20" }]);
  });

  it("follow a Service that changes", async () => {
    const ask = async () => answersOf(await askServer(server.port, "moves.default.svc.cluster.local", "A"));
    expect(await ask()).toEqual([]);
    put(service("moves", { clusterIP: "10.96.0.30", clusterIPs: ["10.96.0.30"] }));
    expect(await ask()).toEqual(["A 10.96.0.30"]);
    put(service("moves", { clusterIP: "10.96.0.31", clusterIPs: ["10.96.0.31"] }));
    expect(await ask()).toEqual(["A 10.96.0.31"]);
    zone.set("default/moves", []);
    expect(await ask()).toEqual([]);
    expect(answersOf(await askServer(server.port, "31.0.96.10.in-addr.arpa", "PTR"))).toEqual(
      ["PTR"].slice(1).concat("A 192.0.2.7"),
    );
  });
});

describe("messages", () => {
  it("too large for UDP are cut, and whole over TCP and with EDNS", async () => {
    const name = "many.default.svc.cluster.local";
    const cut = await askServer(server.port, name, "A");
    expect(cut.flag_tc).toBe(true);
    expect(cut.answers?.length).toBeLessThan(40);
    const large = await askServer(server.port, name, "A", { edns: 4096 });
    expect({ tc: large.flag_tc, answers: large.answers?.length }).toEqual({ tc: false, answers: 200 });
    expect((await askServer(server.port, name, "A", { tcp: true })).answers).toHaveLength(200);
  });

  it("start with another one each time", async () => {
    const firsts = new Set<string | undefined>();
    for (let turn = 0; turn < 20; turn++)
      firsts.add(answersOf(await askServer(server.port, "db.default.svc.cluster.local", "A"))[0]);
    expect(firsts.size).toBe(2);
  });

  it.each<[string, Buffer, number | undefined]>([
    ["an unknown opcode", header(0x1000, 1), 4],
    ["no question", header(0x0100, 0), 1],
    ["two questions", header(0x0100, 2), 1],
    ["a question that is cut off", Buffer.concat([header(0x0100, 1), Buffer.from([3, 0x77])]), 1],
    ["a question that points to itself", Buffer.concat([header(0x0100, 1), Buffer.from([0xc0, 0x0c, 0, 1, 0, 1])]), 1],
    [
      "a name that is too long",
      Buffer.concat([
        header(0x0100, 1),
        Buffer.from(`\x3f${"a".repeat(63)}`.repeat(5), "latin1"),
        Buffer.from([0, 0, 1, 0, 1]),
      ]),
      1,
    ],
  ])("%s is refused", async (_, message, code) => {
    const answer = await sendRaw(server.port, message);
    expect((answer[3] ?? 0) & 15).toBe(code);
  });

  it("with a dot in a label are not taken for others, here or upstream", async () => {
    const label = (text: string) => Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);
    const odd = (text: string) => Buffer.concat([header(0x0100, 1), label(text), Buffer.from([0, 0, 1, 0, 1])]);
    const answer = await sendRaw(server.port, odd("web.default.svc.cluster.local"));
    expect(answersOf(decode(answer))).not.toContain("A 10.96.0.20");
    asked = 0;
    await sendRaw(server.port, odd("dotted.example.org"));
    await askServer(server.port, "dotted.example.org", "A");
    expect(asked).toBe(2);
  });

  it("are never larger than what arrives, whatever the asker says", async () => {
    const huge = Array.from({ length: 2000 }, (_, at) => ({ addresses: [`10.3.${at >> 8}.${at & 255}`] }));
    put(service("huge", { clusterIP: "None", clusterIPs: ["None"] }), [slice(huge)]);
    const answer = await askServer(server.port, "huge.default.svc.cluster.local", "A", { edns: 65_535 });
    expect(answer.flag_tc).toBe(true);
    zone.set("default/huge", []);
  });

  it("on one connection are answered all, however fast they come", async () => {
    const question = streamEncode({
      type: "query",
      id: 1,
      flags: 256,
      questions: [{ name: "many.default.svc.cluster.local", type: "A" }],
    });
    const socket = connect({ port: server.port, host: "127.0.0.1" });
    // More answers than a socket takes, before anybody reads.
    for (let turn = 0; turn < 1000; turn++) socket.write(question);
    let bytes = 0;
    let want = Number.POSITIVE_INFINITY;
    for await (const chunk of socket) {
      if (want === Number.POSITIVE_INFINITY) want = 1000 * (2 + (chunk as Buffer).readUInt16BE(0));
      bytes += (chunk as Buffer).length;
      if (bytes >= want) break;
    }
    expect(bytes).toBe(want);
  });

  it("that are answers, or noise, are not answered, and the server stays", async () => {
    const socket = createSocket("udp4");
    for (const noise of [header(0x8100, 1), Buffer.from([1, 2, 3]), Buffer.alloc(0)])
      socket.send(noise, server.port, "127.0.0.1");
    expect(answersOf(await askServer(server.port, "web.default.svc.cluster.local", "A"))).toEqual(["A 10.96.0.20"]);
    socket.close();
  });
});

function header(flags: number, questions: number): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt16BE(1, 0);
  bytes.writeUInt16BE(flags, 2);
  bytes.writeUInt16BE(questions, 4);
  return bytes;
}

describe("names elsewhere", () => {
  it("are repeated as they were asked, also from what is kept", async () => {
    for (const name of ["Case.Example.org", "cASE.example.ORG"]) {
      const answer = await sendRaw(
        server.port,
        encode({ type: "query", id: 1, flags: 256, questions: [{ name, type: "A" }] }),
      );
      expect(decode(answer).questions?.[0]?.name).toBe(name);
    }
  });

  it("that every object has are names like others", async () => {
    for (const name of ["constructor", "x.toString"])
      expect(answersOf(await askServer(server.port, name, "A"))).toEqual(["A 192.0.2.7"]);
  });

  it("behind an alias fail as a whole, and are asked for again", async () => {
    put(service("broken", { type: "ExternalName", externalName: "silent.example.net" }));
    const ask = async () => (await askServer(server.port, "broken.default.svc.cluster.local", "A")).rcode;
    expect(await ask()).toBe("SERVFAIL");
    put(service("broken", { type: "ExternalName", externalName: "well.example.net" }));
    expect(await ask()).toBe("NOERROR");
  });

  it("are asked for upstream once while they are kept, with what is left of their time", async () => {
    asked = 0;
    for (let turn = 0; turn < 3; turn++) {
      const answer = await askServer(server.port, "kept.example.org", "A");
      expect(answersOf(answer)).toEqual(["A 192.0.2.7"]);
      expect(answer.id).toBe(4711);
    }
    expect(asked).toBe(1);
  });

  it("in a stub domain are asked for there", async () => {
    expect(answersOf(await askServer(server.port, "x.stub.example", "A"))).toEqual(["A 192.0.2.7"]);
    expect((await askServer(server.port, "x.nobody.example", "A")).rcode).toBe("REFUSED");
  });

  it("of a server that does not answer fail soon", async () => {
    expect((await askServer(server.port, "silent.example.org", "A")).rcode).toBe("SERVFAIL");
  });
});
