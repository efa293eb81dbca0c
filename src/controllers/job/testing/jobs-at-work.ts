/** Running Jobs in tests: the test plays nodes and users. */
import { expect } from "vitest";
import { type batch, type core, kinds } from "#api";
import { podWith, testControllers } from "../../testing/index.ts";
import { jobController } from "../index.ts";
import { indexOfPod } from "../job-pod.ts";

export const container = { name: "c", image: "i" };
export const template = { spec: { restartPolicy: "Never", containers: [container] } } as const;
export const job = (spec: Partial<batch.JobSpec> = {}, name = "work"): batch.Job => ({
  metadata: { name, namespace: "default" },
  spec: { template, ...spec },
});

export type Cluster = Awaited<ReturnType<typeof testControllers>>;

/** The actions and observations of a test, independent of the controllers. */
function looksAt({ client, clock }: Pick<Cluster, "client" | "clock">) {
  const jobs = client.of(kinds.Job).in("default");
  const pods = async () => (await client.of(kinds.Pod).list()).items;
  const live = async () =>
    (await pods()).filter(
      ({ metadata, status }) =>
        metadata.deletionTimestamp === undefined && !["Succeeded", "Failed"].includes(status?.phase ?? ""),
    );
  const report = async (pod: core.Pod, phase: "Running" | "Succeeded" | "Failed", exitCode = 1) => {
    const now = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
    const { status } = podWith("any", { phase, since: now });
    const terminated = { exitCode: phase === "Failed" ? exitCode : 0, finishedAt: now };
    const containerStatuses = status?.containerStatuses?.map((each) => ({
      ...each,
      ...(phase !== "Running" && { state: { terminated } }),
    }));
    const conditions = [
      ...(status?.conditions ?? []),
      ...(pod.status?.conditions ?? []).filter(({ type }) => type === "DisruptionTarget"),
    ];
    const known = await client
      .of(kinds.Pod)
      .in("default")
      .get(pod.metadata.name ?? "");
    await client
      .of(kinds.Pod)
      .updateStatus({ ...known, status: { ...status, conditions, ...(containerStatuses && { containerStatuses }) } });
  };
  return {
    jobs,
    pods,
    live,
    report,
    /** Ends all running Pods with this outcome. */
    reportAll: async (phase: "Running" | "Succeeded" | "Failed", exitCode?: number) => {
      for (const pod of await live()) await report(pod, phase, exitCode);
    },
    /** The active Pod of an index. */
    ofIndex: async (index: number) => {
      const found = (await live()).find((pod) => indexOfPod(pod) === index);
      if (found === undefined) throw new Error(`no Pod runs for index ${index}`);
      return found;
    },
    status: async (name = "work") => (await jobs.get(name)).status ?? {},
    conditions: async (name = "work") =>
      ((await jobs.get(name)).status?.conditions ?? []).map(
        ({ type, status, reason }) => `${type}=${status} ${reason}`,
      ),
    events: async () =>
      (await client.of(kinds.Event).list()).items
        .filter(({ regarding }) => regarding?.kind === "Job")
        .map(({ type, reason, note }) => `${type} ${reason}: ${note}`),
  };
}

export type Actions = ReturnType<typeof looksAt> & Pick<Cluster, "clock" | "settle">;

/** Call `closeAll` after each test. */
export function jobsAtWork() {
  const open: (() => Promise<void>)[] = [];
  const closeAll = async (): Promise<void> => {
    for (const close of open.splice(0).reverse()) await close();
  };

  const cluster = async () => {
    const running = await testControllers([jobController]);
    open.push(() => running.close());
    await running.client.of(kinds.Namespace).create({ metadata: { name: "default" } });
    return { ...running, ...looksAt(running) };
  };

  /**
   * Repeats a scenario, each time with a controller that is stopped at another write and a second one that continues.
   */
  const stoppedAtEach = async (scenario: (running: Actions) => Promise<void>): Promise<void> => {
    let writes = 0;
    let limit = 1;
    for (; writes >= limit - 1; limit++) {
      writes = 0;
      const first = await cluster();
      let current: Cluster = first;
      let stopped: Promise<void> | undefined;
      first.refuse(({ method, path }) => {
        if (method !== "GET" && !path.includes("/events") && ++writes === limit) stopped = first.stop();
        return undefined;
      });
      const settle = async () => {
        await current.settle();
        if (stopped === undefined) return;
        await stopped;
        stopped = undefined;
        current = await testControllers([jobController], { server: first.server });
        open.push(() => current.close());
        await current.settle();
      };
      await scenario({ ...first, settle });
      await closeAll();
      expect(limit, "the scenario comes to an end").toBeLessThan(60);
    }
    expect(limit).toBeGreaterThan(5);
  };

  return { cluster, closeAll, stoppedAtEach };
}
