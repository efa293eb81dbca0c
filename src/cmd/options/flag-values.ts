/**
 * The flags of a command with their values, as /flagz shows them.
 *
 * 1. Only flags that the command documents are shown: others have no effect.
 * 2. Flags hold no secrets: those are in the files that flags name.
 */
import type { Command, Option } from "commander";
import { formatMs } from "#api";
import type { ListenAddress } from "#cluster";
import { duration, listenAddress, milliseconds, millisecondsOrZero } from "./values.ts";

const DURATIONS: readonly unknown[] = [milliseconds, millisecondsOrZero, duration];

export function flagValues(command: Command): Readonly<Record<string, string>> {
  const shown = command.options.filter(({ hidden, long, negate }) => !hidden && !negate && long !== undefined);
  return Object.fromEntries(
    shown.map((option) => [option.name(), textOf(option, command.getOptionValue(option.attributeName()))]),
  );
}

function textOf({ parseArg }: Option, value: unknown): string {
  if (typeof value === "number" && DURATIONS.includes(parseArg)) return formatMs(value);
  return parseArg === listenAddress && isAddress(value) ? joined(value) : plain(value);
}

function isAddress(value: unknown): value is ListenAddress {
  return typeof value === "object" && value !== null && "host" in value && "port" in value;
}

function joined({ host, port }: ListenAddress): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Lists and maps as Go prints them. */
function plain(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.every(isPair) ? value.map(pair).join(",") : `[${value.map(plain).join(",")}]`;
  if (value instanceof Map) return [...value].map(pair).join(",");
  if (typeof value === "object") return Object.entries(value).map(pair).join(",");
  return String(value);
}

function isPair(value: unknown): value is readonly [unknown, unknown] {
  return Array.isArray(value) && value.length === 2;
}

function pair([key, value]: readonly [unknown, unknown]): string {
  return `${plain(key)}=${plain(value)}`;
}
