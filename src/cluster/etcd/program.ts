/**
 * The etcd program: from PATH, else from the distribution's package, unpacked into the data directory.
 *
 * 1. The package is unpacked, not installed: installing it would start a member of the machine's own at boot.
 */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ClusterError } from "../config/errors.ts";
import { findProgram, run } from "../nodes/machine/command.ts";

const PACKAGE = "etcd-server";

export async function etcdProgram(folder: string, report: (text: string) => void): Promise<string> {
  const unpacked = join(folder, "usr", "bin", "etcd");
  const found = findProgram("etcd") ?? (existsSync(unpacked) ? unpacked : undefined);
  if (found !== undefined) return found;
  if (findProgram("apt-get") === undefined || findProgram("dpkg") === undefined)
    throw new ClusterError(
      "--store etcd needs the program etcd (3.4 or newer), and there is none on PATH: install your distribution's package of etcd, or name running members with --etcd-servers.",
    );
  report(`fetching ${PACKAGE} from the distribution's packages`);
  await mkdir(dirname(folder), { recursive: true });
  const work = await mkdtemp(`${folder}.`);
  try {
    const download = () => run("sh", ["-c", `cd "$1" && exec apt-get download ${PACKAGE}`, "sh", work]);
    // Package lists may be missing or outdated.
    await download().catch(async () => {
      await run("apt-get", ["update", "-qq"]).catch(() => "");
      return download();
    });
    const [deb = ""] = (await readdir(work)).filter((name) => name.endsWith(".deb"));
    await run("dpkg", ["-x", join(work, deb), join(work, "unpacked")]);
    await rename(join(work, "unpacked"), folder);
    return unpacked;
  } catch (error) {
    const reason = (error as Error).message;
    throw new ClusterError(
      `${PACKAGE} could not be fetched: ${reason}. Install etcd (3.4 or newer), or name running members with --etcd-servers.`,
      { cause: error },
    );
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
