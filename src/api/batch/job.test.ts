import { describe, expect, it } from "vitest";
import { at, faults, job } from "../apps/testing/builders.ts";
import { create, testUid, update } from "../apps/testing/run-rules.ts";
import { at as path } from "../machinery/errors/field-error.ts";
import type { JsonObject } from "../machinery/json/json.ts";
import { Job } from "./index.ts";

function stored(spec: JsonObject = {}, status?: JsonObject): JsonObject {
  const outcome = create(Job, job(spec));
  expect(faults(outcome)).toEqual([]);
  return { ...outcome.object, ...(status === undefined ? {} : { status }) };
}

const podSpec = (rest: JsonObject) => ({
  spec: { restartPolicy: "Never", containers: [{ name: "c", image: "nginx:1" }], ...rest },
});

const nodeTerms = { nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In", values: ["a"] }] }] };

describe("defaults", () => {
  it.each<{ name: string; given: JsonObject; want: JsonObject }>([
    {
      name: "one pod, once",
      given: {},
      want: { parallelism: 1, completions: 1, backoffLimit: 6, podReplacementPolicy: "TerminatingOrFailed" },
    },
    { name: "completions stay open where parallelism is given", given: { parallelism: 3 }, want: { parallelism: 3 } },
    {
      name: "limits by index leave no other limit",
      given: { completionMode: "Indexed", completions: 2, backoffLimitPerIndex: 1 },
      want: { backoffLimit: 2147483647, parallelism: 1 },
    },
    {
      name: "a failure policy replaces failed pods only, and means true conditions",
      given: { podFailurePolicy: { rules: [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget" }] }] } },
      want: {
        podReplacementPolicy: "Failed",
        podFailurePolicy: {
          rules: [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }],
        },
      },
    },
  ])("$name", ({ given, want }) => {
    expect(stored(given).spec).toMatchObject(want);
  });

  it("leave completions open where parallelism is given", () => {
    expect(at(stored({ parallelism: 3 }), "spec.completions")).toBeUndefined();
  });
});

describe("the selector", () => {
  const labels = {
    "batch.kubernetes.io/controller-uid": testUid,
    "batch.kubernetes.io/job-name": "x",
    "controller-uid": testUid,
    "job-name": "x",
  };

  it("is the Job's own uid, and the labels of its pods become the Job's", () => {
    const object = stored();
    expect(at(object, "spec.selector")).toEqual({ matchLabels: { "batch.kubernetes.io/controller-uid": testUid } });
    expect(at(object, "spec.template.metadata.labels")).toEqual(labels);
    expect(at(object, "metadata.labels")).toEqual(labels);
  });

  it("may be chosen by hand", () => {
    const template = { metadata: { labels: { a: "b" } }, ...podSpec({}) };
    const object = stored({ manualSelector: true, selector: { matchLabels: { a: "b" } }, template });
    expect(at(object, "spec.template.metadata.labels")).toEqual({ a: "b" });
  });

  it("is refused where labels set by hand stand in its way", () => {
    const template = { metadata: { labels: { "job-name": "other" } }, ...podSpec({}) };
    expect(faults(create(Job, job({ template })))).toEqual([
      expect.stringMatching(/^spec\.template\.metadata\.labels\[job-name\]: Invalid value: \{.*\}: must be 'x'$/),
    ]);
  });
});

describe("what is refused", () => {
  const indexed = { completionMode: "Indexed", completions: 3 };
  const rule = (rest: JsonObject) => ({ podFailurePolicy: { rules: [{ action: "FailJob", ...rest }] } });
  const success = (rest: JsonObject) => ({ ...indexed, successPolicy: { rules: [rest] } });
  const cases: { name: string; given: JsonObject; want: readonly string[] }[] = [
    {
      name: "failures by index without indexes",
      given: { maxFailedIndexes: 1 },
      want: [
        "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified",
        "spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode",
      ],
    },
    {
      name: "too much at once",
      given: { ...indexed, parallelism: 100_001 },
      want: [
        "spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed",
      ],
    },
    {
      name: "a manager without a domain",
      given: { managedBy: "me" },
      want: ['spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")'],
    },
    {
      name: "a restart policy that hides failures from the failure policy",
      given: {
        ...rule({ onExitCodes: { operator: "In", values: [1] } }),
        template: podSpec({ restartPolicy: "OnFailure" }),
      },
      want: [
        'spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified',
      ],
    },
    {
      name: "exit codes out of order, twice, and zero",
      given: rule({ onExitCodes: { operator: "In", containerName: "other", values: [2, 0, 2] } }),
      want: [
        'spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: "other": must be one of the container or initContainer names in the pod template',
        "spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator",
        "spec.podFailurePolicy.rules[0].onExitCodes.values[2]: Duplicate value: 2",
        "spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [2,0,2]: must be ordered",
      ],
    },
    {
      name: "a rule for nothing",
      given: rule({}),
      want: [
        "spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required",
      ],
    },
    {
      name: "indexes beyond the last",
      given: success({ succeededIndexes: "0,2-3" }),
      want: [
        'spec.successPolicy.rules[0].succeededIndexes: Invalid value: "0,2-3": error parsing succeededIndexes: too large index: "3"',
      ],
    },
    {
      name: "more successes than indexes",
      given: success({ succeededIndexes: "0-1", succeededCount: 3 }),
      want: [
        "spec.successPolicy.rules[0].succeededCount: Invalid value: 3: must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)",
      ],
    },
    {
      name: "a success policy without indexes, shown as Go holds it",
      given: { successPolicy: { rules: [{ succeededCount: 1 }] } },
      want: [
        'spec.successPolicy: Invalid value: {"Rules":[{"SucceededIndexes":null,"SucceededCount":1}]}: requires indexed completion mode',
      ],
    },
  ];
  it.each(cases)("$name", ({ given, want }) => {
    expect(faults(create(Job, job(given)))).toEqual(want);
  });

  it("a name too long for the last of its pods", () => {
    const name = "a".repeat(62);
    expect(faults(create(Job, job(indexed, { name })))).toEqual([
      `metadata.name: Invalid value: "${name}": will not able to create pod with invalid DNS label: ${name}-2`,
    ]);
  });
});

describe("updates", () => {
  const withSpec = (old: JsonObject, spec: JsonObject) =>
    faults(update(Job, old, { ...old, spec: { ...(old.spec as JsonObject), ...spec } }));
  const template = (object: JsonObject, spec: JsonObject) => {
    const now = (object.spec as JsonObject).template as JsonObject;
    return { template: { ...now, spec: { ...(now.spec as JsonObject), ...spec } } };
  };
  const zone = { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: nodeTerms } } };

  it("grow an Indexed Job by completions and parallelism together", () => {
    const old = stored({ completionMode: "Indexed", completions: 2, parallelism: 2 });
    expect(withSpec(old, { completions: 3, parallelism: 3 })).toEqual([]);
    expect(withSpec(old, { completions: 3 })).toEqual([
      "spec.completions: Invalid value: 3: can only be modified in tandem with spec.parallelism",
    ]);
  });

  it("steer the pods of a Job only while it is suspended and has none", () => {
    const suspended = stored({ suspend: true });
    const started = { startTime: "2026-01-01T00:00:00Z" };
    const resources = [{ name: "c", image: "nginx:1", resources: { requests: { cpu: "2" } } }];
    const cases = [
      { old: suspended, spec: { nodeSelector: { disk: "ssd" } } },
      { old: suspended, spec: zone },
      { old: stored({ suspend: true, template: podSpec(zone) }), spec: { affinity: null } },
      { old: suspended, spec: { containers: resources } },
      { old: suspended, spec: { hostNetwork: true }, refused: "spec.template.spec" },
      { old: stored(), spec: { nodeSelector: { disk: "ssd" } }, refused: "spec.template" },
      {
        old: { ...suspended, status: { ...started, active: 1 } },
        spec: { nodeSelector: { disk: "ssd" } },
        refused: "spec.template",
      },
      {
        old: { ...suspended, status: { ...started, conditions: [{ type: "Suspended", status: "True" }] } },
        spec: { nodeSelector: { disk: "ssd" } },
      },
    ];
    for (const { old, spec, refused } of cases) {
      const found = withSpec(old, template(old, spec));
      expect(
        found.map((fault) => fault.split(":")[0]),
        JSON.stringify(spec),
      ).toEqual(refused === undefined ? [] : [refused]);
    }
  });
});

describe("status", () => {
  const condition = (type: string) => ({ type, status: "True" });
  const start = "2026-01-01T00:00:00Z";
  const end = "2026-01-01T00:01:00Z";
  const done = {
    startTime: start,
    completionTime: end,
    succeeded: 1,
    conditions: [condition("SuccessCriteriaMet"), condition("Complete")],
  };
  const running = { startTime: start, active: 1 };
  const cases: { name: string; spec?: JsonObject; old?: JsonObject; status: JsonObject; want: readonly string[] }[] = [
    { name: "a Job that completes", old: running, status: done, want: [] },
    {
      name: "completion without its signs",
      old: running,
      status: { startTime: start, active: 1, conditions: [condition("Complete")] },
      want: [
        "status.completionTime: completionTime is required for Complete jobs",
        "status.conditions: cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
        "status.active: active>0 is invalid for finished job",
      ],
    },
    {
      name: "failure out of nowhere",
      old: running,
      status: { startTime: start, conditions: [condition("Failed")] },
      want: ["status.conditions: cannot set Failed=True condition without the FailureTarget=true condition"],
    },
    {
      name: "an end taken back, and counters that fall",
      old: { ...done, failed: 2 },
      status: { startTime: start, failed: 1 },
      want: [
        "status.conditions: cannot disable the terminal Complete=True condition",
        "status.failed: cannot decrease the failed counter",
        "status.succeeded: cannot decrease the succeeded counter",
      ],
    },
    {
      name: "a start taken back",
      old: running,
      status: {},
      want: ["status.startTime: startTime cannot be removed for unsuspended job"],
    },
    {
      name: "indexes that are both completed and failed",
      spec: { completionMode: "Indexed", completions: 5, backoffLimitPerIndex: 1 },
      status: { completedIndexes: "0,2-4", failedIndexes: "3" },
      want: ["status.failedIndexes: failedIndexes and completedIndexes overlap at index: 3"],
    },
    {
      name: "indexes of a Job without any",
      status: { completedIndexes: "0" },
      want: ["status.completedIndexes: cannot set non-empty completedIndexes when non-indexed completion mode"],
    },
    {
      name: "a pod counted twice",
      status: { uncountedTerminatedPods: { succeeded: ["u"], failed: ["u", ""] } },
      want: [
        "status.uncountedTerminatedPods.failed[0]: ",
        "status.uncountedTerminatedPods.failed[1]: must not be empty",
      ],
    },
    {
      name: "nothing new about what was stored before these rules",
      old: { conditions: [condition("Failed")] },
      status: { conditions: [condition("Failed")] },
      want: [],
    },
  ];
  it.each(cases)("$name", ({ spec = {}, old = {}, status, want }) => {
    const rules = Job.subresources?.status;
    const object = stored(spec);
    const asJob = (part: JsonObject) => ({ ...object, status: part }) as never;
    const errors = typeof rules === "object" ? (rules.validate?.(asJob(status), asJob(old), path()) ?? []) : [];
    expect(errors.map(({ field, detail }) => `${field}: ${detail}`)).toEqual(want);
  });
});

describe("columns", () => {
  const cell = (name: string, object: JsonObject, now = 0) =>
    Job.columns?.find((column) => column.name === name)?.cell(object as never, now);

  it.each([
    ["Complete", "Complete"],
    ["Failed", "Failed"],
    ["Suspended", "Suspended"],
    ["FailureTarget", "FailureTarget"],
    ["SuccessCriteriaMet", "SuccessCriteriaMet"],
    ["Other", "Running"],
  ])("a Job that is %s shows %s", (type, text) => {
    expect(cell("Status", { ...job(), status: { conditions: [{ type, status: "True" }] } })).toBe(text);
  });

  it("show how long it took, or has taken so far", () => {
    const startTime = "2026-01-01T00:00:00Z";
    expect(cell("Duration", { ...job(), status: { startTime, completionTime: "2026-01-01T00:01:10Z" } })).toBe("70s");
    expect(cell("Duration", { ...job(), status: { startTime } }, Date.parse("2026-01-01T00:05:00Z"))).toBe("5m");
    expect(cell("Duration", job())).toBe("");
  });
});
