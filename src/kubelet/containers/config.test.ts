/** Pods and what a runtime is asked for. */
import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { podCgroup } from "./cgroup-names.ts";
import { RuntimeConfigError } from "./config-error.ts";
import { containerConfig } from "./container-config.ts";
import { parseResolver, podResolver } from "./dns.ts";
import { etcHosts } from "./etc-hosts.ts";
import { kernelHostname, podHostname } from "./hostname.ts";
import { containerDevices, containerMounts, subPathOf } from "./mounts.ts";
import { containerHash } from "./names.ts";
import type { NodeFacts } from "./node-facts.ts";
import { containerResources, podResources } from "./resources.ts";
import { podSandboxConfig } from "./sandbox-config.ts";
import { containerSecurity } from "./security.ts";

const facts: NodeFacts = {
  nodeName: "node-1",
  nodeIps: ["192.168.0.1"],
  allocatable: { cpu: "4", memory: "8Gi" },
  memoryCapacityBytes: 8 * 1024 ** 3,
  clusterDns: ["10.96.0.10"],
  clusterDomain: "cluster.local",
  resolver: { servers: ["9.9.9.9"], searches: ["example.com"], options: ["timeout:1"] },
  cgroupRoot: "/",
  seccompRoot: "/root/seccomp",
  seccompDefault: false,
  podLogsRoot: "/var/log/pods",
};
const APP: core.Container = { name: "app", image: "app:1" };
const podOf = (spec: Partial<core.PodSpec> = {}, metadata: Partial<core.Pod["metadata"]> = {}): core.Pod => ({
  metadata: { name: "web", namespace: "shop", uid: "u1", ...metadata },
  spec: { containers: [APP], ...spec },
});

describe("names", () => {
  const long = `${"a".repeat(62)}-${"b".repeat(10)}`;
  it.each([
    [podOf(), "web", ""],
    [podOf({ hostname: "db" }), "db", ""],
    [podOf({ subdomain: "sub" }), "web", "sub.shop.svc.cluster.local"],
    [podOf({}, { name: long }), "a".repeat(62), ""],
    [podOf({ hostnameOverride: "other", hostname: "db", subdomain: "sub" }), "other", ""],
  ])("%#", (pod, hostname, domain) => expect(podHostname(pod, "cluster.local")).toEqual({ hostname, domain }));

  it("the whole name is the kernel's where the pod asks for it, if it is not too long", () => {
    expect(kernelHostname(podOf({ subdomain: "s", setHostnameAsFQDN: true }), "cluster.local")).toBe(
      "web.s.shop.svc.cluster.local",
    );
    expect(() =>
      kernelHostname(podOf({ subdomain: "s".repeat(50), setHostnameAsFQDN: true }), "cluster.local"),
    ).toThrow(/is too long/);
  });

  it("another image is another container, another command is not", () => {
    expect(containerHash(APP)).toBe(containerHash({ ...APP, command: ["x"] }));
    expect(containerHash(APP)).not.toBe(containerHash({ ...APP, image: "app:2" }));
  });
});

describe("resolv.conf", () => {
  const own = ["shop.svc.cluster.local", "svc.cluster.local", "cluster.local"];
  it.each<[string, Partial<core.PodSpec>, Partial<NodeFacts>, object]>([
    ["ClusterFirst", {}, {}, { servers: ["10.96.0.10"], searches: [...own, "example.com"], options: ["ndots:5"] }],
    ["on the node's network it is the node's", { hostNetwork: true }, {}, facts.resolver],
    ["unless it asks", { hostNetwork: true, dnsPolicy: "ClusterFirstWithHostNet" }, {}, { servers: ["10.96.0.10"] }],
    ["Default", { dnsPolicy: "Default" }, {}, facts.resolver],
    ["without cluster DNS", {}, { clusterDns: [] }, facts.resolver],
    [
      "None, and its own",
      {
        dnsPolicy: "None",
        dnsConfig: {
          nameservers: ["1.1.1.1"],
          searches: ["a.b"],
          options: [{ name: "ndots", value: "2" }, { name: "edns0" }],
        },
      },
      {},
      { servers: ["1.1.1.1"], searches: ["a.b"], options: ["ndots:2", "edns0"] },
    ],
    [
      "merged",
      {
        dnsConfig: {
          nameservers: ["10.96.0.10", "1.1.1.1", "2.2.2.2", "3.3.3.3"],
          options: [{ name: "ndots", value: "2" }],
        },
      },
      {},
      { servers: ["10.96.0.10", "1.1.1.1", "2.2.2.2"], options: ["ndots:2"] },
    ],
  ])("%s", (_, spec, more, want) => expect(podResolver(podOf(spec), { ...facts, ...more })).toMatchObject(want));

  it("is read as it is written", () => {
    const text = "# mine\nnameserver 1.1.1.1\nsearch old\nsearch a.example. b\noptions ndots:2 edns0\n; end\n";
    expect(parseResolver(text)).toEqual({
      servers: ["1.1.1.1"],
      searches: ["a.example", "b"],
      options: ["ndots:2", "edns0"],
    });
  });
});

describe("/etc/hosts", () => {
  const about = { clusterDomain: "cluster.local", nodeHosts: "127.0.0.1 localhost node\n" };
  it("has the pod, its subdomain and its aliases", () => {
    const pod = podOf({ subdomain: "s", hostAliases: [{ ip: "1.2.3.4", hostnames: ["a", "b"] }] });
    expect(etcHosts(pod, ["10.244.0.2"], about).split("\n")).toEqual([
      "# Kubernetes-managed hosts file.",
      "127.0.0.1\tlocalhost",
      "::1\tlocalhost ip6-localhost ip6-loopback",
      "fe00::0\tip6-localnet",
      "fe00::0\tip6-mcastprefix",
      "fe00::1\tip6-allnodes",
      "fe00::2\tip6-allrouters",
      "10.244.0.2\tweb.s.shop.svc.cluster.local\tweb",
      "",
      "# Entries added by HostAliases.",
      "1.2.3.4\ta\tb",
      "",
    ]);
  });

  it("on the node's network it is the node's", () => {
    const text = etcHosts(podOf({ hostNetwork: true }), [], about);
    expect(text).toBe("# Kubernetes-managed hosts file (host network).\n127.0.0.1 localhost node\n");
  });
});

describe("resources", () => {
  const of = (resources: core.ResourceRequirements, spec: Partial<core.PodSpec> = {}) => {
    const container = { ...APP, resources };
    return containerResources(podOf({ containers: [container], ...spec }), container, facts);
  };
  it.each<[string, core.ResourceRequirements, object]>([
    ["nothing: BestEffort", {}, { cpuShares: 2, oomScoreAdj: 1000 }],
    [
      "Guaranteed",
      { limits: { cpu: "500m", memory: "1Gi" }, requests: { cpu: "500m", memory: "1Gi" } },
      { cpuShares: 512, cpuPeriod: 100_000, cpuQuota: 50_000, memoryLimitBytes: 1024 ** 3, oomScoreAdj: -997 },
    ],
    ["Burstable", { requests: { cpu: "1", memory: "2Gi" } }, { cpuShares: 1024, oomScoreAdj: 750 }],
    ["a tiny request", { requests: { memory: "1" } }, { cpuShares: 2, oomScoreAdj: 999 }],
    [
      "a limit is a request",
      { limits: { cpu: "2" } },
      { cpuShares: 2048, cpuPeriod: 100_000, cpuQuota: 200_000, oomScoreAdj: 999 },
    ],
    [
      "the smallest quota",
      { limits: { cpu: "1m" } },
      { cpuShares: 2, cpuPeriod: 100_000, cpuQuota: 1000, oomScoreAdj: 999 },
    ],
    ["the largest share", { requests: { cpu: "1000" } }, { cpuShares: 262_144, oomScoreAdj: 999 }],
  ])("%s", (_, resources, want) => expect(of(resources)).toEqual(want));

  it("critical pods are killed last", () => expect(of({}, { priority: 2_000_000_000 }).oomScoreAdj).toBe(-997));

  it("a pod has a limit only if all of its containers have one", () => {
    const limited = { ...APP, resources: { limits: { cpu: "1", memory: "1Gi" } } };
    expect(podResources(podOf({ containers: [limited, { ...limited, name: "b" }] }))).toMatchObject({
      cpuQuota: 200_000,
      memoryLimitBytes: 2 * 1024 ** 3,
    });
    expect(podResources(podOf({ containers: [limited, { ...APP, name: "b" }] }))).toEqual({ cpuShares: 2 });
  });

  it.each<[core.ResourceRequirements, string]>([
    [{}, "/node/kubepods/besteffort/podu1"],
    [{ requests: { cpu: "1" } }, "/node/kubepods/burstable/podu1"],
    [{ limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "1", memory: "1Gi" } }, "/node/kubepods/podu1"],
  ])("%j is in %s", (resources, want) =>
    expect(podCgroup("/node", podOf({ containers: [{ ...APP, resources }] }))).toBe(want),
  );
});

describe("security", () => {
  const security = (
    spec: Partial<core.PodSpec>,
    own: core.SecurityContext = {},
    image = {},
    seccompDefault = false,
  ) => {
    const container = { ...APP, securityContext: own };
    const facts = { seccompRoot: "/sec", seccompDefault };
    return containerSecurity(podOf({ containers: [container], ...spec }), container, image, facts);
  };

  it.each<{ name: string; own: core.SecurityContext; want: object }>([
    { name: "no profile", own: {}, want: { type: "RuntimeDefault" } },
    { name: "a profile", own: { seccompProfile: { type: "Unconfined" } }, want: { type: "Unconfined" } },
  ])("seccompDefault, for a container with $name", ({ own, want }) => {
    expect(security({}, own, {}, true).seccomp).toEqual(want);
  });

  it.each<[string, Partial<core.PodSpec>, core.SecurityContext, object]>([
    [
      "by default",
      {},
      {},
      {
        privileged: false,
        noNewPrivs: false,
        readonlyRootfs: false,
        supplementalGroups: [],
        seccomp: { type: "Unconfined" },
      },
    ],
    ["the pod's user", { securityContext: { runAsUser: 5, runAsGroup: 6 } }, {}, { runAsUser: 5, runAsGroup: 6 }],
    ["the container's before it", { securityContext: { runAsUser: 5 } }, { runAsUser: 7 }, { runAsUser: 7 }],
    ["groups", { securityContext: { fsGroup: 1, supplementalGroups: [2, 1] } }, {}, { supplementalGroups: [1, 2] }],
    ["no new privileges", {}, { allowPrivilegeEscalation: false }, { noNewPrivs: true }],
    ["a root that cannot be written", {}, { readOnlyRootFilesystem: true }, { readonlyRootfs: true }],
    [
      "privileged: nothing is hidden",
      {},
      { privileged: true },
      { privileged: true, maskedPaths: [], readonlyPaths: [] },
    ],
    [
      "SELinux: the container's labels before the Pod's",
      { securityContext: { seLinuxOptions: { level: "s0" } } },
      { seLinuxOptions: { type: "spc_t" } },
      { selinux: { user: "", role: "", type: "spc_t", level: "" } },
    ],
    [
      "AppArmor: the container's profile before the Pod's",
      { securityContext: { appArmorProfile: { type: "Unconfined" } } },
      { appArmorProfile: { type: "Localhost", localhostProfile: "strict" } },
      { apparmor: { type: "Localhost", localhostRef: "strict" } },
    ],
    ["all of /proc", {}, { procMount: "Unmasked" }, { maskedPaths: [], readonlyPaths: [] }],
    [
      "capabilities",
      {},
      { capabilities: { add: ["A"], drop: ["ALL"] } },
      { capabilities: { add: ["A"], drop: ["ALL"] } },
    ],
    [
      "seccomp of the pod",
      { securityContext: { seccompProfile: { type: "RuntimeDefault" } } },
      {},
      { seccomp: { type: "RuntimeDefault" } },
    ],
    [
      "a profile of the node",
      {},
      { seccompProfile: { type: "Localhost", localhostProfile: "a.json" } },
      { seccomp: { type: "Localhost", localhostRef: "/sec/a.json" } },
    ],
    ["own namespaces", {}, {}, { namespaces: { network: "POD", pid: "CONTAINER", ipc: "POD" } }],
    [
      "the node's",
      { hostNetwork: true, hostPID: true, hostIPC: true },
      {},
      { namespaces: { network: "NODE", pid: "NODE", ipc: "NODE" } },
    ],
    [
      "shared processes",
      { shareProcessNamespace: true },
      {},
      { namespaces: { network: "POD", pid: "POD", ipc: "POD" } },
    ],
  ])("%s", (_, spec, own, want) => expect(security(spec, own)).toMatchObject(want));

  const nonRoot = { securityContext: { runAsNonRoot: true } };
  it.each<[string, core.SecurityContext, object, RegExp | undefined]>([
    ["a user", { runAsUser: 1 }, {}, undefined],
    ["root", { runAsUser: 0 }, {}, /^container's runAsUser breaks non-root policy/],
    ["an image's user", {}, { uid: 1 }, undefined],
    ["an image that runs as root", {}, { uid: 0 }, /^container has runAsNonRoot and image will run as root/],
    ["an image that says nothing", {}, {}, /image will run as root/],
    ["a name", {}, { username: "app" }, /image has non-numeric user \(app\), cannot verify user is non-root/],
    ["the container's own word", { runAsNonRoot: false }, {}, undefined],
  ])("runAsNonRoot and %s", (_, own, image, problem) => {
    if (problem === undefined) expect(() => security(nonRoot, own, image)).not.toThrow();
    else expect(() => security(nonRoot, own, image)).toThrow(problem);
  });
});

describe("mounts", () => {
  const paths = {
    volumes: new Map([
      ["data", { path: "/host/data" }],
      ["fixed", { path: "/host/fixed", readOnly: true }],
    ]),
    subPaths: new Map([[1, "/host/sub"]]),
    etcHosts: "/pods/u1/etc-hosts",
    terminationLog: "/pods/u1/app/0",
  };
  const mount = (name: string, mountPath: string, more: Partial<core.VolumeMount> = {}) => ({
    name,
    mountPath,
    ...more,
  });

  it("volumes, subpaths, /etc/hosts and the termination log", () => {
    const container = {
      ...APP,
      terminationMessagePath: "/dev/termination-log",
      volumeMounts: [
        mount("data", "data", { readOnly: true }),
        mount("data", "/sub", { mountPropagation: "Bidirectional" }),
        mount("fixed", "/fixed"),
      ],
    };
    expect(containerMounts(container, paths)).toEqual([
      { containerPath: "/data", hostPath: "/host/data", readonly: true, propagation: "private" },
      { containerPath: "/sub", hostPath: "/host/sub", readonly: false, propagation: "bidirectional" },
      { containerPath: "/fixed", hostPath: "/host/fixed", readonly: true, propagation: "private" },
      { containerPath: "/etc/hosts", hostPath: "/pods/u1/etc-hosts", readonly: false, propagation: "private" },
      { containerPath: "/dev/termination-log", hostPath: "/pods/u1/app/0", readonly: false, propagation: "private" },
    ]);
  });

  it("a container's own /etc/hosts stays", () => {
    const mounts = containerMounts({ ...APP, volumeMounts: [mount("data", "/etc/hosts")] }, paths);
    expect(mounts.map(({ hostPath }) => hostPath)).toEqual(["/host/data"]);
  });

  it.each<[Partial<core.VolumeMount>, string | undefined | RegExp]>([
    [{}, undefined],
    [{ subPath: "a/b" }, "a/b"],
    [{ subPathExpr: "$(POD)/x" }, "web/x"],
    [{ subPathExpr: "$(NONE)" }, /missing value for "NONE"/],
    [{ subPathExpr: "$(ROOT)" }, /must not be an absolute path/],
    [{ subPathExpr: "a/$(UP)/b" }, /must not contain '\.\.'/],
  ])("subpath of %j", (about, want) => {
    const env = new Map([
      ["POD", "web"],
      ["ROOT", "/etc"],
      ["UP", ".."],
    ]);
    if (want instanceof RegExp) expect(() => subPathOf(mount("data", "/d", about), env)).toThrow(want);
    else expect(subPathOf(mount("data", "/d", about), env)).toBe(want);
  });

  it("a block volume is a device, at the path that the container asks for", () => {
    const volumeDevices = [{ name: "disk", devicePath: "/dev/disk" }];
    const volumes = new Map([["disk", { path: "/dev/loop7", isBlock: true }]]);
    expect(containerDevices({ ...APP, volumeDevices }, { ...paths, volumes })).toEqual([
      { containerPath: "/dev/disk", hostPath: "/dev/loop7", permissions: "mrw" },
    ]);
  });

  it("an unknown volume is an error", () =>
    expect(() => containerMounts({ ...APP, volumeMounts: [mount("none", "/x")] }, paths)).toThrow(RuntimeConfigError));
});

describe("whole configs", () => {
  it("a sandbox", () => {
    const pod = podOf(
      {
        containers: [
          { ...APP, ports: [{ containerPort: 80, hostPort: 8080, hostIP: "127.0.0.1" }, { containerPort: 81 }] },
        ],
        securityContext: { sysctls: [{ name: "net/ipv4/x", value: "1" }], fsGroup: 3 },
        overhead: { cpu: "100m", memory: "10Mi" },
      },
      { labels: { app: "web" }, annotations: { note: "x" } },
    );
    expect(podSandboxConfig(pod, 2, facts)).toMatchObject({
      metadata: { name: "web", namespace: "shop", uid: "u1", attempt: 2 },
      hostname: "web",
      logDirectory: "/var/log/pods/shop_web_u1",
      portMappings: [{ protocol: "TCP", containerPort: 80, hostPort: 8080, hostIp: "127.0.0.1" }],
      labels: {
        app: "web",
        "io.kubernetes.pod.name": "web",
        "io.kubernetes.pod.namespace": "shop",
        "io.kubernetes.pod.uid": "u1",
      },
      annotations: { note: "x" },
      linux: {
        cgroupParent: "/kubepods/besteffort/podu1",
        sysctls: { "net.ipv4.x": "1" },
        supplementalGroups: [3],
        privileged: false,
        seccomp: { type: "RuntimeDefault" },
        overhead: { cpuShares: 102, cpuQuota: 10_000, memoryLimitBytes: 10 * 1024 ** 2 },
      },
    });
  });

  it("a container", () => {
    const container: core.Container = {
      ...APP,
      command: ["run", "$(WHO)"],
      args: ["$$(WHO)", "$(NOBODY)"],
      workingDir: "/w",
      tty: true,
      lifecycle: { preStop: { exec: { command: ["bye"] } } },
    };
    const config = containerConfig(
      {
        pod: podOf({ containers: [container], terminationGracePeriodSeconds: 9 }),
        container,
        attempt: 3,
        imageRef: "app:1",
        imageUser: { uid: 4 },
        env: new Map([["WHO", "me"]]),
        paths: { volumes: new Map(), subPaths: new Map() },
      },
      facts,
    );
    expect(config).toMatchObject({
      metadata: { name: "app", attempt: 3 },
      image: "app:1",
      command: ["run", "me"],
      args: ["$(WHO)", "$(NOBODY)"],
      workingDir: "/w",
      envs: [{ key: "WHO", value: "me" }],
      logPath: "app/3.log",
      stdin: false,
      tty: true,
      labels: { "io.kubernetes.container.name": "app", "io.kubernetes.pod.uid": "u1" },
      annotations: {
        "io.kubernetes.container.restartCount": "3",
        "io.kubernetes.pod.terminationGracePeriod": "9",
        "io.kubernetes.container.preStopHandler": '{"exec":{"command":["bye"]}}',
      },
      linux: { runAsUser: 4, resources: { cpuShares: 2 } },
    });
  });

  it("the input and the terminal that it asks for", () => {
    const parts = {
      attempt: 0,
      imageRef: "app:1",
      imageUser: {},
      env: new Map(),
      paths: { volumes: new Map(), subPaths: new Map() },
    };
    const configOf = (container: core.Container) =>
      containerConfig({ ...parts, pod: podOf({ containers: [container] }), container }, facts);
    expect(configOf(APP)).toMatchObject({ stdin: false, stdinOnce: false, tty: false });
    const asks = { stdin: true, stdinOnce: true, tty: true };
    expect(configOf({ ...APP, ...asks })).toMatchObject(asks);
  });
});
