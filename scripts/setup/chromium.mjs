/** The browser that the dashboard's tests drive, from the distribution's packages. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { onPath, reason, run, step } from "./steps.mjs";

export function installChromium() {
  if (process.platform !== "linux" || onPath("chromium")) return;
  const skipped = "tests of the dashboard in a browser are skipped";
  if (process.getuid() !== 0 || !existsSync("/usr/bin/apt-get")) {
    const why = process.getuid() === 0 ? "there is no apt-get to install it" : "it cannot be installed without root";
    console.log(`k8ts: chromium is missing and ${why}; ${skipped}`);
    return;
  }
  step("Installing chromium from the distribution's packages (for tests of the dashboard)", () => {
    const args = ["install", "-qq", "--yes", "--no-install-recommends", "chromium"];
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const install = () => spawnSync("apt-get", args, { encoding: "utf8", env });
    if (install().status === 0) return;
    const sentence = "chromium could not be installed";
    run("apt-get", ["update", "-qq"], { sentence });
    const again = install();
    if (again.status !== 0) throw new Error(`${sentence}: ${reason(again)}`);
  });
}
