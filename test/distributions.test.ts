/**
 * Distributions without apt: k8ts in a root folder of its own that has a package manager, a shell and little else. The
 * manager notes what it is asked, and installs nothing.
 */
import { execFile } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const execute = promisify(execFile);
const checkout = realpathSync(join(import.meta.dirname, ".."));
const canMount = process.platform === "linux" && process.getuid?.() === 0;
const PROGRAMS = ["sh", "readlink", "dirname", "uname", "find", "env", "cat"];
/** What of this machine the folder has: libraries, the kernel's files, and the checkout. */
const SHARED = ["/usr/lib", "/usr/lib64", "/proc", "/dev", "/sys", checkout];

class FakeRoot {
  readonly dir = mkdtempSync(join(tmpdir(), "k8ts-root-"));
  readonly log = join(this.dir, "asked");

  constructor(manager: string | undefined) {
    const at = (path: string) => join(this.dir, path);
    for (const folder of ["usr/bin", "tmp", "root", "etc", ...SHARED]) mkdirSync(at(folder), { recursive: true });
    for (const name of PROGRAMS) {
      const found = [`/usr/bin/${name}`, `/bin/${name}`].find(existsSync);
      if (found !== undefined) cpSync(realpathSync(found), at(`usr/bin/${name}`));
    }
    if (manager === undefined) return;
    writeFileSync(at(`usr/bin/${manager}`), `#!/bin/sh\necho ${manager} "$@" >> /asked\necho no way out >&2\nexit 1\n`);
    chmodSync(at(`usr/bin/${manager}`), 0o755);
  }

  /** In a mount namespace that ends with the program. */
  async k8ts(...args: readonly string[]): Promise<{ code: number; said: string }> {
    const links = ["bin", "lib", "lib64"].map((name) => `ln -sfn usr/${name} ${this.dir}/${name}`);
    const mounts = SHARED.filter(existsSync).map((path) => `mount --rbind ${path} ${this.dir}${path}`);
    // Plugins of this machine are not those of another distribution.
    const hidden = ["/usr/lib/cni", "/usr/libexec/cni"].filter(existsSync);
    const hide = hidden.map((path) => `{ test ! -d ${this.dir}${path} || mount -t tmpfs none ${this.dir}${path}; }`);
    const script = [...links, ...mounts, ...hide, `exec chroot ${this.dir} ${checkout}/bin/k8ts "$@"`].join(" && ");
    const env = { PATH: process.env.PATH, HOME: "/root", K8TS_OUTSIDE: "off" };
    return execute("unshare", ["--mount", "--propagation", "private", "sh", "-c", script, "sh", ...args], { env }).then(
      ({ stdout, stderr }) => ({ code: 0, said: stdout + stderr }),
      ({ code, stdout = "", stderr = "" }) => ({ code, said: stdout + stderr }),
    );
  }

  asked(): readonly string[] {
    return existsSync(this.log) ? readFileSync(this.log, "utf8").trim().split("\n") : [];
  }
}

describe.skipIf(!canMount)("a distribution without apt", () => {
  const roots: FakeRoot[] = [];
  const rootWith = (manager: string | undefined) => {
    const root = new FakeRoot(manager);
    roots.push(root);
    return root;
  };
  // Inside, nothing is built.
  beforeAll(async () => void (await execute(join(checkout, "bin", "k8ts"), ["--version"])));
  afterAll(() => {
    for (const { dir } of roots) rmSync(dir, { recursive: true, force: true });
  });

  it.concurrent.each([
    {
      manager: "dnf",
      install: "dnf --quiet --assumeyes install",
      more: [],
      packages: "busybox conntrack-tools containerd containernetworking-plugins iproute iptables-nft nftables runc",
    },
    {
      manager: "pacman",
      install: "pacman --noconfirm -S --needed",
      more: ["pacman -Sy"],
      packages: "busybox cni-plugins conntrack-tools containerd iproute2 iptables-nft nftables runc",
    },
    {
      manager: "apk",
      install: "apk --quiet add",
      more: ["apk update"],
      packages: "busybox-static cni-plugins conntrack-tools containerd containerd-ctr iproute2 iptables nftables runc",
    },
  ])("gets its packages by $manager", async ({ manager, install, more, packages }) => {
    const root = rootWith(manager);
    const doctor = await root.k8ts("doctor");
    expect(doctor.code).toBe(1);
    const command = install.replace(/ --(quiet|assumeyes|noconfirm)/g, "");
    expect(doctor.said).toContain(`programs: ${command} ${packages}\n`);
    const up = await root.k8ts("up", "--runtime", "containerd", "--yes", "--detach");
    expect(up.code).toBe(1);
    expect(up.said).toMatch(/could not be installed: no way out\. Run `.*` yourself, or use --runtime simulated\./);
    expect(root.asked()).toEqual([`${install} ${packages}`, ...more, `${install} ${packages}`]);
  });

  it("is told of static binaries where there is no package manager", async () => {
    const { code, said } = await rootWith(undefined).k8ts("doctor");
    expect(code).toBe(1);
    expect(said).toContain("put static binaries of ");
    expect(said).toContain("into /usr/local/bin, and CNI plugins into /opt/cni/bin");
  });
});
