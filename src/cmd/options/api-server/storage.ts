/**
 * Flags about how the API server uses its store, with kube-apiserver's names, defaults and messages.
 *
 * 1. Every resource has a watch cache here: flags that would turn one off are refused, the sizes of others are dynamic
 *    as in Kubernetes.
 */
import { Option } from "commander";
import { STORAGE_MEDIA_TYPES, type StorageMediaType } from "#apiserver";
import { type ClusterConfig, ClusterError } from "#cluster";
import { boolean, integer, millisecondsOrZero } from "../values.ts";

export interface StorageFlagOptions {
  readonly storageBackend?: string;
  readonly storageMediaType?: string;
  readonly watchCache?: boolean;
  readonly watchCacheSizes?: readonly string[];
  readonly defaultWatchCacheSize?: number;
  readonly deleteCollectionWorkers?: number;
  readonly enableGarbageCollector?: boolean;
  readonly etcdCompactionInterval?: number;
  readonly etcdCountMetricPollPeriod?: number;
  readonly etcdDbMetricPollInterval?: number;
  readonly etcdHealthcheckTimeout?: number;
  readonly etcdReadycheckTimeout?: number;
}

/** Kubernetes stores YAML too. */
const UPSTREAM_MEDIA_TYPES = ["application/json", "application/vnd.kubernetes.protobuf", "application/yaml"];

export function storageOptions(): readonly Option[] {
  const duration = (flag: string, description: string) =>
    new Option(`${flag} <duration>`, description).argParser(millisecondsOrZero);
  return [
    new Option("--storage-backend <name>", "storage backend: etcd3"),
    new Option(
      "--storage-media-type <type>",
      `media type of stored built-in objects: ${STORAGE_MEDIA_TYPES.join(" or ")} (default: ${STORAGE_MEDIA_TYPES[0]})`,
    ),
    new Option("--watch-cache [bool]", "watch caches are always on").preset("true").argParser(boolean),
    new Option("--watch-cache-sizes <resource[.group]#size,…>", "sizes of watch caches are dynamic").argParser(sizes),
    new Option("--default-watch-cache-size <n>", "sizes of watch caches are dynamic").argParser(integer),
    new Option(
      "--delete-collection-workers <n>",
      "number of objects that a DeleteCollection call deletes at a time (default: 16)",
    ).argParser(integer),
    new Option("--enable-garbage-collector [bool]", "deletions may orphan or await dependents (default: true)")
      .preset("true")
      .argParser(boolean),
    duration("--etcd-count-metric-poll-period", "interval of counting objects for metrics; 0: never (default: 1m)"),
    duration("--etcd-db-metric-poll-interval", "interval of reading etcd's size for metrics; 0: never (default: 30s)"),
    duration("--etcd-healthcheck-timeout", "time limit of etcd's health check (default: 2s)"),
    duration("--etcd-readycheck-timeout", "time limit of etcd's readiness check (default: 2s)"),
  ];
}

export function storageFrom(options: StorageFlagOptions): NonNullable<ClusterConfig["storage"]> {
  const { storageBackend } = options;
  if (storageBackend !== undefined && storageBackend !== "" && storageBackend !== "etcd3") {
    throw new ClusterError(
      "--storage-backend invalid, allowed values: etcd3. If not specified, it will default to 'etcd3'",
    );
  }
  checkCaches(options);
  return {
    mediaType: mediaTypeOf(options),
    healthTimeoutMs: options.etcdHealthcheckTimeout,
    readyTimeoutMs: options.etcdReadycheckTimeout,
    countPeriodMs: options.etcdCountMetricPollPeriod,
    sizeIntervalMs: options.etcdDbMetricPollInterval,
    listWindowMs: options.etcdCompactionInterval,
    deleteWorkers: options.deleteCollectionWorkers,
    garbageCollection: options.enableGarbageCollector,
  };
}

function mediaTypeOf({ storageMediaType: asked }: StorageFlagOptions): StorageMediaType | undefined {
  if (asked === undefined) return undefined;
  const known = STORAGE_MEDIA_TYPES.find((type) => type === asked);
  if (known !== undefined) return known;
  if (UPSTREAM_MEDIA_TYPES.includes(asked))
    throw new ClusterError(`--storage-media-type ${asked} is not supported by this API server.`);
  const allowed = UPSTREAM_MEDIA_TYPES.join(", ");
  throw new ClusterError(`--storage-media-type ${JSON.stringify(asked)} invalid, allowed values: ${allowed}`);
}

function checkCaches({ watchCache, watchCacheSizes = [], defaultWatchCacheSize }: StorageFlagOptions): void {
  const always = "every resource has a watch cache in this API server";
  if (watchCache === false) throw new ClusterError(`--watch-cache cannot be false: ${always}.`);
  if (defaultWatchCacheSize === 0) throw new ClusterError(`--default-watch-cache-size cannot be 0: ${always}.`);
  for (const setting of watchCacheSizes) {
    const [, size, ...more] = setting.split("#");
    if (size === undefined || more.length > 0) throw new ClusterError(`invalid value of watch cache size: ${setting}`);
    if (!/^[+-]?\d+$/.test(size)) throw new ClusterError(`invalid size of watch cache size: ${setting}`);
    if (Number(size) < 0) throw new ClusterError(`watch cache size cannot be negative: ${setting}`);
    if (Number(size) === 0) throw new ClusterError(`--watch-cache-sizes cannot have ${setting}: ${always}.`);
  }
}

function sizes(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...value.split(",")];
}
