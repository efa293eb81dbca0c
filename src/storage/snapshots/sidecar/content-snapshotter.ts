/**
 * The csi-snapshotter sidecar: makes, checks and deletes the snapshots of one driver's VolumeSnapshotContents.
 *
 *     contents --► decide ──► driver: CreateSnapshot, GetSnapshot, ListSnapshots, DeleteSnapshot ──► status ══► content
 *                    ▲                                                     │
 *                    └──────── again: 1 s, 2 s, 4 s … 5 min ◄──────────────┘ not ready, or failed
 */
import { type Controller, changesOf, defineController } from "#controllers";
import { groupKinds } from "../objects/group-kinds.ts";
import { snapshotKinds } from "../objects/kinds.ts";
import { attempts } from "./attempts.ts";
import { ContentWorker } from "./content-worker.ts";
import { decide } from "./decide.ts";
import { decideGroup } from "./decide-group.ts";
import { GroupWorker } from "./group-worker.ts";
import type { SnapshotterOptions } from "./options.ts";

const { VolumeSnapshotContent: Content } = snapshotKinds;
const { VolumeGroupSnapshotContent: GroupContent } = groupKinds;

const shared = (driver: string) =>
  ({ account: "csi-snapshotter", reportsAs: `csi-snapshotter/${driver}`, concurrency: 10 }) as const;

export function contentSnapshotter(options: SnapshotterOptions): Controller {
  const { driverName } = options.controllers;
  return defineController({
    ...shared(driverName),
    name: "csi-snapshotter-content",
    bind(context) {
      const contents = context.cache(Content);
      const worker = new ContentWorker(options, context);
      return attempts(options, context, {
        sources: [changesOf(Content, ({ object }) => object.spec.driver === driverName)],
        get: (key) => contents.get(key),
        isOurs: (content) => worker.isOurs(content),
        decide,
        act: (content, action, signal) => worker.act(content, action, signal),
      });
    },
  });
}

export function groupContentSnapshotter(options: SnapshotterOptions): Controller {
  const { driverName } = options.controllers;
  return defineController({
    ...shared(driverName),
    name: "csi-snapshotter-groupsnapshotcontent",
    bind(context) {
      const contents = context.cache(GroupContent);
      const worker = new GroupWorker(options, context);
      return attempts(options, context, {
        sources: [changesOf(GroupContent, ({ object }) => object.spec.driver === driverName)],
        get: (key) => contents.get(key),
        isOurs: (content) => worker.isOurs(content),
        decide: decideGroup,
        act: (content, action, signal) => worker.act(content, action, signal),
      });
    },
  });
}
