import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { batch, core } from "#api";
import type { Write } from "../runtime/index.ts";
import { hasSucceeded, indexOfPod, isTracked, TRACKING } from "./job-pod.ts";
import { planJob } from "./plan.ts";

const START = Date.UTC(2030, 0, 1);
const timeOf = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/**
 * A Job, its Pods and whatever may happen to them, without a server: writes take effect at once, until the controller
 * is stopped.
 */
class World {
  job: batch.Job;
  pods: core.Pod[] = [];
  now = START;
  /** Pods that ended while they were tracked: each of these has to be counted, once. */
  readonly succeeded = new Set<string>();
  #made = 0;

  constructor(spec: Partial<batch.JobSpec>) {
    const template = { spec: { containers: [{ name: "c", image: "i" }] } };
    this.job = { metadata: { name: "work", namespace: "default", uid: "job" }, spec: { template, ...spec } };
  }

  /** Carries out a plan, or the beginning of it. */
  run(stopAfter = Infinity): void {
    const plan = planJob(this.job, this.pods, this.now);
    const writes = [...(plan.steps ?? []).flat(), ...(plan.finally?.([]) ?? [])];
    for (const write of writes.slice(0, stopAfter)) this.#apply(write);
  }

  get active(): readonly core.Pod[] {
    return this.pods.filter(
      ({ metadata, status }) =>
        metadata.deletionTimestamp === undefined && status?.phase !== "Succeeded" && status?.phase !== "Failed",
    );
  }

  finish(at: number, phase: "Succeeded" | "Failed"): void {
    const running = this.pods.filter(({ status }) => status?.phase === undefined);
    const pod = running[at % Math.max(1, running.length)];
    if (pod === undefined) return;
    const conditions = [{ type: "Ready", status: "False", lastTransitionTime: timeOf(this.now) }] as const;
    this.#replace(pod, { ...pod, status: { phase, conditions } });
    if (phase === "Succeeded" && isTracked(pod)) this.succeeded.add(pod.metadata.uid ?? "");
  }

  /** Somebody deletes a Pod; one that ends and that nothing holds is gone. */
  remove(at: number): void {
    const pod = this.pods[at % Math.max(1, this.pods.length)];
    if (pod !== undefined) this.#delete(pod);
  }

  reap(): void {
    this.pods = this.pods.filter((pod) => pod.metadata.deletionTimestamp === undefined || isTracked(pod));
  }

  #apply(write: Write): void {
    const pod = this.pods.find(({ metadata }) => metadata.uid === write.object.metadata.uid);
    if (write.verb === "updateStatus") this.job = write.object as batch.Job;
    else if (write.verb === "create") {
      const metadata = { ...write.object.metadata, uid: `pod-${this.#made++}`, creationTimestamp: timeOf(this.now) };
      this.pods.push({ ...(write.object as core.Pod), metadata });
    } else if (write.verb === "delete" && pod !== undefined) this.#delete(pod);
    else if (write.verb === "patch" && pod !== undefined) {
      const finalizers = pod.metadata.finalizers?.filter((name) => name !== TRACKING) ?? [];
      this.#replace(pod, { ...pod, metadata: { ...pod.metadata, finalizers } });
    }
  }

  #delete(pod: core.Pod): void {
    const deletionTimestamp = pod.metadata.deletionTimestamp ?? timeOf(this.now);
    this.#replace(pod, { ...pod, metadata: { ...pod.metadata, deletionTimestamp } });
  }

  #replace(old: core.Pod, pod: core.Pod): void {
    this.pods = this.pods.map((each) => (each === old ? pod : each));
  }
}

const happening = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ what: fc.constant("run" as const), stopAfter: fc.option(fc.nat(4), { nil: Infinity }) }),
  },
  { weight: 2, arbitrary: fc.record({ what: fc.constant("succeed" as const), at: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant("fail" as const), at: fc.nat(9) }) },
  fc.record({ what: fc.constant("remove" as const), at: fc.nat(9) }),
  fc.record({ what: fc.constant("reap" as const) }),
  fc.record({ what: fc.constant("wait" as const), seconds: fc.nat(300) }),
  fc.record({ what: fc.constant("parallelism" as const), to: fc.integer({ min: 0, max: 4 }) }),
  fc.record({ what: fc.constant("suspend" as const), to: fc.boolean() }),
);

const spec = fc.record({
  parallelism: fc.integer({ min: 0, max: 4 }),
  completions: fc.integer({ min: 1, max: 6 }),
  completionMode: fc.constantFrom("Indexed" as const, "NonIndexed" as const),
  podReplacementPolicy: fc.constantFrom("Failed" as const, "TerminatingOrFailed" as const),
  backoffLimit: fc.constantFrom(2, 1000),
});

describe("a plan for a Job", () => {
  it("never runs or counts too many, whatever happens and whenever it is stopped (property)", () => {
    fc.assert(
      fc.property(spec, fc.boolean(), fc.array(happening, { maxLength: 60 }), (given, limited, happenings) => {
        const { completionMode, completions } = given;
        const isLimited = limited && completionMode === "Indexed";
        const world = new World({ ...given, ...(isLimited && { backoffLimitPerIndex: 2, backoffLimit: 1000 }) });
        for (const step of happenings) {
          const before = world.job.status;
          if (step.what === "succeed") world.finish(step.at, "Succeeded");
          else if (step.what === "fail") world.finish(step.at, "Failed");
          else if (step.what === "remove") world.remove(step.at);
          else if (step.what === "reap") world.reap();
          else if (step.what === "wait") world.now += step.seconds * 1000;
          else if (step.what === "parallelism") change(world, { parallelism: step.to });
          else if (step.what === "suspend") change(world, { suspend: step.to });
          else if (!isOver(world.job)) {
            const most = Math.max(world.job.spec?.parallelism ?? 0, world.active.length);
            world.run(step.stopAfter);
            expect(world.active.length).toBeLessThanOrEqual(most);
            if (step.stopAfter === Infinity && world.job.spec?.suspend !== true)
              expect(world.active.length).toBeLessThanOrEqual(world.job.spec?.parallelism ?? 0);
          }
          const indexes = world.active.map(indexOfPod).filter((index) => index !== undefined);
          expect(new Set(indexes).size).toBe(indexes.length);
          const { status } = world.job;
          expect(status?.succeeded ?? 0).toBeLessThanOrEqual(completions);
          expect(status?.succeeded ?? 0).toBeGreaterThanOrEqual(before?.succeeded ?? 0);
          expect(status?.failed ?? 0).toBeGreaterThanOrEqual(before?.failed ?? 0);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("counts every success once, and comes to an end (property)", () => {
    fc.assert(
      fc.property(
        spec.filter(({ parallelism }) => parallelism > 0),
        fc.array(fc.nat(5), { minLength: 40, maxLength: 40 }),
        (given, stops) => {
          const world = new World({ ...given, backoffLimit: 1000 });
          for (const [turn, stopAfter] of stops.entries()) {
            if (isOver(world.job)) break;
            world.run(stopAfter);
            if (turn % 3 === 0) world.finish(turn, turn % 2 === 0 ? "Succeeded" : "Failed");
            world.now += 700_000;
          }
          for (let turn = 0; turn < 60 && !isOver(world.job); turn++) {
            world.finish(turn, "Succeeded");
            world.reap();
            world.run();
          }
          expect(isOver(world.job)).toBe(true);
          expect(world.job.status).toMatchObject({ succeeded: given.completions, uncountedTerminatedPods: {} });
          if (given.completionMode === "NonIndexed") expect(world.succeeded.size).toBe(given.completions);
          expect(world.pods.some(isTracked)).toBe(false);
          expect(world.pods.filter((pod) => hasSucceeded(pod)).length).toBeGreaterThanOrEqual(given.completions);
        },
      ),
      { numRuns: 200 },
    );
  });
});

function change(world: World, spec: Partial<batch.JobSpec>): void {
  const { job } = world;
  world.job = { ...job, spec: { ...(job.spec ?? { template: {} }), ...spec } };
}

function isOver({ status }: batch.Job): boolean {
  return (status?.conditions ?? []).some(({ type }) => type === "Complete" || type === "Failed");
}
