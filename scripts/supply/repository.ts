/** This repository's own manifests and lock files, as the checks and the bill of materials see them. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { layers } from "../../test/layers/table.ts";
import { type LockFile, parseLockFile } from "./lock-file.ts";
import { type AllowedScripts, findings, findingsOfManifest, INSTALL_SCRIPTS } from "./rules.ts";
import { type Sbom, sbomOf } from "./sbom.ts";
import { shippedPlaces } from "./shipped.ts";

export const root = resolve(import.meta.dirname, "../..");

/** A folder with a package.json and its lock file. */
interface Project {
  readonly folder: string;
  readonly isShipped: boolean;
  readonly scripts: AllowedScripts;
}

/** All of them; a test looks for others. */
export const PROJECTS: readonly Project[] = [
  { folder: ".", isShipped: true, scripts: INSTALL_SCRIPTS },
  {
    folder: "scripts/setup/operator-frameworks",
    isShipped: false,
    scripts: { esbuild: "as above: it is installed with --ignore-scripts" },
  },
  {
    folder: "scripts/setup/test-runners",
    isShipped: false,
    scripts: {
      "@parcel/watcher": "as above; only watch mode would use it",
      "unrs-resolver": "checks that its addon is there; npm installs it as a package",
    },
  },
];

/** Sentences, each with the lock file that it is about. */
export function findingsHere(): string[] {
  return PROJECTS.flatMap(({ folder, isShipped, scripts }) => {
    const lock = lockOf(folder);
    const shipped = isShipped ? shippedPlaces(lock, imported()) : new Set<string>();
    const found = [
      ...findings(lock, { scripts, shipped }),
      ...findingsOfManifest(readFileSync(join(root, folder, "package.json"), "utf8"), lock),
    ];
    return found.map((finding) => `${join(folder, "package-lock.json")}: ${finding}`);
  });
}

export function sbomHere(sourceDateEpoch: string | undefined): Sbom {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Readonly<Record<string, string>>;
  const { name = "", version = "", description = "", license = "" } = manifest;
  const lock = lockOf(".");
  const shipped = shippedPlaces(lock, imported());
  return sbomOf({ lock, shipped, name, version, description, license, sourceDateEpoch });
}

export function lockOf(folder: string): LockFile {
  return parseLockFile(readFileSync(join(root, folder, "package-lock.json"), "utf8"));
}

/** The packages that sources may import: those end up in dist/, or are needed beside it. */
function imported(): ReadonlySet<string> {
  return new Set(Object.values(layers).flatMap(({ packages }) => packages));
}
