/**
 * Upstream flags that the component here accepts but ignores, and those that it refuses because ignoring them would
 * mislead.
 *
 * 1. A flag without effect is reported in one line; one that others rely on, such as a certificate for a name, is an
 *    error.
 */
import { type Command, Option } from "commander";
import { ClusterError } from "#cluster";

export interface OriginalFlags {
  /** The component's name in messages. */
  readonly component: string;
  /** They tune or describe what this component does differently. */
  readonly withoutEffect: readonly string[];
  /** Ignoring them would be less safe than the user believes, or put something elsewhere. */
  readonly refused: readonly string[];
  /** Flags that accept only their default value. */
  readonly fixed?: Readonly<Record<string, string>>;
}

/** Names, separated by spaces. */
export function names(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

export const KUBE_APISERVER: OriginalFlags = {
  component: "this API server",
  withoutEffect: names("lease-reuse-duration-seconds kubelet-read-only-port"),
  refused: names(`
  debug-socket-path etcd-servers-overrides
  peer-advertise-ip peer-advertise-port peer-ca-file`),
};

/** Hidden from --help; values are optional, as some of them are switches. */
export function originalFlags({ withoutEffect, refused, fixed = {} }: OriginalFlags): readonly Option[] {
  return [...withoutEffect, ...refused, ...Object.keys(fixed)].map((name) =>
    (name === "v" ? new Option("-v, --v [level]") : new Option(`--${name} [value]`)).hideHelp(),
  );
}

/** A line for each given flag without effect. Throws ClusterError for refused flags. */
export function notesOnFlags(command: Command, flags: OriginalFlags): readonly string[] {
  const { component, withoutEffect, refused, fixed = {} } = flags;
  return command.options
    .filter((option) => command.getOptionValueSource(option.attributeName()) === "cli")
    .flatMap((option) => {
      const name = option.long?.slice(2) ?? "";
      const value: unknown = command.getOptionValue(option.attributeName());
      if (refused.includes(name)) throw new ClusterError(`--${name} is not supported by ${component}.`);
      const only = fixed[name];
      if (only !== undefined && value !== only) {
        throw new ClusterError(`--${name} is ${only} in ${component}, and cannot be ${String(value)}.`);
      }
      return withoutEffect.includes(name) ? [`--${name} has no effect in ${component}.`] : [];
    });
}
