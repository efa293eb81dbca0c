import { describe, expect, it } from "vitest";
import { at, faults, job, object } from "../apps/testing/builders.ts";
import { create, update } from "../apps/testing/run-rules.ts";
import type { JsonObject } from "../machinery/json/json.ts";
import { CronJob } from "./index.ts";
import { isTimeZone } from "./time-zone.ts";

function cronJob(spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  const jobTemplate = { spec: job().spec as JsonObject };
  return object("batch/v1", "CronJob", { spec: { schedule: "0 * * * *", jobTemplate, ...spec } }, metadata);
}

it("fills in its own fields and the pods' template, but not the Job's", () => {
  const spec = create(CronJob, cronJob()).object?.spec;
  expect(spec).toMatchObject({
    concurrencyPolicy: "Allow",
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  });
  expect(at(spec, "jobTemplate.spec.template.spec.dnsPolicy")).toBe("ClusterFirst");
  expect(at(spec, "jobTemplate.spec.parallelism")).toBeUndefined();
});

describe("what is refused", () => {
  const zoneInside = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
  const cases: { name: string; given: JsonObject; want: readonly string[] }[] = [
    { name: "no schedule", given: cronJob({ schedule: "" }), want: ["spec.schedule: Required value"] },
    {
      name: "a schedule that cannot be read",
      given: cronJob({ schedule: "every day" }),
      want: ['spec.schedule: Invalid value: "every day": expected exactly 5 fields, found 2: [every day]'],
    },
    {
      name: "a zone inside the schedule",
      given: cronJob({ schedule: "TZ=UTC 0 * * * *" }),
      want: [`spec.schedule: Invalid value: "TZ=UTC 0 * * * *": ${zoneInside}`],
    },
    {
      name: "an empty zone",
      given: cronJob({ timeZone: "" }),
      want: ['spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string'],
    },
    {
      name: "an unknown zone",
      given: cronJob({ timeZone: "Mars/Olympus" }),
      want: ['spec.timeZone: Invalid value: "Mars/Olympus": unknown time zone Mars/Olympus'],
    },
    {
      name: "a path for a zone",
      given: cronJob({ timeZone: "../x" }),
      want: ['spec.timeZone: Invalid value: "../x": unknown time zone ../x'],
    },
    {
      name: "the server's own zone",
      given: cronJob({ timeZone: "Local" }),
      want: [
        'spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
      ],
    },
    {
      name: "a policy that does not exist",
      given: cronJob({ concurrencyPolicy: "Queue" }),
      want: ['spec.concurrencyPolicy: Unsupported value: "Queue": supported values: "Allow", "Forbid", "Replace"'],
    },
    {
      name: "a selector",
      given: cronJob({
        jobTemplate: {
          spec: { ...(job().spec as JsonObject), selector: { matchLabels: { a: "b" } }, manualSelector: true },
        },
      }),
      want: [
        'spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be auto-generated',
        'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
      ],
    },
    {
      name: "a name too long for its Jobs",
      given: cronJob({}, { name: "a".repeat(53) }),
      want: [`metadata.name: Invalid value: "${"a".repeat(53)}": must be no more than 52 characters`],
    },
    {
      name: "a restart policy that was not chosen",
      given: cronJob({ jobTemplate: { spec: { template: { spec: { containers: [{ name: "c", image: "x" }] } } } } }),
      want: ['spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
    },
  ];
  it.each(cases)("$name", ({ given, want }) => {
    expect(faults(create(CronJob, given))).toEqual(want);
  });
});

it("keeps a zone inside a schedule that was stored with one, but not together with a timeZone", () => {
  const plain = create(CronJob, cronJob()).object ?? {};
  const schedule = "CRON_TZ=UTC 0 * * * *";
  const old = { ...plain, spec: { ...(plain.spec as JsonObject), schedule } };
  const withSpec = (spec: JsonObject) => faults(update(CronJob, old, { ...old, spec: { ...old.spec, ...spec } }));
  expect(withSpec({ suspend: true })).toEqual([]);
  expect(withSpec({ timeZone: "UTC" })).toEqual([
    `spec.schedule: Invalid value: "${schedule}": cannot use both timeZone field and TZ or CRON_TZ in schedule`,
  ]);
});

it.each([
  ["UTC", true],
  ["Etc/UTC", true],
  ["Europe/Berlin", true],
  ["Asia/Calcutta", true],
  ["America/Argentina/Buenos_Aires", true],
  ["europe/berlin", false],
  ["+01:00", false],
  ["Mars/Olympus", false],
  ["../etc/passwd", false],
])("%s is a time zone: %s", (name, want) => {
  expect(isTimeZone(name)).toBe(want);
});
