import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { type MetricsServerOptions, metricsServerCommand, metricsServerConfig } from "./metrics-server.ts";

/** As commander reads them; the command does not run. */
function read(...args: string[]) {
  const command = metricsServerCommand().action(() => {});
  new Command()
    .addCommand(command)
    .exitOverride()
    .parse(["metrics-server", ...args], { from: "user" });
  return metricsServerConfig(command.opts<MetricsServerOptions>());
}

const KUBECONFIG = ["--kubeconfig", "/k"];

describe("the flags of metrics-server", () => {
  it("have upstream's defaults", () =>
    expect(read(...KUBECONFIG)).toMatchObject({
      kubeconfig: "/k",
      serving: { bindAddress: "0.0.0.0", port: 10250 },
      resolutionMs: 15_000,
      kubelet: {
        timeoutMs: 10_000,
        port: 10250,
        insecureTls: false,
        addressTypes: expect.arrayContaining(["InternalIP"]),
      },
    }));

  it.each([
    { args: ["--metric-resolution=30s"], want: { resolutionMs: 30_000 } },
    { args: ["--kubelet-insecure-tls"], want: { kubelet: { insecureTls: true } } },
    { args: ["--kubelet-use-node-status-port"], want: { kubelet: { port: undefined } } },
    {
      args: ["--kubelet-preferred-address-types=InternalIP,Hostname"],
      want: { kubelet: { addressTypes: ["InternalIP", "Hostname"] } },
    },
    {
      args: ["--secure-port=4443", "--bind-address=127.0.0.1"],
      want: { serving: { port: 4443, bindAddress: "127.0.0.1" } },
    },
    { args: ["--node-selector=a=b"], want: { nodeSelector: "a=b" } },
  ])("$args", ({ args, want }) => expect(read(...KUBECONFIG, ...args)).toMatchObject(want));

  it.each([
    { args: [], problem: "--kubeconfig is required" },
    { args: [...KUBECONFIG, "--metric-resolution=5s"], problem: "at least 10s" },
    { args: [...KUBECONFIG, "--kubelet-request-timeout=20s"], problem: "must be shorter" },
    {
      args: [...KUBECONFIG, "--kubelet-insecure-tls", "--kubelet-certificate-authority=/ca"],
      problem: "exclude each other",
    },
  ])("refuse $args", ({ args, problem }) => expect(() => read(...args)).toThrow(problem));
});
