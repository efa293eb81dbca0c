import { describe, expect, it } from "vitest";
import { installCommand, missingPackages, packageManager } from "../../cluster/nodes/machine/packages.ts";
import { report } from "./doctor.ts";

describe("k8ts doctor", () => {
  it("names what is missing, and what helps", () => {
    const text = report([
      { what: "rights", verdict: "ok", found: "root" },
      { what: "inotify", verdict: "advice", found: "128 instances", help: "sysctl x" },
      { what: "programs", verdict: "lacks", found: "no runc", help: "dnf install runc" },
    ]);
    expect(text).toBe(
      [
        "ok      rights     root",
        "note    inotify    128 instances",
        "lacks   programs   no runc",
        "",
        "inotify: sysctl x",
        "programs: dnf install runc",
        "",
        "Real nodes cannot run here yet: `k8ts up` makes simulated ones.",
        "",
      ].join("\n"),
    );
    expect(report([{ what: "rights", verdict: "ok", found: "root" }])).toContain("Real nodes run here");
  });
});

describe("packages", () => {
  const machine =
    (...programs: readonly string[]) =>
    (name: string) =>
      programs.includes(name) ? `/bin/${name}` : undefined;

  it.each([
    ["apt-get", ["busybox-static", "conntrack", "containerd", "iproute2", "iptables", "nftables", "runc"]],
    ["dnf", ["busybox", "conntrack-tools", "containerd", "iproute", "iptables-nft", "nftables", "runc"]],
    ["pacman", ["busybox", "conntrack-tools", "containerd", "iproute2", "iptables-nft", "nftables", "runc"]],
    [
      "apk",
      ["busybox-static", "conntrack-tools", "containerd", "containerd-ctr", "iproute2", "iptables", "nftables", "runc"],
    ],
  ])("have the names of %s", (manager, want) => {
    const find = machine(manager);
    expect(packageManager(find)).toBe(manager);
    expect(missingPackages(find).filter((name) => !name.includes("plugins"))).toEqual(want);
  });

  it.each([
    ["dnf", "dnf install runc"],
    ["pacman", "pacman -S --needed runc"],
    ["apk", "apk add runc"],
    [undefined, "put static binaries of runc into /usr/local/bin, and CNI plugins into /opt/cni/bin"],
  ] as const)("are installed with %s", (manager, want) => {
    expect(installCommand(["runc"], manager ?? undefined)).toBe(
      manager === undefined ? installCommand(["runc"], undefined) : want,
    );
  });
});
