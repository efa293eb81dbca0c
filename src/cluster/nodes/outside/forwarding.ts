/**
 * Forwarding of packets by this machine: on while a cluster with a way out needs it, and afterwards as it was.
 *
 *     the first cluster ──► record what is set ──► forwarding on
 *     the last cluster  ──► what was recorded ──► settings
 *
 * 1. What was set is recorded before anything is changed. Records are in /run: a restart of the machine drops both.
 * 2. A cluster counts as long as its link exists: one that was killed without a trace does not keep forwarding on.
 * 3. If somebody else has turned forwarding on before, nothing is changed, nor put back.
 * 4. With forwarding of IPv6, the kernel ignores router advertisements unless told otherwise: links that listened to
 *    them go on doing so.
 */
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, readlink, rm, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { acquireFileLock, type Clock } from "#base";
import { writeFileAtomic } from "../../data/data-dir.ts";
import { FORWARDING_CLAIMS, type SiteNames } from "../site/names.ts";

const NET = "/proc/sys/net";
/** A folder for each link of this network. */
const LINKS = join(NET, "ipv4/conf");
const LOCK_MS = 20;
const BEFORE = "before.json";
const CLAIM = "cluster-";

export type ForwardedFamily = "ipv4" | "ipv6";

/** What a family's settings were, if it did not forward. */
interface Before {
  /** By file below /proc/sys/net, in the order in which they are put back. */
  readonly settings: Partial<Record<ForwardedFamily, readonly (readonly [file: string, value: string])[]>>;
  /** The machine's links at that time. */
  readonly links: readonly string[];
}

const MAIN: Record<ForwardedFamily, string> = { ipv4: "ipv4/ip_forward", ipv6: "ipv6/conf/all/forwarding" };

/** Returns the links between which this machine forwarded nothing before. */
export async function claimForwarding(
  { id, machineLink }: Pick<SiteNames, "id" | "machineLink">,
  families: readonly ForwardedFamily[],
  clock: Clock,
): Promise<readonly string[]> {
  const folder = await folderOf();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return locked(folder, clock, async () => {
    const others = await livingClaims(folder, id);
    if (others.length === 0 && !existsSync(join(folder, `${CLAIM}${id}`)))
      await rm(join(folder, BEFORE), { force: true });
    await writeFile(join(folder, `${CLAIM}${id}`), `${machineLink}\n`);
    const known = await readBefore(folder);
    const settings = { ...known?.settings };
    for (const family of families) settings[family] ??= await settingsOf(family);
    const before = { settings, links: known?.links ?? (await linksOf()) };
    await writeFileAtomic(join(folder, BEFORE), `${JSON.stringify(before)}\n`);
    for (const family of families) await forward(family);
    return (before.settings.ipv4 ?? []).length === 0 ? [] : before.links;
  });
}

/** Nothing happens if this cluster has not claimed it. */
export async function releaseForwarding({ id }: Pick<SiteNames, "id">, clock: Clock): Promise<void> {
  const folder = await folderOf();
  if (!existsSync(join(folder, `${CLAIM}${id}`))) return;
  await locked(folder, clock, async () => {
    await rm(join(folder, `${CLAIM}${id}`), { force: true });
    if ((await livingClaims(folder, id)).length > 0) return;
    const { settings = {} } = (await readBefore(folder)) ?? {};
    for (const [file, value] of Object.values(settings).flat()) await put(file, value);
    await rm(folder, { recursive: true, force: true });
    await rm(`${folder}.lock`, { force: true });
  });
  await rmdir(FORWARDING_CLAIMS).catch(() => {}); // for other networks of this machine, or it does not exist
}

/** Settings belong to a network namespace. */
async function folderOf(): Promise<string> {
  const name = await readlink("/proc/self/ns/net");
  return join(FORWARDING_CLAIMS, name.replace(/\D/g, ""));
}

async function livingClaims(folder: string, own: string): Promise<string[]> {
  const claims = (await readdir(folder)).filter((name) => name.startsWith(CLAIM) && name !== `${CLAIM}${own}`);
  const living: string[] = [];
  for (const name of claims) {
    const link = (await textOf(join(folder, name))) ?? "";
    if (link !== "" && existsSync(join(LINKS, link))) living.push(name);
    else await rm(join(folder, name), { force: true });
  }
  return living;
}

/** What has to be put back; nothing if the family is forwarded already. */
async function settingsOf(family: ForwardedFamily): Promise<(readonly [string, string])[]> {
  if ((await setting(MAIN[family])) !== "0") return [];
  const links = (await readdir(join(NET, family, "conf"))).filter((name) => name !== "all");
  const perLink = family === "ipv4" ? ["forwarding"] : ["forwarding", "accept_ra"];
  const files = [
    MAIN[family],
    ...(family === "ipv4" ? ["ipv4/conf/all/accept_redirects"] : []),
    ...links.flatMap((link) => perLink.map((name) => `${family}/conf/${link}/${name}`)),
  ];
  const values = await Promise.all(files.map(async (file) => [file, await setting(file)] as const));
  return values.flatMap(([file, value]) => (value === undefined ? [] : [[file, value] as const]));
}

async function forward(family: ForwardedFamily): Promise<void> {
  if ((await setting(MAIN[family])) !== "0") return;
  if (family === "ipv6") {
    for (const link of await readdir(join(NET, "ipv6/conf"))) {
      const file = `ipv6/conf/${link}/accept_ra`;
      if (link !== "all" && (await setting(file)) === "1") await put(file, "2");
    }
  }
  await put(MAIN[family], "1");
}

async function linksOf(): Promise<string[]> {
  const names = await readdir(LINKS);
  return names.filter((name) => !["all", "default", "lo"].includes(name) && !name.startsWith("k8ts-")).sort();
}

async function readBefore(folder: string): Promise<Before | undefined> {
  const text = await textOf(join(folder, BEFORE));
  return text === undefined ? undefined : (JSON.parse(text) as Before);
}

async function setting(file: string): Promise<string | undefined> {
  return textOf(join(NET, file));
}

/** The link may be gone. */
async function put(file: string, value: string): Promise<void> {
  await writeFile(join(NET, file), `${value}\n`).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}

async function textOf(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").then(
    (text) => text.trim(),
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    },
  );
}

async function locked<T>(folder: string, clock: Clock, work: () => Promise<T>): Promise<T> {
  for (;;) {
    const lock = acquireFileLock(`${folder}.lock`, { holder: `process ${process.pid}` });
    if ("heldBy" in lock) {
      await clock.sleep(LOCK_MS);
      continue;
    }
    try {
      return await work();
    } finally {
      lock.release();
    }
  }
}
