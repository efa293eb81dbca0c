/**
 * A node is a machine: a hostile Pod with everything that Kubernetes gives (privileged, hostPath /, hostPID, hostIPC,
 * hostNetwork) has its node, and neither the control plane nor another node.
 */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { core } from "../../src/api/index.ts";
import { realClock } from "../../src/base/index.ts";
import { type NodeRun, nodeNames, readNode, siteNames } from "../../src/cluster/nodes/index.ts";
import { createAuthority } from "../../src/pki/index.ts";
import { tool } from "../support/tools.ts";
import { missing } from "./support/leftovers.ts";
import { Machine } from "./support/machine.ts";
import { until } from "./support/wait.ts";

const why = tool("kubectl") === undefined ? `${missing} kubectl 1.36 is missing.` : missing;
const IMAGE = "localhost/busybox:1";
const SLEEP = ["sh", "-c", "trap 'exit 0' TERM; while true; do sleep 0.2; done"];

const podOf = (name: string, spec: Partial<core.PodSpec>, changes: Partial<core.Container> = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: {
    terminationGracePeriodSeconds: 0,
    ...spec,
    containers: [{ name: "main", image: IMAGE, command: SLEEP, ...changes }],
  },
});

describe.skipIf(why !== "")(`a node is a machine${why && `: ${why}`}`, { timeout: 180_000 }, () => {
  const secret = `canary-${randomBytes(6).toString("hex")}`;
  let machine: Machine;
  const namesOf = (node: string) => nodeNames(siteNames(machine.home.dataDir), node);
  const runOf = async (node: string): Promise<NodeRun | undefined> => (await readNode(namesOf(node)))?.run;
  const ready = (...pods: string[]) =>
    machine.kubectl("wait", "--for=condition=Ready", "--timeout=90s", ...pods.map((name) => `pod/${name}`));
  /** What a command of the hostile Pod prints, with its errors. */
  const attack = (script: string) => machine.kubectl("exec", "hostile", "--", "sh", "-c", `(${script}) 2>&1 || true`);

  beforeAll(async () => {
    machine = await Machine.create();
    const given = join(machine.home.dir, "given");
    mkdirSync(given);
    writeFileSync(join(given, "gift"), "from the machine\n");
    const mount = ["--node-mount", `${given}:/mnt/given`];
    await machine.ok("up", "--detach", "--runtime", "containerd", "--nodes", "2", "--port", "0", ...mount);
    for (const folder of [machine.home.dir, machine.home.dataDir, join(machine.home.dataDir, "pki")])
      writeFileSync(join(folder, `${secret}-plane`), secret);
    for (const node of ["node-1", "node-2"])
      writeFileSync(join(namesOf(node).diskDir, "root", `${secret}-${node}`), secret);
    const host = {
      nodeName: "node-1",
      hostPID: true,
      hostIPC: true,
      hostNetwork: true,
      volumes: [{ name: "host", hostPath: { path: "/" } }],
    };
    const privileged = {
      securityContext: { privileged: true },
      volumeMounts: [{ name: "host", mountPath: "/host" }],
    };
    await machine.apply(podOf("hostile", host, privileged));
    await machine.apply(podOf("neighbour", { nodeName: "node-2" }));
    await ready("hostile", "neighbour");
  }, 240_000);
  afterAll(async () => {
    await machine?.[Symbol.asyncDispose]();
    expect(machine?.leftovers()).toEqual([]);
  });

  it("a privileged Pod finds the files of its own node, none of the control plane and none of another node", async () => {
    const found = (await attack(`find /host -name '${secret}*' -o -name ca.key -o -name sa.key -o -name network.json`))
      .split("\n")
      .filter((line) => line !== "" && !line.includes("No such file") && !line.startsWith("/host/proc/"));
    expect(found).toEqual([`/host/root/${secret}-node-1`]);
    const { dataDir, dir } = machine.home;
    const places = [join(dataDir, "pki", "ca.key"), join(dir, `${secret}-plane`), namesOf("node-2").kubeconfig];
    for (const path of places) {
      expect(existsSync(path)).toBe(true);
      // By every process that it sees, too.
      const tries = `for root in / /host /proc/[0-9]*/root /proc/[0-9]*/cwd; do cat $root${path} && echo FOUND; done`;
      expect(await attack(`${tries}; true`)).not.toContain("FOUND");
    }
  });

  it("a privileged Pod sees processes of its own node only, and nobody's environment", async () => {
    const commands = (await attack("cat /proc/[0-9]*/cmdline | tr '\\0' ' '")).replaceAll("\n", " ");
    expect(commands).toContain("--hostname-override=node-1");
    for (const other of ["--hostname-override=node-2", "k8ts.mjs", machine.home.dataDir])
      expect(commands).not.toContain(other);
    expect(await attack("cat /proc/[0-9]*/environ | tr '\\0' '\\n'")).not.toContain(machine.home.dir);
    expect(await attack("nsenter -t 1 -m -u -i -n -p hostname")).toBe("node-1\n");
    expect(await attack("nsenter -t 1 -m cat /etc/hostname /proc/1/comm")).toMatch(/^node-1\nbusybox\n$/);
    // PIDs of the machine name nothing, or another process.
    const { kubelet } = (await runOf("node-2")) ?? {};
    expect(await attack(`cat /proc/${kubelet?.pid}/cmdline | tr '\\0' ' '`)).not.toContain("node-2");
  });

  it("a privileged Pod sees sockets, links and mounts of its own node only", async () => {
    const sockets = await attack("cat /proc/net/unix; find /host/run /host/tmp -type s");
    expect(sockets).toContain("/host/run/containerd.sock");
    expect(sockets).not.toContain("/run/k8ts/");
    const links = await attack("ls /sys/class/net /host/sys/class/net");
    expect(links).toContain("eth0");
    expect(links).not.toContain("k8ts-");
    const mounts = await attack("cat /proc/[0-9]*/mountinfo");
    expect(mounts).toContain("node-1/disk");
    expect(mounts).not.toContain("node-2");
    expect(mounts).not.toContain(join(machine.home.dataDir, "pki"));
  });

  it("a privileged Pod cannot read the machine's disk by a device file of its own", async () => {
    const { dev } = statSync(machine.home.dataDir);
    const [major, minor] = [(dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00)];
    const read = await attack(`mknod /tmp/disk b ${major} ${minor}; dd if=/tmp/disk of=/dev/null count=1`);
    expect(read).toContain("Operation not permitted");
    // Also if it changes the rules of its cgroup, and of the node's.
    const groups = "/sys/fs/cgroup/devices /host/sys/fs/cgroup/devices $(find /host/sys/fs/cgroup/devices -type d)";
    const allowing = `for group in ${groups}; do echo a > $group/devices.allow; echo 'b *:* rwm' > $group/devices.allow; done`;
    expect(await attack(`${allowing}; dd if=/tmp/disk of=/dev/null count=1`)).toContain("Operation not permitted");
    expect(await attack("ls /dev /host/dev")).not.toMatch(/^(sd|vd|nvme|loop)/m);
    expect(await attack("mkdir -p /tmp/m; mount /tmp/disk /tmp/m && echo MOUNTED")).not.toContain("MOUNTED");
  });

  it("a privileged Pod cannot change programs of the machine, of which nodes have the folders", async () => {
    const probe = `k8ts-${secret}`;
    const writing = ["/host/usr", "/host/etc/alternatives", "/host/opt/k8ts"].map(
      (folder) => `mount -o remount,rw ${folder}; mount -o remount,bind,rw ${folder}; touch ${folder}/${probe}`,
    );
    await attack(writing.join("; "));
    await attack(`for folder in /host/opt/k8ts/*/*; do touch $folder/${probe}; done`);
    for (const folder of [
      "/usr",
      "/etc/alternatives",
      dirname(process.execPath),
      join(import.meta.dirname, "../../dist"),
    ])
      expect(existsSync(join(folder, probe))).toBe(false);
  });

  it("a privileged Pod has no capability that leads past its node", async () => {
    const bounding = BigInt(`0x${/CapBnd:\s*(\S+)/.exec(await attack("cat /proc/self/status"))?.[1]}`);
    const has = (number: bigint) => ((bounding >> number) & 1n) === 1n;
    // SYS_ADMIN; then DAC_READ_SEARCH (files by handle), SYS_MODULE, SYS_RAWIO, SYS_BOOT.
    expect([has(21n), has(2n), has(16n), has(17n), has(22n)]).toEqual([true, false, false, false, false]);
  });

  it("a privileged Pod sees cgroups of its own node only, also by a mount of its own", async () => {
    const groups = await attack(
      "find /host/sys/fs/cgroup -type d; mkdir -p /tmp/c; mount -t cgroup -o devices x /tmp/c; ls /tmp/c",
    );
    expect(groups).toContain("kubepods");
    expect(groups).not.toContain("k8ts-");
    await attack("umount /tmp/c");
  });

  it("kubectl debug node shows one node, with the tools of a machine", async () => {
    const script = "hostname; ls /root; ip -o link show eth0; nft list tables; mount | head -1";
    const args = [
      "--image",
      IMAGE,
      "--profile",
      "sysadmin",
      "--attach=false",
      "--",
      "chroot",
      "/host",
      "sh",
      "-c",
      script,
    ];
    const said = await machine.kubectl("debug", "node/node-1", ...args);
    const name = /node-debugger-node-1-\w+/.exec(said)?.[0] ?? "";
    const log = await until(
      () => machine.kubectl("logs", name).catch(() => ""),
      (text) => text.includes(" on / "),
    );
    expect(log).toMatch(new RegExp(`^node-1\\n${secret}-node-1\\n.*eth0`));
    expect(log).toContain("table ");
  });

  it("--node-mount is the way to files of the machine", async () => {
    const { dir } = machine.home;
    expect(await attack("cat /host/mnt/given/gift; echo thanks > /host/mnt/given/answer")).toBe("from the machine\n");
    expect(readFileSync(join(dir, "given", "answer"), "utf8")).toBe("thanks\n");
    const refused = await machine.k8ts("node", "add", "--node-mount", `${dir}/none:/x`);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`${dir}/none does not exist`) });
  });

  it("mounts of a driver in a Pod reach other Pods of its node, and not the machine", async () => {
    const volumes = [{ name: "shared", hostPath: { path: "/var/lib/driver", type: "DirectoryOrCreate" as const } }];
    const mounted = (mountPropagation: "Bidirectional" | "HostToContainer") => ({
      volumeMounts: [{ name: "shared", mountPath: "/shared", mountPropagation }],
    });
    const on = { nodeName: "node-1", volumes };
    await machine.apply(podOf("user", on, mounted("HostToContainer")));
    await machine.apply(podOf("driver", on, { ...mounted("Bidirectional"), securityContext: { privileged: true } }));
    await ready("user", "driver");
    const mount = "mkdir -p /shared/disk && mount -t tmpfs tmpfs /shared/disk && echo here > /shared/disk/file";
    await machine.kubectl("exec", "driver", "--", "sh", "-c", mount);
    expect(await machine.kubectl("exec", "user", "--", "cat", "/shared/disk/file")).toBe("here\n");
    expect(readFileSync("/proc/self/mountinfo", "utf8")).not.toContain("/var/lib/driver");
    await machine.kubectl("exec", "driver", "--", "umount", "/shared/disk");
    await machine.kubectl("delete", "pod", "user", "driver");
  });

  it("a kubelet whose certificate another authority signed is not talked to", async () => {
    expect(await machine.kubectl("exec", "neighbour", "--", "echo", "fine")).toBe("fine\n");
    const { certDir } = namesOf("node-2");
    const files = ["kubelet.key", "kubelet.crt"].map((file) => join(certDir, file));
    const before = files.map((file) => readFileSync(file, "utf8"));
    const other = await createAuthority({ commonName: "kubernetes", clock: realClock() });
    const ipAddresses = [(await runOf("node-2"))?.ip ?? ""];
    const forged = await other.issue({ commonName: "system:node:node-2", usages: ["server"], ipAddresses });
    const put = (texts: readonly string[]) => files.forEach((file, at) => void writeFileSync(file, texts[at] ?? ""));
    const answer = async () => {
      const asking = machine.start(tool("kubectl") ?? "kubectl", "exec", "neighbour", "--", "echo", "fine");
      return await asking.ended();
    };
    put([forged.keyPem, forged.certPem]);
    const refused = await until(answer, ({ code }) => code !== 0);
    expect(refused.stderr).toContain("x509: certificate signed by unknown authority");
    put(before);
    expect((await until(answer, ({ code }) => code === 0)).stdout).toBe("fine\n");
  });

  it("orphans are reaped, and the end of the first process is a power failure", async () => {
    await attack("nsenter -t 1 -p -m sh -c '(sleep 0.1 & exec true) & exec true'; sleep 1");
    const states = await attack("cat /proc/[0-9]*/stat");
    expect(states.split("\n").filter((line) => / Z 1 /.test(line))).toEqual([]);
    const before = await runOf("node-1");
    process.kill(before?.init?.pid ?? 0, "SIGKILL");
    const after = await until(
      () => runOf("node-1"),
      (found) => found?.state === "running" && found.init?.pid !== before?.init?.pid,
    );
    expect(after?.ip).toBe(before?.ip);
    await until(
      () => attack("echo back").catch(() => ""),
      (said) => said === "back\n",
    );
  });
});

/** BPF_PROG_GET_NEXT_ID: says that there is none (ENOENT), or that it may not ask (EPERM). */
const BPF = '$attr = "\\0" x 128; $! = 0; syscall(321, 11, $attr, 128) == 0 || $! == 2 and print "OPEN"';

/**
 * Doors to the machine's kernel that a privileged Pod has by mounts of its own. Each attempt changes nothing where it
 * succeeds: what is there is written again.
 */
const AGAIN = (file: string) => `cat ${file} > /tmp/was && cat /tmp/was > ${file} && echo OPEN`;
const doors = (canary: string): readonly (readonly [name: string, script: string])[] => [
  ["core_pattern", AGAIN("/host/proc/sys/kernel/core_pattern")],
  ["core_pattern, by a mount", AGAIN("/tmp/proc/sys/kernel/core_pattern")],
  ["the program that loads modules", AGAIN("/tmp/proc/sys/kernel/modprobe")],
  ["settings of memory", AGAIN("/tmp/proc/sys/vm/overcommit_memory")],
  ["sysrq", "echo h > /host/proc/sysrq-trigger && echo OPEN"],
  ["the program for events of devices", AGAIN("/tmp/sys/kernel/uevent_helper")],
  ["sysfs", AGAIN("/tmp/sys/kernel/profiling")],
  ["release_agent", "for file in $(find /tmp/groups -name release_agent); do echo > $file && echo OPEN; done"],
  ["a hierarchy of its own", "mkdir -p /tmp/own; mount -t cgroup -o none,name=own own /tmp/own && echo OPEN"],
  ["limits of its node", AGAIN("/host/sys/fs/cgroup/memory/memory.limit_in_bytes")],
  ["the kernel's log", "dmesg -c && echo OPEN"],
  ["the clock", "date -s @$(date +%s) 2>&1 | grep -q 'can.t set' || echo OPEN"],
  ["devices", "mknod /tmp/null c 1 3 && cat /tmp/null && echo OPEN"],
  ["debugfs", "mkdir -p /tmp/debug; mount -t debugfs none /tmp/debug && echo OPEN"],
  ["tracefs", "mkdir -p /tmp/trace; mount -t tracefs none /tmp/trace && echo OPEN"],
  [
    "the folder of its volumes' driver, which is root of the machine",
    "mount -o remount,bind,rw /host/run/k8ts-volumes; ls /host/run/k8ts-volumes/csi.sock && touch /host/run/k8ts-volumes/x && echo OPEN",
  ],
  ["bpf", `chroot /host perl -e '${BPF}'`],
  // For files that begin like this: none does. What the machine has of it, the test looks at.
  ["binfmt_misc", `echo ':${canary}:M::${canary}::/bin/false:' > /tmp/formats/register`],
];

describe.skipIf(why !== "")(`nodes with user namespaces${why && `: ${why}`}`, { timeout: 180_000 }, () => {
  it("a privileged Pod changes no setting of the machine's kernel; the node does all else that a node does", async () => {
    const canary = `k8ts${randomBytes(4).toString("hex")}`;
    const machine = await Machine.create();
    try {
      const options = ["--nodes", "1", "--port", "0", "--node-user-namespaces"];
      await machine.ok("up", "--detach", "--runtime", "containerd", ...options);
      const host = {
        hostPID: true,
        hostIPC: true,
        hostNetwork: true,
        volumes: [{ name: "host", hostPath: { path: "/" } }],
      };
      const privileged = {
        securityContext: { privileged: true },
        volumeMounts: [{ name: "host", mountPath: "/host" }],
      };
      await machine.apply(podOf("hostile", host, privileged));
      const user = { runAsUser: 1000, runAsGroup: 1000 };
      const volumes = [{ name: "own", emptyDir: {} }];
      const plain = { resources: { limits: { memory: "64Mi", cpu: "500m" } } };
      const volumeMounts = [{ name: "own", mountPath: "/own" }];
      const limited = podOf(
        "plain",
        { securityContext: { ...user, fsGroup: 2000 }, volumes },
        { ...plain, volumeMounts },
      );
      await machine.apply(limited);
      await machine.kubectl("wait", "--for=condition=Ready", "--timeout=90s", "pod/hostile", "pod/plain");
      const attack = (script: string) =>
        machine.kubectl("exec", "hostile", "--", "sh", "-c", `(${script}) 2>&1 || true`);
      const mount = (type: string, path: string, more = "") =>
        `mkdir -p ${path} && mount -t ${type} ${more} none ${path}`;
      const mounted = [
        mount("proc", "/tmp/proc"),
        mount("sysfs", "/tmp/sys"),
        mount("cgroup", "/tmp/groups", "-o memory"),
      ];
      expect(await attack(`${mounted.join(" && ")} && echo DONE; ${mount("binfmt_misc", "/tmp/formats")}`)).toContain(
        "DONE",
      );
      const all = doors(canary);
      const said = await attack(all.map(([, script], at) => `echo "<${at}"; (${script}) 2>&1`).join("; "));
      const answers = said.split(/^<\d+$/m).slice(1);
      expect(answers).toHaveLength(all.length);
      expect(all.flatMap(([name], at) => (answers[at]?.includes("OPEN") ? [name] : []))).toEqual([]);
      // A format that it registered is its own.
      const formats = "mount -t binfmt_misc none /mnt && ls /mnt && test ! -e /mnt/$0 || echo -1 > /mnt/$0";
      expect(execFileSync("unshare", ["--mount", "sh", "-c", formats, canary], { encoding: "utf8" })).not.toContain(
        canary,
      );
      // The way to ask is right: the root of the machine may.
      expect(
        execFileSync("sh", ["-c", `was=$(cat $0); echo "$was" > $0 && echo OPEN`, "/proc/sys/kernel/core_pattern"], {
          encoding: "utf8",
        }),
      ).toBe("OPEN\n");
      // Keys of the machine's root are those of another user. (add_key, keyctl SEARCH and UNLINK; -4: the user's own.)
      const key = `($type, $name, $value) = ("user", "${canary}", "x")`;
      const find = "syscall(250, 10, -4, $type, $name, 0)";
      const perl = (script: string) => execFileSync("perl", ["-e", `${key}; ${script}`], { encoding: "utf8" });
      expect(perl(`syscall(248, $type, $name, $value, 1, -4); print "OPEN" if ${find} > 0`)).toBe("OPEN");
      expect(await attack(`chroot /host perl -e '${key}; print ${find} > 0 ? "OPEN" : "CLOSED"'`)).toBe("CLOSED");
      expect(perl(`syscall(250, 9, ${find}, -4); print "GONE" if ${find} < 0`)).toBe("GONE");
      expect(perl(BPF)).toBe("OPEN");
      // No process of the node is root on the machine.
      const { init } = (await readNode(nodeNames(siteNames(machine.home.dataDir), "node-1")))?.run ?? {};
      const ids = execFileSync("ps", ["--ppid", String(init?.pid), "-o", "uid="], { encoding: "utf8" })
        .trim()
        .split(/\s+/);
      expect(ids.filter((id) => Number(id) < 0x4000_0000)).toEqual([]);
      // What Pods need works.
      const own = await machine.kubectl(
        "exec",
        "plain",
        "--",
        "sh",
        "-c",
        "id -u; id -G; echo x > /own/file; stat -c %g /own/file",
      );
      expect(own).toBe("1000\n1000 2000\n2000\n");
      const limit =
        "cat /host/sys/fs/cgroup/memory/kubepods/*/*/memory.limit_in_bytes /host/sys/fs/cgroup/kubepods/*/memory.max";
      expect(await attack(limit)).toContain(String(64 * 1024 ** 2));
      expect(await attack("chroot /host nft list tables")).toContain("table ");
      // Its disk outlives it, and stays its own.
      await machine.ok("down");
      expect(machine.leftovers()).toEqual([]);
      await machine.ok("up", "--detach", "--runtime", "containerd", "--port", "0");
      await machine.kubectl("wait", "--for=condition=Ready", "--timeout=90s", "pod/hostile", "pod/plain");
      // Until the kubelet has looked, the API shows the containers of before.
      await expect.poll(() => attack("cat /proc/self/uid_map").catch(() => "")).toMatch(/^\s+0 1\d{9}\s+65536\n$/);
    } finally {
      await machine[Symbol.asyncDispose]();
    }
    expect(machine.leftovers()).toEqual([]);
  });
});

describe.skipIf(why !== "")(`nodes where namespaces are refused${why && `: ${why}`}`, { timeout: 180_000 }, () => {
  it("share the machine, `up` says so, and namespaces enforce the level baseline", async () => {
    const machine = await Machine.create();
    try {
      const bin = join(machine.home.dir, "bin");
      mkdirSync(bin);
      // As in a sandbox that does not allow it.
      writeFileSync(
        join(bin, "unshare"),
        "#!/bin/sh\necho 'unshare: unshare failed: Operation not permitted' >&2; exit 1\n",
      );
      await chmod(join(bin, "unshare"), 0o755);
      machine.home.env.PATH = `${bin}:${machine.home.env.PATH}`;
      const said = await machine.ok("up", "--detach", "--runtime", "containerd", "--nodes", "1", "--port", "0");
      expect(said).toContain(
        "Note: Nodes share the files and processes of this machine (unshare: unshare failed: Operation not permitted): namespaces enforce the Pod Security level baseline by default.",
      );
      await machine.apply(podOf("plain", { nodeName: "node-1" }));
      await machine.kubectl("wait", "--for=condition=Ready", "--timeout=90s", "pod/plain");
      await expect(machine.apply(podOf("hostile", { hostPID: true }))).rejects.toThrow(
        'violates PodSecurity "baseline:latest"',
      );
      // The next start can: nodes get their namespaces, and the level is Kubernetes' own again.
      await machine.ok("down", "--keep-nodes");
      rmSync(join(bin, "unshare"));
      const up = ["up", "--detach", "--runtime", "containerd", "--port", "0", "--node-user-namespaces"];
      expect(await machine.ok(...up)).toContain("Nodes that existed before have no user namespaces: node-1.");
      await machine.apply(podOf("allowed", { hostPID: true }));
      await machine.kubectl("wait", "--for=condition=Ready", "--timeout=90s", "pod/allowed", "pod/plain");
      expect((await readNode(nodeNames(siteNames(machine.home.dataDir), "node-1")))?.run?.init).toBeDefined();
    } finally {
      await machine[Symbol.asyncDispose]();
    }
    expect(machine.leftovers()).toEqual([]);
  });
});
