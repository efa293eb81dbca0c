/**
 * `pause`: the process that holds a Pod's namespaces open. Hand-written machine code, because the user's machine may
 * have no compiler.
 *
 *     block SIGINT, SIGTERM, SIGCHLD
 *     wait:  take the next of them
 *            SIGINT, SIGTERM ──► exit 0
 *            SIGCHLD ──► reap children until none is left, then wait
 *
 * 1. As PID 1 of its namespace it receives no signal whose default action would end it, but it can wait for a blocked
 *    one.
 * 2. With a shared process namespace it inherits orphans of the containers, and reaps them.
 */
import { type Machine, staticProgram } from "./elf.ts";

/** A line of assembly: its bytes, a label, or a jump to a label. */
type Line =
  | { readonly bytes: readonly number[] }
  | { readonly label: string }
  | { readonly to: string; readonly size: number; readonly encode: (distance: number) => readonly number[] };

const SIGNALS = [2 /* SIGINT */, 15 /* SIGTERM */, 17 /* SIGCHLD */] as const;
const [SIGINT, SIGTERM, SIGCHLD] = SIGNALS;
/** A signal set has a bit for each signal, beginning with signal 1. */
const SIGNAL_SET = SIGNALS.reduce((set, signal) => set | (1 << (signal - 1)), 0);
const SET_BYTES = 8;

export function pauseProgram(machine: Machine): Buffer {
  return staticProgram(machine, assemble(machine === "x64" ? x64() : arm64()));
}

/** Every line knows its size, so labels are resolved before jumps are encoded. */
function assemble(lines: readonly Line[]): Uint8Array {
  const places = new Map<string, number>();
  let at = 0;
  for (const line of lines) {
    if ("label" in line) places.set(line.label, at);
    else at += "bytes" in line ? line.bytes.length : line.size;
  }
  const code: number[] = [];
  for (const line of lines) {
    if ("bytes" in line) code.push(...line.bytes);
    else if ("to" in line) code.push(...line.encode((places.get(line.to) ?? Number.NaN) - code.length));
  }
  return Uint8Array.from(code);
}

const label = (name: string): Line => ({ label: name });
const littleEndian = (word: number): number[] => [0, 8, 16, 24].map((shift) => (word >>> shift) & 0xff);
const signalSet: Line = { bytes: [...littleEndian(SIGNAL_SET), 0, 0, 0, 0] };

/** Arguments in rdi, rsi, rdx, r10; the call's number in eax. */
function x64(): Line[] {
  const is = (...bytes: number[]): Line => ({ bytes });
  const call = (number: number) => is(0xb8, ...littleEndian(number), 0x0f, 0x05); // mov eax, number; syscall
  const setSizeInR10 = is(0x6a, SET_BYTES, 0x41, 0x5a); // push 8; pop r10
  const compareEax = (value: number) => is(0x83, 0xf8, value); // cmp eax, value
  const address = (opcode: readonly number[]): Line => ({
    // lea register, [rip + distance]
    to: "set",
    size: 7,
    encode: (distance) => [...opcode, ...littleEndian(distance - 7)],
  });
  const jump = (opcode: number, to: string): Line => ({
    to,
    size: 2,
    encode: (distance) => [opcode, (distance - 2) & 0xff],
  });
  const [equal, notEqual, greater, always] = [0x74, 0x75, 0x7f, 0xeb];
  return [
    is(0x31, 0xff), // xor edi, edi: SIG_BLOCK
    address([0x48, 0x8d, 0x35]), // lea rsi, set
    is(0x31, 0xd2), // xor edx, edx
    setSizeInR10,
    call(14), // rt_sigprocmask
    label("wait"),
    address([0x48, 0x8d, 0x3d]), // lea rdi, set
    is(0x31, 0xf6), // xor esi, esi
    is(0x31, 0xd2), // xor edx, edx: for as long as it takes
    setSizeInR10,
    call(128), // rt_sigtimedwait
    compareEax(SIGINT),
    jump(equal, "exit"),
    compareEax(SIGTERM),
    jump(equal, "exit"),
    compareEax(SIGCHLD),
    jump(notEqual, "wait"),
    label("reap"),
    is(0x6a, 0xff, 0x5f), // push -1; pop rdi: any child
    is(0x31, 0xf6), // xor esi, esi
    is(0x6a, 0x01, 0x5a), // push 1; pop rdx: WNOHANG
    is(0x45, 0x31, 0xd2), // xor r10d, r10d
    call(61), // wait4
    is(0x85, 0xc0), // test eax, eax
    jump(greater, "reap"),
    jump(always, "wait"),
    label("exit"),
    is(0x31, 0xff), // xor edi, edi
    call(231), // exit_group
    label("set"),
    signalSet,
  ];
}

/** Arguments in x0 to x3; the call's number in x8. */
function arm64(): Line[] {
  const word = (value: number): Line => ({ bytes: littleEndian(value) });
  const move = (register: number, value: number) => word(0xd2800000 | (value << 5) | register);
  const call = (number: number): Line[] => [move(8, number), word(0xd4000001)]; // svc #0
  const compareX0 = (value: number) => word(0xf100001f | (value << 10));
  const address = (register: number): Line => ({
    // adr register, set
    to: "set",
    size: 4,
    encode: (distance) => littleEndian(0x10000000 | ((distance & 3) << 29) | ((distance >> 2) << 5) | register),
  });
  const jumpIf = (condition: number, to: string): Line => ({
    to,
    size: 4,
    encode: (distance) => littleEndian(0x54000000 | (((distance >> 2) & 0x7ffff) << 5) | condition),
  });
  const jump = (to: string): Line => ({
    to,
    size: 4,
    encode: (distance) => littleEndian(0x14000000 | ((distance >> 2) & 0x3ffffff)),
  });
  const [equal, notEqual, greater] = [0, 1, 12];
  return [
    move(0, 0), // SIG_BLOCK
    address(1),
    move(2, 0),
    move(3, SET_BYTES),
    ...call(135), // rt_sigprocmask
    label("wait"),
    address(0),
    move(1, 0),
    move(2, 0), // for as long as it takes
    move(3, SET_BYTES),
    ...call(137), // rt_sigtimedwait
    compareX0(SIGINT),
    jumpIf(equal, "exit"),
    compareX0(SIGTERM),
    jumpIf(equal, "exit"),
    compareX0(SIGCHLD),
    jumpIf(notEqual, "wait"),
    label("reap"),
    word(0x92800000), // movn x0, #0: any child
    move(1, 0),
    move(2, 1), // WNOHANG
    move(3, 0),
    ...call(260), // wait4
    compareX0(0),
    jumpIf(greater, "reap"),
    jump("wait"),
    label("exit"),
    move(0, 0),
    ...call(94), // exit_group
    label("set"),
    signalSet,
  ];
}
