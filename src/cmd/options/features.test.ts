import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { configurationProblems, KUBELET_DEFAULTS, parseKubeletConfiguration } from "#kubelet";
import { controllerManagerCommand, controllerManagerConfig } from "../components/controller-manager.ts";
import { kubeApiServerCommand } from "../components/kube-apiserver.ts";
import { kubeletCommand, kubeletFeatures } from "../components/kubelet.ts";
import { proxyCommand } from "../components/proxy.ts";
import { schedulerCommand, schedulerConfig } from "../components/scheduler.ts";
import { configFrom, upCommand } from "../lifecycle/up.ts";
import { type FeatureOptions, featureOptions, featuresFrom } from "./features.ts";

function parsed(...args: string[]) {
  const command = new Command();
  for (const option of featureOptions()) command.addOption(option);
  return featuresFrom(command.parse(args, { from: "user" }).opts<FeatureOptions>());
}

/** The options of a command, without running it. */
function optionsOf<T>(command: Command, ...args: string[]): T {
  command.parseOptions(args);
  return command.opts<T & Record<string, unknown>>();
}

const GATES = "--feature-gates=MemoryQoS=true";

describe("flags of feature gates", () => {
  it.each([
    { args: [], want: undefined },
    { args: ["--feature-gates=A=true,B=false"], want: { gates: "A=true,B=false" } },
    { args: ["--feature-gates", "A=true", "--feature-gates", "B=false"], want: { gates: "A=true,B=false" } },
    {
      args: ["--emulated-version=1.34", "--min-compatibility-version=1.33"],
      want: { emulatedVersion: "1.34", minCompatibilityVersion: "1.33" },
    },
  ])("$args", ({ args, want }) => {
    expect(parsed(...args)).toEqual(want);
  });

  it.each([
    kubeApiServerCommand(),
    controllerManagerCommand(),
    schedulerCommand(),
    kubeletCommand(async () => ({}) as never),
    proxyCommand(),
    upCommand(),
  ])("are flags of every component: %#", (command) => {
    expect(optionsOf<FeatureOptions>(command, GATES).featureGates).toBe("MemoryQoS=true");
  });

  it("reach the configuration of components", () => {
    const want = { gates: "MemoryQoS=true" };
    const kubeconfig = "--kubeconfig=/k";
    const manager = optionsOf<Parameters<typeof controllerManagerConfig>[0]>(
      controllerManagerCommand(),
      GATES,
      kubeconfig,
    );
    expect(controllerManagerConfig(manager).features).toEqual(want);
    const scheduler = schedulerCommand();
    expect(schedulerConfig(optionsOf(scheduler, GATES, kubeconfig), scheduler).features).toEqual(want);
    expect(configFrom(optionsOf(upCommand(), GATES, "--store=memory")).features).toEqual(want);
  });

  const config = { ...KUBELET_DEFAULTS, nodeName: "n", nodeIps: [], podLogsRoot: "/" };
  it("override the file of a kubelet", () => {
    const file = { ...config, featureGates: { MemoryQoS: true, PodsAPI: true } };
    const features = kubeletFeatures({ featureGates: "PodsAPI=false" }, file);
    expect(features.enabled("MemoryQoS")).toBe(true);
    expect(features.enabled("PodsAPI")).toBe(false);
    expect(() => kubeletFeatures({}, { ...config, featureGates: { Nonsense: true } })).toThrow(
      "unrecognized feature gate: Nonsense",
    );
  });

  it("are needed by settings of a kubelet", () => {
    const header = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";
    const { document } = parseKubeletConfiguration(`${header}shutdownGracePeriod: 1s\n`);
    const problems = (gates: string) => {
      const features = kubeletFeatures({ featureGates: gates }, config);
      return configurationProblems(document, { enabled: (gate) => features.enabled(gate) }).join();
    };
    expect(problems("")).toBe("");
    const off =
      "GracefulNodeShutdown=false,GracefulNodeShutdownBasedOnPodPriority=false,WindowsGracefulNodeShutdown=false";
    expect(problems(off)).toContain("requires feature gate GracefulNodeShutdown");
  });
});
