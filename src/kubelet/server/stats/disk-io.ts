/** Reads and writes of a cgroup by block device, from blkio (v1) and io.stat (v2). */

export interface DeviceIo {
  readonly major: number;
  readonly minor: number;
  readonly readBytes: number;
  readonly writeBytes: number;
  readonly reads: number;
  readonly writes: number;
}

type Counts = { -readonly [K in keyof DeviceIo]: number };

/** `8:0 Read 4096` in both files: bytes in the first, operations in the second. */
export function parseBlkio(serviceBytes: string, serviced: string): readonly DeviceIo[] {
  const found = new Map<string, Counts>();
  const take = (text: string, names: Readonly<Record<string, keyof DeviceIo>>) => {
    for (const line of text.split("\n")) {
      const [device = "", operation = "", value = ""] = line.split(" ");
      const name = names[operation];
      if (name === undefined || !device.includes(":")) continue;
      const counts = found.get(device) ?? newCounts(device);
      counts[name] = Number(value);
      found.set(device, counts);
    }
  };
  take(serviceBytes, { Read: "readBytes", Write: "writeBytes" });
  take(serviced, { Read: "reads", Write: "writes" });
  return [...found.values()];
}

/** `8:0 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0`; a line may have only its device. */
export function parseIoStat(text: string): readonly DeviceIo[] {
  return text.split("\n").flatMap((line) => {
    const [device = "", ...pairs] = line.split(" ");
    if (!device.includes(":") || !pairs.some((pair) => pair.includes("="))) return [];
    const values = new Map(pairs.map((pair) => pair.split("=") as [string, string]));
    const value = (name: string) => Number(values.get(name) ?? 0);
    return [
      {
        ...newCounts(device),
        readBytes: value("rbytes"),
        writeBytes: value("wbytes"),
        reads: value("rios"),
        writes: value("wios"),
      },
    ];
  });
}

/** `/dev/sda` by `8:0`, from /proc/partitions. */
export function parsePartitions(text: string): ReadonlyMap<string, string> {
  const rows = text.split("\n").map((line) => line.trim().split(/\s+/));
  return new Map(
    rows.flatMap(([major = "", minor = "", , name]) =>
      name !== undefined && /^\d+$/.test(major) ? [[`${major}:${minor}`, `/dev/${name}`] as const] : [],
    ),
  );
}

function newCounts(device: string): Counts {
  const [major = 0, minor = 0] = device.split(":").map(Number);
  return { major, minor, readBytes: 0, writeBytes: 0, reads: 0, writes: 0 };
}
