/** What real nodes are made of, from the distribution's packages: containerd, runc, CNI's plugins and the tools of networks. For tests; `k8ts up` asks. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { reason, run, step } from "./steps.mjs";

/** Programs, each with its package. A test keeps this equal to what `k8ts up` looks for. */
export const PROGRAMS = {
  containerd: "containerd",
  runc: "runc",
  ip: "iproute2",
  iptables: "iptables",
  nft: "nftables",
  conntrack: "conntrack",
  busybox: "busybox-static",
  "mkfs.xfs": "xfsprogs",
};
export const PLUGINS = "containernetworking-plugins";
const PLUGIN_DIRS = ["/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"];
const PROGRAM_DIRS = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

export function installNodePackages() {
  const missing = missingPackages();
  if (process.platform !== "linux" || missing.length === 0) return;
  const skipped = "tests with real containers are skipped";
  if (process.getuid() !== 0) {
    console.log(`k8ts: ${missing.join(", ")} are missing and cannot be installed without root; ${skipped}`);
    return;
  }
  if (!existsSync("/usr/bin/apt-get")) {
    console.log(`k8ts: ${missing.join(", ")} are missing and there is no apt-get to install them; ${skipped}`);
    return;
  }
  step(`Installing ${missing.join(", ")} from the distribution's packages (for tests with real containers)`, () => {
    const args = ["install", "-qq", "--yes", "--no-install-recommends", ...missing];
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const install = () => spawnSync("apt-get", args, { encoding: "utf8", env });
    if (install().status === 0) return;
    const sentence = `${missing.join(", ")} could not be installed`;
    run("apt-get", ["update", "-qq"], { sentence });
    const again = install();
    if (again.status !== 0) throw new Error(`${sentence}: ${reason(again)}`);
  });
}

function missingPackages() {
  const isThere = (program) => PROGRAM_DIRS.some((dir) => existsSync(join(dir, program)));
  const missing = Object.entries(PROGRAMS).filter(([program]) => !isThere(program));
  const packages = missing.map(([, name]) => name);
  if (!PLUGIN_DIRS.some((dir) => existsSync(join(dir, "ptp")))) packages.push(PLUGINS);
  return packages;
}
