/**
 * The capabilities of a node's processes: those of this process, without the ones that lead past the node's namespaces.
 * Pure.
 */

/** In the order of their numbers. */
const NAMES =
  "CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE " +
  "NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN " +
  "SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE " +
  "MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE";

/**
 * Kernel modules, the memory of the machine, another kernel, and files by handle: with DAC_READ_SEARCH a process opens
 * any file of a disk of which it has a part.
 */
export const WITHHELD: readonly string[] = ["SYS_MODULE", "SYS_RAWIO", "SYS_BOOT", "DAC_READ_SEARCH"];

/** `status`: /proc/self/status. */
export function nodeCapabilities(status: string): string[] {
  const bounding = BigInt(`0x${/^CapBnd:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? "0"}`);
  return NAMES.split(" ")
    .filter((name, number) => ((bounding >> BigInt(number)) & 1n) === 1n && !WITHHELD.includes(name))
    .map((name) => `CAP_${name}`);
}
