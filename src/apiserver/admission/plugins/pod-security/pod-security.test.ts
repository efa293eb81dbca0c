import { describe, expect, it } from "vitest";
import { VirtualClock } from "#base";
import { type Attempt, admit, namespaceObject, podObject } from "../../testing/index.ts";
import { podSecurity } from "./pod-security.ts";

const plugin = podSecurity(undefined);
const exempting = podSecurity({
  apiVersion: "pod-security.admission.config.k8s.io/v1",
  kind: "PodSecurityConfiguration",
  defaults: { enforce: "baseline", "enforce-version": "v1.30" },
  exemptions: { usernames: ["admin"], runtimeClasses: ["sandboxed"], namespaces: ["system"] },
});
const labelled = (labels: Record<string, string>, name = "a") =>
  namespaceObject(name, {
    labels: Object.fromEntries(
      Object.entries(labels).map(([key, value]) => [`pod-security.kubernetes.io/${key}`, value]),
    ),
  });
const host = podObject({ hostPID: true });
const HOST = "host namespaces (hostPID=true)";
const deployment = { metadata: { name: "d" }, spec: { template: { metadata: {}, spec: host.spec } } };

interface Row {
  name: string;
  attempt: Attempt;
  plugin?: typeof plugin;
  why?: string;
  warnings?: string[];
  annotations?: object;
}

const rows: Row[] = [
  { name: "anything without labels", attempt: { object: host, cluster: [namespaceObject()] } },
  {
    name: "what is enforced",
    attempt: { object: host, cluster: [labelled({ enforce: "baseline" })] },
    why: `violates PodSecurity "baseline:latest": ${HOST}`,
    annotations: { "pod-security.kubernetes.io/enforce-policy": "baseline:latest" },
  },
  {
    name: "a version that is pinned",
    attempt: { object: host, cluster: [labelled({ enforce: "baseline", "enforce-version": "v1.20" })] },
    why: `violates PodSecurity "baseline:v1.20": ${HOST}`,
    annotations: { "pod-security.kubernetes.io/enforce-policy": "baseline:v1.20" },
  },
  {
    name: "what is warned of and audited",
    attempt: { object: host, cluster: [labelled({ warn: "baseline", audit: "baseline" })] },
    warnings: [`would violate PodSecurity "baseline:latest": ${HOST}`],
    annotations: {
      "pod-security.kubernetes.io/enforce-policy": "privileged:latest",
      "pod-security.kubernetes.io/audit-violations": `would violate PodSecurity "baseline:latest": ${HOST}`,
    },
  },
  {
    name: "templates, which are only warned of",
    attempt: { object: deployment, resource: "deployments.apps", cluster: [labelled({ enforce: "baseline" })] },
    warnings: [`would violate PodSecurity "baseline:latest": ${HOST}`],
  },
  {
    name: "the template of a CronJob",
    attempt: {
      object: { metadata: { name: "c" }, spec: { jobTemplate: { spec: deployment.spec } } },
      resource: "cronjobs.batch",
      cluster: [labelled({ warn: "baseline" })],
    },
    warnings: [`would violate PodSecurity "baseline:latest": ${HOST}`],
  },
  {
    name: "a change that does not matter",
    attempt: { object: host, old: host, cluster: [labelled({ enforce: "baseline" })] },
  },
  {
    name: "a change of an image",
    attempt: {
      object: { ...host, spec: { ...host.spec, containers: [{ name: "c", image: "y" }] } },
      old: host,
      cluster: [labelled({ enforce: "baseline" })],
    },
    why: `violates PodSecurity "baseline:latest": ${HOST}`,
    annotations: { "pod-security.kubernetes.io/enforce-policy": "baseline:latest" },
  },
  {
    name: "a further ephemeral container",
    attempt: {
      object: podObject({ ephemeralContainers: [{ name: "e", image: "x", securityContext: { privileged: true } }] }),
      old: podObject(),
      resource: "pods/ephemeralcontainers",
      cluster: [labelled({ enforce: "baseline" })],
    },
    why: 'violates PodSecurity "baseline:latest": privileged (container "e" must not set securityContext.privileged=true)',
    annotations: { "pod-security.kubernetes.io/enforce-policy": "baseline:latest" },
  },
  {
    name: "a status, which changes nothing",
    attempt: { object: host, old: podObject(), resource: "pods/status", cluster: [labelled({ enforce: "baseline" })] },
  },
  {
    name: "labels that make no sense, as the strictest",
    attempt: { object: host, cluster: [labelled({ enforce: "x", warn: "privileged" })] },
    why: expect.stringContaining('violates PodSecurity "restricted:latest": host namespaces') as unknown as string,
    annotations: expect.objectContaining({
      "pod-security.kubernetes.io/error":
        'Failed to parse policy: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "x": must be one of privileged, baseline, restricted',
    }) as object,
  },
  {
    name: "the default of the configuration",
    plugin: exempting,
    attempt: { object: host, user: { name: "u", groups: [] }, cluster: [namespaceObject()] },
    why: `violates PodSecurity "baseline:v1.30": ${HOST}`,
    annotations: { "pod-security.kubernetes.io/enforce-policy": "baseline:v1.30" },
  },
  {
    name: "an exempt user",
    plugin: exempting,
    attempt: { object: host, cluster: [namespaceObject()] },
    annotations: { "pod-security.kubernetes.io/exempt": "user" },
  },
  {
    name: "an exempt namespace",
    plugin: exempting,
    attempt: { object: host, namespace: "system", cluster: [namespaceObject("system")] },
    annotations: { "pod-security.kubernetes.io/exempt": "namespace" },
  },
  {
    name: "an exempt runtime",
    plugin: exempting,
    attempt: {
      object: podObject({ hostPID: true, runtimeClassName: "sandboxed" }),
      user: { name: "u", groups: [] },
      cluster: [namespaceObject()],
    },
    annotations: { "pod-security.kubernetes.io/exempt": "runtimeClass" },
  },
];

describe("PodSecurity", () => {
  it.each(rows)("judges $name", async ({ attempt, plugin: by = plugin, why = "", warnings = [], annotations = {} }) => {
    const outcome = await admit(by, attempt);
    const { why: says, warnings: warned, annotations: noted } = outcome;
    expect({ says, warned, noted }).toEqual({ says: why, warned: warnings, noted: annotations });
  });
});

const pods = ["b", "a", "c"].map((name) => podObject({ hostPID: true }, { name }));
const relabel = (before: Record<string, string>, after: Record<string, string>, name = "a"): Attempt => ({
  resource: "namespaces",
  old: labelled(before, name),
  object: labelled(after, name),
  cluster: pods,
});

const changes: { name: string; plugin?: typeof plugin; attempt: Attempt; warnings?: string[]; why?: string }[] = [
  {
    name: "tells of pods that would be refused",
    attempt: relabel({}, { enforce: "baseline" }),
    warnings: [
      'existing pods in namespace "a" violate the new PodSecurity enforce level "baseline:latest"',
      "a (and 2 other pods): host namespaces",
    ],
  },
  { name: "says nothing of a weaker level", attempt: relabel({ enforce: "restricted" }, { enforce: "baseline" }) },
  { name: "says nothing of the same level", attempt: relabel({ enforce: "baseline" }, { enforce: "baseline" }) },
  { name: "says nothing of no level", attempt: relabel({ enforce: "baseline" }, {}) },
  {
    name: "refuses labels that make no sense",
    attempt: { resource: "namespaces", object: labelled({ "warn-version": "9" }) },
    why: 'Namespace "a" is invalid: metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: "9": must be "latest" or "v1.x"',
  },
  { name: "leaves old nonsense alone", attempt: relabel({ enforce: "x" }, { enforce: "x" }) },
  {
    name: "tells that an exempt namespace is labelled in vain",
    plugin: exempting,
    attempt: relabel({}, { enforce: "restricted" }, "system"),
    warnings: [
      'namespace "system" is exempt from Pod Security, and the policy (enforce=restricted:v1.30, audit=privileged:latest, warn=restricted:v1.30) will be ignored',
    ],
  },
];

describe("labels of a namespace", () => {
  it.each(changes)("$name", async ({ plugin: by = plugin, attempt, warnings = [], why = "" }) => {
    const { warnings: warned, why: says } = await admit(by, attempt);
    expect({ warned, says }).toEqual({ warned: warnings, says: why });
  });

  it("are not held up by thousands of pods", async () => {
    const many = Array.from({ length: 3_001 }, (_, i) => podObject({}, { name: `p${i}` }));
    const attempt = { ...relabel({}, { enforce: "baseline" }), cluster: many, clock: new VirtualClock() };
    expect((await admit(plugin, attempt)).warnings).toEqual([
      "new PodSecurity enforce level only checked against the first 3000 of 3001 existing pods",
    ]);
  });
});

describe("the configuration of PodSecurity", () => {
  const rows = [
    [{ kind: "Other" }, "PodSecurityConfiguration"],
    [{ defaults: { enforce: "x" } }, "defaults.enforce must be one of privileged, baseline, restricted"],
    [{ defaults: { "warn-version": "1" } }, 'defaults.warn-version must be "latest" or "v1.x"'],
    [{ exemptions: { usernames: ["a", "a"] } }, "exemptions.usernames names something twice"],
  ] as const;
  it.each(rows)("%j is refused", (section, says) => {
    const whole = {
      apiVersion: "pod-security.admission.config.k8s.io/v1",
      kind: "PodSecurityConfiguration",
      ...section,
    };
    expect(() => podSecurity(whole as Parameters<typeof podSecurity>[0])).toThrow(says);
  });
});
