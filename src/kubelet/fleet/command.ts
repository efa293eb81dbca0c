/**
 * Understands a few simple commands: when they exit, and with which code. It does not guess about any others.
 *
 *     true · false · sleep 5 · sh -c "sleep 1; exit 3" · sh -c "echo hi && sleep infinity" · tail -f /dev/null
 */
import { table } from "#base";

export interface Course {
  /** Infinity: until it is stopped. */
  readonly runForMs: number;
  readonly exitCode: number;
}

const SECONDS: Readonly<Record<string, number>> = table({ "": 1, s: 1, m: 60, h: 3_600, d: 86_400 });
const FOREVER: Course = { runForMs: Number.POSITIVE_INFINITY, exitCode: 0 };
const AT_ONCE: Course = { runForMs: 0, exitCode: 0 };
/** Commands that take no time and succeed. */
const HARMLESS = new Set(["true", ":", "echo", "printf", "trap", "set", "date", "hostname"]);

/** Undefined if the command is not understood. */
export function readCommand(words: readonly string[]): Course | undefined {
  const [program = "", ...rest] = words;
  switch (baseName(program)) {
    case "sh":
    case "bash":
    case "ash":
      return rest.length === 2 && /^-[a-z]*c$/.test(rest[0] ?? "") ? readScript(rest[1] ?? "") : undefined;
    case "exit": // a shell builtin, not a program
      return undefined;
    default:
      return readStatement(words);
  }
}

function readScript(text: string): Course | undefined {
  let runForMs = 0;
  let exitCode = 0;
  for (const { joint, statement } of statements(text)) {
    if (joint === "&&" && exitCode !== 0) continue;
    if (joint === "||" && exitCode === 0) continue;
    const course = readStatement(statement.split(/\s+/));
    if (course === undefined) return undefined;
    runForMs += course.runForMs;
    exitCode = course.exitCode;
    if (runForMs === Number.POSITIVE_INFINITY || statement.startsWith("exit")) break;
  }
  return { runForMs, exitCode };
}

function statements(text: string): { readonly joint: string; readonly statement: string }[] {
  const parts = text.split(/(;|\n|&&|\|\|)/);
  const found: { joint: string; statement: string }[] = [];
  for (let at = 0; at < parts.length; at += 2) {
    const statement = (parts[at] ?? "").trim();
    if (statement !== "") found.push({ joint: parts[at - 1] ?? ";", statement });
  }
  return found;
}

function readStatement(words: readonly string[]): Course | undefined {
  const [program = "", first = "", ...more] = words;
  // Pipes, redirections, variables and the like are not understood.
  if (words.some((word) => /[|<>$`*(){}]/.test(word)) && !HARMLESS.has(program)) return undefined;
  const name = baseName(program);
  if (HARMLESS.has(name)) return AT_ONCE;
  if (name === "false") return { runForMs: 0, exitCode: 1 };
  if (name === "sleep") return more.length > 0 ? undefined : readSleep(first);
  if (name === "exit" && more.length === 0) return /^\d{0,3}$/.test(first) ? exitWith(Number(first)) : undefined;
  if (name === "pause" || (name === "tail" && first.startsWith("-f"))) return FOREVER;
  if (name === "while" && (first === "true" || first === ":")) return FOREVER;
  return undefined;
}

function readSleep(text: string): Course | undefined {
  if (text === "infinity" || text === "inf") return FOREVER;
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(text) ?? [];
  if (number === undefined) return undefined;
  return { runForMs: Number(number) * (SECONDS[unit] ?? 1) * 1_000, exitCode: 0 };
}

function exitWith(code: number): Course {
  return { runForMs: 0, exitCode: code % 256 };
}

function baseName(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1);
}
