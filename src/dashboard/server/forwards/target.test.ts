import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { askedIn } from "./requests.ts";
import { choosePod } from "./target.ts";

const service = (port: Partial<core.ServicePort>): core.Service =>
  ({ metadata: { name: "web" }, spec: { ports: [{ port: 80, ...port }] } }) as core.Service;

function pod(name: string, { ready = true, phase = "Running", leaves = false } = {}): core.Pod {
  return {
    metadata: { name, ...(leaves && { deletionTimestamp: "2026-01-01T00:00:00Z" }) },
    spec: { containers: [{ name: "main", ports: [{ name: "http", containerPort: 8080 }] }] },
    status: { phase, conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
  } as core.Pod;
}

describe("the Pod behind a Service's port", () => {
  it.each<[string, Partial<core.ServicePort>, core.Pod[], object | string]>([
    ["by number", { targetPort: 3000 }, [pod("a")], { pod: "a", port: 3000 }],
    ["by name", { targetPort: "http" }, [pod("a")], { pod: "a", port: 8080 }],
    ["the same port", {}, [pod("a")], { pod: "a", port: 80 }],
    ["ready ones first", {}, [pod("a", { ready: false }), pod("b")], { pod: "b", port: 80 }],
    ["else one that runs", {}, [pod("a", { phase: "Pending" }), pod("b", { ready: false })], { pod: "b", port: 80 }],
    ["none that ends", {}, [pod("a", { leaves: true })], "Service web has no running Pod at the moment."],
    ["no such port", { port: 81 }, [pod("a")], "Service web has no port 80."],
    ["no TCP", { protocol: "UDP" }, [pod("a")], "Port 80 of Service web is UDP, not TCP."],
    ["no such name", { targetPort: "grpc" }, [pod("a")], "No container of Pod a has a port named grpc."],
  ])("%s", (_, port, pods, want) => {
    const found = () => choosePod(service(port), 80, pods);
    if (typeof want === "string") expect(found).toThrow(want);
    else expect(found()).toEqual(want);
  });
});

describe("what the page asks for", () => {
  const good = { resource: "pods", namespace: "a", name: "b", port: 80 };
  it.each<[string, string, object | string]>([
    ["a free port", JSON.stringify(good), { ...good, localPort: 0 }],
    ["a port", JSON.stringify({ ...good, localPort: 8080 }), { ...good, localPort: 8080 }],
    ["nodes", JSON.stringify({ ...good, resource: "nodes" }), "Ports of Pods and Services can be forwarded."],
    ["no name", JSON.stringify({ ...good, name: "" }), "A namespace and a name are needed."],
    ["no port", JSON.stringify({ ...good, port: 0 }), "A port is a number from 1 to 65535."],
    ["a port as text", JSON.stringify({ ...good, port: "80" }), "A port is a number from 1 to 65535."],
    ["a port too large", JSON.stringify({ ...good, localPort: 65536 }), "A port of this machine is a number"],
    ["no JSON", "{", "Ports of Pods and Services can be forwarded."],
    ["null", "null", "Ports of Pods and Services can be forwarded."],
  ])("%s", (_, text, want) => {
    if (typeof want === "string") expect(() => askedIn(text)).toThrow(want);
    else expect(askedIn(text)).toEqual(want);
  });
});
