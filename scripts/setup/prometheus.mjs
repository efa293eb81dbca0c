/** The Prometheus that scrapes clusters in tests, with promtool, from Debian's packages, into .tools/prometheus. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { intoTools, onPath, reason, run, step, tools } from "./steps.mjs";

export function installPrometheus() {
  if (onPath("prometheus") && onPath("promtool")) return;
  if (existsSync(join(tools, "prometheus", "usr", "bin", "promtool"))) return;
  if (!onPath("apt-get") || !onPath("dpkg")) {
    console.log(
      "k8ts: there is no Prometheus here and no Debian package manager to get it from; tests that need it are skipped",
    );
    return;
  }
  step("Fetching prometheus from Debian's packages into .tools/ (for tests of metrics)", () => {
    intoTools("prometheus", (work, unpacked) => {
      const sentence = "prometheus could not be fetched from Debian's packages";
      const download = () => spawnSync("apt-get", ["download", "prometheus"], { cwd: work, encoding: "utf8" });
      if (download().status !== 0) {
        run("apt-get", ["update", "-qq"], { sentence });
        const again = download();
        if (again.status !== 0) throw new Error(`${sentence}: ${reason(again)}`);
      }
      const deb = readdirSync(work).find((name) => name.endsWith(".deb"));
      if (deb === undefined) throw new Error(`${sentence}: apt-get left no package behind`);
      run("dpkg", ["-x", join(work, deb), unpacked], { sentence: "prometheus could not be unpacked" });
    });
  });
}
