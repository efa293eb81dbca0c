import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { type EtcdOptions, etcdOptions, etcdStore } from "./etcd.ts";
import { type StorageFlagOptions, storageFrom, storageOptions } from "./storage.ts";

function parsed(...args: readonly string[]): StorageFlagOptions & EtcdOptions {
  const command = new Command("x").exitOverride().configureOutput({ writeErr: () => {} });
  for (const option of [...etcdOptions(), ...storageOptions()]) command.addOption(option);
  return command.parse(args, { from: "user" }).opts();
}
const given = (...args: readonly string[]) =>
  Object.fromEntries(Object.entries(storageFrom(parsed(...args))).filter(([, value]) => value !== undefined));

describe("flags about the store", () => {
  it.each([
    { args: [], want: {} },
    { args: ["--storage-backend", "etcd3"], want: {} },
    { args: ["--storage-media-type=application/json"], want: { mediaType: "application/json" } },
    {
      args: ["--storage-media-type=application/vnd.kubernetes.protobuf"],
      want: { mediaType: "application/vnd.kubernetes.protobuf" },
    },
    { args: ["--delete-collection-workers=3"], want: { deleteWorkers: 3 } },
    { args: ["--enable-garbage-collector=false"], want: { garbageCollection: false } },
    { args: ["--etcd-compaction-interval=0"], want: { listWindowMs: 0 } },
    { args: ["--etcd-compaction-interval=0s"], want: { listWindowMs: 0 } },
    { args: ["--etcd-compaction-interval=150s"], want: { listWindowMs: 150_000 } },
    {
      args: ["--etcd-count-metric-poll-period=0", "--etcd-db-metric-poll-interval=1m"],
      want: { countPeriodMs: 0, sizeIntervalMs: 60_000 },
    },
    {
      args: ["--etcd-healthcheck-timeout=1s", "--etcd-readycheck-timeout=500ms"],
      want: { healthTimeoutMs: 1_000, readyTimeoutMs: 500 },
    },
    { args: ["--watch-cache=true", "--watch-cache-sizes=pods#1000,leases.coordination.k8s.io#5"], want: {} },
    { args: ["--default-watch-cache-size=100"], want: {} },
  ])("$args", ({ args, want }) => {
    expect(given(...args)).toEqual(want);
  });

  it.each([
    {
      args: ["--storage-backend=etcd2"],
      why: "--storage-backend invalid, allowed values: etcd3. If not specified, it will default to 'etcd3'",
    },
    {
      args: ["--storage-media-type=text/plain"],
      why: '--storage-media-type "text/plain" invalid, allowed values: application/json, application/vnd.kubernetes.protobuf, application/yaml',
    },
    { args: ["--storage-media-type=application/yaml"], why: "application/yaml is not supported by this API server." },
    { args: ["--watch-cache=false"], why: "--watch-cache cannot be false" },
    { args: ["--default-watch-cache-size=0"], why: "--default-watch-cache-size cannot be 0" },
    { args: ["--watch-cache-sizes=events#0"], why: "--watch-cache-sizes cannot have events#0" },
    { args: ["--watch-cache-sizes=events"], why: "invalid value of watch cache size: events" },
    { args: ["--watch-cache-sizes=events#many"], why: "invalid size of watch cache size: events#many" },
    { args: ["--watch-cache-sizes=events#-1"], why: "watch cache size cannot be negative: events#-1" },
    { args: ["--etcd-healthcheck-timeout=-1s"], why: "It must be a duration" },
    { args: ["--delete-collection-workers=many"], why: "It must be a whole number." },
  ])("refuses $args", ({ args, why }) => {
    expect(() => given(...args)).toThrow(why);
  });

  it("name the place of keys in etcd, and when it is compacted", () => {
    const options = parsed(
      "--etcd-servers=http://127.0.0.1:2379",
      "--etcd-prefix=mine",
      "--etcd-compaction-interval=0",
    );
    expect(etcdStore(options, "")).toEqual({
      kind: "etcd",
      endpoints: ["http://127.0.0.1:2379"],
      prefix: "mine",
      compactionIntervalMs: 0,
    });
  });
});
