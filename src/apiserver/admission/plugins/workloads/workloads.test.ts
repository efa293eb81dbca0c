import { describe, expect, it } from "vitest";
import { admit, plainKind } from "../../testing/index.ts";
import { priority } from "../pods/priority.ts";
import { jobValidation } from "./job-validation.ts";
import { podGroupProtection } from "./pod-group-protection.ts";
import { podGroupWorkloadExists } from "./pod-group-workload-exists.ts";

const API = ["scheduling.k8s.io", "v1alpha2"] as const;
const kinds = [plainKind(API, "PodGroup"), plainKind(API, "Workload")];
const apiVersion = API.join("/");
const resource = "podgroups.scheduling.k8s.io";

describe("PodGroupProtection", () => {
  const FINALIZER = "scheduling.k8s.io/podgroup-protection";
  it.each([
    { name: "adds its finalizer", finalizers: undefined, want: [FINALIZER] },
    { name: "keeps the others", finalizers: ["example.com/x"], want: ["example.com/x", FINALIZER] },
    { name: "adds it once", finalizers: [FINALIZER], want: [FINALIZER] },
  ])("$name", async ({ finalizers, want }) => {
    const object = { metadata: { name: "g", ...(finalizers && { finalizers }) } };
    expect((await admit(podGroupProtection, { resource, object, kinds })).object.metadata.finalizers).toEqual(want);
  });
});

describe("Priority of PodGroups", () => {
  const PRIORITIES = ["scheduling.k8s.io", "v1"] as const;
  const classOf = (name: string, value: number, globalDefault = false) => ({
    kind: "PriorityClass",
    apiVersion: PRIORITIES.join("/"),
    metadata: { name },
    value,
    globalDefault,
  });
  const high = classOf("high", 1000);
  const usual = classOf("usual", 10, true);
  it.each<{ name: string; spec: object; cluster: object[]; isOn?: boolean; want: object | string }>([
    {
      name: "comes from its class",
      spec: { priorityClassName: "high" },
      cluster: [high, usual],
      want: { priorityClassName: "high", priority: 1000 },
    },
    {
      name: "comes from the global default",
      spec: {},
      cluster: [high, usual],
      want: { priorityClassName: "usual", priority: 10 },
    },
    { name: "is 0 without any", spec: {}, cluster: [high], want: { priority: 0 } },
    {
      name: "may be given as it is computed",
      spec: { priorityClassName: "high", priority: 1000 },
      cluster: [high],
      want: { priorityClassName: "high", priority: 1000 },
    },
    {
      name: "may not be another",
      spec: { priorityClassName: "high", priority: 9999 },
      cluster: [high],
      want: "the integer value of priority (9999) must not be provided in pod group spec; priority admission controller computed 1000 from the given PriorityClass name",
    },
    {
      name: "needs a class that exists",
      spec: { priorityClassName: "none" },
      cluster: [high],
      want: "no PriorityClass with name none was found",
    },
    {
      name: "stays as it is without the gate",
      spec: { priorityClassName: "none" },
      cluster: [],
      isOn: false,
      want: { priorityClassName: "none" },
    },
  ])("$name", async ({ spec, cluster, isOn = true, want }) => {
    const object = { metadata: { name: "g", namespace: "a" }, spec };
    const known = [...kinds, plainKind(PRIORITIES, "PriorityClass")];
    const given = { resource, object, kinds: known, cluster } as Parameters<typeof admit>[1];
    const { object: admitted, error } = await admit(priority(isOn), given);
    const got = error?.message ?? (admitted as { readonly spec?: object }).spec;
    expect(got).toEqual(typeof want === "string" ? expect.stringContaining(want) : want);
  });
});

describe("PodGroupWorkloadExists", () => {
  const workload = (metadata: object = {}) => ({
    kind: "Workload",
    apiVersion,
    metadata: { name: "w", namespace: "a", ...metadata },
    spec: { podGroupTemplates: [{ name: "workers" }] },
  });
  const referring = (workloadName: string, podGroupTemplateName: string) => ({
    podGroupTemplateRef: { workload: { workloadName, podGroupTemplateName } },
  });
  it.each([
    { name: "no reference", spec: {}, why: "" },
    { name: "a template of its Workload", spec: referring("w", "workers"), why: "" },
    {
      name: "another template",
      spec: referring("w", "drivers"),
      why: 'PodGroup rejected: PodGroupTemplate "drivers" not found in Workload "w"',
    },
    {
      name: "a Workload that is not there",
      spec: referring("v", "workers"),
      why: 'PodGroup rejected: Workload "v" not found',
    },
    {
      name: "a Workload of another namespace",
      spec: referring("w", "workers"),
      cluster: [workload({ namespace: "b" })],
      why: 'PodGroup rejected: Workload "w" not found',
    },
    {
      name: "a Workload that goes away",
      spec: referring("w", "workers"),
      cluster: [workload({ deletionTimestamp: "2026-01-01T00:00:00Z" })],
      why: 'PodGroup rejected: Workload "w" is being deleted',
    },
  ])("$name", async ({ spec, cluster = [workload()], why }) => {
    const object = { metadata: { name: "g", namespace: "a" }, spec };
    expect(await admit(podGroupWorkloadExists, { resource, object, cluster, kinds })).toMatchObject({ why });
  });
});

describe("JobValidation", () => {
  const group = (name: string, policy: object, metadata: object = {}) => ({
    kind: "PodGroup",
    apiVersion,
    metadata: { name, namespace: "a", ...metadata },
    spec: { schedulingPolicy: policy },
  });
  const job = (parallelism: number, podGroupName?: string) => ({
    metadata: { name: "j", namespace: "a", uid: "1" },
    spec: {
      parallelism,
      template: { spec: { containers: [], ...(podGroupName && { schedulingGroup: { podGroupName } }) } },
    },
  });
  const owner = (uid: string, controller = true) => ({
    ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: "j", uid, controller }],
  });
  const gang = { gang: { minCount: 2 } };
  const refusal = (name: string) => `cannot change parallelism for a Job referencing gang-scheduled PodGroup "${name}"`;
  it.each([
    { name: "the gang that it names", cluster: [group("g", gang)], old: job(2, "g"), why: refusal("g") },
    { name: "the same parallelism", cluster: [group("g", gang)], old: job(3, "g"), why: "" },
    { name: "no gang", cluster: [group("g", { basic: {} })], old: job(2, "g"), why: "" },
    { name: "a group that is not there", cluster: [], old: job(2, "g"), why: "" },
    { name: "a gang that it controls", cluster: [group("h", gang, owner("1"))], old: job(2), why: refusal("h") },
    { name: "a gang that it only owns", cluster: [group("h", gang, owner("1", false))], old: job(2), why: "" },
    { name: "a gang of another Job", cluster: [group("h", gang, owner("2"))], old: job(2), why: "" },
    {
      name: "a gang of its own, and one that it names",
      cluster: [group("h", gang, owner("1"))],
      old: job(2, "g"),
      why: "",
    },
  ])("$name", async ({ cluster, old, why }) => {
    expect(await admit(jobValidation, { resource: "jobs.batch", object: job(3), old, cluster, kinds })).toMatchObject({
      why,
    });
  });
});
