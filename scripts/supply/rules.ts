/**
 * What a lock file has to fulfil, so that an install gives the same bytes everywhere and runs nobody's code.
 *
 * 1. A finding is a sentence that names the package; no findings: the lock file is fine.
 * 2. An entry of an allow-list that nothing needs any more is a finding, too.
 */

import { isAllowed } from "./licences.ts";
import { DIRECT_GROUPS, type LockedPackage, type LockFile } from "./lock-file.ts";

export type AllowedScripts = Readonly<Record<string, string>>;

/** Packages with an install script, and why nothing is lost without it: the set-up installs with --ignore-scripts. */
export const INSTALL_SCRIPTS: AllowedScripts = {
  esbuild: "replaces a small starter by the program itself; the library finds that program without it",
  lmdb: "builds the addon where no built one is published; for Linux on x64 and arm64 one is",
  "msgpackr-extract": "the same, for an addon that only makes msgpackr faster",
  protobufjs: "prints a warning about versions of its dependents",
};

const SHA_512 = /^sha512-[A-Za-z0-9+/]{86}==$/;
const EXACT = /^(?:npm:(?:@[\w.-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(?:-[\w.-]+)?$/;

export interface Rules {
  readonly scripts: AllowedScripts;
  /** Places of packages that reach users of k8ts: their licences have to be permissive. */
  readonly shipped: ReadonlySet<string>;
}

export function findings(lock: LockFile, { scripts, shipped }: Rules): string[] {
  return [
    ...lock.packages.flatMap((each) => [
      ...originOf(each),
      ...licenceOf(each, shipped.has(each.path)),
      ...(each.hasInstallScript && scripts[each.name] === undefined
        ? [`${label(each)} runs a script when it is installed: look at it, then list it with the reason`]
        : []),
    ]),
    ...Object.keys(scripts)
      .filter((name) => !lock.packages.some((each) => each.hasInstallScript && each.name === name))
      .map((name) => `${name} is listed with an install script, and has none`),
  ];
}

/** Direct dependencies have one version each, and the lock file was made of this package.json. */
export function findingsOfManifest(manifestText: string, lock: LockFile): string[] {
  const manifest = JSON.parse(manifestText) as Readonly<Record<string, Readonly<Record<string, string>> | undefined>>;
  return DIRECT_GROUPS.flatMap((group) => {
    const [wanted, locked] = [manifest[group] ?? {}, lock.direct[group]];
    const names = [...new Set([...Object.keys(wanted), ...Object.keys(locked)])].sort();
    return names.flatMap((name) => {
      const version = wanted[name];
      if (version !== locked[name])
        return [`${name} is ${version} in package.json, and ${locked[name]} in its lock file`];
      return EXACT.test(version ?? "") ? [] : [`${name} has a range of versions (${version}) in package.json`];
    });
  });
}

function originOf(each: LockedPackage): string[] {
  const found: string[] = [];
  if (each.version === "") found.push(`${label(each)} has no version`);
  if (each.integrity === undefined) found.push(`${label(each)} has no integrity`);
  else if (!SHA_512.test(each.integrity)) found.push(`${label(each)} has an integrity that is not one SHA-512`);
  // Each machine has its own registry; the integrity says which bytes count.
  if (each.resolved !== undefined) found.push(`${label(each)} names where it was fetched from`);
  return found;
}

function licenceOf(each: LockedPackage, isShipped: boolean): string[] {
  if (each.license === undefined) return [`${label(each)} names no licence`];
  if (isAllowed(each.license, { isShipped })) return [];
  return [
    `${label(each)} has the licence ${each.license}, which is not allowed ${isShipped ? "for what is shipped" : "here"}`,
  ];
}

function label({ name, version }: LockedPackage): string {
  return `${name}@${version}`;
}
