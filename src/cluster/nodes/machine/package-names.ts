/** Programs that real nodes need, and the packages that have them, by package manager. */
import { table } from "#base";

export type PackageManager = "apt-get" | "dnf" | "pacman" | "apk";

interface Manager {
  readonly install: readonly string[];
  readonly isQuiet: readonly string[];
  /** Refreshes its lists; undefined: it does so itself. */
  readonly update?: readonly string[];
}

export const MANAGERS: Readonly<Record<PackageManager, Manager>> = table({
  "apt-get": { install: ["install", "--no-install-recommends"], isQuiet: ["-qq", "--yes"], update: ["update"] },
  dnf: { install: ["install"], isQuiet: ["--quiet", "--assumeyes"] },
  pacman: { install: ["-S", "--needed"], isQuiet: ["--noconfirm"], update: ["-Sy"] },
  apk: { install: ["add"], isQuiet: ["--quiet"], update: ["update"] },
});

/** In the order of `ORDER`. */
type Names = readonly [apt: string, dnf: string, pacman: string, apk: string];
const ORDER: readonly PackageManager[] = ["apt-get", "dnf", "pacman", "apk"];

export const PROGRAMS: Readonly<Record<string, Names>> = table({
  containerd: ["containerd", "containerd", "containerd", "containerd"],
  ctr: ["containerd", "containerd", "containerd", "containerd-ctr"],
  "containerd-shim-runc-v2": ["containerd", "containerd", "containerd", "containerd"],
  runc: ["runc", "runc", "runc", "runc"],
  ip: ["iproute2", "iproute", "iproute2", "iproute2"],
  iptables: ["iptables", "iptables-nft", "iptables-nft", "iptables"],
  nft: ["nftables", "nftables", "nftables", "nftables"],
  conntrack: ["conntrack", "conntrack-tools", "conntrack-tools", "conntrack-tools"],
  busybox: ["busybox-static", "busybox", "busybox", "busybox-static"],
});

/** Nodes run without them, and do more with them. */
export const WANTED_PROGRAMS: Readonly<Record<string, Names>> = table({
  "mkfs.xfs": ["xfsprogs", "xfsprogs", "xfsprogs", "xfsprogs"],
});

export const PLUGINS: Names = [
  "containernetworking-plugins",
  "containernetworking-plugins",
  "cni-plugins",
  "cni-plugins",
];

export function nameFor(manager: PackageManager, names: Names): string {
  return names[ORDER.indexOf(manager)] ?? names[0];
}
