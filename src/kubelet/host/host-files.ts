/** Files of Pods on a machine: /etc/hosts, termination messages, logs. */
import { chmod, mkdir, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { podLogDirectory } from "../containers/index.ts";
import type { Mounter } from "./mounter.ts";
import type { PodFiles } from "./pod-host.ts";
import { podDirectory } from "./pod-paths.ts";

export interface HostFilesOptions {
  readonly root: string;
  readonly podLogsRoot: string;
  readonly mounter: Pick<Mounter, "below">;
}

export function hostFiles({ root, podLogsRoot, mounter }: HostFilesOptions): PodFiles {
  /** Named namespace_name_uid. */
  const logDirectories = async () => {
    const names = (await readIfThere(podLogsRoot, (path) => readdir(path))) ?? [];
    return names.filter((name) => name.split("_").length === 3);
  };
  return {
    async writeEtcHosts({ metadata }, text) {
      const path = join(podDirectory(root, metadata.uid ?? ""), "etc-hosts");
      await mkdir(dirname(path), { recursive: true, mode: 0o750 });
      // In place: running containers have this inode mounted.
      if ((await readIfThere(path)) !== text) await writeFile(path, text, { mode: 0o644 });
      return path;
    },
    nodeHosts: async () => (await readIfThere("/etc/hosts")) ?? "",
    async makeLogDirectory(pod) {
      await mkdir(podLogDirectory(podLogsRoot, pod), { recursive: true, mode: 0o755 });
    },
    async makeTerminationLog({ metadata }, container, attempt) {
      const path = join(podDirectory(root, metadata.uid ?? ""), "containers", container, String(attempt));
      await mkdir(dirname(path), { recursive: true, mode: 0o750 });
      await writeFile(path, "");
      // The container may run as any user.
      await chmod(path, 0o666);
      return path;
    },
    tail,
    removeLog: (path) => rm(path, { force: true }),
    async writeEnding(uid, text) {
      const path = endingOf(root, uid);
      await mkdir(dirname(path), { recursive: true, mode: 0o750 });
      // Written atomically.
      await writeFile(`${path}.new`, text, { mode: 0o600 });
      await rename(`${path}.new`, path);
    },
    async writeUserNamespace(uid, text) {
      await mkdir(podDirectory(root, uid), { recursive: true, mode: 0o750 });
      await writeFile(join(podDirectory(root, uid), "userns"), text, { mode: 0o600 });
    },
    readUserNamespace: (uid) => readIfThere(join(podDirectory(root, uid), "userns")),
    readEnding: (uid) => readIfThere(endingOf(root, uid)),
    async removePod(uid) {
      const directory = podDirectory(root, uid);
      if ((await mounter.below(directory)).length > 0) throw new Error(`something is still mounted below ${directory}`);
      await rm(directory, { recursive: true, force: true });
    },
    async removeLogs(uid) {
      for (const name of await logDirectories())
        if (name.endsWith(`_${uid}`)) await rm(join(podLogsRoot, name), { recursive: true, force: true });
    },
    async podUids() {
      const own = (await readIfThere(join(root, "pods"), (path) => readdir(path))) ?? [];
      const logs = (await logDirectories()).map((name) => name.slice(name.lastIndexOf("_") + 1));
      return [...new Set([...own, ...logs])];
    },
  };
}

function endingOf(root: string, uid: string): string {
  return join(podDirectory(root, uid), "ending.json");
}

async function tail(path: string, bytes: number): Promise<string> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, "r");
  } catch (error) {
    if (isMissing(error)) return "";
    throw error;
  }
  try {
    const { size } = await file.stat();
    const length = Math.min(size, bytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.subarray(0, bytesRead).toString();
  } finally {
    await file.close();
  }
}

async function readIfThere(path: string): Promise<string | undefined>;
async function readIfThere<T>(path: string, read: (path: string) => Promise<T>): Promise<T | undefined>;
async function readIfThere(path: string, read = (file: string): Promise<unknown> => readFile(file, "utf8")) {
  try {
    return await read(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}
