/** Slices of systemd, by its bus: cgroups that systemd knows of and leaves alone. */
import { execFile } from "node:child_process";
import { access } from "node:fs/promises";
import { basename } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);

export type RunProgram = (program: string, args: readonly string[]) => Promise<unknown>;

/** Throws Error where systemd does not run: the driver systemd needs it. */
export async function requireSystemd(): Promise<void> {
  await access("/run/systemd/system").catch(() => {
    throw new Error(
      "cgroupDriver systemd: systemd does not run on this machine (there is no /run/systemd/system); set cgroupDriver to cgroupfs, and SystemdCgroup of the container runtime to false.",
    );
  });
}

/** Starts the last slice of a path; systemd starts those above it. */
export function sliceMaker(run: RunProgram = (program, args) => execute(program, [...args])) {
  return async (path: string): Promise<void> => {
    try {
      await run("busctl", startOf(basename(path)));
    } catch (error) {
      const { stderr = "", message } = error as Error & { readonly stderr?: string };
      // It runs already.
      if (/already exists|UnitExists|was already loaded/i.test(`${stderr}${message}`)) return;
      throw new Error(`slice ${basename(path)} could not be started: ${stderr.trim() || message}`, { cause: error });
    }
  };
}

function startOf(slice: string): readonly string[] {
  const manager = ["org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager"];
  const properties = [
    ["Description", "s", `kubelet slice ${slice}`],
    ["DefaultDependencies", "b", "false"],
    ["CPUAccounting", "b", "true"],
    ["MemoryAccounting", "b", "true"],
    ["TasksAccounting", "b", "true"],
  ];
  return [
    "call",
    ...manager,
    "StartTransientUnit",
    "ssa(sv)a(sa(sv))",
    slice,
    "fail",
    String(properties.length),
    ...properties.flat(),
    "0",
  ];
}
