import { describe, expect, it } from "vitest";
import {
  type ControllerManagerOptions,
  controllerManagerCommand,
  controllerManagerConfig,
} from "./controller-manager.ts";

/** What the command makes of these words. */
function configOf(...words: readonly string[]) {
  let config: ReturnType<typeof controllerManagerConfig> | undefined;
  controllerManagerCommand()
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .action((options: ControllerManagerOptions) => {
      config = controllerManagerConfig(options);
    })
    .parse(["--kubeconfig=kc", ...words], { from: "user" });
  return config;
}

describe("the flags of the controller manager", () => {
  it("have the original's defaults", () => {
    expect(configOf()).toEqual({
      kubeconfig: "kc",
      serving: { bindAddress: "0.0.0.0", port: 10257 },
      election: {
        namespace: "kube-system",
        lease: "kube-controller-manager",
        leaseMs: 15_000,
        renewDeadlineMs: 10_000,
        retryMs: 2_000,
      },
      useServiceAccountCredentials: false,
      nodeCidrs: false,
      nodeLifecycle: {},
      attachDetach: { forceDetachOnTimeout: true },
      dynamicProvisioning: true,
      autoscaler: {},
      limits: { podGc: {}, endpointSlices: {}, mirroring: {}, legacyTokens: {} },
    });
  });

  it.each([
    { words: ["--use-service-account-credentials"], want: { useServiceAccountCredentials: true } },
    { words: ["--use-service-account-credentials=false"], want: { useServiceAccountCredentials: false } },
    { words: ["--controllers="], want: { selection: [] } },
    {
      words: ["--allocate-node-cidrs", "--cluster-cidr=10.1.0.0/16,fd00::/48", "--node-cidr-mask-size-ipv4=26"],
      want: {
        nodeCidrs: { clusterCidrs: ["10.1.0.0/16", "fd00::/48"], serviceCidrs: [], maskSize: { ipv4: 26, ipv6: 64 } },
      },
    },
    {
      words: ["--node-monitor-grace-period=40s", "--node-eviction-rate=0.5"],
      want: { nodeLifecycle: { monitorGraceMs: 40_000, evictionsPerSecond: 0.5 } },
    },
    {
      words: ["--disable-force-detach-on-timeout", "--enable-dynamic-provisioning=false"],
      want: { attachDetach: { forceDetachOnTimeout: false }, dynamicProvisioning: false },
    },
    {
      words: [
        ...["--horizontal-pod-autoscaler-sync-period=30s", "--horizontal-pod-autoscaler-tolerance=0.2"],
        ...["--horizontal-pod-autoscaler-downscale-stabilization=1m", "--concurrent-horizontal-pod-autoscaler-syncs=2"],
        "--horizontal-pod-autoscaler-cpu-initialization-period=2m",
        "--horizontal-pod-autoscaler-initial-readiness-delay=10s",
      ],
      want: {
        autoscaler: {
          syncPeriodMs: 30_000,
          tolerance: 0.2,
          downscaleStabilizationMs: 60_000,
          cpuInitializationMs: 120_000,
          initialReadinessDelayMs: 10_000,
          workers: 2,
        },
      },
    },
    {
      words: ["--cluster-signing-cert-file=c", "--cluster-signing-key-file=k", "--cluster-signing-duration=1h"],
      want: {
        signing: {
          pairs: [{ flag: "cluster-signing", signers: undefined, certFile: "c", keyFile: "k" }],
          durationMs: 3_600_000,
        },
      },
    },
    {
      words: [
        ...["--cluster-signing-kubelet-serving-cert-file=c", "--cluster-signing-kubelet-serving-key-file=k"],
        ...["--cluster-signing-legacy-unknown-cert-file=d", "--cluster-signing-legacy-unknown-key-file=l"],
      ],
      want: {
        signing: {
          pairs: [
            {
              flag: "cluster-signing-kubelet-serving",
              signers: ["kubernetes.io/kubelet-serving"],
              certFile: "c",
              keyFile: "k",
            },
            {
              flag: "cluster-signing-legacy-unknown",
              signers: ["kubernetes.io/legacy-unknown"],
              certFile: "d",
              keyFile: "l",
            },
          ],
          durationMs: 31_536_000_000,
        },
      },
    },
    {
      words: [
        ...["--terminated-pod-gc-threshold=5", "--max-endpoints-per-slice=10"],
        ...["--mirroring-max-endpoints-per-subset=20", "--legacy-service-account-token-clean-up-period=48h"],
      ],
      want: {
        limits: {
          podGc: { terminatedPodThreshold: 5 },
          endpointSlices: { maxEndpoints: 10 },
          mirroring: { maxPerSubset: 20 },
          legacyTokens: { restMs: 172_800_000 },
        },
      },
    },
  ])("$words", ({ words, want }) => {
    expect(configOf(...words)).toMatchObject(want);
  });

  it("leave out what is switched off", () => {
    expect(configOf("--leader-elect=false", "--secure-port=0")).not.toHaveProperty("election");
    expect(configOf("--leader-elect=false", "--secure-port=0")).not.toHaveProperty("serving");
  });

  it.each([
    { words: ["--allocate-node-cidrs"], says: "--allocate-node-cidrs needs --cluster-cidr" },
    { words: ["--cluster-signing-key-file=k"], says: "belong together" },
    { words: ["--leader-elect-renew-deadline=15s"], says: "must be longer than --leader-elect-renew-deadline" },
    { words: ["--node-eviction-rate=fast"], says: "It must be a number" },
    { words: ["--horizontal-pod-autoscaler-tolerance=-1"], says: "It must be a number" },
  ])("$words is refused", ({ words, says }) => {
    expect(() => configOf(...words)).toThrow(says);
  });
});
