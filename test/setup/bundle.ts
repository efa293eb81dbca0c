/**
 * Before all tests: `bin/k8ts` is built, once. Several tests start it, and none of them should have to wait for the
 * others' builds.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";

export function setup(): void {
  execFileSync(join(import.meta.dirname, "..", "..", "bin", "k8ts"), ["--version"], {
    stdio: ["ignore", "ignore", "inherit"],
  });
}
