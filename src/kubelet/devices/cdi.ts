/**
 * CDI devices for runtimes that do not know them: the files that drivers write are read here, and what they say about a
 * container goes into its configuration.
 *
 *     vendor.com/gpu=0 ──► /etc/cdi, /var/run/cdi ──► containerEdits ──► env, device nodes, mounts
 *
 * containerd knows CDI from 1.7 on. What the configuration cannot express is refused: hooks need such a runtime.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseYaml } from "#api";
import { bound } from "../runtime/bound.ts";
import type { ContainerConfig, Runtime } from "../runtime/runtime.ts";

interface Edits {
  readonly env?: readonly string[];
  readonly deviceNodes?: readonly {
    readonly path: string;
    readonly hostPath?: string;
    readonly permissions?: string;
  }[];
  readonly mounts?: readonly {
    readonly hostPath: string;
    readonly containerPath: string;
    readonly options?: readonly string[];
  }[];
}

interface Spec {
  readonly kind?: string;
  readonly devices?: readonly { readonly name: string; readonly containerEdits?: Edits }[];
  readonly containerEdits?: Edits;
}

/** As runtimes have them by default. A later one goes first. */
export const CDI_DIRECTORIES = ["/etc/cdi", "/var/run/cdi"];
const EXPRESSIBLE = new Set(["env", "deviceNodes", "mounts"]);

export function needsCdiOfItsOwn({ runtimeName, runtimeVersion }: { runtimeName: string; runtimeVersion: string }) {
  const [, major = 0, minor = 0] = (/^v?(\d+)\.(\d+)/.exec(runtimeVersion) ?? []).map(Number);
  return runtimeName === "containerd" && (major < 1 || (major === 1 && minor < 7));
}

/** The runtime, with the edits of CDI devices made before it creates a container. */
export function withCdi(runtime: Runtime, directories: readonly string[] = CDI_DIRECTORIES): Runtime {
  return {
    ...bound(runtime),
    createContainer: async (sandboxId, config, sandbox, signal) =>
      runtime.createContainer(sandboxId, await edited(config, directories), sandbox, signal),
  };
}

export async function edited(config: ContainerConfig, directories: readonly string[]): Promise<ContainerConfig> {
  const { cdiDevices = [], ...rest } = config;
  if (cdiDevices.length === 0) return config;
  const specs = (await Promise.all(directories.map(specsIn))).flat();
  const edits = new Set<Edits>();
  for (const { name } of cdiDevices) {
    const at = name.lastIndexOf("=");
    const [kind, device] = [name.slice(0, at), name.slice(at + 1)];
    const spec = specs.findLast((each) => each.kind === kind && each.devices?.some((one) => one.name === device));
    const found = spec?.devices?.find((one) => one.name === device);
    if (spec === undefined || found === undefined) throw new Error(`unresolvable CDI devices ${name}`);
    for (const each of [spec.containerEdits, found.containerEdits]) if (each !== undefined) edits.add(each);
  }
  for (const each of edits) {
    const other = Object.keys(each).find((field) => !EXPRESSIBLE.has(field));
    if (other !== undefined) throw new Error(`CDI: ${other} of a device needs a runtime with CDI (containerd 1.7)`);
  }
  const all = [...edits];
  const envs = all.flatMap(({ env = [] }) => env).map((line) => line.split("="));
  return {
    ...rest,
    envs: [...rest.envs, ...envs.map(([key = "", ...value]) => ({ key, value: value.join("=") }))],
    devices: [
      ...rest.devices,
      ...all
        .flatMap(({ deviceNodes = [] }) => deviceNodes)
        .map(({ path, hostPath = path, permissions = "rw" }) => ({ containerPath: path, hostPath, permissions })),
    ],
    mounts: [
      ...rest.mounts,
      ...all
        .flatMap(({ mounts = [] }) => mounts)
        .map(({ hostPath, containerPath, options = [] }) => ({
          hostPath,
          containerPath,
          readonly: options.includes("ro"),
          propagation: "private" as const,
        })),
    ],
  };
}

async function specsIn(directory: string): Promise<readonly Spec[]> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const files = names.filter((name) => /\.(json|ya?ml)$/.test(name)).sort();
  return Promise.all(
    files.map(async (name) => {
      const text = await readFile(join(directory, name), "utf8");
      return (name.endsWith(".json") ? JSON.parse(text) : parseYaml(text).value) as Spec;
    }),
  );
}
