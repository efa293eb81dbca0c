/**
 * The files that a node begins with.
 *
 * 1. What a node can write is never written by this process while it has been used: a Pod may have put links there. The
 *    disk is filled once, before its first start; /etc is made anew for each start.
 */

import { createHash } from "node:crypto";
import { existsSync, lstatSync, readlinkSync, statSync } from "node:fs";
import { chmod, copyFile, mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { table } from "#base";
import { insideNames, type NodeNames } from "../site/names.ts";
import { giveFiles, type IdRange } from "./user-namespace.ts";

/** Folders of programs and libraries; links on most distributions. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
/** Settings of programs that nodes run; no secrets. */
const ETC_FOLDERS = [
  "/etc/alternatives",
  "/etc/ca-certificates",
  "/etc/crypto-policies",
  "/etc/iproute2",
  "/etc/ld.so.conf.d",
  "/etc/pki/ca-trust",
  "/etc/pki/tls/certs",
  "/etc/ssl/certs",
  "/etc/containerd/certs.d",
];
const ETC_FILES = [
  "ca-certificates.conf",
  "debian_version",
  "ethertypes",
  "gai.conf",
  "group",
  "host.conf",
  "ld.so.cache",
  "ld.so.conf",
  "mke2fs.conf",
  "nsswitch.conf",
  "passwd",
  "profile",
  "protocols",
  "resolv.conf",
  "services",
  "shells",
  "ssl/openssl.cnf",
  "timezone",
  "xtables.conf",
];
const ETC_LINKS = ["localtime", "os-release", "redhat-release"];
const DISK: Readonly<Record<string, number>> = table({
  boot: 0o755,
  home: 0o755,
  media: 0o755,
  mnt: 0o755,
  opt: 0o755,
  root: 0o700,
  srv: 0o755,
  tmp: 0o1777,
  "var/cache": 0o755,
  "var/lib": 0o755,
  "var/log/pods": 0o755,
  "var/tmp": 0o1777,
});

/** Those of this machine that are folders, not links. */
export function systemFolders(): string[] {
  return SYSTEM.filter((path) => existsSync(path) && lstatSync(path).isDirectory());
}

export function etcFolders(): string[] {
  return ETC_FOLDERS.filter((path) => existsSync(path) && statSync(path).isDirectory());
}

/** Once: the disk outlives the node's processes. `ids`: to whom a new one belongs; default: root of the machine. */
export async function ensureDisk({ diskDir }: NodeNames, ids?: IdRange): Promise<void> {
  if (existsSync(diskDir)) return;
  const draft = `${diskDir}.new`;
  await rm(draft, { recursive: true, force: true });
  for (const [path, mode] of Object.entries(DISK)) {
    await mkdir(join(draft, path), { recursive: true, mode: 0o755 });
    await chmod(join(draft, path), mode);
  }
  for (const path of SYSTEM) {
    if (existsSync(path) && lstatSync(path).isSymbolicLink()) await symlink(readlinkSync(path), join(draft, path));
  }
  await symlink("/run", join(draft, "var/run"));
  if (ids !== undefined) await giveFiles(ids, [draft]);
  await rename(draft, diskDir);
}

/** `hosts`: names that the node knows, with their addresses, besides its own. */
export async function makeEtc(
  names: NodeNames,
  ips: readonly string[],
  siteId: string,
  hosts: Readonly<Record<string, readonly string[]>> = {},
): Promise<void> {
  const { name, etcDir } = names;
  await rm(etcDir, { recursive: true, force: true });
  const inside = insideNames(names);
  const folders = [
    dirname(inside.containerdConfig),
    inside.cniDir,
    inside.manifestDir,
    inside.registryDir,
    inside.compiledRegistryDir,
    ...etcFolders(),
  ];
  for (const folder of folders)
    await mkdir(join(etcDir, folder.slice("/etc".length)), { recursive: true, mode: 0o755 });
  for (const file of ETC_FILES.filter((each) => existsSync(join("/etc", each)))) {
    await mkdir(dirname(join(etcDir, file)), { recursive: true, mode: 0o755 });
    await copyFile(join("/etc", file), join(etcDir, file));
  }
  for (const link of ETC_LINKS.filter((each) => existsSync(join("/etc", each)))) {
    const path = join("/etc", link);
    if (lstatSync(path).isSymbolicLink()) await symlink(readlinkSync(path), join(etcDir, link));
    else await copyFile(path, join(etcDir, link));
  }
  const write = (file: string, text: string) => writeFile(join(etcDir, file), text, { mode: 0o644 });
  await write("hostname", `${name}\n`);
  const known = Object.entries({ [name]: ips, ...hosts }).flatMap(([host, all]) => all.map((ip) => `${ip} ${host}`));
  await write("hosts", ["127.0.0.1 localhost", "::1 localhost", ...known, ""].join("\n"));
  await write("machine-id", `${createHash("sha256").update(`${siteId}/${name}`).digest("hex").slice(0, 32)}\n`);
  await symlink("/proc/mounts", join(etcDir, "mtab"));
}
