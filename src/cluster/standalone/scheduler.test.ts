import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { realClock, silentLogger } from "#base";
import { runStandaloneScheduler, type StandaloneSchedulerConfig } from "./scheduler.ts";

const dir = mkdtempSync(join(tmpdir(), "lone-scheduler-"));
afterAll(() => rmSync(dir, { recursive: true }));

const HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

function refusal(text: string, more: Partial<StandaloneSchedulerConfig> = {}): Promise<unknown> {
  const configFile = join(dir, "config.yaml");
  writeFileSync(configFile, HEAD + text);
  const config = { configFile, kubeconfig: join(dir, "none"), ...more };
  const environment = { clock: realClock(), log: silentLogger };
  return runStandaloneScheduler(config, environment, new AbortController().signal).catch((error: unknown) => error);
}

describe("what file and flags say about the election", () => {
  it.each([
    { name: "the file alone", text: "", flags: {}, want: /none does not exist/ },
    {
      name: "a flag that makes the lease too short",
      text: "leaderElection: {leaseDuration: 20s}",
      flags: { renewDeadlineMs: 30_000 },
      want: /longer than renewDeadline/,
    },
    {
      name: "retries that are too rare",
      text: "leaderElection: {retryPeriod: 9s}",
      flags: {},
      want: /longer than retryPeriod/,
    },
    {
      name: "no election at all",
      text: "leaderElection: {retryPeriod: 9s}",
      flags: { leaderElect: false },
      want: /none does not exist/,
    },
  ])("$name", async ({ text, flags, want }) => {
    expect(await refusal(text, { electionFlags: flags })).toMatchObject({ message: expect.stringMatching(want) });
  });

  it("has no kubeconfig, and says so", async () => {
    const { kubeconfig: _, ...rest } = { kubeconfig: "", configFile: join(dir, "config.yaml") };
    writeFileSync(rest.configFile, HEAD);
    const environment = { clock: realClock(), log: silentLogger };
    await expect(runStandaloneScheduler(rest, environment, new AbortController().signal)).rejects.toThrow(
      "--kubeconfig is required",
    );
  });

  it("is told of what is wrong with the file, with its name", async () => {
    expect(await refusal("parallelism: 0")).toMatchObject({
      message: `--config ${join(dir, "config.yaml")}: parallelism: Invalid value: 0: should be an integer value greater than zero.`,
    });
  });
});
