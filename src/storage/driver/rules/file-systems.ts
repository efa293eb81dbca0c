/**
 * File systems of volumes: which one a volume gets, and how large it has to be. Pure.
 *
 * 1. A volume that names no file system gets one that grows while it is mounted, if there is one here: claims are
 *    expanded under running Pods.
 */

export interface FileSystem {
  readonly type: string;
  /** What a volume needs for it. */
  readonly leastBytes: number;
  /** Whether it grows while it is mounted, on this machine. */
  readonly growsMounted: boolean;
}

/** Those that a volume gets unasked, the best one first. */
const DEFAULTS = ["ext4", "xfs"];

/** `offered`: what can be made on the machine. */
export function defaultFileSystem(offered: readonly FileSystem[], bytes: number): string {
  const fitting = DEFAULTS.flatMap((type) => offered.filter((each) => each.type === type && each.leastBytes <= bytes));
  return (fitting.find(({ growsMounted }) => growsMounted) ?? fitting[0])?.type ?? "ext4";
}

/** 0: any size will do. */
export function leastBytesOf(offered: readonly FileSystem[], fsType: string): number {
  return offered.find(({ type }) => type === fsType)?.leastBytes ?? 0;
}

export function growsMounted(offered: readonly FileSystem[], fsType: string): boolean {
  return offered.find(({ type }) => type === fsType)?.growsMounted ?? false;
}
