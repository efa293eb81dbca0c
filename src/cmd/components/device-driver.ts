/** `k8ts device-driver`: a simulated driver of devices, for real nodes with CDI, or for all simulated nodes. */
import { join, resolve } from "node:path";
import { Command, Option } from "commander";
import { Client, https } from "#client";
import { ClusterError } from "#cluster";
import { readKubeconfig } from "#pki";
import { type LoggingFlagOptions, loggingFrom, loggingOptions } from "../options/logging.ts";
import { runUntilSignalled } from "../process/run-component.ts";

interface DeviceDriverFlags extends LoggingFlagOptions {
  readonly kubeconfig: string;
  readonly devices: string;
  readonly nodeName?: string;
  readonly nodeSelector?: string;
  readonly kubeletDir: string;
  readonly cdiDir: string;
}

export function deviceDriverCommand(): Command {
  const command = new Command("device-driver")
    .description(
      "run a simulated driver of devices: ResourceSlices and CDI devices, and a device plugin for extended resources",
    )
    .addOption(required("--kubeconfig <file>", "kubeconfig with the API server's address and credentials"))
    .addOption(
      required(
        "--devices <file>",
        "devices, extended resources, taints, health, failures (YAML); followed while it runs",
      ),
    )
    .option("--node-name <name>", "the node that has these devices; its kubelet gets a driver")
    .option(
      "--node-selector <selector>",
      "without a node: every selected node has these devices, which suits simulated nodes (default: all nodes)",
    )
    .option("--kubelet-dir <dir>", "the root directory of the node's kubelet", "/var/lib/kubelet")
    .option("--cdi-dir <dir>", "folder for CDI files", "/var/run/cdi")
    .action(async (flags: DeviceDriverFlags) => {
      const { nodeName, nodeSelector } = flags;
      if (nodeName !== undefined && nodeSelector !== undefined)
        throw new ClusterError("--node-name and --node-selector exclude each other: one node, or several.");
      // Not with every command: it needs gRPC, which takes 50 ms to load.
      const { runDeviceDriver } = await import("#devices");
      const { server, caPem, client: credentials } = await readKubeconfig(flags.kubeconfig);
      await runUntilSignalled(
        [],
        async ({ clock, log }, signal) => {
          const transport = https({ server, caPem, ...credentials }, { clock });
          const client = new Client({ transport, clock, userAgent: "k8ts-device-driver" });
          const root = resolve(flags.kubeletDir);
          const folders = {
            registrationDir: join(root, "plugins_registry"),
            pluginDir: join(root, "plugins"),
            devicePluginDir: join(root, "device-plugins"),
            cdiDir: resolve(flags.cdiDir),
          };
          try {
            await runDeviceDriver(
              { client, configPath: flags.devices, nodeName, nodeSelector, ...folders, clock, log },
              signal,
            );
          } finally {
            await client.close();
          }
        },
        loggingFrom(flags),
      );
    });
  for (const option of loggingOptions()) command.addOption(option);
  return command;
}

function required(flags: string, description: string): Option {
  return new Option(flags, description).makeOptionMandatory();
}
