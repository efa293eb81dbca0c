/** The frameworks of operators that tests run against k8ts, exactly as their own package-lock.json has them, into .tools/operator-frameworks. */
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { intoTools, root, run, step, tools } from "./steps.mjs";

const source = join(root, "scripts", "setup", "operator-frameworks");
const FILES = ["package.json", "package-lock.json"];

export function installOperatorFrameworks() {
  const locked = join(tools, "operator-frameworks", "package-lock.json");
  if (existsSync(locked) && readFileSync(locked).equals(readFileSync(join(source, "package-lock.json")))) return;
  step("Installing two operator frameworks from npm into .tools/ (for tests, once, about half a minute)", () => {
    intoTools("operator-frameworks", (_work, unpacked) => {
      mkdirSync(unpacked);
      for (const file of FILES) copyFileSync(join(source, file), join(unpacked, file));
      run("npm", ["ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
        sentence: "the operator frameworks could not be installed from npm",
        cwd: unpacked,
      });
    });
  });
}
