/**
 * Calls a CNI plugin: a program with parameters in its environment and standard input, and its result on standard
 * output.
 */
import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { JsonObject } from "#api";
import { CniError, GENERIC } from "./cni-error.ts";
import { pluginFailure, pluginResult } from "./result.ts";

export type Command = "ADD" | "DEL" | "CHECK" | "VERSION";

/** Where a container meets a network. */
export interface Attachment {
  readonly containerId: string;
  /** The path of the network namespace. Empty once it is gone: plugins still release what they reserved. */
  readonly netns: string;
  readonly ifName: string;
  /** CNI_ARGS: `K8S_POD_NAME`, … */
  readonly args?: Readonly<Record<string, string>>;
  /** By capability, such as `portMappings`. Passed only to plugins that accept it. */
  readonly runtimeConfig?: JsonObject;
}

export interface PluginCall {
  readonly command: Command;
  readonly type: string;
  readonly attachment: Attachment;
  readonly input: JsonObject;
}

export interface PluginRunner {
  /** Folders with plugins, in search order. */
  readonly paths: readonly string[];
  /** A command prefix: `nsenter --net=/run/netns/node --` for a node that is a namespace. */
  readonly prefix?: readonly string[];
}

/** The plugin's result; undefined if it prints nothing. Throws CniError. */
export async function callPlugin(
  { paths, prefix = [] }: PluginRunner,
  { command, type, attachment, input }: PluginCall,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  const program = await findPlugin(type, paths);
  const [first = program, ...rest] = [...prefix, program];
  const child = spawn(first, rest, { signal, stdio: "pipe", env: environment(command, attachment, paths) });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  // A plugin that exits without reading all of its input reports why itself.
  child.stdin.on("error", () => {});
  child.stdin.end(JSON.stringify(input));
  const [stdout, stderr, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (exitCode !== 0) throw pluginFailure({ type, verb: verb(command), stdout, stderr, exitCode });
  return pluginResult(type, stdout);
}

/** The path of its program. Throws CniError. */
export async function findPlugin(type: string, paths: readonly string[]): Promise<string> {
  for (const path of paths) {
    const program = join(path, type);
    const isThere = await access(program, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return program;
  }
  throw new CniError(GENERIC, `failed to find plugin "${type}" in path [${paths.join(" ")}]`);
}

function environment(
  command: Command,
  { containerId, netns, ifName, args = {} }: Attachment,
  paths: readonly string[],
): NodeJS.ProcessEnv {
  const given = Object.entries(args).map(([name, value]) => `${name}=${value}`);
  return {
    PATH: process.env.PATH,
    CNI_COMMAND: command,
    CNI_CONTAINERID: containerId,
    ...(netns !== "" && { CNI_NETNS: netns }),
    CNI_IFNAME: ifName,
    CNI_ARGS: given.join(";"),
    CNI_PATH: paths.join(":"),
  };
}

function verb(command: Command): string {
  return command === "DEL" ? "delete" : command.toLowerCase();
}
