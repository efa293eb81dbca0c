import { describe, expect, it } from "vitest";
import { admit, plainKind } from "../../testing/index.ts";
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
