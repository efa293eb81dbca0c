/** What happens to a pod after it was made: status, resize, debugging, deletion. */
import { describe, expect, it } from "vitest";
import { defaultFeatures, disabledFields } from "../../features/index.ts";
import { at, fieldErrorText } from "../../machinery/errors/field-error.ts";
import type { JsonObject } from "../../machinery/json/json.ts";
import { jsonDiff } from "../../machinery/json/json-diff.ts";
import type { Draft } from "../../machinery/schema/object.ts";
import type { Container, ContainerStatus, Pod as PodObject, PodSpec, PodStatus } from "../../types/core-v1.ts";
import { Pod } from "./pod.ts";
import { computeQosClass } from "./resources/qos.ts";
import { PodReplay } from "./testing/replay.ts";
import { validateStatus } from "./update/status.ts";

function pod(spec: Partial<PodSpec> = {}, status: PodStatus = {}): PodObject {
  return { metadata: { name: "p", namespace: "ns" }, spec: { containers: [{ name: "c" }], ...spec }, status };
}

function resources(requests?: Record<string, string>, limits?: Record<string, string>): Container {
  return { name: "c", resources: { ...(requests && { requests }), ...(limits && { limits }) } };
}

describe("class of service", () => {
  const both = { cpu: "1", memory: "1Gi" };
  it.each([
    { name: "nothing asked", spec: { containers: [resources()] }, want: "BestEffort" },
    { name: "all limited and asked", spec: { containers: [resources(both, both)] }, want: "Guaranteed" },
    { name: "one of two limited", spec: { containers: [resources(both, both), resources()] }, want: "Burstable" },
    { name: "only storage", spec: { containers: [resources({ "ephemeral-storage": "1" })] }, want: "BestEffort" },
    { name: "amounts of zero do not count", spec: { containers: [resources({ cpu: "0" })] }, want: "BestEffort" },
    {
      name: "the pod's own resources decide",
      spec: { containers: [resources()], resources: { requests: both, limits: both } },
      want: "Guaranteed",
    },
    { name: "even without amounts", spec: { containers: [resources(both, both)], resources: {} }, want: "BestEffort" },
  ])("$name: $want", ({ spec, want }) => {
    expect(computeQosClass(spec)).toBe(want);
  });
});

describe("fields of gates that are off", () => {
  const prepared = (lifecycle: Container["lifecycle"]) => {
    const draft = pod({ containers: [{ name: "c", ...(lifecycle && { lifecycle }) }] }) as Draft<PodObject>;
    disabledFields(defaultFeatures, "v1/Pod")?.(draft);
    return draft.spec?.containers[0]?.lifecycle;
  };
  const preStop = { exec: { command: ["x"] } };
  it.each([
    { name: "a signal alone goes with its lifecycle", given: { stopSignal: "SIGTERM" }, want: undefined },
    { name: "hooks stay", given: { stopSignal: "SIGTERM", preStop }, want: { preStop } },
    { name: "an empty lifecycle stays", given: {}, want: {} },
  ])("$name", ({ given, want }) => {
    expect(prepared(given as Container["lifecycle"])).toEqual(want);
  });
});

describe("grace at deletion", () => {
  const grace = Pod.delete?.graceSeconds;
  it.each([
    { name: "its own", given: pod({ nodeName: "n", terminationGracePeriodSeconds: 20 }), asked: undefined, want: 20 },
    { name: "as asked", given: pod({ nodeName: "n", terminationGracePeriodSeconds: 20 }), asked: 5, want: 5 },
    { name: "negative means one", given: pod({ nodeName: "n" }), asked: -1, want: 1 },
    { name: "on no node", given: pod({ terminationGracePeriodSeconds: 20 }), asked: 10, want: 0 },
    { name: "ended", given: pod({ nodeName: "n" }, { phase: "Failed" }), asked: 10, want: 0 },
  ])("$name", ({ given, asked, want }) => {
    expect(grace?.(given, asked)).toBe(want);
  });
});

describe("field selectors", () => {
  const given = pod({ nodeName: "n", hostNetwork: true }, { phase: "Running", podIPs: [{ ip: "1.2.3.4" }] });
  it.each([
    ["spec.nodeName", "n"],
    ["spec.hostNetwork", "true"],
    ["status.phase", "Running"],
    ["status.podIP", "1.2.3.4"],
    ["status.podIPs", ""],
    ["status.nominatedNodeName", ""],
  ])("%s", (name, want) => {
    expect(Pod.selectableFields?.names).toContain(name);
    expect(Pod.selectableFields?.valueOf(given, name)).toBe(want);
  });
});

describe("status", () => {
  const ended = (exitCode: number): ContainerStatus => ({
    name: "c",
    ready: false,
    restartCount: 0,
    image: "",
    imageID: "",
    state: { terminated: { exitCode } },
  });
  const running: ContainerStatus = { ...ended(0), state: { running: {} } };
  const faults = (old: PodObject, status: PodStatus) =>
    validateStatus({ ...old, status }, old, at()).map(fieldErrorText);

  it.each([
    {
      name: "who has ended stays ended",
      old: pod({ restartPolicy: "Never" }, { containerStatuses: [ended(1)] }),
      status: { containerStatuses: [running] },
      want: ["status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"],
    },
    {
      name: "unless it failed and is to run on",
      old: pod({ restartPolicy: "OnFailure" }, { containerStatuses: [ended(1)] }),
      status: { containerStatuses: [running] },
      want: [],
    },
    {
      name: "not after success",
      old: pod({ restartPolicy: "OnFailure" }, { containerStatuses: [ended(0)] }),
      status: { containerStatuses: [running] },
      want: ["status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"],
    },
    {
      name: "the container's own policy goes first",
      old: pod(
        { restartPolicy: "Never", containers: [{ name: "c", restartPolicy: "Always" }] },
        { containerStatuses: [ended(0)] },
      ),
      status: { containerStatuses: [running] },
      want: [],
    },
    {
      name: "class of service",
      old: pod({}, { qosClass: "Burstable" }),
      status: { qosClass: "Guaranteed" as const },
      want: ['status.qosClass: Invalid value: "Guaranteed": field is immutable'],
    },
    {
      name: "two addresses of one family",
      old: pod(),
      status: { podIPs: [{ ip: "1.2.3.4" }, { ip: "1.2.3.5" }] },
      want: [
        'status.podIPs: Invalid value: [{"IP":"1.2.3.4"},{"IP":"1.2.3.5"}]: may specify no more than one IP for each IP family',
      ],
    },
    {
      name: "host address",
      old: pod(),
      status: { hostIP: "1.2.3.4", hostIPs: [{ ip: "1.2.3.5" }] },
      want: ['status.hostIPs[0].ip: Invalid value: "1.2.3.5": must be equal to `hostIP`'],
    },
    {
      name: "nomination of a bound pod",
      old: pod({ nodeName: "n" }),
      status: { nominatedNodeName: "m" },
      want: ["status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node"],
    },
    {
      name: "conditions",
      old: pod(),
      status: {
        conditions: [
          { type: "Ready", status: "True" },
          { type: "a/b/c", status: "True" },
        ],
      },
      want: [expect.stringContaining("status.conditions[1].Type: Invalid value") as unknown as string],
    },
  ])("$name", ({ old, status, want }) => {
    expect(faults(old, status)).toEqual(want);
  });

  it("is not lost by clients that know less", () => {
    const rules = Pod.subresources?.status;
    const old = pod(
      {},
      {
        qosClass: "Burstable",
        observedGeneration: 3,
        conditions: [{ type: "Ready", status: "True", observedGeneration: 2 }],
      },
    );
    const draft = structuredClone({
      ...old,
      status: { conditions: [{ type: "Ready", status: "False" }] },
    }) as Draft<PodObject>;
    if (typeof rules === "object") rules.prepare?.(draft, old);
    expect(draft.status).toEqual({
      qosClass: "Burstable",
      observedGeneration: 3,
      conditions: [{ type: "Ready", status: "False", observedGeneration: 2 }],
    });
  });
});

describe("resize", () => {
  const container: JsonObject = {
    name: "c",
    image: "x:1",
    resources: { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "2", memory: "1Gi" } },
  };
  const resize = (patch: JsonObject, given: JsonObject = container) => {
    const server = new PodReplay();
    expect(
      server.send({ method: "POST", path: "/pods", body: { metadata: { name: "p" }, spec: { containers: [given] } } })
        ?.status,
    ).toBe(201);
    const contentType = "application/strategic-merge-patch+json";
    return server.send({ method: "PATCH", path: "/pods/p/resize", body: { spec: patch }, contentType });
  };

  it("changes cpu and memory, and nothing else", () => {
    const answer = resize({
      nodeName: "n",
      containers: [{ name: "c", image: "other", resources: { requests: { cpu: "1500m" } } }],
    });
    expect(answer?.status).toBe(200);
    expect(answer?.pod?.metadata.generation).toBe(2);
    expect(answer?.pod?.spec?.nodeName).toBeUndefined();
    expect(answer?.pod?.spec?.containers[0]).toMatchObject({
      image: "x:1",
      resources: { requests: { cpu: "1500m", memory: "1Gi" } },
    });
  });

  it.each([
    {
      name: "class of service",
      patch: { requests: { cpu: "2" } },
      want: 'spec FieldValueInvalid Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing',
    },
    {
      name: "limits taken away",
      patch: { limits: { cpu: null } },
      want: "spec.containers[0].resources.limits FieldValueForbidden Forbidden: resource limits cannot be removed",
    },
    {
      name: "another resource",
      patch: { requests: { "ephemeral-storage": "1Gi" } },
      want: "spec FieldValueForbidden Forbidden: only cpu and memory resources are mutable",
    },
  ])("$name", ({ patch, want }) => {
    expect(resize({ containers: [{ name: "c", resources: patch }] })?.causes).toContain(want);
  });

  it("does not add containers", () => {
    const causes = resize({ containers: [{ name: "d", image: "y" }] })?.causes;
    expect(causes).toContain(
      "spec.containers FieldValueForbidden Forbidden: containers may not be added or removed on resize",
    );
  });
});

describe("differences", () => {
  it("are shown with three lines around", () => {
    const before = { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 };
    expect(jsonDiff(before, { ...before, e: 7 })).toBe(
      '@@ -3,6 +3,6 @@\n  "b": 2,\n  "c": 3,\n  "d": 4,\n- "e": 5,\n+ "e": 7,\n  "f": 6\n }\n',
    );
  });

  it("are none of equal values", () => {
    expect(jsonDiff({ a: [1] }, { a: [1] })).toBe("");
  });

  it("stand in hunks of their own where they are far apart", () => {
    const list = Array.from({ length: 40 }, (_, i) => i);
    const text = jsonDiff(
      list,
      list.map((n) => (n === 3 || n === 30 ? -n : n)),
    );
    expect(text.match(/^@@.*@@$/gm)).toEqual(["@@ -2,7 +2,7 @@", "@@ -29,7 +29,7 @@"]);
  });
});
