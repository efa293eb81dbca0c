/**
 * Upstream flags that the component here accepts but ignores, and those that it refuses because ignoring them would
 * mislead.
 *
 * 1. A flag without effect is reported in one line, with the reason, which --help has, too; one that others rely on,
 *    such as a certificate for a name, is an error.
 */
import { type Command, Option } from "commander";
import { ClusterError } from "#cluster";

export interface OriginalFlags {
  /** The component's name in messages. */
  readonly component: string;
  /** They tune or describe what this component does differently: by the reason, if it is said. */
  readonly withoutEffect: Readonly<Record<string, readonly string[]>> | readonly string[];
  /** Ignoring them would be less safe than the user believes, or put something elsewhere. */
  readonly refused: readonly string[];
  /** Flags that accept only their default value. */
  readonly fixed?: Readonly<Record<string, string>>;
}

/** Names, separated by spaces. */
export function names(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

/** Of every component that serves health and metrics, and is a client of the API server. */
export const IDLE_IN_COMPONENTS = {
  "profiles are taken with the tools of Node, such as --cpu-prof": names(`
    profiling contention-profiling`),
  "--emulated-version alone decides": names(`
    emulation-forward-compatible`),
  "health and metrics are served with one certificate": names(`
    cert-dir http2-max-streams-per-connection disable-http2-serving permit-address-sharing
    permit-port-sharing`),
  "the API server of --kubeconfig decides who may read health and metrics, at each request": names(`
    authentication-kubeconfig authentication-skip-lookup authentication-token-webhook-cache-ttl
    authentication-tolerate-lookup-failure authorization-kubeconfig authorization-always-allow-paths
    authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl client-ca-file
    requestheader-client-ca-file requestheader-allowed-names requestheader-username-headers
    requestheader-uid-headers requestheader-group-headers requestheader-extra-headers-prefix`),
  "requests are not limited here: the API server's priority and fairness shares its time": names(`
    kube-api-qps kube-api-burst kube-api-content-type`),
} as const;

export const KUBE_APISERVER: OriginalFlags = {
  component: "this API server",
  withoutEffect: {
    "Events have no etcd leases: each is deleted an hour after it was last written (--event-ttl)":
      names("lease-reuse-duration-seconds"),
    "kubelets are reached through their secure port": names("kubelet-read-only-port"),
  },
  refused: names(`
  debug-socket-path etcd-servers-overrides
  peer-advertise-ip peer-advertise-port peer-ca-file`),
};

/** Hidden from --help; values are optional, as some of them are switches. */
export function originalFlags({ withoutEffect, refused, fixed = {} }: OriginalFlags): readonly Option[] {
  return [...groupsOf(withoutEffect).flatMap(([, idle]) => idle), ...refused, ...Object.keys(fixed)].map((name) =>
    (name === "v" ? new Option("-v, --v [level]") : new Option(`--${name} [value]`)).hideHelp(),
  );
}

/** The reason, empty if none is said, with its flags. */
function groupsOf(withoutEffect: OriginalFlags["withoutEffect"]): readonly (readonly [string, readonly string[]])[] {
  return isList(withoutEffect) ? [["", withoutEffect]] : Object.entries(withoutEffect);
}

function isList(value: OriginalFlags["withoutEffect"]): value is readonly string[] {
  return Array.isArray(value);
}

/** For --help: which of upstream's flags have no effect or are refused, and why. */
export function helpOnFlags({ component, withoutEffect, refused, fixed = {} }: OriginalFlags): string {
  const named = (flags: readonly string[]) => `    ${flags.map((name) => `--${name}`).join(" ")}`;
  return [
    "",
    ...groupsOf(withoutEffect).flatMap(([why, flags]) => [`No effect${why === "" ? "" : `: ${why}`}.`, named(flags)]),
    ...(refused.length === 0 ? [] : [`Refused: ${component} does not support them.`, named(refused)]),
    ...Object.entries(fixed).map(([name, value]) => `Only --${name}=${value} is accepted.`),
  ].join("\n");
}

/** A line for each given flag without effect. Throws ClusterError for refused flags. */
export function notesOnFlags(command: Command, flags: OriginalFlags): readonly string[] {
  const { component, withoutEffect, refused, fixed = {} } = flags;
  const reasons = new Map(groupsOf(withoutEffect).flatMap(([why, idle]) => idle.map((name) => [name, why] as const)));
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
      const reason = reasons.get(name);
      if (reason === undefined) return [];
      return [`--${name} has no effect in ${component}${reason === "" ? "" : `: ${reason}`}.`];
    });
}
