import { describe, expect, it } from "vitest";
import { parseKubeletConfiguration } from "./configuration-file.ts";

const head = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";

describe("KubeletConfiguration", () => {
  it("is read, and what means nothing here is named", () => {
    const { values, runtimeEndpoint, ignored } = parseKubeletConfiguration(
      `${head}clusterDNS: [10.96.0.10]\nmaxPods: 50\ncontainerLogMaxSize: 20Mi\nkubeReserved: {cpu: 100m}\nstaticPodPath: /m\nfeatureGates: {MemoryQoS: true}\ncontainerRuntimeEndpoint: unix:///c.sock\ncpuManagerPolicy: static\nseccompDefault: true\npodPidsLimit: 4096\nregisterWithTaints: [{key: a, effect: NoSchedule}]\n`,
    );
    expect(values).toEqual({
      clusterDns: ["10.96.0.10"],
      maxPods: 50,
      containerLogMaxBytes: 20 * 1024 ** 2,
      kubeReserved: { cpu: "100m" },
      staticPodPath: "/m",
      featureGates: { MemoryQoS: true },
      taints: [{ key: "a", effect: "NoSchedule" }],
      seccompDefault: true,
      podPidsLimit: 4096,
    });
    expect(runtimeEndpoint).toBe("unix:///c.sock");
    expect(ignored).toEqual(["cpuManagerPolicy"]);
  });

  it("has where traces are sent", () => {
    const tracing = "tracing: {endpoint: otel:4317, samplingRatePerMillion: 5}\n";
    expect(parseKubeletConfiguration(head + tracing)).toMatchObject({
      values: { tracing: { endpoint: "otel:4317", samplingRatePerMillion: 5 } },
      ignored: [],
    });
    expect(() => parseKubeletConfiguration(`${head}tracing: {samplingRatePerMillion: 2000000}`)).toThrow(
      "tracing is not valid: tracing.samplingRatePerMillion: Invalid value: 2000000: sampling rate per million must be less than or equal to one million.",
    );
  });

  it.each([
    ["shutdownGracePeriod: 0s", undefined],
    [
      "shutdownGracePeriod: 30s\nshutdownGracePeriodCriticalPods: 10s",
      [
        { priority: 0, seconds: 20 },
        { priority: 2_000_000_000, seconds: 10 },
      ],
    ],
    [
      "shutdownGracePeriodByPodPriority: [{priority: 100, shutdownGracePeriodSeconds: 7}]",
      [{ priority: 100, seconds: 7 }],
    ],
  ])("%j says how long pods have when the machine goes down", (text, periods) =>
    expect(parseKubeletConfiguration(`${head}${text}`).values.shutdownPeriods).toEqual(periods),
  );

  it.each([
    [`${head}shutdownGracePeriod: 1s\nshutdownGracePeriodCriticalPods: 2s`, "must not be shorter"],
    [`${head}shutdownGracePeriod: soon`, "soon is not a duration"],
    [`${head}shutdownGracePeriod: 1s\nshutdownGracePeriodByPodPriority: []`, "cannot be given together"],
    ["kind: Other", "it must be of the kind KubeletConfiguration"],
    ["", "it is not a KubeletConfiguration"],
    [`${head}maxPods: many`, "maxPods must be a number"],
    [`${head}seccompDefault: maybe`, "seccompDefault must be true or false"],
    [`${head}clusterDNS: 10.96.0.10`, "clusterDNS must be a list of strings"],
  ])("%j is refused: %s", (text, problem) => expect(() => parseKubeletConfiguration(text)).toThrow(problem));
});

describe("fields of images", () => {
  it("are read", () => {
    const text =
      "serializeImagePulls: false\nmaxParallelImagePulls: 3\nregistryPullQPS: 0\nregistryBurst: 20\nimagePullCredentialsVerificationPolicy: NeverVerifyAllowlistedImages\npreloadedImagesVerificationAllowlist: [a.example/b, a.example/c/*]\n";
    expect(parseKubeletConfiguration(head + text)).toMatchObject({
      values: {
        serializeImagePulls: false,
        maxParallelImagePulls: 3,
        registryPullQps: 0,
        registryBurst: 20,
        imageVerification: { policy: "NeverVerifyAllowlistedImages", allowlist: ["a.example/b", "a.example/c/*"] },
      },
      ignored: [],
    });
  });

  it.each([
    ["maxParallelImagePulls: 2", "cannot be larger than 1 unless serializeImagePulls is false"],
    ["maxParallelImagePulls: 0", "must be at least 1"],
    ["imagePullCredentialsVerificationPolicy: Never", "must be one of NeverVerify"],
    ["preloadedImagesVerificationAllowlist: [a]", "only with imagePullCredentialsVerificationPolicy"],
    [
      "imagePullCredentialsVerificationPolicy: NeverVerifyAllowlistedImages\npreloadedImagesVerificationAllowlist: [a:1]",
      "must be a list of repositories without tag and digest",
    ],
  ])("%j is refused: %s", (text, problem) => expect(() => parseKubeletConfiguration(head + text)).toThrow(problem));
});
