/**
 * A minimal Linux program: an ELF header, one segment with the whole file, and the code. No libraries, no sections.
 */

export type Machine = "x64" | "arm64";

/** `e_machine`, and the alignment of segments. */
const MACHINES: Readonly<Record<Machine, { readonly id: number; readonly pageBytes: number }>> = {
  x64: { id: 62, pageBytes: 0x1000 },
  arm64: { id: 183, pageBytes: 0x10000 },
};

const HEADER_BYTES = 64;
const SEGMENT_BYTES = 56;
const BASE_ADDRESS = 0x400000n;
const READ_EXECUTE = 5;

/** A static program that starts at the first byte of its code. Read-only data may follow the code. */
export function staticProgram(machine: Machine, code: Uint8Array): Buffer {
  const { id, pageBytes } = MACHINES[machine];
  const start = HEADER_BYTES + SEGMENT_BYTES;
  const file = Buffer.alloc(start + code.length);
  file.set([0x7f, 0x45, 0x4c, 0x46, 2 /* 64 bits */, 1 /* little endian */, 1 /* version */]);
  file.writeUInt16LE(2 /* executable */, 16);
  file.writeUInt16LE(id, 18);
  file.writeUInt32LE(1, 20);
  file.writeBigUInt64LE(BASE_ADDRESS + BigInt(start), 24);
  file.writeBigUInt64LE(BigInt(HEADER_BYTES), 32);
  file.writeUInt16LE(HEADER_BYTES, 52);
  file.writeUInt16LE(SEGMENT_BYTES, 54);
  file.writeUInt16LE(1, 56);

  const segment = HEADER_BYTES;
  file.writeUInt32LE(1 /* loaded */, segment);
  file.writeUInt32LE(READ_EXECUTE, segment + 4);
  file.writeBigUInt64LE(0n, segment + 8);
  file.writeBigUInt64LE(BASE_ADDRESS, segment + 16);
  file.writeBigUInt64LE(BASE_ADDRESS, segment + 24);
  file.writeBigUInt64LE(BigInt(file.length), segment + 32);
  file.writeBigUInt64LE(BigInt(file.length), segment + 40);
  file.writeBigUInt64LE(BigInt(pageBytes), segment + 48);
  file.set(code, start);
  return file;
}

const INTERPRETER = 3;

/** Whether a program needs a dynamic loader: then it does not run in an empty image. */
export function needsLibraries(program: Buffer): boolean {
  const [table, size, count] = [
    Number(program.readBigUInt64LE(32)),
    program.readUInt16LE(54),
    program.readUInt16LE(56),
  ];
  return Array.from({ length: count }, (_, index) => program.readUInt32LE(table + index * size)).includes(INTERPRETER);
}
