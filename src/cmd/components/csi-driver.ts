/** `k8ts csi-driver`: the driver local.csi.k8ts.dev, which makes volumes on the disk of its node. */
import { isAbsolute, resolve } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { K8TS_VERSION } from "#apiserver";
import { uuidSource } from "#base";
import type { NodePlace } from "#storage";
import { type LoggingFlagOptions, loggingFrom, loggingOptions } from "../options/logging.ts";
import { wholeNumber } from "../options/values.ts";
import { runUntilSignalled } from "../process/run-component.ts";

interface DriverFlags extends LoggingFlagOptions {
  readonly endpoint: string;
  readonly nodeId: string;
  readonly stateDir: string;
  readonly registrationDir?: string;
  readonly kubeletRegistrationPath?: string;
  readonly capacityBytes?: number;
  readonly loopDevices?: { readonly first: number; readonly count: number };
  readonly loopDeviceDir: string;
  readonly nodePlace?: NodePlace;
  readonly blockVolumes: boolean;
}

const NO_BLOCK =
  "Pods of this node cannot open block devices (`k8ts up --node-loop-devices` starts nodes whose Pods can)";

export function csiDriverCommand(): Command {
  const command = new Command("csi-driver")
    .description("run the CSI driver local.csi.k8ts.dev: volumes on the disk of this node")
    .addOption(required("--endpoint <endpoint>", "socket to serve on, as unix:///path").argParser(socket))
    .addOption(required("--node-id <name>", "name of the node, which is also its topology"))
    .addOption(required("--state-dir <dir>", "folder for volumes and their records").argParser((dir) => resolve(dir)))
    .option(
      "--registration-dir <dir>",
      "the kubelet's folder plugins_registry; without it, the driver is not registered",
    )
    .option("--kubelet-registration-path <path>", "the socket as the kubelet sees it (default: as in --endpoint)")
    .addOption(
      new Option(
        "--capacity-bytes <bytes>",
        "what all volumes may take together (default: what the disk has)",
      ).argParser(wholeNumber(1, Number.MAX_SAFE_INTEGER)),
    )
    .addOption(
      new Option(
        "--loop-devices <first-last>",
        "loop devices that are this driver's alone (default: any free)",
      ).argParser(deviceRange),
    )
    .addOption(new Option("--loop-device-dir <dir>", "folder for their device files").default("/dev/k8ts-volumes"))
    .addOption(
      new Option(
        "--node-place <json>",
        "the node, if it has a user namespace and this process is outside of it: its first process, how programs get there, a folder whose mounts appear in it, and its root's id",
      ).argParser(nodePlace),
    )
    .option("--no-block-volumes", "refuse raw block volumes: Pods of this node cannot open block devices")
    .action(async (flags: DriverFlags) => {
      const { loopDevices, loopDeviceDir, nodePlace: node, blockVolumes } = flags;
      // Not with every command: it needs gRPC, which takes 50 ms to load.
      const { runLocalDriver } = await import("#storage");
      await runUntilSignalled(
        [],
        ({ clock, log }, signal) =>
          runLocalDriver(
            {
              ...flags,
              ...{ version: K8TS_VERSION, newId: uuidSource(), clock, log, node },
              blockProblem: blockVolumes ? undefined : NO_BLOCK,
              pool: loopDevices && { ...loopDevices, dir: loopDeviceDir },
            },
            signal,
          ),
        loggingFrom(flags),
      );
    });
  for (const option of loggingOptions()) command.addOption(option);
  return command;
}

function required(flags: string, description: string): Option {
  return new Option(flags, description).makeOptionMandatory();
}

function socket(value: string): string {
  const path = value.replace(/^unix:\/\//, "");
  if (!isAbsolute(path))
    throw new InvalidArgumentError("It must be the path of a socket, such as unix:///run/csi.sock.");
  return `unix://${path}`;
}

function nodePlace(value: string): NodePlace {
  try {
    const { pid, startTicks, enter, folder, folderInside, rootId } = JSON.parse(value) as NodePlace;
    const texts = [startTicks, folder, folderInside, ...enter];
    if (
      [pid, rootId].every(Number.isSafeInteger) &&
      enter.length > 0 &&
      texts.every((text) => typeof text === "string")
    )
      return { pid, startTicks, enter, folder, folderInside, rootId };
  } catch {
    // said below
  }
  throw new InvalidArgumentError("It must be JSON with pid, startTicks, enter, folder, folderInside and rootId.");
}

function deviceRange(value: string): { readonly first: number; readonly count: number } {
  const [, first, last] = /^(\d+)-(\d+)$/.exec(value) ?? [];
  const count = Number(last) - Number(first) + 1;
  if (!(count > 0)) throw new InvalidArgumentError("It must be a range of numbers, such as 64-127.");
  return { first: Number(first), count };
}
