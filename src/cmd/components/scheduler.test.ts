import { describe, expect, it } from "vitest";
import { type SchedulerOptions, schedulerCommand, schedulerConfig } from "./scheduler.ts";

/** What the command makes of these words. */
function configOf(...words: readonly string[]) {
  const command = schedulerCommand();
  let config: ReturnType<typeof schedulerConfig> | undefined;
  command
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .action((options: SchedulerOptions) => {
      config = schedulerConfig(options, command);
    })
    .parse(words, { from: "user" });
  return config;
}

describe("the flags of the scheduler", () => {
  it("have the original's defaults", () => {
    expect(configOf("--kubeconfig=kc")).toEqual({
      kubeconfig: "kc",
      serving: { bindAddress: "0.0.0.0", port: 10259 },
      election: {
        namespace: "kube-system",
        lease: "kube-scheduler",
        leaseMs: 15_000,
        renewDeadlineMs: 10_000,
        retryMs: 2_000,
      },
    });
  });

  it("say when a pod is tried again that nothing wakes", () => {
    expect(configOf("--kubeconfig=kc", "--pod-max-in-unschedulable-pods-duration=1m")).toMatchObject({
      parkedMs: 60_000,
    });
  });

  it("about the election go before what the file says, as far as they are given", () => {
    expect(configOf("--config=file")).toEqual({
      configFile: "file",
      serving: { bindAddress: "0.0.0.0", port: 10259 },
      electionFlags: {},
    });
    expect(
      configOf("--config=file", "--leader-elect=false", "--leader-elect-renew-deadline=20s", "--secure-port=0"),
    ).toEqual({ configFile: "file", electionFlags: { leaderElect: false, renewDeadlineMs: 20_000 } });
  });

  it.each([
    { words: ["--kubeconfig=kc", "--leader-elect-lease-duration=5s"], want: /must be longer than/ },
    { words: ["--kubeconfig=kc", "--secure-port=70000"], want: /whole number from 0 to 65535/ },
    { words: ["--kubeconfig=kc", "--leader-elect=maybe"], want: /leader-elect/ },
    { words: ["--kubeconfig=kc", "--leader-elect-resource-lock=endpoints"], want: /leases/ },
    { words: ["--kubeconfig=kc", "--algorithm-provider=x"], want: /unknown option '--algorithm-provider=x'/ },
    { words: [], want: /--kubeconfig is required/ },
  ])("$words: refused", ({ words, want }) => {
    expect(() => configOf(...words)).toThrow(want);
  });
});
