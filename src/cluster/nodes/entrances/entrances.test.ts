/** The way in: which ports lead where, and connections through them, on loopback. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import type { core, discovery } from "#api";
import { realClock } from "#base";
import { Doors } from "./doors.ts";
import { chooseIngressPorts } from "./ingress-ports.ts";
import { type Door, localAddressOf, type PlanSources, planDoors, type Target } from "./plan.ts";
import { parsePublication, publicationText } from "./publication.ts";

describe("publications", () => {
  it.each([
    ["8080:web/80", "8080:default/web:80"],
    ["8080:shop/web:http", "8080:shop/web:http"],
    ["8080:web:80", "8080:default/web:80"],
    ["0.0.0.0:5353:kube-system/dns:53/udp", "0.0.0.0:5353:kube-system/dns:53/udp"],
    ["[::1]:80:web/80", "[::1]:80:default/web:80"],
  ])("%s", (given, want) => {
    const parsed = parsePublication(given);
    if (typeof parsed === "string") throw new Error(parsed);
    expect(publicationText(parsed)).toBe(want);
    expect(parsePublication(publicationText(parsed))).toEqual(parsed);
  });

  it.each([
    ["web", "is not PORT:SERVICE/PORT"],
    ["8080:web", "is not PORT:SERVICE/PORT"],
    ["0:web/80", "0 is not a port"],
    ["8080:web/80000", "80000 is not a port"],
    ["1.2.3:8080:web/80", "1.2.3 is not an IP address"],
  ])("%s is none", (given, want) => expect(parsePublication(given)).toContain(want));
});

const service = (spec: core.ServiceSpec, ingress: core.LoadBalancerIngress[] = []): core.Service => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web", namespace: "shop" },
  spec,
  status: { loadBalancer: { ingress } },
});
const node: core.Node = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "node-1" },
  status: {
    addresses: [{ type: "InternalIP", address: "10.89.7.11" }],
    conditions: [{ type: "Ready", status: "True" }],
  },
};
const slice: discovery.EndpointSlice = {
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { name: "web-1" },
  addressType: "IPv4",
  ports: [{ name: "http", port: 8080, protocol: "TCP" }],
  endpoints: [{ addresses: ["10.244.0.2"] }, { addresses: ["10.244.0.3"], conditions: { ready: false } }],
};
const port = { name: "http", port: 80, protocol: "TCP" } as const;
const sources = (more: Partial<PlanSources>): PlanSources => ({
  ...{ publications: [], localhost: true, services: [], nodes: [node], slicesOf: () => [slice] },
  ...more,
});
const told = (doors: readonly Door[]) =>
  doors.map(({ kind, address, port, protocol, targets }) => {
    const to = targets.map(({ host, port }) => `${host}:${port}`).join();
    return `${kind} ${protocol} ${address}:${port} ${to}`;
  });

describe("planDoors", () => {
  const publication = { hostPort: 8080, namespace: "shop", service: "web", port: "http", protocol: "TCP" } as const;
  it.each<[string, Partial<PlanSources>, string[]]>([
    ["nothing", {}, []],
    [
      "the ingress",
      { ingress: { address: "10.89.7.2", ports: new Map([[80, 8081]]) } },
      ["Ingress TCP 127.0.0.1:8081 10.89.7.2:80", "Ingress TCP ::1:8081 10.89.7.2:80"],
    ],
    [
      "a load balancer with its node port, not its address for Proxy",
      {
        services: [
          service({ type: "LoadBalancer", ports: [{ ...port, nodePort: 30080 }] }, [
            { ip: "10.88.7.1", ipMode: "VIP" },
            { ip: "127.88.7.1", ipMode: "Proxy" },
          ]),
        ],
      },
      [
        "LoadBalancer TCP 127.88.7.1:80 10.88.7.1:80",
        "NodePort TCP 127.0.0.1:30080 10.89.7.11:30080",
        "NodePort TCP ::1:30080 10.89.7.11:30080",
      ],
    ],
    ["a node port of SCTP", { services: [service({ ports: [{ port: 80, protocol: "SCTP", nodePort: 30080 }] })] }, []],
    [
      "what is published leads to ready endpoints, and goes first",
      {
        publications: [{ ...publication, hostPort: 30080, address: "127.0.0.1" }],
        services: [service({ type: "NodePort", ports: [{ ...port, nodePort: 30080 }] })],
      },
      ["published TCP 127.0.0.1:30080 10.244.0.2:8080", "NodePort TCP ::1:30080 10.89.7.11:30080"],
    ],
    [
      "only that without localhost",
      { localhost: false, services: [service({ ports: [{ ...port, nodePort: 1 }] })] },
      [],
    ],
    [
      "a Service that is not there",
      { publications: [publication] },
      ["published TCP 127.0.0.1:8080 ", "published TCP ::1:8080 "],
    ],
  ])("%s", (_name, given, want) => expect(told(planDoors(sources(given)))).toEqual(want));

  it("load balancers have addresses of localhost", () => {
    expect(localAddressOf("10.88.7.1")).toBe("127.88.7.1");
    expect(localAddressOf("fd00::1")).toBeUndefined();
  });
});

describe("chooseIngressPorts", () => {
  it.each<[string, [number, number][], number[], [number, number][]]>([
    [
      "all free",
      [],
      [],
      [
        [80, 80],
        [443, 443],
      ],
    ],
    [
      "the next free ones",
      [],
      [80, 8080, 443],
      [
        [80, 8081],
        [443, 8443],
      ],
    ],
    [
      "the same as before, if they are free",
      [
        [80, 8081],
        [443, 8443],
      ],
      [8443],
      [
        [80, 8081],
        [443, 443],
      ],
    ],
  ])("%s", async (_name, before, taken, want) => {
    expect([...(await chooseIngressPorts(new Map(before), async (each) => !taken.includes(each)))]).toEqual(want);
  });
});

describe("Doors", () => {
  const echo = async (name: string) => {
    // Whoever reads to the end by iteration ends the other direction, too.
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      let heard = "";
      socket.on("data", (data) => (heard += data)).once("end", () => socket.end(`${name} ${heard}`));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return { server, target: { host: "127.0.0.1", port: (server.address() as AddressInfo).port } };
  };
  const freePort = async () => {
    const { server, target } = await echo("");
    const closed = once(server, "close");
    server.close();
    await closed;
    return target.port;
  };
  const ask = (at: number) =>
    new Promise<string>((resolve) => {
      const socket = connect({ port: at, host: "127.0.0.1", allowHalfOpen: true });
      socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""));
      socket.end("hello");
      text(socket).then(resolve, () => {});
    });
  const door = (at: number, targets: readonly Target[], protocol: "TCP" | "UDP" = "TCP"): Door => ({
    ...{ kind: "published", address: "127.0.0.1", port: at, protocol, to: "shop/web:80", targets },
  });

  it("pass connections on, also half closed ones; follow their targets; close", async () => {
    const doors = new Doors(realClock());
    const [one, two, at] = [await echo("one"), await echo("two"), await freePort()];
    const gone = { host: "127.0.0.1", port: await freePort() };
    expect(await doors.set([door(at, [one.target])])).toEqual([
      { kind: "published", at: `127.0.0.1:${at}`, protocol: "TCP", to: "shop/web:80" },
    ]);
    expect(await ask(at)).toBe("one hello");
    await doors.set([door(at, [gone, two.target])]);
    expect([await ask(at), await ask(at)]).toEqual(["two hello", "two hello"]);
    await doors.set([door(at, [])]);
    expect(await ask(at)).toBe("ECONNRESET");
    await doors.close();
    expect(await ask(at)).toBe("ECONNREFUSED");
    for (const { server } of [one, two]) server.close();
  });

  it("say which port is taken, and open it once it is free", async () => {
    const doors = new Doors(realClock());
    const taken = await echo("another");
    const wanted = [door(taken.target.port, [])];
    const problem = `port ${taken.target.port} is in use by another program`;
    expect(await doors.set(wanted)).toEqual([expect.objectContaining({ problem })]);
    const closed = once(taken.server, "close");
    taken.server.close();
    await closed;
    expect((await doors.set(wanted))[0]?.problem).toBeUndefined();
    await doors.close();
  });

  it("pass datagrams on, and the answers back", async () => {
    const server = createSocket("udp4");
    server.on("message", (said, from) => server.send(`heard ${said}`, from.port, from.address));
    server.bind(0, "127.0.0.1");
    await once(server, "listening");
    const doors = new Doors(realClock());
    const at = await freePort();
    await doors.set([door(at, [{ host: "127.0.0.1", port: server.address().port }], "UDP")]);
    const client = createSocket("udp4");
    for (const said of ["one", "two"]) {
      client.send(said, at, "127.0.0.1");
      expect(String((await once(client, "message"))[0])).toBe(`heard ${said}`);
    }
    client.close();
    await doors.close();
    server.close();
  });
});
