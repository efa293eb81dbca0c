import { describe, expect, it } from "vitest";
import type { PodSpec } from "../../types/core-v1.ts";
import {
  evaluatePodSecurity,
  LATEST_POD_SECURITY as LATEST,
  levelVersionText,
  type PodLike,
  type PodSecurityLevel,
  podSecurityPolicy,
  privilegedPolicy,
  violationDetails,
} from "./index.ts";

const container = { name: "c", image: "x" };
const hardened = {
  ...container,
  securityContext: {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    runAsNonRoot: true,
    seccompProfile: { type: "RuntimeDefault" },
  },
};
const pod = (spec: object = {}, annotations: Record<string, string> = {}): PodLike => ({
  metadata: { annotations },
  spec: { containers: [hardened], ...spec } as PodSpec,
});
const secured = (securityContext: object) =>
  pod({ containers: [{ ...hardened, securityContext: { ...hardened.securityContext, ...securityContext } }] });
const two = (securityContext: object) =>
  pod({ containers: ["a", "b"].map((name) => ({ ...container, name, securityContext })) });

interface Row {
  name: string;
  pod: PodLike;
  level?: PodSecurityLevel;
  version?: number;
  says?: string;
}

const rows: Row[] = [
  { name: "a hardened pod", pod: pod(), level: "restricted" },
  { name: "anything, at privileged", pod: pod({ hostNetwork: true }), level: "privileged" },
  {
    name: "a plain pod, at restricted",
    pod: pod({ containers: [container] }),
    level: "restricted",
    says: 'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  },
  {
    name: "namespaces of the node",
    pod: pod({ hostNetwork: true, hostPID: true, hostIPC: true }),
    says: "host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)",
  },
  {
    name: "privileged containers",
    pod: two({ privileged: true }),
    says: 'privileged (containers "a", "b" must not set securityContext.privileged=true)',
  },
  {
    name: "capabilities",
    pod: secured({ capabilities: { add: ["SYS_ADMIN", "CHOWN", "NET_RAW"] } }),
    says: 'non-default capabilities (container "c" must not include "NET_RAW", "SYS_ADMIN" in securityContext.capabilities.add)',
  },
  {
    name: "capabilities, at restricted in the stricter words only",
    pod: secured({ capabilities: { add: ["SYS_ADMIN", "CHOWN"] } }),
    level: "restricted",
    says: 'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]; container "c" must not include "CHOWN", "SYS_ADMIN" in securityContext.capabilities.add)',
  },
  {
    name: "hostPath volumes",
    pod: pod({
      volumes: [
        { name: "a", hostPath: { path: "/" } },
        { name: "b", hostPath: { path: "/" } },
      ],
    }),
    says: 'hostPath volumes (volumes "a", "b")',
  },
  {
    name: "restricted volumes",
    pod: pod({
      volumes: [
        { name: "a", hostPath: { path: "/" } },
        { name: "b", nfs: {} },
        { name: "c", emptyDir: {} },
        { name: "d", image: {} },
      ],
    }),
    level: "restricted",
    says: 'restricted volume types (volumes "a", "b" use restricted volume types "hostPath", "nfs")',
  },
  {
    name: "ports of the node",
    pod: pod({
      containers: [
        {
          ...hardened,
          ports: [
            { containerPort: 1, hostPort: 90 },
            { containerPort: 2, hostPort: 80 },
          ],
        },
      ],
    }),
    says: 'hostPort (container "c" uses hostPorts 80, 90)',
  },
  {
    name: "probes of other hosts",
    pod: pod({ containers: [{ ...hardened, livenessProbe: { httpGet: { host: "example.com", port: 1 } } }] }),
    says: 'probe or lifecycle host (container "c" uses probe or lifecycle host "example.com")',
  },
  {
    name: "probes of other hosts, before 1.34",
    pod: pod({ containers: [{ ...hardened, livenessProbe: { httpGet: { host: "example.com", port: 1 } } }] }),
    version: 33,
  },
  {
    name: "AppArmor by field and annotation",
    pod: {
      ...secured({ appArmorProfile: { type: "Unconfined" } }),
      metadata: { annotations: { "container.apparmor.security.beta.kubernetes.io/c": "unconfined" } },
    },
    says: 'forbidden AppArmor profiles (container "c" and annotation must not set AppArmor profile type to "Unconfined", "container.apparmor.security.beta.kubernetes.io/c="unconfined"")',
  },
  {
    name: "SELinux",
    pod: { ...secured({ seLinuxOptions: { type: "spc_t", user: "u" } }) },
    says: 'seLinuxOptions (container "c" set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set)',
  },
  { name: "a newer SELinux type", pod: secured({ seLinuxOptions: { type: "container_engine_t" } }) },
  {
    name: "a newer SELinux type, before its time",
    pod: secured({ seLinuxOptions: { type: "container_engine_t" } }),
    version: 30,
    says: 'seLinuxOptions (container "c" set forbidden securityContext.seLinuxOptions: type "container_engine_t")',
  },
  {
    name: "an unmasked /proc",
    pod: secured({ procMount: "Unmasked" }),
    says: 'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
  },
  {
    name: "an unmasked /proc in a user namespace",
    pod: {
      ...secured({ procMount: "Unmasked" }),
      spec: { ...secured({ procMount: "Unmasked" }).spec, hostUsers: false },
    },
  },
  {
    name: "an unmasked /proc in a user namespace, at restricted",
    pod: {
      ...secured({ procMount: "Unmasked" }),
      spec: { ...secured({ procMount: "Unmasked" }).spec, hostUsers: false },
    },
    level: "restricted",
    says: 'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
  },
  {
    name: "seccomp turned off",
    pod: pod({ securityContext: { seccompProfile: { type: "Unconfined" } } }),
    says: 'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
  },
  {
    name: "seccomp by annotation, before 1.19",
    pod: pod({}, { "seccomp.security.alpha.kubernetes.io/pod": "unconfined" }),
    version: 18,
    says: 'seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")',
  },
  {
    name: "sysctls",
    pod: pod({
      securityContext: {
        sysctls: [
          { name: "kernel.msgmax", value: "1" },
          { name: "net.ipv4.tcp_rmem", value: "1" },
        ],
      },
    }),
    says: "forbidden sysctls (kernel.msgmax)",
  },
  {
    name: "a newer sysctl, before its time",
    pod: pod({ securityContext: { sysctls: [{ name: "net.ipv4.tcp_rmem", value: "1" }] } }),
    version: 31,
    says: "forbidden sysctls (net.ipv4.tcp_rmem)",
  },
  {
    name: "processes of a Windows node",
    pod: pod({ securityContext: { windowsOptions: { hostProcess: true } } }),
    says: "hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)",
  },
  {
    name: "root by number",
    pod: { ...secured({ runAsUser: 0 }) },
    level: "restricted",
    says: 'runAsUser=0 (container "c" must not set runAsUser=0)',
  },
  { name: "root by number, before 1.23", pod: secured({ runAsUser: 0 }), level: "restricted", version: 22 },
  {
    name: "root on purpose",
    pod: pod({ securityContext: { runAsNonRoot: false } }),
    level: "restricted",
    says: "runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false)",
  },
  {
    name: "a Windows pod, of which less is asked",
    pod: pod({ os: { name: "windows" }, containers: [{ ...container, securityContext: { runAsNonRoot: true } }] }),
    level: "restricted",
  },
  {
    name: "init and ephemeral containers",
    pod: pod({
      initContainers: [{ ...container, name: "i", securityContext: { privileged: true } }],
      ephemeralContainers: [{ ...container, name: "e", securityContext: { privileged: true } }],
    }),
    says: 'privileged (containers "i", "e" must not set securityContext.privileged=true)',
  },
];

describe("the standards", () => {
  it.each(rows)("judge $name", ({ pod, level = "baseline", version = LATEST, says = "" }) => {
    expect(violationDetails(evaluatePodSecurity({ level, version }, pod))).toBe(says);
  });

  it("take a version that is still to come for the newest", () => {
    const asked = { level: "restricted", version: 99 } as const;
    const plain = pod({ containers: [container] });
    expect(evaluatePodSecurity(asked, plain)).toEqual(evaluatePodSecurity({ ...asked, version: LATEST }, plain));
  });
});

const label = (name: string) => `pod-security.kubernetes.io/${name}`;
const policies: { name: string; labels: Record<string, string>; policy: string[]; errors?: string[] }[] = [
  { name: "none", labels: {}, policy: ["privileged:latest", "privileged:latest", "privileged:latest"] },
  {
    name: "a level that is enforced, and so warned of",
    labels: { enforce: "baseline", "enforce-version": "v1.24" },
    policy: ["baseline:v1.24", "privileged:latest", "baseline:v1.24"],
  },
  {
    name: "all three",
    labels: { enforce: "baseline", audit: "restricted", "audit-version": "v1.30", warn: "privileged" },
    policy: ["baseline:latest", "restricted:v1.30", "privileged:latest"],
  },
  {
    name: "what cannot be understood",
    labels: { enforce: "x", audit: "y", warn: "z", "enforce-version": "v9" },
    policy: ["restricted:latest", "privileged:latest", "privileged:latest"],
    errors: ["enforce", "enforce-version", "audit", "warn"],
  },
];

describe("labels", () => {
  it.each(policies)("that say $name", ({ labels, policy, errors = [] }) => {
    const named = Object.fromEntries(Object.entries(labels).map(([name, value]) => [label(name), value]));
    const found = podSecurityPolicy(named, privilegedPolicy);
    const { enforce, audit, warn } = found.policy;
    expect([enforce, audit, warn].map(levelVersionText)).toEqual(policy);
    expect(found.errors.map(({ field }) => field)).toEqual(errors.map((name) => `metadata.labels[${label(name)}]`));
  });
});
