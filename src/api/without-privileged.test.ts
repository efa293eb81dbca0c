import { describe, expect, it } from "vitest";
import { builtIn } from "./all-kinds.ts";
import { at, fieldErrorText } from "./machinery/errors/field-error.ts";
import type { KubeObject } from "./machinery/schema/object.ts";
import { withoutPrivileged } from "./without-privileged.ts";

const strict = withoutPrivileged(builtIn);
const kindOf = (name: string, kinds = strict) => {
  const kind = kinds.find((each) => each.kind === name);
  if (kind === undefined) throw new Error(`there is no kind ${name}`);
  return kind;
};
const POLICY = "Forbidden: disallowed by cluster policy";
const HOST_PROCESS = "spec: Forbidden: hostProcess containers are disallowed by cluster policy";

const privileged = { securityContext: { privileged: true } };
const container = (name: string, more: object = {}) => ({
  name,
  image: "i",
  imagePullPolicy: "Always",
  terminationMessagePolicy: "File",
  ...more,
});
const spec = (more: object = {}) => ({
  containers: [container("c")],
  restartPolicy: "Always",
  dnsPolicy: "ClusterFirst",
  terminationGracePeriodSeconds: 30,
  ...more,
});
const ephemeral = (more: object) => ({ ...container("e", more), targetContainerName: "c" });
const pod = (of: object) => ({ metadata: { name: "p", namespace: "a" }, spec: of }) as unknown as KubeObject;
const texts = (errors: readonly Parameters<typeof fieldErrorText>[0][] = []) => errors.map(fieldErrorText);

describe("a Pod", () => {
  it.each([
    { name: "without privileges", of: spec(), want: [] },
    {
      name: "with privileged: false",
      of: spec({ containers: [container("c", { securityContext: { privileged: false } })] }),
      want: [],
    },
    {
      name: "with a privileged container",
      of: spec({ containers: [container("b"), container("c", privileged)] }),
      want: [`spec.containers[1].securityContext.privileged: ${POLICY}`],
    },
    {
      name: "with a privileged init container",
      of: spec({ initContainers: [container("i", privileged)] }),
      want: [`spec.initContainers[0].securityContext.privileged: ${POLICY}`],
    },
    {
      name: "with other errors: the refusals stand among them",
      of: spec({
        volumes: [{ name: "-", emptyDir: {} }],
        containers: [
          container("c", { image: "", securityContext: { privileged: true, runAsUser: -1 } }),
          container("", privileged),
        ],
        initContainers: [container("-")],
      }),
      want: [
        /^spec.volumes\[0\].name: Invalid/,
        /^spec.containers\[0\].image: Required/,
        `spec.containers[0].securityContext.privileged: ${POLICY}`,
        /^spec.containers\[0\].securityContext.runAsUser: Invalid/,
        /^spec.containers\[1\].name: Required/,
        `spec.containers[1].securityContext.privileged: ${POLICY}`,
        /^spec.initContainers\[0\].name: Invalid/,
      ],
    },
    {
      name: "with host processes",
      of: spec({ hostNetwork: true, securityContext: { windowsOptions: { hostProcess: true } } }),
      want: [HOST_PROCESS],
    },
    {
      name: "with host processes, and more errors",
      of: spec({
        containers: [container("c", { securityContext: { windowsOptions: { hostProcess: true } } })],
        tolerations: [{ operator: "Equal" }],
      }),
      want: [/^spec.hostNetwork: Invalid/, HOST_PROCESS, /^spec.tolerations/],
    },
  ])("$name", ({ of, want }) => {
    const errors = texts(kindOf("Pod").create?.validate?.(pod(of), at()));
    expect(errors).toEqual(want.map((each) => (typeof each === "string" ? each : expect.stringMatching(each))));
  });

  it("cannot get privileged ephemeral containers", () => {
    const next = pod(spec({ ephemeralContainers: [ephemeral(privileged)] }));
    const { ephemeralcontainers } = kindOf("Pod").subresources?.parts ?? {};
    expect(texts(ephemeralcontainers?.validate?.(next, pod(spec()), at()))).toEqual([
      `spec.ephemeralContainers[0].securityContext.privileged: ${POLICY}`,
    ]);
  });

  it("that was privileged before cannot be changed", () => {
    const old = pod(spec({ containers: [container("c", privileged)] }));
    expect(texts(kindOf("Pod").update?.validate?.(old, old, at()))).toEqual([
      `spec.containers[0].securityContext.privileged: ${POLICY}`,
    ]);
  });
});

describe("a template", () => {
  const template = { metadata: { labels: { a: "b" } }, spec: spec({ containers: [container("c", privileged)] }) };
  const templates: readonly (readonly [kind: string, object: object, path: string])[] = [
    ["PodTemplate", { template }, "template.spec"],
    ["CronJob", { spec: { jobTemplate: { spec: { template } } } }, "spec.jobTemplate.spec.template.spec"],
    ...["ReplicationController", "ReplicaSet", "Deployment", "StatefulSet", "DaemonSet", "Job"].map(
      (kind) => [kind, { spec: { template } }, "spec.template.spec"] as const,
    ),
  ];
  it.each(templates)("of a %s", (kind, fields, path) => {
    const object = { metadata: { name: "x", namespace: "a" }, ...fields } as unknown as KubeObject;
    const refusal = `${path}.containers[0].securityContext.privileged: ${POLICY}`;
    const found = (kinds = strict) => ({
      create: texts(kindOf(kind, kinds).create?.validate?.(object, at())),
      update: texts(kindOf(kind, kinds).update?.validate?.(object, object, at())),
    });
    expect(found()).toEqual({
      create: expect.arrayContaining([refusal]),
      update: expect.arrayContaining([refusal]),
    });
    expect(found(builtIn).create).not.toContain(refusal);
  });
});

it("leaves other kinds as they are, and the built-in ones, too", () => {
  expect(kindOf("ConfigMap")).toBe(kindOf("ConfigMap", builtIn as typeof strict));
  expect(
    kindOf("Pod", builtIn as typeof strict).create?.validate?.(
      pod(spec({ containers: [container("c", privileged)] })),
      at(),
    ),
  ).toEqual([]);
});
