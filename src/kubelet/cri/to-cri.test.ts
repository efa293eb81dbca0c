import { describe, expect, it } from "vitest";
import { methodsOf } from "#grpc";
import { containerConfig, sandboxConfig } from "./testing/configs.ts";
import { toContainerConfig, toContainerFilter, toPodSandboxConfig, toResources, toSandboxFilter } from "./to-cri.ts";

describe("toPodSandboxConfig", () => {
  it("names enums by their numbers and leaves out what is not given", () => {
    expect(
      toPodSandboxConfig(
        sandboxConfig({
          dns: { servers: ["10.96.0.10"], searches: ["svc.cluster.local"], options: ["ndots:5"] },
          portMappings: [{ protocol: "UDP", containerPort: 53, hostPort: 5353, hostIp: "" }],
          linux: {
            cgroupParent: "/kubepods/pod1",
            sysctls: { "net.core.somaxconn": "1" },
            namespaces: { network: "NODE", pid: "CONTAINER", ipc: "POD" },
            runAsUser: 0,
            supplementalGroups: [7],
            privileged: false,
            readonlyRootfs: true,
            seccomp: { type: "Localhost", localhostRef: "p.json" },
            selinux: { user: "", role: "", type: "spc_t", level: "s0" },
            resources: { memoryLimitBytes: 5, cpuShares: 2 },
          },
        }),
      ),
    ).toMatchObject({
      dnsConfig: { servers: ["10.96.0.10"], searches: ["svc.cluster.local"], options: ["ndots:5"] },
      portMappings: [{ protocol: 1, containerPort: 53, hostPort: 5353 }],
      linux: {
        cgroupParent: "/kubepods/pod1",
        securityContext: {
          namespaceOptions: { network: 2, pid: 1, ipc: 0, targetId: "" },
          runAsUser: { value: 0 },
          supplementalGroups: [7],
          readonlyRootfs: true,
          seccomp: { profileType: 2, localhostRef: "p.json" },
          selinuxOptions: { user: "", role: "", type: "spc_t", level: "s0" },
        },
        resources: { memoryLimitInBytes: 5, cpuShares: 2 },
      },
    });
    const plain = toPodSandboxConfig(sandboxConfig({}));
    expect(plain).not.toHaveProperty("dnsConfig");
    expect(plain.linux?.securityContext).not.toHaveProperty("runAsUser");
    expect(plain.linux).not.toHaveProperty("resources");
  });
});

describe("toContainerConfig", () => {
  it("puts what Linux needs where CRI has it", () => {
    const { linux } = containerConfig({});
    const config = toContainerConfig(
      containerConfig({
        image: "localhost/busybox:1",
        mounts: [{ containerPath: "/data", hostPath: "/srv", readonly: true, propagation: "bidirectional" }],
        linux: {
          ...linux,
          capabilities: { add: ["NET_ADMIN"], drop: ["ALL"] },
          namespaces: { network: "POD", pid: "TARGET", ipc: "POD", targetId: "abc" },
          runAsUsername: "nobody",
          apparmor: { type: "Unconfined" },
        },
      }),
    );
    expect(config).toMatchObject({
      image: { image: "localhost/busybox:1", userSpecifiedImage: "localhost/busybox:1" },
      mounts: [{ containerPath: "/data", hostPath: "/srv", readonly: true, propagation: 2 }],
      linux: {
        securityContext: {
          capabilities: { addCapabilities: ["NET_ADMIN"], dropCapabilities: ["ALL"] },
          namespaceOptions: { network: 0, pid: 3, ipc: 0, targetId: "abc" },
          runAsUsername: "nobody",
          apparmor: { profileType: 1, localhostRef: "" },
        },
      },
    });
  });
});

describe("filters and resources", () => {
  it.each([
    ["nothing", toContainerFilter({}), {}],
    ["an id", toContainerFilter({ id: "a" }), { id: "a" }],
    ["a sandbox", toContainerFilter({ podSandboxId: "s" }), { podSandboxId: "s" }],
    ["labels", toContainerFilter({ labels: { a: "b" } }), { labelSelector: { a: "b" } }],
    ["a sandbox by its id", toSandboxFilter({ podSandboxId: "s" }), { id: "s" }],
    ["resources", toResources({ cpuQuota: -1, memoryLimitBytes: 9 }), { cpuQuota: -1, memoryLimitInBytes: 9 }],
  ])("%s", (_name, given, want) => {
    expect(given).toEqual(want);
  });
});

describe("methodsOf", () => {
  it("sends and reads what the table says, with zero values for what is absent", () => {
    const messages = {
      Inner: { text: [1, "string"], when: [2, "int64"] },
      Outer: { inner: [1, "Inner"], all: [2, "Inner[]"], labels: [3, "map"], ok: [4, "bool"], groups: [5, "int64[]"] },
    } as const;
    const { Echo } = methodsOf("some.v1.Service", messages, { Echo: ["Outer", "Outer"] });
    expect(Echo.path).toBe("/some.v1.Service/Echo");
    const sent = Echo.encode({ all: [{ text: "a", when: "1794753378436000001" }], labels: { x: "y" }, groups: [1, 2] });
    expect(Echo.decode(sent)).toEqual({
      inner: null,
      all: [{ text: "a", when: "1794753378436000001" }],
      labels: { x: "y" },
      ok: false,
      groups: ["1", "2"],
    });
  });
});
