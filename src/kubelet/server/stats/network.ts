/** Bytes and packets of the devices of a network namespace, from /proc/net/dev. */
import { readFile } from "node:fs/promises";

export interface InterfaceUsage {
  readonly name: string;
  readonly rxBytes: number;
  readonly rxPackets: number;
  readonly rxErrors: number;
  readonly rxDropped: number;
  readonly txBytes: number;
  readonly txPackets: number;
  readonly txErrors: number;
  readonly txDropped: number;
}

/** `pid`: a process in the namespace; undefined: this one. Empty if the process has exited. */
export async function networkUsage(pid?: number): Promise<readonly InterfaceUsage[]> {
  try {
    return parseNetDev(await readFile(`/proc/${pid ?? "self"}/net/dev`, "utf8"));
  } catch (error) {
    if (["ENOENT", "ESRCH", "EINVAL"].includes((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw error;
  }
}

/** Devices that are not the namespace's own: loopback, and the node's ends of Pods' devices. */
const IGNORED = /^(lo$|veth|docker|nerdctl)/;

export function parseNetDev(text: string): readonly InterfaceUsage[] {
  return text.split("\n").flatMap((line) => {
    const [name = "", numbers] = line.split(":");
    if (numbers === undefined || IGNORED.test(name.trim())) return [];
    const at = numbers.trim().split(/\s+/).map(Number);
    return [
      {
        name: name.trim(),
        rxBytes: at[0] ?? 0,
        rxPackets: at[1] ?? 0,
        rxErrors: at[2] ?? 0,
        rxDropped: at[3] ?? 0,
        txBytes: at[8] ?? 0,
        txPackets: at[9] ?? 0,
        txErrors: at[10] ?? 0,
        txDropped: at[11] ?? 0,
      },
    ];
  });
}
