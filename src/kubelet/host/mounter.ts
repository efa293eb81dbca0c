/** Mounts on the machine, with mount(8) and umount(8). */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

const execute = promisify(execFile);

export interface FilesystemSource {
  readonly type: string;
  readonly source: string;
  readonly options: readonly string[];
}

export interface Mounter {
  tmpfs(target: string, sizeBytes: number | undefined): Promise<void>;
  /** `source` is not resolved, so that it may be a link in /proc. */
  bind(source: string, target: string): Promise<void>;
  /** A file system, or `bind`, with its options. */
  mount(source: FilesystemSource, target: string): Promise<void>;
  /** Makes a file system on a device that holds nothing. */
  format(device: string, fsType: string): Promise<void>;
  unmount(target: string): Promise<void>;
  /** Mount points at or below a directory, the last mounted first. */
  below(directory: string): Promise<readonly string[]>;
}

export function hostMounter(): Mounter {
  return {
    async tmpfs(target, sizeBytes) {
      const size = sizeBytes === undefined ? [] : ["-o", `size=${sizeBytes}`];
      await run("mount", ["-t", "tmpfs", ...size, "tmpfs", target]);
    },
    async bind(source, target) {
      await run("mount", ["--no-canonicalize", "--bind", source, target]);
    },
    async mount({ type, source, options }, target) {
      const kind = type === "bind" ? [] : ["-t", type];
      const args = [...kind, ...(options.length > 0 ? ["-o", options.join()] : []), source, target];
      await execute("mount", args).catch((error: Failure) => Promise.reject(mountFailure(args, error)));
    },
    async format(device, fsType) {
      // Code 2: nothing was found.
      const found = await execute("blkid", ["-p", "-s", "TYPE", "-s", "PTTYPE", "-o", "value", device]).catch(
        (error: Failure) => (error.code === 2 ? { stdout: "" } : Promise.reject(error)),
      );
      const holds = found.stdout.trim();
      if (holds === fsType) return;
      if (holds !== "") throw new Error(`failed to mount the volume as "${fsType}", it already contains ${holds}`);
      const force = fsType === "xfs" ? ["-f"] : fsType.startsWith("ext") ? ["-F", "-m0"] : [];
      await run(`mkfs.${fsType}`, [...force, device]);
    },
    async unmount(target) {
      try {
        await run("umount", [target]);
      } catch (error) {
        if (/not mounted|no mount point|not found/.test(String((error as Error).message))) return;
        // It is busy: detach it now, and the kernel cleans up when the last user is done.
        await run("umount", ["--lazy", target]);
      }
    },
    async below(directory) {
      return mountPoints(await readFile("/proc/self/mountinfo", "utf8"))
        .filter((path) => path === directory || path.startsWith(`${directory}/`))
        .reverse();
    },
  };
}

type Failure = Error & { readonly code?: number | string; readonly stdout?: string; readonly stderr?: string };

/** In the words that users of nfs know from upstream. */
function mountFailure(args: readonly string[], error: Failure): Error {
  const { code = "", stdout = "", stderr = "", message } = error;
  const status = typeof code === "number" ? `exit status ${code}` : message;
  const lines = [`mount failed: ${status}`, "Mounting command: mount", `Mounting arguments: ${args.join(" ")}`];
  return new Error([...lines, `Output: ${`${stdout}${stderr}`.trim()}`].join("\n"), { cause: error });
}

async function run(program: string, args: readonly string[]): Promise<void> {
  try {
    await execute(program, args);
  } catch (error) {
    const { stderr = "", message } = error as Error & { stderr?: string };
    throw new Error(`${program} ${args.join(" ")}: ${stderr.trim() || message}`, { cause: error });
  }
}

/** Special characters in paths are escaped as octal numbers. */
export function mountPoints(mountinfo: string): string[] {
  return mountinfo
    .split("\n")
    .filter((line) => line !== "")
    .map((line) =>
      (line.split(" ")[4] ?? "").replace(/\\([0-7]{3})/g, (_, octal: string) =>
        String.fromCharCode(Number.parseInt(octal, 8)),
      ),
    );
}
