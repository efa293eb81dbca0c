/** Parsers of the values of options. */
import { isIP } from "node:net";
import { InvalidArgumentError } from "commander";
import { durationMs } from "#api";
import { ClusterError, type ListenAddress } from "#cluster";

export function wholeNumber(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < least || number > most) {
      throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
    }
    return number;
  };
}

/** A duration in Go's syntax. */
export function milliseconds(value: string): number {
  try {
    const ms = durationMs(value);
    if (ms > 0) return ms;
  } catch {
    // reported below
  }
  throw new InvalidArgumentError("It must be a duration such as 30m or 1h30m.");
}

/** A duration in Go's syntax, which may be 0: that turns something off. */
export function millisecondsOrZero(value: string): number {
  return /^[+-]?0+[a-zµ]*$/.test(value) ? 0 : milliseconds(value);
}

/** A whole number as in Go's flags. */
export function integer(value: string): number {
  if (!/^[+-]?\d+$/.test(value)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(value);
}

/** A duration in Go's syntax, in milliseconds. It may be 0, and negative: see `notNegative`. */
export function duration(value: string): number {
  try {
    return durationMs(value);
  } catch {
    throw new InvalidArgumentError("It must be a duration such as 30s or 1h30m.");
  }
}

/** `problem`: upstream's words. */
export function notNegative(value: number | undefined, problem: string): void {
  if (value !== undefined && value < 0) throw new ClusterError(problem);
}

/** Values that are separated by commas. A flag that is repeated adds its values. */
export function list(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...value.split(",").map((each) => each.trim())];
}

/** A boolean as in Go's flags. */
export function boolean(value: string): boolean {
  if (["1", "t", "T", "true", "TRUE", "True"].includes(value)) return true;
  if (["0", "f", "F", "false", "FALSE", "False"].includes(value)) return false;
  throw new InvalidArgumentError("It must be true or false.");
}

/** `ip:port` or `[ip]:port`; empty: none. */
export function listenAddress(value: string): ListenAddress | undefined {
  if (value === "") return undefined;
  const [, v6, v4, port] = /^(?:\[([\da-fA-F:]+)\]|([\d.]+)):(\d+)$/.exec(value) ?? [];
  const host = v6 ?? v4 ?? "";
  if (isIP(host) === 0 || Number(port) > 65535) throw new InvalidArgumentError("It must be an IP address and a port.");
  return { host, port: Number(port) };
}
