/**
 * Reads a KubeSchedulerConfiguration: from text to a validated configuration, or to all of its errors.
 *
 * 1. Errors of fields are collected and reported together, with their paths; a decoding error is reported alone.
 * 2. Fields that are valid but have no effect here cause a warning, not an error.
 * 3. Resources that an extender manages and wants ignored are ignored by NodeResourcesFit in every profile.
 */
import { at, durationMs, type FieldError, type FieldPath, field, type Json } from "#api";
import {
  ConfigurationError,
  DEFAULT_ARGUMENTS,
  EXTENSION_POINTS,
  type PluginArguments,
  type PluginFactory,
  type Profile,
  type SchedulerConfiguration,
} from "../framework/index.ts";
import { decodeArguments, decodeFile } from "./decode-file.ts";
import { PLUGIN_POINTS } from "./default-plugins.ts";
import type { ConfigurationFile, FileLeaderElection, FilePluginSet, FileProfile } from "./file.ts";
import { CONFIG_VERSION } from "./file-schema.ts";
import { resolvePlugins } from "./plugin-sets.ts";
import { argumentReaders, isBuiltInWithArguments } from "./read-arguments.ts";
import { checkExtenders, extenderConfig, type ReadFile } from "./read-extenders.ts";

export interface LeaderElectionSettings {
  readonly leaderElect: boolean;
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  readonly resourceName: string;
  readonly resourceNamespace: string;
}

export interface ClientConnectionSettings {
  readonly kubeconfig?: string | undefined;
  readonly qps: number;
  readonly burst: number;
}

export interface ReadConfiguration {
  readonly scheduler: SchedulerConfiguration;
  readonly leaderElection: LeaderElectionSettings;
  readonly clientConnection: ClientConnectionSettings;
  /** For the author of the file. */
  readonly warnings: readonly string[];
}

export interface ReadOptions {
  /** All plugins, in-tree and out-of-tree. */
  readonly factories: readonly PluginFactory[];
  readonly readFile: ReadFile;
}

/** Throws a ConfigurationError. */
export function readConfiguration(content: string, options: ReadOptions): ReadConfiguration {
  return configurationOf(decodeFile(content), options);
}

/** The configuration without a file. */
export function defaultConfiguration(factories: readonly PluginFactory[]): SchedulerConfiguration {
  return readNothing(factories).scheduler;
}

/** As from an empty file. */
export function readNothing(factories: readonly PluginFactory[]): ReadConfiguration {
  return configurationOf({}, { factories, readFile: () => "" });
}

function configurationOf(file: ConfigurationFile, { factories, readFile }: ReadOptions): ReadConfiguration {
  const profiles = namedProfiles(file.profiles ?? []);
  const errors: FieldError[] = [];
  const { burst = 0, qps = 0, kubeconfig } = file.clientConnection ?? {};
  if (burst < 0) errors.push(field.invalid(at("clientConnection").child("burst"), burst, "must be non-negative"));
  const leaderElection = leaderElectionOf(file.leaderElection ?? {}, errors);
  const { parallelism = 16 } = file;
  if (parallelism <= 0)
    errors.push(field.invalid(at("parallelism"), parallelism, "should be an integer value greater than zero"));
  const known = new Set(factories.map(({ name }) => name));
  const args = profiles.map((profile, i) => {
    errors.push(...checkProfile(profile, i));
    const read = argumentsOf(profile, i, known, errors);
    errors.push(...checkDistinct(profiles, i));
    return read;
  });
  errors.push(...checkSorters(profiles), ...checkNumbers(file), ...checkExtenders(file.extenders ?? []));
  if (errors.length > 0) throw new ConfigurationError(field.aggregate(errors.map(field.fieldErrorText)));

  const extenders = (file.extenders ?? []).map((extender, i) => extenderConfig(extender, i, readFile));
  const ignored = extenders.flatMap(({ managedResources }) =>
    managedResources.filter(({ ignoredByScheduler }) => ignoredByScheduler).map(({ name }) => name),
  );
  const made = profiles.map((profile, i) => profileOf(profile, ignoring(args[i] ?? DEFAULT_ARGUMENTS, ignored), known));
  checkQueueSort(made);

  return {
    scheduler: {
      profiles: made,
      percentageOfNodesToScore: file.percentageOfNodesToScore,
      podInitialBackoffSeconds: file.podInitialBackoffSeconds ?? 1,
      podMaxBackoffSeconds: file.podMaxBackoffSeconds ?? 10,
      extenders,
    },
    leaderElection,
    clientConnection: {
      kubeconfig: kubeconfig === "" ? undefined : kubeconfig,
      qps: qps === 0 ? 50 : qps,
      burst: burst === 0 ? 100 : burst,
    },
    warnings: warningsOf(file),
  };
}

/** A single profile needs no name. */
function namedProfiles(profiles: readonly FileProfile[]): readonly FileProfile[] {
  const [only = {}] = profiles;
  return profiles.length > 1 ? profiles : [{ ...only, schedulerName: only.schedulerName ?? "default-scheduler" }];
}

function leaderElectionOf(file: FileLeaderElection, errors: FieldError[]): LeaderElectionSettings {
  const path = at("leaderElection");
  const { leaderElect = true, resourceLock = "leases" } = file;
  const time = (name: "leaseDuration" | "renewDeadline" | "retryPeriod", defaultMs: number): number => {
    const ms = durationMs(file[name] ?? "0s");
    if (leaderElect && ms < 0)
      errors.push(field.invalid(path.child(name), file[name] ?? "", "must be greater than zero"));
    return ms === 0 ? defaultMs : ms;
  };
  const leaseDurationMs = time("leaseDuration", 15_000);
  const renewDeadlineMs = time("renewDeadline", 10_000);
  const retryPeriodMs = time("retryPeriod", 2_000);
  if (leaderElect && leaseDurationMs <= renewDeadlineMs)
    errors.push(
      field.invalid(path.child("leaseDuration"), file.renewDeadline ?? "10s", "must be greater than `RenewDeadline`"),
    );
  if (leaderElect && resourceLock !== "" && resourceLock !== "leases")
    errors.push(field.invalid(path.child("resourceLock"), resourceLock, 'resourceLock value must be "leases"'));
  return {
    leaderElect,
    leaseDurationMs,
    renewDeadlineMs,
    retryPeriodMs,
    resourceName: file.resourceName || "kube-scheduler",
    resourceNamespace: file.resourceNamespace || "kube-system",
  };
}

function checkNumbers(file: ConfigurationFile): readonly FieldError[] {
  const { podInitialBackoffSeconds: initial = 1, podMaxBackoffSeconds: longest = 10 } = file;
  const errors: FieldError[] = [];
  errors.push(...checkPercentage(file.percentageOfNodesToScore, at("percentageOfNodesToScore")));
  if (initial <= 0) errors.push(field.invalid(at("podInitialBackoffSeconds"), initial, "must be greater than 0"));
  if (longest < initial)
    errors.push(
      field.invalid(at("podMaxBackoffSeconds"), longest, "must be greater than or equal to PodInitialBackoffSeconds"),
    );
  return errors;
}

function checkPercentage(percentage: number | undefined, path: FieldPath): readonly FieldError[] {
  return percentage === undefined || (percentage >= 0 && percentage <= 100)
    ? []
    : [field.invalid(path, percentage, "not in valid range [0-100]")];
}

function checkProfile(
  { schedulerName = "", percentageOfNodesToScore, plugins = {} }: FileProfile,
  i: number,
): readonly FieldError[] {
  const path = at("profiles").index(i);
  return [
    ...(schedulerName === "" ? [field.required(path.child("schedulerName"))] : []),
    ...checkPercentage(percentageOfNodesToScore, path.child("percentageOfNodesToScore")),
    ...EXTENSION_POINTS.flatMap((point) => checkRemoved(plugins[point], path.child("plugins").child(point))),
  ];
}

/** Plugins of earlier versions. */
const REMOVED: ReadonlySet<string> = new Set(["AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"]);

function checkRemoved({ enabled = [] }: FilePluginSet = {}, path: FieldPath): readonly FieldError[] {
  return enabled.flatMap(({ name = "" }, i) =>
    REMOVED.has(name) ? [removed(path.child("enabled").index(i), name)] : [],
  );
}

function removed(path: FieldPath, name: string): FieldError {
  return field.invalid(
    path,
    name,
    `was invalid in version "v1" (KubeSchedulerConfiguration is version "${CONFIG_VERSION}")`,
  );
}

function checkDistinct(profiles: readonly FileProfile[], i: number): readonly FieldError[] {
  const nameOf = ({ schedulerName = "" }: FileProfile) => schedulerName;
  const before = profiles.slice(0, i).findLastIndex((other) => nameOf(other) === nameOf(profiles[i] ?? {}));
  if (before === -1) return [];
  const path = (at_: number) => at("profiles").index(at_).child("schedulerName");
  return [field.duplicate(path(i), String(path(before)))];
}

/** All profiles share one queue. */
function checkSorters(profiles: readonly FileProfile[]): readonly FieldError[] {
  const path = (i: number) => at("profiles").index(i).child("plugins").child("queueSort");
  const namesOf = ({ plugins }: FileProfile) => (plugins?.queueSort?.enabled ?? []).map(({ name = "" }) => name);
  const [first = []] = profiles.map(namesOf);
  const errors: FieldError[] = [];
  if (first.length > 1)
    errors.push(field.invalid(path(0).child("Enabled"), first.length, "only one queue sort plugin can be enabled"));
  for (const [i, profile] of profiles.entries()) {
    const names = namesOf(profile);
    if (names.join() !== first.join()) errors.push(field.invalid(path(i), names, "must be the same for all profiles"));
  }
  return errors;
}

/** Arguments of all plugins; those that the file does not mention have their defaults. */
function argumentsOf(
  { pluginConfig = [] }: FileProfile,
  profile: number,
  known: ReadonlySet<string>,
  errors: FieldError[],
): PluginArguments {
  const seen = new Set<string>();
  const read: Record<string, unknown> = {};
  for (const [i, { name = "", args }] of pluginConfig.entries()) {
    const where = at("profiles").index(profile).child("pluginConfig").index(i);
    if (seen.has(name)) errors.push(field.duplicate(where, name));
    seen.add(name);
    if (REMOVED.has(name)) errors.push(removed(where, name));
    else if (isBuiltInWithArguments(name)) read[name] = readArguments(name, args, where, errors);
    else if (!known.has(name)) errors.push(field.notFound(where.child("name"), name));
    else if (PLUGIN_POINTS.has(name)) errors.push(field.forbidden(where.child("args"), `${name} takes no arguments`));
    else read[name] = args;
  }
  return { ...DEFAULT_ARGUMENTS, ...read };
}

function readArguments<Name extends keyof PluginArguments>(
  name: Name,
  args: Json | undefined,
  where: FieldPath,
  errors: FieldError[],
): PluginArguments[Name] {
  const given = decodeArguments(name, args, `.${where}`) as Partial<PluginArguments[Name]>;
  return argumentReaders[name](given, where.child("args"), errors);
}

function profileOf(
  { schedulerName = "", plugins = {}, percentageOfNodesToScore }: FileProfile,
  args: PluginArguments,
  known: ReadonlySet<string>,
): Profile {
  return {
    schedulerName,
    plugins: resolvePlugins(schedulerName, plugins, known),
    args,
    percentageOfNodesToScore,
  };
}

function ignoring(args: PluginArguments, ignored: readonly string[]): PluginArguments {
  if (ignored.length === 0) return args;
  const fit = args.NodeResourcesFit;
  return { ...args, NodeResourcesFit: { ...fit, ignoredResources: [...fit.ignoredResources, ...ignored] } };
}

/** All profiles share one queue. */
function checkQueueSort(profiles: readonly Profile[]): void {
  const [first] = profiles;
  for (const [i, { plugins }] of profiles.entries()) {
    const name = plugins.queueSort[0]?.name ?? "";
    if (name !== first?.plugins.queueSort[0]?.name)
      throw new ConfigurationError(
        field.fieldErrorText(
          field.invalid(
            at("profiles").index(i).child("plugins").child("queueSort"),
            name,
            "must be the same for all profiles",
          ),
        ),
      );
  }
}

function warningsOf(file: ConfigurationFile): readonly string[] {
  const { acceptContentTypes = "", contentType = "" } = file.clientConnection ?? {};
  return [
    ...(file.parallelism === undefined ? [] : ["parallelism is ignored: nodes are checked one after another"]),
    ...(file.enableProfiling === undefined && file.enableContentionProfiling === undefined
      ? []
      : ["enableProfiling and enableContentionProfiling are ignored: there are no such endpoints"]),
    ...(file.delayCacheUntilActive === false
      ? ["delayCacheUntilActive is ignored: caches are filled once the scheduler leads"]
      : []),
    ...(acceptContentTypes + contentType === ""
      ? []
      : ["clientConnection.contentType and acceptContentTypes are ignored: requests use JSON"]),
  ];
}
