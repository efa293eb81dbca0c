/** A package of npm, packed and not installed: what it depends on is not needed. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./steps.mjs";

/** Fetches `name@version` into the folder, which holds no other, and returns the archive there. Its bytes are the expected ones. */
export function fetchPackage(name, sha512, { folder, sentence }) {
  run("npm", ["pack", name, "--loglevel=error"], { sentence, cwd: folder });
  const packed = readdirSync(folder).find((file) => file.endsWith(".tgz"));
  if (packed === undefined) throw new Error(`${sentence}: npm pack left no package behind`);
  const digest = createHash("sha512")
    .update(readFileSync(join(folder, packed)))
    .digest("base64");
  if (digest !== sha512) throw new Error(`${sentence}: ${name} does not have the checksum that is expected`);
  return join(folder, packed);
}
