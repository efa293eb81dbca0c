/** Packages of npm exactly as a package-lock.json in a folder here has them, installed into .tools/<name>. */
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { intoTools, root, run, step, tools } from "./steps.mjs";

const FILES = ["package.json", "package-lock.json"];
const QUIET = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

export function installLocked(name, { title, sentence, flags = [] }) {
  const source = join(root, "scripts", "setup", name);
  const locked = join(tools, name, "package-lock.json");
  if (existsSync(locked) && readFileSync(locked).equals(readFileSync(join(source, "package-lock.json")))) return;
  step(title, () => {
    intoTools(name, (_work, unpacked) => {
      mkdirSync(unpacked);
      for (const file of FILES) copyFileSync(join(source, file), join(unpacked, file));
      run("npm", ["ci", ...flags, ...QUIET], { sentence, cwd: unpacked });
    });
  });
}
