/** The etcd that the store's tests run against, from Debian's packages, into .tools/etcd. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { intoTools, onPath, reason, run, step, tools } from "./steps.mjs";

export function installEtcd() {
  if (onPath("etcd") || existsSync(join(tools, "etcd", "usr", "bin", "etcd"))) return;
  if (!onPath("apt-get") || !onPath("dpkg")) {
    console.log(
      "k8ts: there is no etcd here and no Debian package manager to get it from; tests that need it are skipped",
    );
    return;
  }
  step("Fetching etcd-server from Debian's packages into .tools/ (for the store's tests)", () => {
    intoTools("etcd", (work, unpacked) => {
      const sentence = "etcd-server could not be fetched from Debian's packages";
      const download = () => spawnSync("apt-get", ["download", "etcd-server"], { cwd: work, encoding: "utf8" });
      if (download().status !== 0) {
        run("apt-get", ["update", "-qq"], { sentence });
        const again = download();
        if (again.status !== 0) throw new Error(`${sentence}: ${reason(again)}`);
      }
      const deb = readdirSync(work).find((name) => name.endsWith(".deb"));
      if (deb === undefined) throw new Error(`${sentence}: apt-get left no package behind`);
      run("dpkg", ["-x", join(work, deb), unpacked], { sentence: "etcd-server could not be unpacked" });
    });
  });
}
