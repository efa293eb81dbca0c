import { describe, expect, it } from "vitest";
import { defaultFileSystem, type FileSystem, growsMounted, leastBytesOf } from "./file-systems.ts";

const MIB = 1024 ** 2;
const ext4 = (grows: boolean): FileSystem => ({ type: "ext4", leastBytes: 0, growsMounted: grows });
const xfs = (least: number): FileSystem => ({ type: "xfs", leastBytes: least * MIB, growsMounted: true });
const btrfs: FileSystem = { type: "btrfs", leastBytes: 256 * MIB, growsMounted: true };

describe("the file system of a volume that names none", () => {
  it.each([
    { name: "ext4 grows here", offered: [btrfs, xfs(32), ext4(true)], mib: 1024, want: "ext4" },
    { name: "ext4 does not, xfs does", offered: [ext4(false), xfs(32)], mib: 64, want: "xfs" },
    { name: "xfs does not fit", offered: [ext4(false), xfs(300)], mib: 64, want: "ext4" },
    { name: "nothing grows here", offered: [ext4(false)], mib: 64, want: "ext4" },
    { name: "btrfs is for those who ask for it", offered: [ext4(false), btrfs], mib: 1024, want: "ext4" },
    { name: "there is xfs only", offered: [xfs(32)], mib: 64, want: "xfs" },
  ])("$name: $want", ({ offered, mib, want }) => {
    expect(defaultFileSystem(offered, mib * MIB)).toBe(want);
  });

  it("what is not offered needs nothing, and does not grow", () => {
    expect([leastBytesOf([xfs(32)], "xfs"), leastBytesOf([xfs(32)], "ext4")]).toEqual([32 * MIB, 0]);
    expect([growsMounted([xfs(32)], "xfs"), growsMounted([xfs(32)], "ext4")]).toEqual([true, false]);
  });
});
